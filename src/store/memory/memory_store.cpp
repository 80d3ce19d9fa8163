#include "store/memory/memory_store.h"

#include "store/agreement.h"

namespace ebb {

StorePtr make_memory_store(const Clock& clock) {
    return StorePtr(new MemoryStore(clock));
}

StorePtr open_memory_store(const MemoryOptions& options) {
    static const SystemClock system;
    return make_memory_store(options.clock != nullptr ? *options.clock : system);
}

StoreTraits MemoryStore::traits() const {
    return {
        .name = "memory",
        .is_durable = false,
        .is_shared_between_processes = false,
        .clock = &clock_,
    };
}

void MemoryStore::register_workflow(const WorkflowRow& row) {
    const Lock lock(mutex_);
    const auto [found, is_new] = workflows_.emplace(std::pair(row.name, row.version), row);
    if (!is_new && found->second.checksum != row.checksum) throw_workflow_conflict(row);
}

std::vector<StartResult> MemoryStore::start(std::span<const NewInstance> instances) {
    const Lock lock(mutex_);
    std::vector<StartResult> results;
    results.reserve(instances.size());
    for (const NewInstance& instance : instances) results.push_back(start_one(instance));
    return results;
}

StartResult MemoryStore::start_one(const NewInstance& instance) {
    const InstanceRow& row = instance.row;
    if (instances_.contains(row.id)) return {StartResult::Kind::Created, row.id};
    if (!row.key.empty()) {
        const auto [key, is_new] = keys_.emplace(std::pair(row.workflow, row.key), row.id);
        if (!is_new) return {StartResult::Kind::Existing, key->second};
    }
    Instance& made =
        instances_.emplace(row.id, Instance{row, instance.history, {}, {}, {}}).first->second;
    apply(made, instance.effects);
    add_notices(row.id, instance.effects);
    if (!is_terminal(row.status)) {
        for (const TaskChange& change : instance.tasks) apply(row, change, instance.lease_owner);
    }
    return {StartResult::Kind::Created, row.id};
}

std::vector<CommitResult> MemoryStore::commit(std::span<const Commit> commits) {
    const Lock lock(mutex_);
    std::vector<CommitResult> results;
    results.reserve(commits.size());
    for (const Commit& commit : commits) results.push_back(commit_one(commit));
    return results;
}

CommitResult MemoryStore::commit_one(const Commit& commit) {
    const auto found = instances_.find(commit.instance);
    if (found == instances_.end()) return CommitResult::NotFound;
    Instance& instance = found->second;
    InstanceRow& row = instance.row;
    if (row.revision != commit.expected_revision) return CommitResult::Conflict;

    row.revision += 1;
    row.status = commit.status;
    if (commit.version != 0) row.version = commit.version;
    row.state = commit.state;
    row.updated_at = commit.now;
    row.finished_at = is_terminal(commit.status) ? commit.now : TimePoint{};
    instance.history.insert(instance.history.end(), commit.history.begin(), commit.history.end());
    if (commit.effects != nullptr) {
        apply(instance, *commit.effects);
        add_notices(commit.instance, *commit.effects);
    }
    receive(row, commit.received);
    if (is_terminal(commit.status)) {
        tasks_.remove_all_but_mail(commit.instance);
        return CommitResult::Committed;
    }
    for (const TaskChange& change : commit.tasks) apply(row, change, commit.lease_owner);
    return CommitResult::Committed;
}

void MemoryStore::apply(
    const InstanceRow& row, const TaskChange& change, std::string_view lease_owner
) {
    const TaskRef ref{row.id, change.token};
    const TimePoint now = clock_.now();
    switch (change.kind) {
        case TaskChange::Kind::Put: {
            memory::Task task;
            task.ref = ref;
            task.handler = change.handler;
            task.queue = change.queue;
            task.due = change.due;
            task.rank = rank_of(change.due, row.priority);
            task.is_due = change.due <= now;
            task.concurrency_key = change.concurrency_key;
            if (change.is_continued) task.lease_owner = lease_owner;
            tasks_.put(std::move(task));
            break;
        }
        case TaskChange::Kind::Remove:
            tasks_.remove(ref);
            break;
        case TaskChange::Kind::Park:
            tasks_.update(ref, [](memory::Task& task) { task.is_parked = true; });
            break;
        case TaskChange::Kind::Unpark:
            tasks_.update(ref, [&](memory::Task& task) {
                task.is_parked = false;
                task.is_due = task.due <= now;
            });
            break;
        case TaskChange::Kind::Stop:
            tasks_.update(ref, [&](memory::Task& task) {
                if (task.lease_owner.empty()) task.handler = kEngineHandler;
                task.due = now;
                task.rank = rank_of(now, row.priority);
                task.is_due = true;
                task.is_parked = false;
                task.is_stop = true;
            });
            break;
    }
}

std::vector<Claim> MemoryStore::claim(const ClaimRequest& request) {
    const Lock lock(mutex_);
    tasks_.promote(clock_.now());
    std::vector<Claim> claims;
    std::int64_t bytes = 0;
    for (const TaskRef& ref : tasks_.claimable(request)) {
        if (bytes >= request.bytes_max) break;
        claims.push_back(lease(ref, request, false));
        bytes += claims.back().bytes();
    }
    return claims;
}

Claim MemoryStore::lease(const TaskRef& ref, const ClaimRequest& request, bool takes_slot) {
    tasks_.update(ref, [&](memory::Task& task) {
        task.lease_owner = request.worker;
        task.took_slot = takes_slot;
    });
    const memory::Task& task = *tasks_.find(ref);
    const Instance& instance = instances_.at(ref.instance);
    const bool has_input = instance.row.revision == 1 && !instance.history.empty();
    const bool has_values = has_input && instance.history.size() > 1 &&
                            instance.history[1].type == HistoryType::AttributesWritten;
    Claim claim{
        .task = ref,
        .handler = task.handler,
        .is_stop = task.is_stop,
        .was_lost = task.was_lost,
        .lost_by = task.lost_by,
        .slot = takes_slot ? task.queue : std::string(),
        .instance = instance.row,
        .outcome = task.outcome,
        .input = has_input ? std::optional(instance.history[has_values ? 1 : 0]) : std::nullopt,
    };
    if (ref.token == kMailTask) read_mail(claim);
    return claim;
}

bool MemoryStore::is_displaced(const WorkerProcess& worker) const {
    const auto found = workers_.find(worker.id);
    return found != workers_.end() && found->second.row.started_at != worker.started_at;
}

std::vector<HandInResult> MemoryStore::hand_in(
    const WorkerProcess& worker, std::span<const HandedIn> outcomes
) {
    const Lock lock(mutex_);
    std::vector<HandInResult> results;
    for (const HandedIn& outcome : outcomes) {
        const bool is_taken = !is_displaced(worker) && take_outcome(worker.id, outcome);
        results.push_back(is_taken ? HandInResult::Taken : HandInResult::Stale);
    }
    return results;
}

bool MemoryStore::take_outcome(std::string_view worker, const HandedIn& outcome) {
    const TaskRef ref{outcome.instance, outcome.attempt.token};
    const memory::Task* found = tasks_.find(ref);
    if (found == nullptr) return false;
    const InstanceRow& row = instances_.at(outcome.instance).row;
    if (!is_at_attempt(row.state, outcome.attempt)) return false;
    const bool is_repeated = found->lease_owner.empty() && found->outcome == outcome.outcome;
    if (is_repeated) return true;
    if (found->lease_owner != worker) return false;
    const TimePoint now = clock_.now();
    return tasks_.update(ref, [&](memory::Task& task) {
        task.outcome = outcome.outcome;
        task.handler = kEngineHandler;
        task.lease_owner.clear();
        task.due = now;
        task.rank = rank_of(now, row.priority);
        task.is_due = true;
        task.is_parked = false;
    });
}

void MemoryStore::release(const WorkerProcess& worker, std::span<const TaskRef> tasks) {
    const Lock lock(mutex_);
    if (is_displaced(worker)) return;
    for (const TaskRef& ref : tasks) {
        tasks_.update(ref, [&](memory::Task& task) {
            if (task.lease_owner == worker.id) task.end_lease();
        });
    }
}

void MemoryStore::abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) {
    const Lock lock(mutex_);
    if (is_displaced(worker)) return;
    for (const TaskRef& ref : tasks) {
        tasks_.update(ref, [&](memory::Task& task) {
            if (task.lease_owner == worker.id) task.lose_lease();
        });
    }
}

void MemoryStore::postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) {
    const Lock lock(mutex_);
    if (is_displaced(worker)) return;
    tasks_.update(task, [&](memory::Task& row) {
        if (row.lease_owner != worker.id) return;
        row.rank += (due - row.due).count();
        row.due = due;
        row.is_due = false;
        row.end_lease();
    });
}

HeartbeatResult MemoryStore::heartbeat(const WorkerRow& worker, Duration lease) {
    const Lock lock(mutex_);
    if (!worker.takes_name && is_displaced({worker.id, worker.started_at}))
        return {.held = {}, .is_displaced = true};
    const SteadyPoint now = clock_.steady_now();
    const auto [found, is_new] =
        workers_.insert_or_assign(worker.id, Worker{.row = worker, .lease_end = now + lease});
    found->second.row.takes_name = false;
    HeartbeatResult result{.is_known = !is_new, .held = {}};
    for (const auto& [id, other] : workers_) {
        if (id == worker.id) continue;
        const Duration lives_for = other.lease_end - now;
        result.others_live_for = std::min(result.others_live_for, lives_for);
        if (lives_for > Duration::zero()) ++result.others;
    }
    for (const auto& [name, queue] : queues_) result.limited_queues.push_back(name);
    TimePoint changed_at{};
    for (const auto& [name, each] : subscriptions_) {
        changed_at = std::max(changed_at, each.updated_at);
    }
    result.subscriptions_mark = mark_of(std::ssize(subscriptions_), changed_at);
    for (const TaskRef& ref : tasks_.held_by(worker.id)) {
        const memory::Task& task = *tasks_.find(ref);
        const bool may_have_been_called = task.was_lost || task.handler != kEngineHandler;
        result.held.push_back({ref, task.is_stop, may_have_been_called});
    }
    return result;
}

void MemoryStore::sign_off(const WorkerProcess& worker) {
    const Lock lock(mutex_);
    if (is_displaced(worker)) return;
    if (const auto found = workers_.find(worker.id); found != workers_.end()) workers_.erase(found);
    for (const TaskRef& ref : tasks_.held_by(worker.id)) {
        tasks_.update(ref, [](memory::Task& task) { task.end_lease(); });
    }
}

MaintenanceResult MemoryStore::maintain() {
    const Lock lock(mutex_);
    const SteadyPoint now = clock_.steady_now();
    MaintenanceResult result;
    for (auto it = workers_.begin(); it != workers_.end();) {
        if (it->second.lease_end > now) {
            ++it;
            continue;
        }
        result.workers_expired.push_back(it->first);
        it = workers_.erase(it);
    }
    for (const std::string& owner : tasks_.lease_owners()) {
        if (workers_.contains(owner)) continue;
        for (const TaskRef& ref : tasks_.held_by(owner)) {
            tasks_.update(ref, [](memory::Task& task) { task.lose_lease(); });
            result.leases_expired += 1;
        }
    }
    tasks_.promote(clock_.now());
    result.next_due = tasks_.next_due();
    return result;
}

}  // namespace ebb
