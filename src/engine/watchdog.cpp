#include "engine/watchdog.h"

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

void Watchdog::act(const Task& task, TimePoint now) {
    if (task.attempt->phase() != Attempt::Phase::Running) return;
    if (task.reason == Attempt::StopReason::None) {
        if (task.attempt->give_up()) on_given_up_(task.attempt);
        return;
    }
    task.attempt->request_stop(task.reason);
    // Counted from the deadline, not from when somebody looked: so a late look gives up at once.
    const TimePoint asked =
        task.reason == Attempt::StopReason::Timeout ? deadline_of(*task.attempt) : now;
    const Lock lock(mutex_);
    tasks_.emplace(
        Key{asked + environment_.options.stop_grace, task.attempt.get()},
        Task{task.attempt, Attempt::StopReason::None}
    );
}

TimePoint Watchdog::tick(TimePoint now) {
    while (true) {
        const std::vector<Task> due = take_due(now);
        if (due.empty()) break;
        for (const Task& task : due) act(task, now);
    }
    const Lock lock(mutex_);
    return tasks_.empty() ? kNever : tasks_.begin()->first.first;
}

}  // namespace ebb::engine
