#include "engine/claimer.h"

#include <algorithm>
#include <utility>

namespace ebb::engine {

namespace {

/// A task whose instance cannot be understood comes back after this long: a newer program may
/// understand it, and nobody spins on it meanwhile.
constexpr Duration kPutOff = std::chrono::minutes(5);

}  // namespace

TimePoint Claimer::tick(TimePoint now) {
    const WorkerState& worker = environment_.worker;
    if (!worker.may_hold(now)) return now + environment_.options.poll_max;
    // Asked once: it shrinks and grows while other threads commit.
    const int room = std::min(committer_.free_capacity(), environment_.options.claim_batch_max);
    const bool has_news = signals_.take_news();
    if (has_news) pause_ = environment_.options.poll_min;
    const int claimed = claim(now, room, has_news);
    if (claimed > 0) committer_.combine(Committer::Role::Guest);
    if (claimed >= room) {
        // There may be more where this came from.
        signals_.want_room();
        if (committer_.has_room()) return now;
    }
    pause_ = claimed > 0 ? environment_.options.poll_min : std::min(pause_ * 2, longest_pause());
    return std::min(now + pause_, signals_.next_due());
}

Duration Claimer::longest_pause() const {
    const EngineOptions& options = environment_.options;
    return signals_.is_told() ? std::max(options.poll_max, options.poll_max_told)
                              : options.poll_max;
}

int Claimer::claim(TimePoint now, int room, bool is_told) {
    if (signals_.forget_until(now)) {
        // Others' clocks may be slow: what is due is looked for again soon.
        pause_ = environment_.options.poll_min;
        is_told = true;
    }
    ClaimRequest request{
        .worker = environment_.options.worker_id,
        .handlers = {},
        .queues = environment_.options.queues,
        .limit = environment_.options.claim_batch_max,
        .instance = {},
        .is_told = is_told,
    };
    if (room > 0) {
        request.handlers = environment_.handlers.names();
        request.limit = room;
    }
    return claim_and_post(request);
}

int Claimer::claim_stops(const InstanceId& instance) {
    return claim_and_post({
        .worker = environment_.options.worker_id,
        .handlers = {},
        .queues = {},
        .limit = environment_.options.claim_batch_max,
        .instance = instance,
        .stops_only = true,
    });
}

int Claimer::claim_and_post(const ClaimRequest& request) {
    const Committer::Acquiring acquiring(committer_);
    std::vector<Claim> claims;
    try {
        claims = environment_.store.claim(request);
    } catch (const std::exception& error) {
        environment_.report("claim_failed", error);
        return 0;
    }
    ++environment_.statistics.claims;
    environment_.statistics.tasks_claimed += claims.size();
    item::Claimed claimed;
    for (Claim& claim : claims) {
        if (auto task = prepare(std::move(claim))) claimed.tasks.push_back(std::move(*task));
    }
    const int count = static_cast<int>(claimed.tasks.size());
    if (count > 0) committer_.post(std::move(claimed));
    return count;
}

std::optional<item::ClaimedTask> Claimer::prepare(Claim claim) {
    try {
        item::ClaimedTask task{
            .task = claim.task,
            .is_engine_task = claim.handler == kEngineHandler && !claim.is_stop,
            .is_stop = claim.is_stop,
            .was_lost = claim.was_lost,
            .lost_by = claim.lost_by,
            .live = make_live(claim.instance, programs_),
        };
        if (claim.input) task.live->recent.add_older(std::move(*claim.input));
        return task;
    } catch (const Error& error) {
        // Where the store failed, the task stays ours in its eyes until a heartbeat names it as
        // unknown and it is given back.
        if (error.is_transient()) {
            environment_.report("claim_failed", error);
        } else {
            put_off(claim, error);
        }
    } catch (const std::exception& error) {
        put_off(claim, Error(ErrorCode::CorruptState, error.what()));
    }
    return std::nullopt;
}

void Claimer::put_off(const Claim& claim, const Error& why) {
    environment_.log.error(
        "instance_put_off", {{"instance", claim.task.instance.to_string()}, {"error", why.what()}}
    );
    try {
        const TimePoint due = environment_.now() + kPutOff;
        environment_.store.postpone(environment_.options.worker_id, claim.task, due);
        signals_.note_due(due);
    } catch (const std::exception& error) {
        environment_.report("put_off_failed", error);
    }
}

}  // namespace ebb::engine
