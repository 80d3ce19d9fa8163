#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "store/agreement.h"
#include "store/memory/memory_store.h"
#include "store/names.h"

namespace ebb {

namespace {

template <class T, class U>
bool is_wanted(const std::vector<T>& wanted, const U& value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool matches(const InstanceQuery& query, const InstanceRow& row) {
    const bool is_asked = query.workflow.empty()
                              ? query.has_system || !is_system_workflow(row.workflow)
                              : passes_names(query.workflow, row.workflow);
    return is_asked && is_wanted(query.statuses, row.status) &&
           (!query.version || *query.version == row.version) &&
           (query.key.empty() || query.key == row.key);
}

bool matches(const HistoryQuery& query, const HistoryEvent& event) {
    return event.seq > query.after && (query.before == 0 || event.seq < query.before) &&
           is_wanted(query.types, event.type) && (query.node.empty() || query.node == event.node);
}

}  // namespace

std::optional<WorkflowRow> MemoryStore::find_workflow(
    std::string_view name, std::optional<int> version
) {
    const Lock lock(mutex_);
    const WorkflowRow* newest = nullptr;
    for (auto it = workflows_.lower_bound({std::string(name), std::numeric_limits<int>::min()});
         it != workflows_.end() && it->first.first == name;
         ++it) {
        if (!version || it->first.second == *version) newest = &it->second;
    }
    if (newest == nullptr) return std::nullopt;
    return *newest;
}

std::vector<WorkflowRow> MemoryStore::list_workflows() {
    const Lock lock(mutex_);
    std::vector<WorkflowRow> rows;
    for (const auto& [key, row] : workflows_) {
        rows.push_back(row);
        rows.back().definition.clear();
    }
    return rows;
}

std::optional<InstanceRow> MemoryStore::load(const InstanceId& id) {
    const Lock lock(mutex_);
    const auto found = instances_.find(id);
    if (found == instances_.end()) return std::nullopt;
    return found->second.row;
}

std::optional<InstanceId> MemoryStore::find_key(std::string_view workflow, std::string_view key) {
    const Lock lock(mutex_);
    const auto found = keys_.find({std::string(workflow), std::string(key)});
    if (found == keys_.end()) return std::nullopt;
    return found->second;
}

std::vector<HistoryEvent> MemoryStore::events(const InstanceId& id, const std::vector<Seq>& seqs) {
    const Lock lock(mutex_);
    std::vector<HistoryEvent> events;
    const auto found = instances_.find(id);
    if (found == instances_.end()) return events;
    const std::set<Seq> wanted(seqs.begin(), seqs.end());
    for (const HistoryEvent& event : found->second.history) {
        if (wanted.contains(event.seq)) events.push_back(event);
    }
    return events;
}

std::vector<HistoryEvent> MemoryStore::history(const HistoryQuery& query) {
    const Lock lock(mutex_);
    std::vector<HistoryEvent> events;
    const auto found = instances_.find(query.instance);
    if (found == instances_.end()) return events;
    const auto collect = [&](auto begin, auto end) {
        for (auto it = begin; it != end && std::ssize(events) < query.limit; ++it) {
            if (matches(query, *it)) events.push_back(*it);
        }
    };
    const std::vector<HistoryEvent>& all = found->second.history;
    const auto starts_at = [&](Seq seq) {
        return std::lower_bound(all.begin(), all.end(), seq, [](const HistoryEvent& e, Seq s) {
            return e.seq < s;
        });
    };
    const auto first = std::upper_bound(
        all.begin(), all.end(), query.after, [](Seq s, const HistoryEvent& e) { return s < e.seq; }
    );
    const auto last = query.before == 0 ? all.end() : std::max(first, starts_at(query.before));
    if (query.order == HistoryQuery::Order::Forward) {
        collect(first, last);
    } else {
        collect(std::make_reverse_iterator(last), std::make_reverse_iterator(first));
    }
    return events;
}

std::vector<TaskRow> MemoryStore::tasks(const InstanceId& id) {
    const Lock lock(mutex_);
    std::vector<TaskRow> rows;
    for (memory::Task& task : tasks_.of(id)) {
        rows.push_back({
            .task = task.ref,
            .handler = std::move(task.handler),
            .queue = std::move(task.queue),
            .due = task.due,
            .is_parked = task.is_parked,
            .is_stop = task.is_stop,
            .was_lost = task.was_lost,
            .has_slot = task.has_slot(),
            .concurrency_key = std::move(task.concurrency_key),
            .lease_owner = std::move(task.lease_owner),
        });
    }
    return rows;
}

std::vector<InstanceRow> MemoryStore::list(const InstanceQuery& query) {
    const Lock lock(mutex_);
    std::vector<InstanceRow> rows;
    if (query.limit <= 0) return rows;
    walk(query, [&](const InstanceId&, const Instance& instance) {
        if (matches(query, instance.row)) rows.push_back(instance.row);
        return std::ssize(rows) < query.limit;
    });
    return rows;
}

std::vector<StatusCount> MemoryStore::count() {
    const Lock lock(mutex_);
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
    for (const auto& [id, instance] : instances_) {
        counts[{instance.row.workflow, instance.row.status}] += 1;
    }
    std::vector<StatusCount> result;
    for (const auto& [key, count] : counts) result.push_back({key.first, key.second, count});
    return result;
}

std::vector<VersionCount> MemoryStore::count_versions() {
    const Lock lock(mutex_);
    std::map<std::tuple<std::string, int, InstanceStatus>, std::int64_t> counts;
    for (const auto& [id, instance] : instances_) {
        const InstanceRow& row = instance.row;
        counts[{row.workflow, row.version, row.status}] += 1;
    }
    std::vector<VersionCount> result;
    for (const auto& [key, count] : counts) {
        result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
    }
    return result;
}

std::vector<Store::Unserved> MemoryStore::unserved() {
    const Lock lock(mutex_);
    tasks_.promote(clock_.now());
    std::vector<Unserved> result;
    for (const Unserved& waiting : tasks_.waiting()) {
        if (!can_anybody_run(waiting)) result.push_back(waiting);
    }
    return result;
}

bool MemoryStore::can_anybody_run(const Unserved& waiting) const {
    const SteadyPoint now = clock_.steady_now();
    for (const auto& [id, worker] : workers_) {
        if (worker.lease_end > now && can_run(worker.row, waiting)) return true;
    }
    return false;
}

std::vector<WorkerRow> MemoryStore::workers() {
    const Lock lock(mutex_);
    std::vector<WorkerRow> rows;
    const TimePoint date = clock_.now();
    const SteadyPoint now = clock_.steady_now();
    for (const auto& [id, worker] : workers_) {
        rows.push_back(worker.row);
        rows.back().expires_at = date + (worker.lease_end - now);
    }
    return rows;
}

std::map<std::string, std::int64_t> MemoryStore::count_leases() {
    const Lock lock(mutex_);
    std::map<std::string, std::int64_t> leases;
    for (const std::string& owner : tasks_.lease_owners()) {
        leases.emplace(owner, static_cast<std::int64_t>(tasks_.held_by(owner).size()));
    }
    return leases;
}

}  // namespace ebb
