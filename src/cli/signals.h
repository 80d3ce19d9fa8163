#pragma once

namespace ebb::cli {

/// Counts SIGINT and SIGTERM while it lives instead of letting them end the process; a third one
/// ends it at once. At most one object at a time.
class SignalCounter {
 public:
    SignalCounter();
    ~SignalCounter();
    SignalCounter(const SignalCounter&) = delete;
    SignalCounter& operator=(const SignalCounter&) = delete;

    int count() const;
    /// Waits for a signal, at most `milliseconds`. Returns the count.
    int wait(int milliseconds) const;
};

}  // namespace ebb::cli
