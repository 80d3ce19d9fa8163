#include "engine/holdings.h"

#include <utility>
#include <vector>

#include <ebb/error.h>

namespace ebb::engine {

Held& Holdings::hold(const TaskRef& task, std::string slot, bool has_thread) {
    return tasks_.add({
        .task = task,
        .acquired = parts_.acquisitions.last_heartbeat(),
        .lost_by = {},
        .slot = std::move(slot),
        .has_thread = has_thread,
    });
}

void Holdings::let_go(const TaskRef& task, Attempt::StopReason reason) {
    Held* held = tasks_.find(task);
    if (held == nullptr) return;
    if (held->state.is_called() && !held->state.withdraw()) {
        parts_.watchdog.stop(held->state.attempt(), reason);
    }
    tasks_.erase(task);
}

void Holdings::let_go_all(const InstanceId& id) {
    std::vector<TaskRef> tasks;
    for (const Held& held : tasks_.of(id)) tasks.push_back(held.task);
    for (const TaskRef& task : tasks) let_go(task, Attempt::StopReason::Unwanted);
}

void Holdings::hand_back(const TaskRef& task) {
    Held* held = tasks_.find(task);
    if (held == nullptr) return;
    const bool was_called = (held->state.is_called() && !held->state.withdraw()) ||
                            held->state.returned() || held->is_called_in_vain;
    if (was_called) {
        parts_.returns.abandon(task);
    } else {
        parts_.returns.release(task);
    }
    let_go(task, Attempt::StopReason::Unwanted);
}

void Holdings::hand_back_all(const InstanceId& id) {
    std::vector<TaskRef> tasks;
    for (const Held& held : tasks_.of(id)) tasks.push_back(held.task);
    for (const TaskRef& task : tasks) hand_back(task);
}

LivePtr Holdings::live_of(const InstanceId& id) {
    if (LivePtr live = live_.find(id)) return live;
    auto row = parts_.environment.store.load(id);
    if (!row) {
        throw Error(
            ErrorCode::InstanceNotFound, "The instance " + id.to_string() + " no longer exists."
        );
    }
    LivePtr live = make_live(std::move(*row), parts_.programs);
    distrust_rows(id);
    live_.replace(live);
    return live;
}

LivePtr Holdings::keep_newer(LivePtr live) {
    const LivePtr known = live_.find(live->row.id);
    if (!known || known->row.revision < live->row.revision) distrust_rows(live->row.id);
    return live_.keep_newer(std::move(live));
}

void Holdings::keep_written(const LivePtr& live) {
    const InstanceId& id = live->row.id;
    if (live_.find(id) == live) {
        live_.touch(id);
    } else {
        live_.replace(live);
    }
}

void Holdings::distrust(const InstanceId& id) {
    live_.erase(id);
    distrust_rows(id);
    parts_.agenda.touch(id);
}

void Holdings::distrust_rows(const InstanceId& id) {
    for (Held& held : tasks_.of(id)) {
        held.is_row_dirty = true;
        held.is_doubtful = true;
    }
}

}  // namespace ebb::engine
