#include "engine/lease_audit.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ebb::engine {

namespace {

/// The tasks that the store leases to this worker, sorted: there may be many thousands.
std::vector<TaskRef> tasks_in(const HeartbeatResult& result) {
    std::vector<TaskRef> tasks;
    tasks.reserve(result.held.size());
    for (const HeldTask& held : result.held) tasks.push_back(held.task);
    std::sort(tasks.begin(), tasks.end());
    return tasks;
}

}  // namespace

void LeaseAudit::compare(const item::Heartbeat& heartbeat) {
    drop_lost(heartbeat);
    // Only now, because lost tasks would otherwise count as held and be taken back from their new
    // workers.
    WorkerState& worker = parts_.environment.worker;
    const bool was_invalid = !worker.has_valid_leases(parts_.environment.steady_now());
    worker.leases_valid_until = heartbeat.valid_until.time_since_epoch().count();
    if (was_invalid) parts_.signals.ring();
    obey_stops(heartbeat.result);
    // Nothing is claimed before the first answer, so a predecessor held the tasks that it names.
    if (!std::exchange(has_adopted_, true)) {
        adopt_orphans(heartbeat.result);
        predecessor_gone_at_ = parts_.environment.steady_now() + parts_.environment.options.lease;
    } else {
        doubt_predecessor(heartbeat);
        release_unknown(heartbeat);
    }
}

void LeaseAudit::drop_lost(const item::Heartbeat& heartbeat) {
    const std::vector<TaskRef> in_store = tasks_in(heartbeat.result);
    std::vector<TaskRef> lost;
    parts_.holdings.tasks().for_each([&](const Held& held) {
        const bool is_known_to_store =
            std::binary_search(in_store.begin(), in_store.end(), held.task);
        const bool is_on_its_way =
            held.acquired >= heartbeat.number && !heartbeat.result.is_displaced;
        if (!is_known_to_store && !is_on_its_way) lost.push_back(held.task);
    });
    for (const TaskRef& task : lost) {
        ++parts_.environment.statistics.leases_lost;
        parts_.environment.log.warning(
            "lease_lost", {{"instance", task.instance.to_string()}, {"token", task.token}}
        );
        parts_.holdings.let_go(task, Attempt::StopReason::LeaseLost);
    }
}

void LeaseAudit::obey_stops(const HeartbeatResult& result) {
    HeldTable& tasks = parts_.holdings.tasks();
    for (const HeldTask& task : result.held) {
        Held* held = task.is_stop ? tasks.find(task.task) : nullptr;
        if (held == nullptr || held->was_asked_to_stop || held->state.is_deciding()) continue;
        // Another process has changed the instance: the review reads it again and finds the stop.
        held->is_row_dirty = true;
        parts_.holdings.forget(task.task.instance);
        parts_.agenda.touch(task.task.instance);
    }
}

void LeaseAudit::adopt_orphans(const HeartbeatResult& result) {
    HeldTable& tasks = parts_.holdings.tasks();
    // An earlier process of the same name died while it held these, and may have called handlers.
    for (const HeldTask& orphan : result.held) {
        if (tasks.find(orphan.task) == nullptr) adopt(orphan.task, orphan.may_have_been_called);
    }
}

void LeaseAudit::adopt(const TaskRef& task, bool may_have_been_called) {
    Held& held = parts_.holdings.hold(task);
    held.was_lost = may_have_been_called && !parts_.environment.worker.knows_calls;
    held.is_called_in_vain = held.was_lost;  // and the row does not say so
    held.lost_by = parts_.environment.options.worker_id;
    held.is_row_dirty = true;
    parts_.agenda.touch(task.instance);
}

void LeaseAudit::doubt_predecessor(const item::Heartbeat& heartbeat) {
    if (is_predecessor_gone_) return;
    HeldTable& tasks = parts_.holdings.tasks();
    for (const HeldTask& held : heartbeat.result.held) {
        if (tasks.find(held.task) == nullptr) parts_.returns.doubt(held.task, heartbeat.number);
    }
    const SteadyPoint sent_at = heartbeat.valid_until - parts_.environment.options.lease;
    is_predecessor_gone_ = sent_at >= predecessor_gone_at_;
}

void LeaseAudit::release_unknown(const item::Heartbeat& heartbeat) {
    HeldTable& tasks = parts_.holdings.tasks();
    // For example, a claim whose answer was lost. Wait for one more heartbeat in case the answer is
    // only late.
    std::vector<TaskRef> unknown;
    if (!parts_.acquisitions.are_under_way()) {
        for (const HeldTask& held : heartbeat.result.held) {
            if (tasks.find(held.task) == nullptr) unknown.push_back(held.task);
        }
    }
    std::sort(unknown.begin(), unknown.end());
    std::vector<TaskRef> again;
    std::set_intersection(
        unknown.begin(), unknown.end(), unknown_.begin(), unknown_.end(), std::back_inserter(again)
    );
    for (const TaskRef& task : again) {
        if (parts_.environment.worker.knows_calls) {
            adopt(task, false);
        } else if (parts_.returns.is_doubted(task)) {
            parts_.returns.abandon(task);
        } else {
            parts_.returns.release(task);
        }
    }
    unknown_ = std::move(unknown);
    if (!parts_.returns.has_doubts()) return;
    parts_.returns.settle_doubts(heartbeat.number, tasks_in(heartbeat.result), tasks);
}

}  // namespace ebb::engine
