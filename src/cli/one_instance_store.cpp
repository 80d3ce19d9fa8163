#include "cli/one_instance_store.h"

#include <algorithm>
#include <map>

#include "cli/process_mark.h"
#include "store/hints.h"

namespace ebb::cli {

std::vector<Claim> OneInstanceStore::claim(const ClaimRequest& request) {
    if (!instance_ || (request.instance && request.instance != instance_)) return {};
    ClaimRequest own = request;
    own.instance = instance_;
    return inner_.claim(own);
}

std::vector<std::string> OneInstanceStore::queues_of_its_own(const std::vector<std::string>& served
) {
    std::map<std::string, std::int64_t> own;
    for (const TaskRow& task : inner_.tasks(*instance_)) {
        const bool is_served = std::find(served.begin(), served.end(), task.queue) != served.end();
        const bool waits = task.lease_owner.empty() && !task.is_parked && task.due <= inner_.now();
        if (is_served && waits) ++own[task.queue];
    }
    std::vector<std::string> names;
    for (const auto& [name, count] : own) {
        for (const QueueUse& use : inner_.queues({.name = name})) {
            if (use.view.waiting <= count) names.push_back(name);
        }
    }
    return names;
}

LimitedClaims OneInstanceStore::claim_limited(const ClaimRequest& request) {
    if (!instance_) return {};
    // The verb cannot be narrowed to one instance. A queue in which other instances wait is left to
    // workers, which take all tasks in their turn: to take one and hand it back would use up a
    // start of the queue's rate.
    ClaimRequest own = request;
    own.queues = queues_of_its_own(request.queues);
    if (own.queues.empty()) return {};
    LimitedClaims found = inner_.claim_limited(own);
    // A task may have come meanwhile.
    std::vector<TaskRef> others;
    std::erase_if(found.claims, [&](const Claim& claim) {
        if (claim.task.instance == *instance_) return false;
        others.push_back(claim.task);
        return true;
    });
    if (others.empty()) return found;
    for (const WorkerRow& worker : inner_.workers()) {
        if (worker.id == request.worker) inner_.release({worker.id, worker.started_at}, others);
    }
    return found;
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
