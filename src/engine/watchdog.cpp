#include "engine/watchdog.h"

namespace ebb::engine {

void Watchdog::watch(const AttemptPtr& attempt) {
    const SteadyPoint limit = attempt->time_limit();
    if (limit == kSteadyNever) return;
    bool is_earlier = false;
    {
        const Lock lock(mutex_);
        is_earlier = limit < looks_at_;
        if (is_earlier) looks_at_ = limit;
        tasks_.emplace(
            Key{limit, attempt.get()},
            Task{.attempt = attempt, .reason = Attempt::StopReason::Timeout}
        );
    }
    if (is_earlier) alarm().ring();
}

void Watchdog::forget(const Attempt& attempt) {
    const Lock lock(mutex_);
    if (attempt.time_limit() != kSteadyNever) tasks_.erase(Key{attempt.time_limit(), &attempt});
}

void Watchdog::stop(const AttemptPtr& attempt, Attempt::StopReason reason) {
    {
        const Lock lock(mutex_);
        tasks_.emplace(
            Key{SteadyPoint::min(), attempt.get()}, Task{.attempt = attempt, .reason = reason}
        );
    }
    alarm().ring();
}

std::vector<Watchdog::Task> Watchdog::take_due(SteadyPoint now) {
    std::vector<Task> due;
    const Lock lock(mutex_);
    while (!tasks_.empty() && tasks_.begin()->first.first <= now) {
        due.push_back(std::move(tasks_.begin()->second));
        tasks_.erase(tasks_.begin());
    }
    return due;
}

void Watchdog::put_back(std::vector<Task> tasks, SteadyPoint now) {
    const Lock lock(mutex_);
    for (Task& task : tasks) {
        const Attempt* attempt = task.attempt.get();
        tasks_.emplace(Key{now, attempt}, std::move(task));
    }
}

bool Watchdog::is_put_off(const Task& task, SteadyPoint now) {
    if (task.reason != Attempt::StopReason::Timeout) return false;
    const Lock lock(mutex_);
    // Its deadline is a date, and the clock has been set back since then.
    const SteadyPoint limit = time_limit_of(*task.attempt, environment_.moment());
    if (limit <= now || limit == task.attempt->time_limit()) return false;
    task.attempt->set_time_limit(limit);
    tasks_.emplace(Key{limit, task.attempt.get()}, task);
    return true;
}

void Watchdog::act(const Task& task, SteadyPoint now) {
    if (task.attempt->phase() != Attempt::Phase::Running || is_put_off(task, now)) return;
    if (task.reason == Attempt::StopReason::None) {
        if (task.attempt->give_up()) on_given_up_(task.attempt);
        return;
    }
    task.attempt->request_stop(task.reason);
    // Counted from the deadline, not from the moment of the look, so that a late look gives up
    // immediately.
    const SteadyPoint asked =
        task.reason == Attempt::StopReason::Timeout ? task.attempt->time_limit() : now;
    const Lock lock(mutex_);
    tasks_.emplace(
        Key{asked + environment_.grace_of(task.attempt->call().invocation.handler),
            task.attempt.get()},
        Task{.attempt = task.attempt, .reason = Attempt::StopReason::None}
    );
}

SteadyPoint Watchdog::tick(SteadyPoint now) {
    while (true) {
        std::vector<Task> due = take_due(now);
        if (due.empty()) break;
        while (!due.empty()) {
            const Task task = due.back();
            due.pop_back();
            try {
                act(task, now);
            } catch (...) {
                put_back(std::move(due), now);
                throw;
            }
        }
    }
    const Lock lock(mutex_);
    looks_at_ = first_look();
    return looks_at_;
}

SteadyPoint Watchdog::next_look() const {
    const Lock lock(mutex_);
    return first_look();
}

SteadyPoint Watchdog::first_look() const {
    return tasks_.empty() ? kSteadyNever : tasks_.begin()->first.first;
}

}  // namespace ebb::engine
