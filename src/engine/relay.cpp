#include "engine/relay.h"

#include <algorithm>
#include <utility>

#include "engine/system_workflows.h"

namespace ebb::engine {

namespace {

/// For what other processes have written. This process's own commits ring.
constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr Duration kClearEvery = std::chrono::minutes(10);
/// Notices of a subscription that stays suspended are dropped after this time.
constexpr Duration kKeptSuspended = std::chrono::hours(7 * 24);
constexpr int kBatch = 200;

}  // namespace

Relay::Relay(Environment& environment, std::function<void(std::span<const OutboxRow>)> start)
    : environment_(environment), start_(std::move(start)) {}

SteadyPoint Relay::tick(SteadyPoint now) {
    // The first subscription rings.
    if (environment_.subscribers.is_empty()) return kSteadyNever;
    if (environment_.worker.is_draining) return now + kLookEvery;
    try {
        clear(now);
        while (relay_some()) {
        }
    } catch (const std::exception& error) {
        environment_.warn("relay_failed", error);
    }
    return now + kLookEvery;
}

bool Relay::relay_some() {
    const std::vector<std::string> active = environment_.subscribers.active();
    if (active.empty()) return false;
    const std::vector<OutboxRow> rows = environment_.store.outbox(active, kBatch);
    if (rows.empty()) return false;
    prepare();
    start_(rows);
    environment_.store.remove_outbox(rows);
    return std::ssize(rows) == kBatch;
}

void Relay::prepare() {
    if (is_prepared_) return;
    Store& store = environment_.store;
    store.register_workflow(webhook_workflow(environment_.now()));
    const std::vector<RetentionRule> rules = store.retention();
    const bool has_rule = std::any_of(rules.begin(), rules.end(), [](const RetentionRule& rule) {
        return rule.workflow == kWebhookWorkflow;
    });
    if (!has_rule) {
        store.set_retention(
            {.workflow = std::string(kWebhookWorkflow),
             .keep = {.completed = kDeliveriesKept, .failed = kDeliveriesKept},
             .updated_at = environment_.now()}
        );
    }
    const auto queues = store.queues({.name = std::string(kWebhookQueue), .counts_tasks = false});
    if (queues.empty()) {
        store.set_queue(
            {.name = std::string(kWebhookQueue),
             .limits = {.concurrency_per_key = kDeliveriesPerSubscription},
             .updated_at = environment_.now()}
        );
        environment_.limited.set_one(kWebhookQueue, true);
    }
    is_prepared_ = true;
}

void Relay::clear(SteadyPoint now) {
    if (now < next_clear_) return;
    next_clear_ = now + kClearEvery;
    const TimePoint before = environment_.now() - kKeptSuspended;
    const auto dropped =
        environment_.store.clear_outbox(environment_.subscribers.enabled(), before);
    if (dropped > 0) environment_.log.warning("notices_dropped", {{"count", dropped}});
}

}  // namespace ebb::engine
