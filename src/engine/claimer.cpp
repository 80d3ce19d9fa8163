#include "engine/claimer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "call/outcome_text.h"

namespace ebb::engine {

namespace {

/// A task whose instance cannot be read comes back after this long. A newer program may be able to
/// read it, and until then no worker spins on it.
constexpr Duration kPutOff = std::chrono::minutes(5);
/// Mail of an instance that has moved waits as long as it has been away, within these bounds.
constexpr Duration kMovedPauseMin = std::chrono::seconds(1);
constexpr Duration kMovedPauseMax = std::chrono::minutes(1);
/// While no transaction can be begun, the next look is at most this far away.
constexpr Duration kTransactionPause = std::chrono::seconds(1);

}  // namespace

SteadyPoint Claimer::tick(SteadyPoint now) {
    const WorkerState& worker = environment_.worker;
    if (!worker.may_hold(now)) {
        // A freed slot is left to other workers.
        if (signals_.take_free_slots() > 0) hints_.note_any_work();
        return now + environment_.options.poll_max;
    }
    // Read once: it shrinks and grows while other threads commit.
    const int room = std::min(committer_.free_capacity(), environment_.options.claim_batch_max);
    const bool has_news = signals_.take_news();
    if (has_news) pause_ = environment_.options.poll_min;
    const int claimed = claim(room, has_news);
    if (claimed > 0) committer_.combine(Committer::Role::Guest);
    if (claimed >= room) {
        // There may be more tasks like these.
        signals_.want_room();
        if (committer_.has_room()) return now;
    }
    pause_ = claimed > 0 ? environment_.options.poll_min : std::min(pause_ * 2, longest_pause());
    if (!environment_.worker.may_transact) pause_ = std::min(pause_, kTransactionPause);
    // A due time is a date: if the clock is set, the next look is at most one pause away.
    return std::min(now + pause_, environment_.moment().at(signals_.next_due()));
}

Duration Claimer::longest_pause() const {
    const EngineOptions& options = environment_.options;
    return signals_.is_told() ? std::max(options.poll_max, options.poll_max_told)
                              : options.poll_max;
}

std::int64_t Claimer::bytes_max() const {
    return static_cast<std::int64_t>(environment_.options.claim_bytes_max);
}

int Claimer::claim(int room, bool is_told) {
    // If results cannot be written, do not begin calls; other workers may be allowed to.
    if (environment_.worker.is_denied) return 0;
    if (signals_.forget_until(environment_.now())) {
        // Clocks of other workers may be slow: look again soon for what is due.
        pause_ = environment_.options.poll_min;
        is_told = true;
    }
    ClaimRequest request{
        .worker = environment_.options.worker_id,
        .handlers = {},
        .queues = environment_.options.queues,
        .limited_queues = environment_.limited.names(),
        .limit = room,
        .bytes_max = bytes_max(),
        .instance = {},
        .is_told = is_told,
    };
    if (room > 0) request.handlers = claimable_handlers();
    if (request.limited_queues.empty()) return claim_unlimited(std::move(request)).count;
    return claim_within_limits(std::move(request));
}

std::vector<std::string> Claimer::claimable_handlers() {
    std::vector<std::string> names = environment_.handlers.names();
    if (!environment_.handlers.has_transactional()) return names;
    environment_.worker.may_transact = environment_.store.can_begin_transaction();
    std::erase_if(names, [this](const std::string& name) {
        return environment_.lacks_transaction(name);
    });
    return names;
}

Claimer::Claimed Claimer::claim_unlimited(ClaimRequest request) {
    // Without threads it is driven step by step, and takes no more than it was asked for.
    const bool has_threads = environment_.worker.has_threads;
    Claimed claimed;
    if (request.limit > 0 && !(has_threads && request.handlers.empty())) {
        claimed = claim_and_post(request);
        const bool has_left_own = has_threads && claimed.own > 0 && claimed.count >= request.limit;
        if (claimed.has_failed || !has_left_own) return claimed;
    }
    // The engine's own tasks need no room, and workers in SQL hand in many at a time.
    request.handlers.clear();
    request.limit = environment_.options.claim_batch_max;
    const Claimed own = claim_and_post(request);
    return {
        .count = claimed.count + own.count,
        .own = claimed.own + own.own,
        .has_failed = own.has_failed
    };
}

int Claimer::claim_within_limits(ClaimRequest request) {
    const int free_slots = signals_.take_free_slots();
    // In turns, so that neither kind of queue can take all the room from the other.
    const bool is_limited_first = std::exchange(is_limited_first_, !is_limited_first_);
    int limited = 0;
    int all = 0;
    for (const bool is_limited : {is_limited_first, !is_limited_first}) {
        const Claimed claimed = is_limited ? claim_limited(request) : claim_unlimited(request);
        if (is_limited) limited = claimed.count;
        all += claimed.count;
        request.limit -= claimed.count;
        if (claimed.has_failed) break;
    }
    // If the slot is not used again here, another worker may wait for it.
    if (limited < free_slots) hints_.note_any_work();
    return all;
}

Claimer::Claimed Claimer::claim_limited(const ClaimRequest& request) {
    ClaimRequest limited = request;
    const std::vector<std::string>& served = environment_.options.queues;
    limited.queues = request.limited_queues;
    std::erase_if(limited.queues, [&](const std::string& queue) {
        return !served.empty() && std::find(served.begin(), served.end(), queue) == served.end();
    });
    if (limited.queues.empty()) return {};
    const auto is_async = [this](const std::string& handler) {
        return environment_.handlers.find_async(handler) != nullptr;
    };
    ClaimRequest without_threads = limited;
    std::erase_if(without_threads.handlers, std::not_fn(is_async));
    std::erase_if(limited.handlers, is_async);
    // Slots beyond the number of threads would be kept from other workers for no benefit. A call
    // without a thread needs none.
    const int threads = environment_.options.threads - environment_.statistics.thread_slots;
    limited.limit = std::min(request.limit, threads);
    const Claimed claimed = claim_slots(limited);
    if (claimed.has_failed) return claimed;
    without_threads.limit -= claimed.count;
    const Claimed others = claim_slots(without_threads);
    return {.count = claimed.count + others.count, .has_failed = others.has_failed};
}

Claimer::Claimed Claimer::claim_slots(const ClaimRequest& request) {
    if (request.limit <= 0 || request.handlers.empty()) return {};
    const Committer::Acquiring acquiring(committer_);
    try {
        LimitedClaims claims = environment_.store.claim_limited(request);
        signals_.note_due(claims.next_start);
        return {.count = post(std::move(claims.claims))};
    } catch (const std::exception& error) {
        environment_.report("claim_failed", error);
        return {.has_failed = true};
    }
}

int Claimer::claim_stops(const InstanceId& instance) {
    return claim_and_post({
                              .worker = environment_.options.worker_id,
                              .handlers = {},
                              .queues = {},
                              .limit = environment_.options.claim_batch_max,
                              .bytes_max = bytes_max(),
                              .instance = instance,
                              .stops_only = true,
                          })
        .count;
}

Claimer::Claimed Claimer::claim_and_post(const ClaimRequest& request) {
    const Committer::Acquiring acquiring(committer_);
    std::vector<Claim> claims;
    try {
        claims = environment_.store.claim(request);
    } catch (const std::exception& error) {
        environment_.report("claim_failed", error);
        return {.has_failed = true};
    }
    const auto own = std::count_if(claims.begin(), claims.end(), [](const Claim& claim) {
        return claim.handler == kEngineHandler && !claim.is_stop;
    });
    return {.count = post(std::move(claims)), .own = static_cast<int>(own)};
}

int Claimer::post(std::vector<Claim> claims) {
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
        const bool is_mail = claim.task.token == kMailTask;
        if (is_mail && !may_read_mail(claim)) return std::nullopt;
        item::ClaimedTask task{
            .task = claim.task,
            .is_engine_task = claim.handler == kEngineHandler && !claim.is_stop,
            .is_stop = claim.is_stop,
            .was_lost = claim.was_lost,
            .lost_by = claim.lost_by,
            .slot = claim.slot,
            .has_thread = environment_.handlers.find_async(claim.handler) == nullptr,
            .live = make_live(claim.instance, programs_),
        };
        // The outcome of an earlier attempt may still be on a row that names a handler.
        if (claim.handler == kEngineHandler && !claim.outcome.empty()) {
            task.outcome = decode_outcome(claim.outcome, claim.task.token);
        }
        if (is_mail) task.letters = read_letters(claim, *task.live->program, environment_);
        if (claim.input) task.live->recent.add_older(std::move(*claim.input));
        return task;
    } catch (const Error& error) {
        // If the store failed, it still counts the task as held by this worker. A heartbeat then
        // reports the task as unknown, and the worker releases it.
        if (may_pass(error)) {
            environment_.report("claim_failed", error);
        } else {
            put_off(claim, error);
        }
    } catch (const std::exception& error) {
        put_off(claim, Error(ErrorCode::CorruptState, error.what()));
    }
    return std::nullopt;
}

bool Claimer::may_read_mail(const Claim& claim) {
    const InstanceRow& instance = claim.instance;
    if (is_terminal(instance.status)) {
        const auto count = environment_.store.drop_mail(instance.id);
        environment_.statistics.mail_dropped += static_cast<std::uint64_t>(count);
        environment_.log.warning(
            "mail_dropped",
            {{"instance", instance.id.to_string()},
             {"status", std::string(to_string(instance.status))},
             {"count", count}}
        );
        return false;
    }
    if (instance.status != InstanceStatus::Moved) return true;
    const TimePoint now = environment_.now();
    const Duration pause =
        std::clamp<Duration>(now - instance.updated_at, kMovedPauseMin, kMovedPauseMax);
    environment_.store.postpone(environment_.process(), claim.task, now + pause);
    return false;
}

void Claimer::put_off(const Claim& claim, const Error& why) {
    environment_.log.error(
        "instance_put_off", {{"instance", claim.task.instance.to_string()}, {"error", why.what()}}
    );
    try {
        const TimePoint due = environment_.now() + kPutOff;
        environment_.store.postpone(environment_.process(), claim.task, due);
        signals_.note_due(due);
    } catch (const std::exception& error) {
        environment_.report("put_off_failed", error);
    }
}

}  // namespace ebb::engine
