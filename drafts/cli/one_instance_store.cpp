#include "cli/one_instance_store.h"

#include <algorithm>

#include "cli/process_mark.h"

namespace ebb::cli {

std::vector<Claim> OneInstanceStore::claim(const ClaimRequest& request) {
    if (!instance_ || (request.instance && request.instance != instance_)) return {};
    ClaimRequest own = request;
    own.instance = instance_;
    return inner_.claim(own);
}

LimitedClaims OneInstanceStore::claim_limited(const ClaimRequest& request) {
    if (!instance_) return {};
    // The queues with limits know no single instance, so they are asked only while it waits in one
    // of them, and what others get by that is handed back.
    ClaimRequest own = request;
    own.queues.clear();
    for (const TaskRow& task : inner_.tasks(*instance_)) {
        const auto& wanted = request.queues;
        const bool is_wanted = std::find(wanted.begin(), wanted.end(), task.queue) != wanted.end();
        if (is_wanted && task.lease_owner.empty()) own.queues.push_back(task.queue);
    }
    if (own.queues.empty()) return {};
    LimitedClaims found = inner_.claim_limited(own);
    std::vector<TaskRef> others;
    for (const Claim& claim : found.claims) {
        if (claim.task.instance != *instance_) others.push_back(claim.task);
    }
    std::erase_if(found.claims, [&](const Claim& claim) {
        return claim.task.instance != *instance_;
    });
    if (others.empty()) return found;
    for (const WorkerRow& worker : inner_.workers()) {
        if (worker.id == request.worker) inner_.release({worker.id, worker.started_at}, others);
    }
    return found;
}

HeartbeatResult OneInstanceStore::heartbeat(const WorkerRow& worker, Duration lease) {
    WorkerRow quiet = worker;
    quiet.handlers.clear();
    return inner_.heartbeat(quiet, lease);
}

void OneInstanceStore::take_over_from_the_dead() {
    if (!instance_) return;
    for (const WorkerRow& worker : inner_.workers()) {
        if (!has_died_here(worker)) continue;
        std::vector<TaskRef> held;
        for (const TaskRow& task : inner_.tasks(*instance_)) {
            if (task.lease_owner == worker.id) held.push_back(task.task);
        }
        // As lost, not as handed back: a step that must not run twice has to hear of it.
        if (!held.empty()) inner_.abandon({worker.id, worker.started_at}, held);
    }
}

}  // namespace ebb::cli
