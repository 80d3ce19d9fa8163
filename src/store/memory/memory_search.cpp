#include <map>

#include "store/memory/memory_store.h"

// The verbs that look for instances by a filter.

namespace ebb {

template <typename Use>
std::optional<InstanceId> MemoryStore::scan(const InstanceSearch& search, Use use) const {
    const filter::Condition condition = whole_condition(search);
    std::optional<InstanceId> next;
    int seen = 0;
    walk(search, [&](const InstanceId& id, const Instance& instance) {
        const InstanceRow& row = instance.row;
        const filter::Subject subject{
            .id = id.to_string(),
            .workflow = row.workflow,
            .version = row.version,
            .status = row.status,
            .key = row.key,
            .priority = row.priority,
            .created_at = row.created_at,
            .updated_at = row.updated_at,
            .finished_at = row.finished_at,
            .failure = instance.failure ? &*instance.failure : nullptr,
            .labels = &instance.labels,
        };
        const bool is_full = filter::holds(condition, subject) && use(row);
        if (is_full || ++seen == search.scan_max) next = id;
        return !next;
    });
    return next;
}

InstanceHits MemoryStore::search(const InstanceSearch& search) {
    check_search(search);
    const Lock lock(mutex_);
    InstanceHits hits;
    hits.next = scan(search, [&](const InstanceRow& row) {
        hits.rows.push_back(row);
        return std::ssize(hits.rows) == search.limit;
    });
    return hits;
}

InstanceTally MemoryStore::tally(const InstanceSearch& search) {
    check_search(search);
    const Lock lock(mutex_);
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
    InstanceTally tally;
    InstanceSearch newest_first = search;
    newest_first.order = InstanceOrder::NewestFirst;
    tally.next = scan(newest_first, [&](const InstanceRow& row) {
        counts[{row.workflow, row.status}] += 1;
        return false;
    });
    for (const auto& [key, count] : counts) {
        tally.counts.push_back({key.first, key.second, count});
    }
    return tally;
}

}  // namespace ebb
