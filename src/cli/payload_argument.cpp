#include "cli/payload_argument.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <ebb/error.h>

#include "support/json.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kPayloadFileBytesMax = std::size_t{8} << 20;

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& why) {
    throw Error(
        ErrorCode::InvalidArgument, fmt::format("The file \"{}\" cannot be read: {}.", path, why)
    );
}

}  // namespace

std::string read_file(const std::string& path, std::size_t bytes_max) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw_unreadable(path, "it is a directory");
    const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rbe"));
    if (!file) throw_unreadable(path, std::strerror(errno));
    std::string text;
    char buffer[1 << 14];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
        text.append(buffer, got);
        if (text.size() > bytes_max) {
            throw Error(
                ErrorCode::LimitExceeded,
                fmt::format("The file \"{}\" is larger than {} bytes.", path, bytes_max)
            );
        }
    }
    if (std::ferror(file.get()) != 0) throw_unreadable(path, std::strerror(errno));
    return text;
}

Payload read_payload(std::string_view argument, std::string_view option, CliStreams& streams) {
    std::string text(argument);
    std::string what = fmt::format("The JSON of {}", option);
    if (argument == "-") {
        text = streams.read_input();
        what = fmt::format("The JSON that {} reads from stdin", option);
    } else if (argument.starts_with('@')) {
        const std::string path(argument.substr(1));
        text = read_file(path, kPayloadFileBytesMax);
        what = fmt::format("The JSON in the file \"{}\" of {}", path, option);
    }
    // Its size is the engine's to judge, by its own limit.
    check_payload(text, what, {.payload_bytes_max = kPayloadFileBytesMax});
    return text;
}

}  // namespace ebb::cli
