#include "sim/sim_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace ebb::sim {

SimStore::Kept::Kept(const Commit& from)
    : commit(from),
      history(from.history.begin(), from.history.end()),
      tasks(from.tasks.begin(), from.tasks.end()),
      effects(from.effects != nullptr ? *from.effects : Effects{}) {}

std::vector<CommitResult> SimStore::commit(std::span<const Commit> commits) {
    if (std::exchange(is_next_late_, false)) {
        for (const Commit& commit : commits) late_.emplace_back(commit);
        throw Error(ErrorCode::StoreInDoubt, "The answer is late, as the plan says.");
    }
    auto results = FaultyStore::commit(commits);
    for (std::size_t i = 0; i < results.size(); ++i) log(commits[i], results[i]);
    return results;
}

void SimStore::log(const Commit& commit, CommitResult result) {
    log_.commits += result == CommitResult::Committed;
    if (!log_.note) return;
    static constexpr std::array<const char*, 5> kKinds = {
        "put", "remove", "park", "unpark", "stop"
    };
    std::string text = result == CommitResult::Committed ? "    commit" : "    commit refused";
    for (const HistoryEvent& event : commit.history) {
        text += fmt::format(
            " {}:{}{}", event.seq, to_string(event.type), event.node.empty() ? "" : ":" + event.node
        );
    }
    for (const TaskChange& task : commit.tasks) {
        text += fmt::format(
            " [{} {}{}]",
            kKinds[static_cast<std::size_t>(task.kind)],
            task.token,
            task.is_continued ? " kept" : ""
        );
    }
    log_.note(text);
}

void SimStore::release(const WorkerProcess& worker, std::span<const TaskRef> tasks) {
    FaultyStore::release(worker, tasks);
    if (log_.note) {
        for (const TaskRef& task : tasks) log_.note(fmt::format("    release {}", task.token));
    }
}

std::vector<Claim> SimStore::claim(const ClaimRequest& request) {
    auto claims = FaultyStore::claim(request);
    if (log_.note) {
        for (const Claim& claim : claims) {
            log_.note(fmt::format(
                "    claim {}{}{}",
                claim.task.token,
                claim.is_stop ? " stop" : "",
                claim.was_lost ? " lost" : ""
            ));
        }
    }
    return claims;
}

LimitedClaims SimStore::claim_limited(const ClaimRequest& request) {
    auto result = FaultyStore::claim_limited(request);
    for (const Claim& claim : result.claims) {
        log_.limited(claim);
        if (log_.note) log_.note(fmt::format("    claim {} in {}", claim.task.token, claim.slot));
    }
    return result;
}

MaintenanceResult SimStore::maintain() {
    auto result = FaultyStore::maintain();
    if (log_.note && result.leases_expired > 0)
        log_.note(fmt::format("    {} leases run out", result.leases_expired));
    return result;
}

HeartbeatResult SimStore::heartbeat(const WorkerRow& worker, Duration lease) {
    ++heartbeats_;
    return FaultyStore::heartbeat(worker, lease);
}

void SimStore::perform_late() {
    for (Kept& kept : late_) {
        kept.commit.history = kept.history;
        kept.commit.tasks = kept.tasks;
        kept.commit.effects = kept.effects.is_empty() ? nullptr : &kept.effects;
        const auto results = shared_.commit({&kept.commit, 1});
        log(kept.commit, results.front());
    }
    late_.clear();
}

}  // namespace ebb::sim
