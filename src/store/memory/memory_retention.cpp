#include "store/memory/memory_store.h"

// The verbs about retention.

namespace ebb {

std::vector<RetentionRule> MemoryStore::retention() {
    const Lock lock(mutex_);
    std::vector<RetentionRule> rules;
    for (const auto& [workflow, rule] : retention_) rules.push_back(rule);
    return rules;
}

void MemoryStore::restart_sweep() {
    sweep_ = {.turn = {.number = sweep_.turn.number + 1}};
}

void MemoryStore::set_retention(const RetentionRule& rule) {
    const Lock lock(mutex_);
    retention_.insert_or_assign(rule.workflow, rule);
    restart_sweep();
}

bool MemoryStore::clear_retention(std::string_view workflow) {
    const Lock lock(mutex_);
    const auto found = retention_.find(workflow);
    if (found == retention_.end()) return false;
    retention_.erase(found);
    restart_sweep();
    return true;
}

PurgeResult MemoryStore::purge(const PurgeRequest& request) {
    check_purge(request);
    const Lock lock(mutex_);
    const TimePoint now = clock_.now();
    const InstanceId bound = purge_bound(request.rules, now);
    PurgeBatch batch;
    PurgeResult result;
    int seen = 0;
    auto it = instances_.upper_bound(request.after);
    while (it != instances_.end() && it->first < bound) {
        if (seen == request.limit || !batch.has_room()) {
            result.is_end = false;
            break;
        }
        ++seen;
        result.last = it->first;
        const InstanceRow& row = it->second.row;
        const auto latest = latest_end(request.rules, row.workflow, row.status, now);
        const bool has_end = row.finished_at != TimePoint{};
        const bool is_purged = latest && has_end && row.finished_at <= *latest;
        if (is_purged) batch.add(row.workflow, row.status, row.revision);
        if (is_purged && !request.only_counts) {
            if (!row.key.empty()) keys_.erase({row.workflow, row.key});
            mail_.erase(row.id);
            tasks_.remove({row.id, kMailTask});
            it = instances_.erase(it);
        } else {
            ++it;
        }
    }
    if (result.is_end) result.last = {};
    result.purged = batch.counts();
    return result;
}

std::optional<SweepTurn> MemoryStore::take_sweep(Duration hold) {
    const Lock lock(mutex_);
    const TimePoint now = clock_.now();
    if (retention_.empty() || sweep_.next_at > now) return std::nullopt;
    sweep_.turn.number += 1;
    sweep_.next_at = now + hold;
    return sweep_.turn;
}

bool MemoryStore::put_sweep(const SweepTurn& turn, Duration pause) {
    const Lock lock(mutex_);
    if (turn.number != sweep_.turn.number) return false;
    sweep_ = {.turn = turn, .next_at = clock_.now() + pause};
    return true;
}

}  // namespace ebb
