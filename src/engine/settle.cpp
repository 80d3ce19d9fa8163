#include "engine/settle.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/view.h"

namespace ebb::engine {

namespace {

/// A request that loses this many races gives up. Each lost race means that another process made
/// progress.
constexpr int kRequestConflictsMax = 100;
constexpr Duration kSetAside = std::chrono::seconds(30);
/// Each attempt may block a connection for seconds while it waits for a lock.
constexpr Duration kDelayMin = std::chrono::seconds(1);
constexpr Duration kDelayMax = std::chrono::seconds(30);

bool has_stopping_token(const InstanceState& state) {
    return std::any_of(state.tokens.begin(), state.tokens.end(), [](const Token& token) {
        return token.stopping;
    });
}

}  // namespace

void Settler::settle(Turn& turn, CommitResult result) {
    switch (result) {
        case CommitResult::Committed:
            return settle_committed(turn);
        case CommitResult::Conflict:
            return settle_conflict(turn);
        case CommitResult::Busy:
            return settle_busy(turn);
        case CommitResult::NotFound:
            return settle_missing(turn);
    }
}

void Settler::settle_missing(Turn& turn) {
    Work work{.instance = turn.live->row.id, .causes = {}, .rewrites = {}};
    work.causes = std::move(turn.causes);
    std::move(turn.deferred.begin(), turn.deferred.end(), std::back_inserter(work.causes));
    drop(
        work,
        Error(
            ErrorCode::InstanceNotFound,
            "The instance " + turn.live->row.id.to_string() + " no longer exists."
        )
    );
}

void Settler::settle_committed(Turn& turn) {
    LiveInstance& live = *turn.live;
    const InstanceId id = live.row.id;
    live.follow(turn.program);
    live.apply(std::move(turn.state), turn.now);
    parts_.holdings.keep_written(turn.live);
    undecide(turn);
    environment().subscribers.note_written(turn.effects);
    for (const TaskChange& change : turn.tasks) settle_row(turn, change);
    observe(live, turn.history);
    live.remember(std::move(turn.history));
    for (Cause& cause : turn.causes) settle_cause(turn, cause);
    settle_mail(turn);
    if (is_terminal(live.state.status)) {
        tell_of_end(turn);
        settle_end(live);
    }
    reopen(std::move(turn.deferred), id, 0);
    parts_.agenda.touch(id);
}

void Settler::settle_unchanged(Turn& turn) {
    undecide(turn);
    for (Cause& cause : turn.causes) settle_cause(turn, cause);
    parts_.agenda.touch(turn.live->row.id);
}

void Settler::settle_conflict(Turn& turn) {
    ++environment().statistics.conflicts;
    const InstanceId id = turn.live->row.id;
    const int conflicts = turn.conflicts + 1;
    forget_instance(turn);
    // A lost race is not a failure: another process made progress.
    for (Held& held : tasks().of(id)) held.fruitless = 0;
    reopen(std::move(turn.causes), id, conflicts);
    reopen(std::move(turn.deferred), id, conflicts);
}

void Settler::settle_busy(Turn& turn) {
    const InstanceId id = turn.live->row.id;
    const auto reason = std::make_exception_ptr(Error(
        ErrorCode::StoreBusy,
        "Instance " + id.to_string() +
            " cannot be written now: something else in the database is in its way. Try again."
    ));
    refuse(turn.causes, reason);
    refuse(turn.deferred, reason);
    forget_instance(turn);
    reopen(std::move(turn.causes), id, turn.conflicts);
    reopen(std::move(turn.deferred), id, turn.conflicts);
    delay(id, turn.delays + 1);
}

void Settler::delay(const InstanceId& id, int delays) {
    const Duration pause = std::min(kDelayMax, kDelayMin * (1 << std::min(delays - 1, 10)));
    const SteadyPoint later = environment().steady_now() + pause;
    parts_.agenda.look_at(later);
    Work& work = parts_.open.work_of(id);
    work.delays = delays;
    work.not_before = later;
    for (Held& held : tasks().of(id)) {
        if (!held.state.is_idle()) continue;
        held.not_before = later;
        held.fruitless = 0;
    }
}

void Settler::forget_instance(const Turn& turn) {
    undecide(turn);
    parts_.holdings.distrust(turn.live->row.id);
}

void Settler::undecide(const Turn& turn) {
    const InstanceId& id = turn.live->row.id;
    const auto undecide_task = [&](TokenId token) EBB_REQUIRES(kCommitter) {
        if (Held* held = tasks().find({.instance = id, .token = token})) held->state.end_decision();
    };
    for (const TaskChange& change : turn.tasks) undecide_task(change.token);
    for (const TokenId token : turn.rewritten) undecide_task(token);
    for (const Cause& cause : turn.causes) {
        if (const auto* token = std::get_if<TokenId>(&cause.origin)) undecide_task(*token);
        if (const auto* attempt = std::get_if<AttemptPtr>(&cause.origin)) {
            undecide_task((*attempt)->task().token);
        }
    }
    for (const Cause& cause : turn.deferred) {
        if (const auto* token = std::get_if<TokenId>(&cause.origin)) undecide_task(*token);
    }
}

void Settler::reopen(std::vector<Cause> causes, const InstanceId& id, int conflicts) {
    for (Cause& cause : causes) {
        // Events that this engine made itself are made again from the then current state.
        if (std::holds_alternative<TokenId>(cause.origin)) continue;
        if (const auto* reply = std::get_if<ReplyPtr>(&cause.origin);
            reply != nullptr && conflicts > kRequestConflictsMax) {
            (*reply)->give(
                {.refusal = {},
                 .error = std::make_exception_ptr(Error(
                     ErrorCode::StoreBusy,
                     "Instance " + id.to_string() +
                         " changes faster than it can be steered; try again."
                 ))}
            );
            continue;
        }
        if (const auto* attempt = std::get_if<AttemptPtr>(&cause.origin)) {
            Held* held = tasks().find((*attempt)->task());
            if (held != nullptr && held->state.returned() == *attempt) held->state.decide_again();
        }
        Work& work = parts_.open.work_of(id);
        work.conflicts = std::max(work.conflicts, conflicts);
        work.causes.push_back(std::move(cause));
    }
}

void Settler::settle_row(const Turn& turn, const TaskChange& change) {
    const TaskRef task{.instance = turn.live->row.id, .token = change.token};
    Held* held = tasks().find(task);
    switch (change.kind) {
        case TaskChange::Kind::Put:
            return settle_put(turn, change);
        case TaskChange::Kind::Remove:
            return parts_.holdings.let_go(task, Attempt::StopReason::Unwanted);
        case TaskChange::Kind::Park:
            if (held != nullptr) held->is_row_dirty = true;
            return;
        case TaskChange::Kind::Stop:
            if (held == nullptr) parts_.hints.note_stop(task.instance);
            break;
        case TaskChange::Kind::Unpark:
            parts_.hints.note_any_work();
            break;
    }
    if (held != nullptr) held->is_row_dirty = true;
    parts_.signals.note_due(turn.now);
}

void Settler::settle_put(const Turn& turn, const TaskChange& change) {
    const TaskRef task{.instance = turn.live->row.id, .token = change.token};
    const bool is_kept =
        std::find(turn.kept.begin(), turn.kept.end(), change.token) != turn.kept.end();
    if (!is_kept) {
        parts_.holdings.let_go(task, Attempt::StopReason::Unwanted);
        const bool is_for_others =
            !change.handler.empty() && !environment().can_run(change.handler, change.queue);
        if (!is_for_others) parts_.signals.note_due(change.due);
        parts_.hints.note_work(change.handler, change.queue, change.due);
        return;
    }
    const Held* held = tasks().find(task);
    const std::uint64_t acquired =
        held != nullptr ? held->acquired : parts_.acquisitions.last_heartbeat();
    parts_.holdings.let_go(task, Attempt::StopReason::Unwanted);
    parts_.holdings.hold(task).acquired = acquired;
}

void Settler::settle_cause(const Turn& turn, Cause& cause) {
    const bool has_changed = cause.verdict == Decision::Verdict::Changed;
    if (const auto* reply = std::get_if<ReplyPtr>(&cause.origin)) {
        (*reply)->give({
            .verdict = cause.verdict,
            .refusal = std::move(cause.refusal),
            .error = nullptr,
            .has_stopping_token = has_stopping_token(turn.live->state),
        });
    } else if (const auto* token = std::get_if<TokenId>(&cause.origin)) {
        note_refused_mail(turn.live->row.id, cause);
        Held* held = tasks().find({.instance = turn.live->row.id, .token = *token});
        if (held == nullptr) return;
        held->is_engine_task = false;
        held->was_lost = false;
        held->is_called_in_vain = false;
        held->outcome.reset();
    } else {
        const AttemptPtr& attempt = std::get<AttemptPtr>(cause.origin);
        Statistics& statistics = environment().statistics;
        if (has_changed && std::holds_alternative<event::StepCompleted>(cause.event)) {
            ++statistics.steps;
        }
        if (std::holds_alternative<event::StepFailed>(cause.event)) ++statistics.attempts_failed;
        Held* held = tasks().find(attempt->task());
        // A stale outcome: another worker has taken the token further, so this worker must not
        // continue the task even if it still holds it.
        if (!has_changed && held != nullptr && held->state.returned() == attempt) {
            held->state.forget_returned();
            parts_.holdings.hand_back(held->task);
        }
    }
}

/// The commit has removed the wake, or given it back because there is more mail.
void Settler::settle_mail(const Turn& turn) {
    if (turn.received.empty()) return;
    environment().statistics.mail_received += turn.received.size();
    const TaskRef wake{.instance = turn.live->row.id, .token = kMailTask};
    const Held* held = tasks().find(wake);
    const bool has_more =
        !turn.deferred.empty() || (held != nullptr && held->letters && held->letters->has_more);
    parts_.holdings.let_go(wake, Attempt::StopReason::Unwanted);
    if (has_more) parts_.signals.note_due(turn.now);
}

void Settler::note_refused_mail(const InstanceId& id, const Cause& cause) {
    if (!cause.postmark || cause.verdict != Decision::Verdict::Refused) return;
    ++environment().statistics.mail_refused;
    environment().log.warning(
        "mail_refused",
        {{"instance", id.to_string()},
         {"kind", cause.postmark->kind},
         {"sender", cause.postmark->key.sender},
         {"code", cause.refusal.code},
         {"error", cause.refusal.message}}
    );
}

void Settler::return_mail(const TaskRef& wake) {
    parts_.holdings.hand_back(wake);
    parts_.signals.note_due(environment().now());
}

void Settler::settle_end(LiveInstance& live) {
    ++environment().statistics.finished;
    const InstanceId id = live.row.id;
    // Unread mail survives the instance: the next claim drops it.
    if (tasks().find({.instance = id, .token = kMailTask}) != nullptr)
        return_mail({.instance = id, .token = kMailTask});
    parts_.holdings.let_go_all(id);
    if (parts_.waiters.end(id)) {
        try {
            parts_.waiters.notify(id, result_of(environment().store, live));
        } catch (const std::exception& error) {
            // The waiting thread will soon look into the store itself.
            environment().report("result_unread", error);
        }
    }
    parts_.holdings.forget(id);
}

void Settler::tell_of_end(const Turn& turn) {
    // A request has ended the instance: work that other workers may be doing for it is no longer
    // needed.
    const bool is_wish =
        std::any_of(turn.causes.begin(), turn.causes.end(), [](const Cause& cause) {
            return is_request(cause) || cause.postmark;
        });
    if (is_wish) parts_.hints.note_stop(turn.live->row.id);
}

bool Settler::drop_requests(Turn& turn, const std::exception_ptr& error) {
    refuse(turn.deferred, error);
    for (const Cause& cause : turn.causes) {
        if (!is_request(cause)) continue;
        std::get<ReplyPtr>(cause.origin)->give({.refusal = {}, .error = error});
    }
    const bool is_only_requests =
        !turn.causes.empty() && std::all_of(turn.causes.begin(), turn.causes.end(), is_request);
    if (!is_only_requests) return false;
    // The requests were answered. They are not repeated, whether or not they were written.
    reopen(std::move(turn.deferred), turn.live->row.id, turn.conflicts);
    forget_instance(turn);
    return true;
}

void Settler::set_aside(Turn& turn, const std::exception& error) {
    const InstanceId id = turn.live->row.id;
    ++environment().statistics.store_errors;
    environment().log.error(
        "commit_refused", {{"instance", id.to_string()}, {"error", error.what()}}
    );
    const auto reason = std::make_exception_ptr(Error(ErrorCode::StoreError, error.what()));
    for (const Cause& cause : turn.causes) {
        if (const auto* reply = std::get_if<ReplyPtr>(&cause.origin)) {
            (*reply)->give({.refusal = {}, .error = reason});
        }
    }
    forget_instance(turn);
    const SteadyPoint later = environment().steady_now() + kSetAside;
    for (Held& held : tasks().of(id)) {
        if (!held.state.is_idle()) continue;
        held.not_before = later;
        held.fruitless = 0;
        if (!held.state.returned()) continue;
        // Its outcome cannot be kept, but the fact that it was called must be.
        held.was_lost = true;
        held.is_called_in_vain = true;
        held.lost_by = environment().options.worker_id;
        held.state.forget_returned();
    }
    parts_.agenda.look_at(later);
    reopen(std::move(turn.deferred), id, turn.conflicts);
}

void Settler::drop(Work& work, const Error& why) {
    environment().log.error(
        "instance_set_aside", {{"instance", work.instance.to_string()}, {"error", why.what()}}
    );
    for (const Cause& cause : work.causes) {
        if (const auto* reply = std::get_if<ReplyPtr>(&cause.origin)) {
            (*reply)->give({.refusal = {}, .error = std::make_exception_ptr(why)});
        }
    }
    parts_.holdings.hand_back_all(work.instance);
    parts_.holdings.forget(work.instance);
}

void Settler::observe(const LiveInstance& live, std::span<const HistoryEvent> events) {
    if (environment().observers.empty() || events.empty()) return;
    const InstanceSummary summary = to_summary(live.row);
    environment().observers.committed(summary, live.state, events, environment().log);
}

}  // namespace ebb::engine
