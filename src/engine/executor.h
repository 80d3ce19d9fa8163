#pragma once

#include <atomic>

#include "engine/async.h"
#include "engine/attempt.h"
#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/pace.h"
#include "engine/watchdog.h"

namespace ebb::engine {

/// Makes the calls: runs an attempt in the calling thread and posts its outcome, or begins it and
/// posts the outcome later. Thread-safe.
class Executor final : private AsyncEnds {
 public:
    struct Parts {
        Environment& environment;
        Committer& committer;
        Watchdog& watchdog;
        Pace& pace;
        ClaimSignals& signals;
        Waiters& waiters;
    };

    explicit Executor(const Parts& parts)
        : environment_(parts.environment),
          committer_(parts.committer),
          watchdog_(parts.watchdog),
          pace_(parts.pace),
          signals_(parts.signals),
          waiters_(parts.waiters) {}

    /// Remaining completions do nothing from now on.
    ~Executor() override { gate_->close(); }

    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    enum class Ending {
        Posted,     ///< its outcome was posted; it was called
        Begun,      ///< it continues without a thread
        NotCalled,  ///< it was withdrawn or could not begin
        GivenUp,    ///< it took too long and was given up: there is nothing to post
    };

    /// begin and end.
    Ending run(const AttemptPtr& attempt);

    /// From here on the call counts as running, and its time counts as well. False: the call must
    /// not be made.
    bool begin(const AttemptPtr& attempt);
    /// Calls the handler of a running attempt and posts its outcome.
    Ending end(const AttemptPtr& attempt);

    /// Calls in progress, without those that were given up.
    int running() const { return running_ + environment_.statistics.async_calls; }

    /// If calls are quick, gives calls of other threads the moment that they need to share the next
    /// commit.
    void let_others_finish() const;

    /// For the watchdog to notify.
    void on_given_up(const AttemptPtr& attempt);

 private:
    static constexpr int kLooks = 200;  // about 40 ns each: a wait costs less than a commit of one

    Item call(const AttemptPtr& attempt);
    Ending end_with_thread(const AttemptPtr& attempt);
    Ending begin_without_thread(const AttemptPtr& attempt);
    bool on_async_end(const AttemptPtr& attempt, Event event) override;
    bool is_async(const Attempt& attempt) const;
    void put_back(const AttemptPtr& attempt);

    Environment& environment_;
    Committer& committer_;
    Watchdog& watchdog_;
    Pace& pace_;
    ClaimSignals& signals_;
    Waiters& waiters_;
    std::atomic<int> running_{0};  // in threads
    const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

}  // namespace ebb::engine
