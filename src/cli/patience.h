#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <ebb/error.h>
#include <ebb/time.h>

namespace ebb::cli {

/// Lets a command that waits for an instance continue while the store does not answer, as a worker
/// does: a server restart must not end it.
class Patience {
 public:
    /// `tell` is called once when the store becomes unreachable, and once when it answers again.
    explicit Patience(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

    /// Runs `ask`. False: the store is unreachable, so call this again after `pause()`. Throws
    /// errors that waiting cannot fix.
    template <typename Ask>
    bool reach(Ask&& ask) {
        try {
            std::forward<Ask>(ask)();
        } catch (const Error& error) {
            if (!error.is_transient()) throw;
            miss(error);
            return false;
        }
        if (failure_) mend();
        return true;
    }

    /// How long to leave an unreachable store alone: longer every time.
    Duration pause() const { return pause_; }

    /// The last error of the store; none if it was reached.
    const std::optional<Error>& failure() const { return failure_; }

 private:
    void miss(const Error& error);
    void mend();

    std::function<void(const std::string&)> tell_;
    std::optional<Error> failure_;
    Duration pause_{0};
};

}  // namespace ebb::cli
