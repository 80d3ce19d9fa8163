#include <algorithm>
#include <set>

#include "store/agreement.h"
#include "store/memory/memory_store.h"

// The verbs about queues with limits.

namespace ebb {

RateUse MemoryStore::rate_use(const Queue& queue, TimePoint now) const {
    if (!queue.row.limits.rate) return {};
    std::vector<Starts> starts;
    for (const auto& [at, count] : queue.starts) starts.push_back({at, count});
    return use_of_rate(*queue.row.limits.rate, starts, now);
}

std::optional<memory::Room> MemoryStore::room_of(const Queue& queue, const RateUse& rate) const {
    const QueueLimits& limits = queue.row.limits;
    memory::Room room{
        .queue = queue.row.name,
        .tasks = QueueLimits::kConcurrencyMax,
        .slots_per_key = limits.concurrency_per_key
    };
    if (limits.concurrency) {
        room.tasks = std::min(room.tasks, *limits.concurrency - tasks_.slots(queue.row.name));
    }
    if (limits.rate) room.tasks = std::min(room.tasks, limits.rate->starts - rate.starts);
    if (room.tasks <= 0) return std::nullopt;
    return room;
}

LimitedClaims MemoryStore::claim_limited(const ClaimRequest& request) {
    const Lock lock(mutex_);
    const TimePoint now = clock_.now();
    tasks_.promote(now);
    LimitedClaims result;
    std::vector<memory::Room> rooms;
    for (const std::string& name : std::set(request.queues.begin(), request.queues.end())) {
        const auto found = queues_.find(name);
        if (found == queues_.end() || !tasks_.has_claimable(request, name)) continue;
        const RateUse rate = rate_use(found->second, now);
        if (rate.next != TimePoint{}) result.next_start = std::min(result.next_start, rate.next);
        if (auto room = room_of(found->second, rate)) rooms.push_back(*std::move(room));
    }
    for (const TaskRef& ref : tasks_.claimable_within(request, rooms)) {
        result.claims.push_back(lease(ref, request, true));
        Queue& queue = queues_.at(result.claims.back().slot);
        const auto& rate = queue.row.limits.rate;
        if (!rate) continue;
        ++queue.starts[slice_end(now, rate->period)];
        std::erase_if(queue.starts, [&](const auto& slice) {
            return slice.first + rate->period <= now;
        });
    }
    return result;
}

void MemoryStore::set_queue(const QueueRow& row) {
    const Lock lock(mutex_);
    if (row.limits.is_unlimited()) {
        queues_.erase(row.name);
        return;
    }
    if (!queues_.contains(row.name)) check_queue_count(std::ssize(queues_));
    Queue& queue = queues_[row.name];
    queue.row = row;
    // Without a rate nothing is counted, so the earlier counts are out of date.
    if (!row.limits.rate) queue.starts.clear();
}

QueueUse MemoryStore::use_of(QueueView view, const QueueQuery& query, TimePoint now) const {
    QueueUse use;
    view.slots = tasks_.slots(view.name);
    if (const auto found = queues_.find(view.name); found != queues_.end()) {
        view.limits = found->second.row.limits;
        view.updated_at = found->second.row.updated_at;
        const RateUse rate = rate_use(found->second, now);
        view.starts = rate.starts;
        view.next_start = rate.next;
    }
    if (!query.concurrency_key.empty()) {
        use.key_slots = tasks_.slots(view.name, query.concurrency_key);
    }
    use.view = std::move(view);
    return use;
}

std::vector<QueueUse> MemoryStore::queues(const QueueQuery& query) {
    const Lock lock(mutex_);
    const TimePoint now = clock_.now();
    tasks_.promote(now);
    std::map<std::string, QueueView> views;
    if (query.counts_tasks) views = tasks_.counts();
    for (const auto& [name, queue] : queues_) views.try_emplace(name);
    std::vector<QueueUse> uses;
    for (auto& [name, view] : views) {
        if (!query.name.empty() && query.name != name) continue;
        view.name = name;
        uses.push_back(use_of(std::move(view), query, now));
    }
    return uses;
}

}  // namespace ebb
