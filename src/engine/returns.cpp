#include "engine/returns.h"

#include <algorithm>
#include <utility>

namespace ebb::engine {

void Returns::flush(HeldTable& held) {
    if (released_.empty() && abandoned_.empty()) return;
    std::vector<TaskRef> abandoned = std::exchange(abandoned_, {});
    std::vector<TaskRef> released = std::exchange(released_, {});
    // A commit that landed since may have kept one of them: it is held, and being worked on.
    const auto is_held = [&held](const TaskRef& task) { return held.find(task) != nullptr; };
    // What is leased to its name is the other process's.
    if (environment_.worker.is_displaced) return;
    std::erase_if(abandoned, is_held);
    std::erase_if(released, is_held);
    const WorkerProcess worker = environment_.process();
    bool is_told = false;  // of what was abandoned
    try {
        if (!abandoned.empty()) environment_.store.abandon(worker, abandoned);
        is_told = true;
        if (!released.empty()) environment_.store.release(worker, released);
        hints_.note_any_work();
    } catch (const std::exception& error) {
        // The next heartbeats find them held in the store but not here.
        environment_.report("release_failed", error);
    }
    if (is_told) return;
    for (const TaskRef& task : abandoned) doubt(task, acquisitions_.last_heartbeat());
}

bool Returns::is_doubted(const TaskRef& task) const {
    return std::any_of(doubts_.begin(), doubts_.end(), [&](const Doubt& doubt) {
        return doubt.task == task;
    });
}

void Returns::settle_doubts(
    std::uint64_t heartbeat, const std::vector<TaskRef>& in_store, HeldTable& held
) {
    std::erase_if(doubts_, [&](const Doubt& doubt) {
        if (heartbeat <= doubt.since) return false;
        const bool is_in_store = std::binary_search(in_store.begin(), in_store.end(), doubt.task);
        return !is_in_store || held.find(doubt.task) != nullptr;
    });
}

}  // namespace ebb::engine
