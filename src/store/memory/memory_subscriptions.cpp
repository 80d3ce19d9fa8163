#include <algorithm>

#include "store/memory/memory_store.h"

// The verbs about subscriptions and what they wait for.

namespace ebb {

void MemoryStore::add_notices(const InstanceId& instance, const Effects& effects) {
    for (const Notice& notice : effects.notices) {
        outbox_.try_emplace(
            {notice.subscription, instance, notice.seq}, OutboxRow{instance, notice}
        );
    }
}

void MemoryStore::put_subscription(const Subscription& subscription) {
    const Lock lock(mutex_);
    if (!subscriptions_.contains(subscription.name)) {
        check_subscription_count(std::ssize(subscriptions_));
    }
    subscriptions_.insert_or_assign(subscription.name, subscription);
}

std::vector<Subscription> MemoryStore::subscriptions() {
    const Lock lock(mutex_);
    std::vector<Subscription> found;
    for (const auto& [name, each] : subscriptions_) found.push_back(each);
    return found;
}

std::optional<Subscription> MemoryStore::find_subscription(std::string_view name) {
    const Lock lock(mutex_);
    const auto found = subscriptions_.find(name);
    return found == subscriptions_.end() ? std::nullopt : std::optional(found->second);
}

bool MemoryStore::remove_subscription(std::string_view name) {
    const Lock lock(mutex_);
    const auto found = subscriptions_.find(name);
    if (found == subscriptions_.end()) return false;
    subscriptions_.erase(found);
    std::erase_if(outbox_, [&](const auto& row) { return std::get<0>(row.first) == name; });
    return true;
}

std::int64_t MemoryStore::note_delivery(const DeliveryNote& note) {
    const Lock lock(mutex_);
    const auto found = subscriptions_.find(note.subscription);
    if (found == subscriptions_.end()) return 0;
    Subscription& each = found->second;
    const bool was_suspended = each.suspended_at != TimePoint{};
    each.failures = note.has_succeeded ? 0 : each.failures + 1;
    const bool is_suspended = each.failures >= Subscription::kFailuresMax;
    if (is_suspended != was_suspended) {
        each.suspended_at = is_suspended ? note.now : TimePoint{};
        each.updated_at = note.now;
    }
    return each.failures;
}

void MemoryStore::add_outbox(std::span<const OutboxRow> rows) {
    const Lock lock(mutex_);
    for (const OutboxRow& row : rows) {
        outbox_.try_emplace({row.notice.subscription, row.instance, row.notice.seq}, row);
    }
}

std::vector<OutboxRow> MemoryStore::outbox(
    const std::vector<std::string>& subscriptions, int limit
) {
    const Lock lock(mutex_);
    std::vector<OutboxRow> rows;
    for (const auto& [place, row] : outbox_) {
        const auto& name = std::get<0>(place);
        if (std::find(subscriptions.begin(), subscriptions.end(), name) != subscriptions.end()) {
            rows.push_back(row);
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const OutboxRow& left, const OutboxRow& right) {
        return left.notice.at < right.notice.at;
    });
    if (std::ssize(rows) > limit) rows.resize(static_cast<std::size_t>(limit));
    return rows;
}

void MemoryStore::remove_outbox(std::span<const OutboxRow> rows) {
    const Lock lock(mutex_);
    for (const OutboxRow& row : rows) {
        outbox_.erase({row.notice.subscription, row.instance, row.notice.seq});
    }
}

std::int64_t MemoryStore::clear_outbox(
    const std::vector<std::string>& subscriptions, TimePoint before
) {
    const Lock lock(mutex_);
    return static_cast<std::int64_t>(std::erase_if(outbox_, [&](const auto& row) {
        const auto& name = std::get<0>(row.first);
        const bool is_known =
            std::find(subscriptions.begin(), subscriptions.end(), name) != subscriptions.end();
        return !is_known || row.second.notice.at < before;
    }));
}

}  // namespace ebb
