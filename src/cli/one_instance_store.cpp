#include "cli/one_instance_store.h"

#include "cli/process_mark.h"
#include "store/hints.h"

namespace ebb::cli {

std::vector<Claim> OneInstanceStore::claim(const ClaimRequest& request) {
    if (!instance_ || (request.instance && request.instance != instance_)) return {};
    ClaimRequest own = request;
    own.instance = instance_;
    return inner_.claim(own);
}

LimitedClaims OneInstanceStore::claim_limited(const ClaimRequest& request) {
    if (!instance_ || (request.instance && request.instance != instance_)) return {};
    ClaimRequest own = request;
    own.instance = instance_;
    return inner_.claim_limited(own);
}

void OneInstanceStore::take_over_from_dead_processes() {
    if (!instance_) return;
    for (const WorkerRow& worker : inner_.workers()) {
        if (!has_died_here(worker)) continue;
        std::vector<TaskRef> held;
        for (const TaskRow& task : inner_.tasks(*instance_)) {
            if (task.lease_owner == worker.id) held.push_back(task.task);
        }
        // As lost, not as handed back: a step that must not run twice has to know of it.
        if (!held.empty()) inner_.abandon({worker.id, worker.started_at}, held);
    }
}

HeartbeatResult OneInstanceStore::heartbeat(const WorkerRow& worker, Duration lease) {
    WorkerRow quiet = worker;
    quiet.handlers.clear();
    return inner_.heartbeat(quiet, lease);
}

}  // namespace ebb::cli
