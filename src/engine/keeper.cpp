#include "engine/keeper.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ebb::engine {

namespace {

/// A cancel reaches a handler in another process with the next heartbeat, so heartbeats must not be
/// too rare.
constexpr Duration kHeartbeatMax = std::chrono::seconds(1);

/// Workers do not all look for a dead worker at the same time, but within a second after its lease.
constexpr Duration kAfterExpiryMax = std::chrono::milliseconds(500);

/// About half the lease, but not at the same time in every worker.
Duration spread(Duration lease, const std::string& worker) {
    const auto share = static_cast<double>(std::hash<std::string>{}(worker) % 1'000) / 1'000.0;
    return Duration(
        static_cast<Duration::rep>(static_cast<double>(lease.count()) * (0.4 + 0.2 * share))
    );
}

}  // namespace

Keeper::Keeper(
    Environment& environment, Committer& committer, ClaimSignals& signals, HintBox& hints
)
    : environment_(environment),
      committer_(committer),
      signals_(signals),
      hints_(hints),
      lookout_(environment),
      heartbeat_every_(std::min(environment.options.lease / 3, kHeartbeatMax)),
      maintain_every_(spread(environment.options.lease, environment.options.worker_id)) {}

SteadyPoint Keeper::tick(SteadyPoint now) {
    if (environment_.worker.is_displaced) return kSteadyNever;
    if (environment_.worker.is_denied && now >= next_check_) check_rights(now);
    if (now >= next_heartbeat_) {
        const bool has_beaten = beat(now);
        const bool is_denied = environment_.worker.is_denied;
        const Duration soon = is_denied ? kDenialPause : heartbeat_every_ / 4;
        next_heartbeat_ = now + (has_beaten ? heartbeat_every_ : soon);
        if (has_beaten) lookout_.tick(now);
        log_notices();
    }
    if (now >= std::min(next_maintenance_, next_expiry_)) {
        next_maintenance_ = now + maintenance_pause();
        next_expiry_ = kSteadyNever;
        maintain();
    }
    const SteadyPoint next_check = environment_.worker.is_denied ? next_check_ : kSteadyNever;
    return std::min({next_heartbeat_, next_maintenance_, next_expiry_, next_check});
}

void Keeper::check_rights(SteadyPoint now) {
    next_check_ = now + kDenialPause;
    try {
        environment_.store.check_rights();
    } catch (const std::exception& error) {
        return environment_.report("rights_checked", error);
    }
    environment_.worker.is_denied = false;
    environment_.log.info("worker_allowed", {{"worker", environment_.options.worker_id}});
    next_heartbeat_ = now;
    signals_.ring_with_news();
}

Duration Keeper::maintenance_pause() const {
    const Duration rare = environment_.options.poll_max_told * 2;
    return signals_.is_told() ? std::max(maintain_every_, rare) : maintain_every_;
}

WorkerRow Keeper::row() const {
    return {
        .id = environment_.options.worker_id,
        .host = host_name(),
        .pid = process_id(),
        .handlers = environment_.handlers.names(),
        .queues = environment_.options.queues,
        // Zero if there are no threads: people and programs of other versions know what that means.
        .capacity = environment_.worker.is_draining ? 0 : environment_.options.threads,
        .started_at = environment_.started_at,
        .takes_name = !has_name_,
    };
}

bool Keeper::beat(SteadyPoint now) {
    item::Heartbeat heartbeat{.number = committer_.next_heartbeat(), .result = {}};
    try {
        heartbeat.result = environment_.store.heartbeat(row(), environment_.options.lease);
    } catch (const std::exception& error) {
        environment_.report("heartbeat_failed", error);
        return false;
    }
    has_name_ = true;
    if (heartbeat.result.is_displaced) {
        give_way(std::move(heartbeat));
        return true;
    }
    // Counted from before the heartbeat was sent: the store's own count began later.
    heartbeat.valid_until = now + environment_.options.lease;
    next_expiry_ = kSteadyNever;
    if (const Duration rest = heartbeat.result.others_live_for; rest != Duration::max()) {
        next_expiry_ =
            environment_.steady_now() + rest + std::min(maintain_every_ / 20, kAfterExpiryMax);
    }
    learn_subscriptions(heartbeat.result.subscriptions_mark);
    const bool has_new_limits = environment_.limited.set(heartbeat.result.limited_queues);
    committer_.post(std::move(heartbeat));
    committer_.combine(Committer::Role::Guest);
    if (has_new_limits) signals_.ring();
    return true;
}

void Keeper::learn_subscriptions(const std::string& mark) {
    if (environment_.subscribers.mark() == mark) return;
    try {
        const auto all =
            mark.empty() ? std::vector<Subscription>() : environment_.store.subscriptions();
        environment_.subscribers.set(all, mark);
    } catch (const std::exception& error) {
        // The next heartbeat tries again. Until then the earlier ones are known.
        environment_.warn("subscriptions_unread", error);
    }
}

void Keeper::give_way(item::Heartbeat heartbeat) {
    environment_.worker.is_displaced = true;
    environment_.worker.is_draining = true;
    environment_.log.error(
        "worker_displaced",
        {{"worker", environment_.options.worker_id}, {"why", "another process has taken its name"}}
    );
    // This worker will never hold anything again: the committer drops everything.
    committer_.post(std::move(heartbeat));
    committer_.combine(Committer::Role::Guest);
}

void Keeper::log_notices() {
    for (const StoreNotice& notice : environment_.store.take_notices()) {
        environment_.log.warning(
            notice.name, {{"worker", environment_.options.worker_id}, {"message", notice.message}}
        );
    }
}

void Keeper::maintain() {
    try {
        const MaintenanceResult result = environment_.store.maintain();
        signals_.note_due(result.next_due);
        if (result.leases_expired > 0) {
            environment_.log.warning("leases_expired", {{"count", result.leases_expired}});
            hints_.note_any_work();
            signals_.ring();
        }
        lookout_.tell_lost(result.workers_expired);
    } catch (const std::exception& error) {
        environment_.report("maintenance_failed", error);
    }
}

}  // namespace ebb::engine
