#pragma once

#include <atomic>

#include <ebb/time.h>

#include "support/os_file.h"

namespace ebb::cli {

/// Requests from outside to come to an end (Ctrl-C, SIGTERM), and a bell for whoever waits for
/// them or for anything else. `interrupt` and `notify` may be called from signal handlers and from
/// any thread.
class Interrupts {
 public:
    /// Throws std::system_error when the system has no descriptor left.
    Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    void interrupt(int signal) noexcept;
    void notify() noexcept;

    int count() const { return count_; }

    /// The first one's number; 0 = none.
    int first_signal() const { return first_signal_; }

    /// From now on SIGHUP does not interrupt: it asks for a reload.
    void take_hangups_as_reloads() { reloads_on_hangup_ = true; }

    bool reloads_on_hangup() const { return reloads_on_hangup_; }

    void request_reload() noexcept;

    /// Whether a reload was requested since the last call.
    bool take_reload() { return wants_reload_.exchange(false); }

    /// Returns after the bell has rung since the last wait, or after `timeout`.
    void wait(Duration timeout);

 private:
    FileDescriptor bell_;
    std::atomic<int> count_{0};
    std::atomic<int> first_signal_{0};
    std::atomic<bool> reloads_on_hangup_{false};
    std::atomic<bool> wants_reload_{false};
};

/// While it lives, SIGINT, SIGTERM and SIGHUP go to `interrupts`; the fourth ends the process at
/// once. At most one at a time.
class SignalCatcher {
 public:
    explicit SignalCatcher(Interrupts& interrupts);
    SignalCatcher(const SignalCatcher&) = delete;
    SignalCatcher& operator=(const SignalCatcher&) = delete;
    ~SignalCatcher();
};

}  // namespace ebb::cli
