#include "engine/sweeper.h"

#include <algorithm>
#include <functional>

#include <ebb/error.h>

namespace ebb::engine {

namespace {

constexpr Duration kAskEvery = std::chrono::minutes(1);
/// A worker that dies in its turn holds the others up for this long.
constexpr Duration kHold = std::chrono::minutes(1);
constexpr int kBatch = 1'000;
constexpr Duration kPauseMin = std::chrono::milliseconds(20);
/// Instances that are kept are read in each pass, so it comes the more rarely the longer they are
/// kept.
constexpr int kPassesPerRetention = 10;
constexpr Duration kPassPauseMin = std::chrono::minutes(1);
constexpr Duration kPassPauseMax = std::chrono::hours(6);

/// About a minute, but not at the same time in every worker.
Duration spread(const std::string& worker) {
    const auto share = static_cast<Duration::rep>(std::hash<std::string>{}(worker) % 1'000);
    return kAskEvery + kAskEvery * share / 4'000;
}

}  // namespace

Sweeper::Sweeper(Environment& environment, ProgramCache& programs)
    : environment_(environment),
      ask_every_(spread(environment.options.worker_id)),
      next_at_(environment.steady_now() + ask_every_),
      repairer_(environment, programs, ask_every_) {}

SteadyPoint Sweeper::tick(SteadyPoint now) {
    if (environment_.worker.is_draining) return kSteadyNever;
    const SteadyPoint next = sweep_if_due(now);
    return std::min({next, reclaim_if_due(now), repairer_.tick(now)});
}

SteadyPoint Sweeper::reclaim_if_due(SteadyPoint now) {
    if (now < reclaim_at_) return reclaim_at_;
    try {
        const Duration pause = environment_.store.reclaim();
        reclaim_at_ = pause == Duration::max() ? kSteadyNever : environment_.steady_now() + pause;
    } catch (const std::exception& error) {
        // A database that cannot do it will not be asked again.
        const auto* known = dynamic_cast<const Error*>(&error);
        const bool may_help = known != nullptr && known->is_transient();
        reclaim_at_ = may_help ? now + ask_every_ : kSteadyNever;
        environment_.warn("reclaim_failed", error);
    }
    return reclaim_at_;
}

SteadyPoint Sweeper::sweep_if_due(SteadyPoint now) {
    if (now < next_at_) return next_at_;
    next_at_ = now + ask_every_;
    try {
        if (!turn_) take_turn();
        if (turn_) sweep();
    } catch (const std::exception& error) {
        // The worker that has the next turn continues where this one stopped.
        turn_.reset();
        environment_.warn("sweep_failed", error);
    }
    return next_at_;
}

void Sweeper::take_turn() {
    turn_ = environment_.store.take_sweep(kHold);
    if (!turn_) return;
    purged_ = 0;
    rules_ = environment_.store.retention();
    // What is dropped with its partition need not be deleted row by row.
    const HousekeepingResult kept = environment_.store.housekeep(rules_);
    const Log& log = environment_.log;
    for (const std::string& name : kept.made) log.info("partition_made", {{"name", name}});
    for (const std::string& name : kept.dropped) log.info("partition_dropped", {{"name", name}});
}

void Sweeper::sweep() {
    const SteadyPoint begun = environment_.steady_now();
    const PurgeResult result = environment_.store.purge(
        {.rules = rules_, .after = turn_->after, .limit = kBatch, .by_partition = true}
    );
    for (const StatusCount& count : result.purged) purged_ += count.count;
    turn_->after = result.last;
    if (result.is_end) return end_pass();
    if (!environment_.store.put_sweep(*turn_, kHold)) return turn_.reset();
    const SteadyPoint now = environment_.steady_now();
    // The database has others to serve.
    next_at_ = now + std::max(now - begun, kPauseMin);
}

void Sweeper::end_pass() {
    const Duration kept = shortest(rules_).value_or(kPassPauseMax * kPassesPerRetention);
    const Duration pause = std::clamp(kept / kPassesPerRetention, kPassPauseMin, kPassPauseMax);
    environment_.store.put_sweep(*turn_, pause);
    turn_.reset();
    if (purged_ > 0) environment_.log.info("instances_purged", {{"count", purged_}});
}

}  // namespace ebb::engine
