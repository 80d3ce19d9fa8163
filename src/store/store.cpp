#include "store/store.h"

#include <algorithm>

#include <ebb/store.h>

namespace ebb {

namespace {

// Keeps the rank of "never" and of absurd times clear of overflow whatever the priority is.
constexpr std::int64_t kRankBound = std::int64_t{1} << 61;

}  // namespace

std::int64_t rank_of(TimePoint due, int priority) {
    const std::int64_t at = std::clamp(due.time_since_epoch().count(), -kRankBound, kRankBound);
    return at - std::int64_t{priority} * kHeadStartPerPriority.count();
}

namespace {

bool was_committed(Store& store, const Commit& commit) {
    const auto row = store.load(commit.instance);
    const std::int64_t ours = commit.expected_revision + 1;
    if (!row || row->revision < ours) return false;
    if (row->revision == ours && row->state != commit.state) return false;
    // A state tells where its events are, not what they say: others may have come to the same one.
    if (commit.history.empty()) return row->revision == ours;
    const std::vector<HistoryEvent> events = store.history({
        .instance = commit.instance,
        .after = commit.history.front().seq - 1,
        .before = commit.history.back().seq + 1,
        .limit = static_cast<int>(commit.history.size()),
        .order = HistoryQuery::Order::Forward,
        .types = {},
        .node = {},
    });
    return std::equal(events.begin(), events.end(), commit.history.begin(), commit.history.end());
}

}  // namespace

std::vector<bool> Store::were_committed(std::span<const Commit> commits) {
    std::vector<bool> answers;
    for (const Commit& commit : commits) answers.push_back(was_committed(*this, commit));
    return answers;
}

std::vector<TaskRef> Store::leased_tasks(
    std::string_view worker, std::span<const InstanceId> instances
) {
    std::vector<TaskRef> leased;
    for (const InstanceId& id : instances) {
        for (const TaskRow& row : tasks(id)) {
            if (row.lease_owner == worker) leased.push_back(row.task);
        }
    }
    return leased;
}

void StoreDeleter::operator()(Store* store) const noexcept {
    delete store;
}

}  // namespace ebb
