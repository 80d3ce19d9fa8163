#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ebb::cli {

/// Tells a service manager such as systemd how far the process is, by the datagram protocol of
/// sd_notify(3). Without NOTIFY_SOCKET it does nothing. It never fails: nothing depends on it.
class ServiceNotice {
 public:
    /// `socket` is the value of NOTIFY_SOCKET: a path, or `@NAME` in the abstract namespace.
    explicit ServiceNotice(std::optional<std::string> socket);

    /// `READY=1`, or several lines.
    void send(std::string_view state) const noexcept;

 private:
    std::string socket_;
};

}  // namespace ebb::cli
