#include "cli/output_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace ebb::cli {

void write_file(const std::string& path, const std::string& text) {
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "wbe"));
    const bool is_written = file &&
                            std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                            std::fflush(file.get()) == 0;
    if (is_written) return;
    throw std::system_error(
        errno, std::generic_category(), fmt::format("The file \"{}\" cannot be written", path)
    );
}

}  // namespace ebb::cli
