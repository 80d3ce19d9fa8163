#pragma once

#include <atomic>

#include <ebb/time.h>

#include "support/os_file.h"

namespace ebb::cli {

/// Requests from outside to stop (Ctrl-C, SIGTERM), and a bell for a thread that waits for them or
/// for another event. `interrupt` and `notify` may be called from signal handlers and from any
/// thread.
class Interrupts {
 public:
    /// Throws std::system_error if the system has no descriptor left.
    Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    void interrupt(int signal) noexcept;
    void notify() noexcept;

    int count() const { return count_; }

    /// The number of the first signal; 0 = none.
    int first_signal() const { return first_signal_; }

    /// From now on SIGHUP does not interrupt: it requests a reload.
    void take_hangups_as_reloads() { reloads_on_hangup_ = true; }

    bool reloads_on_hangup() const { return reloads_on_hangup_; }

    void request_reload() noexcept;

    /// Whether a reload was requested since the last call.
    bool take_reload() { return wants_reload_.exchange(false); }

    /// Returns when the bell has rung since the last wait, or after `timeout`.
    void wait(Duration timeout);

 private:
    FileDescriptor bell_;
    std::atomic<int> count_{0};
    std::atomic<int> first_signal_{0};
    std::atomic<bool> reloads_on_hangup_{false};
    std::atomic<bool> wants_reload_{false};
};

/// While it exists, SIGINT, SIGTERM and SIGHUP go to `interrupts`. The fourth signal ends the
/// process immediately. At most one at a time.
class SignalCatcher {
 public:
    explicit SignalCatcher(Interrupts& interrupts);
    SignalCatcher(const SignalCatcher&) = delete;
    SignalCatcher& operator=(const SignalCatcher&) = delete;
    ~SignalCatcher();
};

}  // namespace ebb::cli
