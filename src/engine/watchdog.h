#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "engine/attempt.h"
#include "engine/service.h"

namespace ebb::engine {

/// Asks handlers to stop, at their deadline or on request, and gives up those that do not return
/// within their grace. All stop callbacks of handlers run in its tick. Thread-safe.
class Watchdog final : public Service {
 public:
    /// Called from the tick for each attempt that was just given up.
    using GivenUp = std::function<void(const AttemptPtr&)>;

    Watchdog(Environment& environment, GivenUp on_given_up)
        : environment_(environment), on_given_up_(std::move(on_given_up)) {}

    std::string_view name() const override { return "watchdog"; }

    /// Watches an attempt that has just begun, if it has a limit.
    void watch(const AttemptPtr& attempt);
    /// It has returned.
    void forget(const Attempt& attempt);
    /// Asks it to stop at the next tick.
    void stop(const AttemptPtr& attempt, Attempt::StopReason reason);

    SteadyPoint tick(SteadyPoint now) override;

    /// When it needs to look again.
    SteadyPoint next_look() const;

 private:
    struct Task {
        AttemptPtr attempt;
        Attempt::StopReason reason = Attempt::StopReason::None;  // None: give it up
    };

    using Key = std::pair<SteadyPoint, const Attempt*>;

    std::vector<Task> take_due(SteadyPoint now);
    void put_back(std::vector<Task> tasks, SteadyPoint now);
    bool is_put_off(const Task& task, SteadyPoint now);
    void act(const Task& task, SteadyPoint now);
    SteadyPoint first_look() const EBB_REQUIRES(mutex_);

    Environment& environment_;
    const GivenUp on_given_up_;
    mutable Mutex mutex_;
    std::multimap<Key, Task> tasks_ EBB_GUARDED_BY(mutex_);
    /// When the next tick comes without a ring. Attempts that end in time leave it as it is, so one
    /// limit wakes the thread once, and not once for each attempt.
    SteadyPoint looks_at_ EBB_GUARDED_BY(mutex_) = kSteadyNever;
};

}  // namespace ebb::engine
