#include "cli/regular_file.h"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ebb::cli {

namespace {

struct Descriptor {
    int fd;

    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
};

}  // namespace

std::optional<std::string> read_regular_file(
    const std::filesystem::path& path, std::size_t bytes_max
) {
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const Descriptor file{::open(path.c_str(), kFlags)};
    struct stat about{};
    const bool is_regular = file.fd >= 0 && ::fstat(file.fd, &about) == 0 && S_ISREG(about.st_mode);
    if (!is_regular || static_cast<std::uintmax_t>(about.st_size) > bytes_max) return std::nullopt;
    std::string text(bytes_max + 1, '\0');
    text.resize(static_cast<std::size_t>(about.st_size) + 1);
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = ::read(file.fd, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    // It grows while it is read: the next change is reported, too.
    if (size > bytes_max) return std::nullopt;
    text.resize(size);
    return text;
}

}  // namespace ebb::cli
