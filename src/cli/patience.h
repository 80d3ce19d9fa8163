#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <ebb/error.h>
#include <ebb/time.h>

namespace ebb::cli {

/// Lets a command that waits for an instance go on while the store does not answer, as a worker
/// does: a server that restarts must not end it.
class Patience {
 public:
    /// `tell` hears once when the store is out of reach, and once when it answers again.
    explicit Patience(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

    /// Runs `ask`. False: the store is out of reach, so it is to be asked again after `pause()`.
    /// Throws what waiting does not mend.
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

    /// How long to leave a store alone that was not reached: longer every time.
    Duration pause() const { return pause_; }

    /// What the store has last answered; none when it was reached.
    const std::optional<Error>& failure() const { return failure_; }

 private:
    void miss(const Error& error);
    void mend();

    std::function<void(const std::string&)> tell_;
    std::optional<Error> failure_;
    Duration pause_{0};
};

}  // namespace ebb::cli
