#include "engine/watchdog.h"

#include <vector>

namespace ebb::engine {

void Watchdog::watch(const AttemptPtr& attempt) {
    const TimePoint deadline = deadline_of(*attempt);
    if (deadline == kNever) return;
    bool is_first = false;
    {
        const Lock lock(mutex_);
        is_first = tasks_.empty() || deadline < tasks_.begin()->first.first;
        tasks_.emplace(Key{deadline, attempt.get()}, Task{attempt, Attempt::StopReason::Timeout});
    }
    if (is_first) alarm().ring();
}

void Watchdog::forget(const Attempt& attempt) {
    const TimePoint deadline = deadline_of(attempt);
    if (deadline == kNever) return;
    const Lock lock(mutex_);
    tasks_.erase(Key{deadline, &attempt});
}

void Watchdog::stop(const AttemptPtr& attempt, Attempt::StopReason reason) {
    {
        const Lock lock(mutex_);
        tasks_.emplace(Key{TimePoint::min(), attempt.get()}, Task{attempt, reason});
    }
    alarm().ring();
}

std::vector<Watchdog::Task> Watchdog::take_due(TimePoint now) {
    std::vector<Task> due;
    const Lock lock(mutex_);
    while (!tasks_.empty() && tasks_.begin()->first.first <= now) {
        due.push_back(std::move(tasks_.begin()->second));
        tasks_.erase(tasks_.begin());
    }
    return due;
}

TimePoint Watchdog::tick(TimePoint now) {
    for (const Task& task : take_due(now)) {
        if (task.attempt->phase() != Attempt::Phase::Running) continue;
        if (task.reason != Attempt::StopReason::None) {
            task.attempt->request_stop(task.reason);
            const Lock lock(mutex_);
            tasks_.emplace(
                Key{now + environment_.options.stop_grace, task.attempt.get()},
                Task{task.attempt, Attempt::StopReason::None}
            );
        } else if (task.attempt->give_up()) {
            on_given_up_(task.attempt);
        }
    }
    const Lock lock(mutex_);
    return tasks_.empty() ? kNever : tasks_.begin()->first.first;
}

}  // namespace ebb::engine
