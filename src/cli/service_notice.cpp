#include "cli/service_notice.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/os_file.h"

namespace ebb::cli {

ServiceNotice::ServiceNotice(std::optional<std::string> socket)
    : socket_(std::move(socket).value_or("")) {}

Duration ServiceNotice::watchdog_pause(
    const std::optional<std::string>& period, const std::optional<std::string>& process
) {
    std::int64_t microseconds = 0;
    const auto read = [](const std::string& text, std::int64_t& number) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc() && end == text.data() + text.size() && number > 0;
    };
    if (!period || !read(*period, microseconds)) return Duration::zero();
    // Variables that were meant for a parent are not ours.
    std::int64_t meant = 0;
    if (process && (!read(*process, meant) || meant != getpid())) return Duration::zero();
    return Duration(microseconds / 2);
}

void ServiceNotice::send(std::string_view state) const noexcept {
    sockaddr_un address{};
    if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
    const FileDescriptor descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!descriptor.is_open()) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    sendto(
        descriptor.get(),
        state.data(),
        state.size(),
        MSG_NOSIGNAL,
        reinterpret_cast<const sockaddr*>(&address),
        size
    );
}

}  // namespace ebb::cli
