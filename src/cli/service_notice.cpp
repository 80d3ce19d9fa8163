#include "cli/service_notice.h"

#include <cstddef>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

#include "support/os_file.h"

namespace ebb::cli {

ServiceNotice::ServiceNotice(std::optional<std::string> socket)
    : socket_(std::move(socket).value_or("")) {}

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
