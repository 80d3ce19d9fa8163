#include "support/os_file.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace ebb {

void FileDescriptor::reset() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void write_all(const FileDescriptor& file, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(file.get(), text.data(), text.size());
        if (written < 0 && errno != EINTR) throw_errno("cannot write a temporary file");
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void make_private_file(const std::filesystem::path& path) noexcept {
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

TempDirectory::TempDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ebb-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw_errno("cannot make a temporary directory");
    path_ = pattern;
}

TempDirectory::~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempDirectory::add(std::string_view name, std::string_view content) const {
    std::filesystem::path path = path_ / name;
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open()) throw_errno("cannot make a temporary file");
    write_all(file, content);
    return path;
}

}  // namespace ebb
