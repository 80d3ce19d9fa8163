#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/time.h>

namespace ebb::cli {

/// Tells a service manager such as systemd how far the process is, by the datagram protocol of
/// sd_notify(3). Without NOTIFY_SOCKET it does nothing. It never fails: nothing depends on it.
class ServiceNotice {
 public:
    /// `socket` is the value of NOTIFY_SOCKET: a path, or `@NAME` in the abstract namespace.
    explicit ServiceNotice(std::optional<std::string> socket);

    /// How often the manager wants to hear `WATCHDOG=1`, twice in each period of its own; zero: it
    /// does not. `period` and `process` are WATCHDOG_USEC and WATCHDOG_PID.
    static Duration watchdog_pause(
        const std::optional<std::string>& period, const std::optional<std::string>& process
    );

    /// `READY=1`, or several lines.
    void send(std::string_view state) const noexcept;

 private:
    std::string socket_;
};

}  // namespace ebb::cli
