// How the committer handles posted items: it changes its tables, and notes what to decide or
// review. No function here calls the store.

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/committer.h"

namespace ebb::engine {

namespace {

constexpr Duration kUnstartedPause = std::chrono::seconds(1);

/// The tasks that the store leases to this worker, sorted: there may be many thousands.
std::vector<TaskRef> tasks_in(const HeartbeatResult& result) {
    std::vector<TaskRef> tasks;
    tasks.reserve(result.held.size());
    for (const HeldTask& held : result.held) tasks.push_back(held.task);
    std::sort(tasks.begin(), tasks.end());
    return tasks;
}

}  // namespace

Held& Committer::hold(const TaskRef& task, std::string slot) {
    return held_.add({.task = task, .acquired = heartbeats_, .lost_by = {}, .slot = std::move(slot)}
    );
}

void Committer::let_go(const TaskRef& task, Attempt::StopReason reason) {
    Held* held = held_.find(task);
    if (held == nullptr) return;
    if (held->state.is_called() && !held->state.withdraw()) {
        parts_.watchdog.stop(held->state.attempt(), reason);
    }
    held_.erase(task);
}

LivePtr Committer::keep_newer(LivePtr live) {
    const LivePtr known = cache_.find(live->row.id);
    if (!known || known->row.revision < live->row.revision) distrust_rows(live->row.id);
    return cache_.keep_newer(std::move(live));
}

void Committer::distrust_rows(const InstanceId& id) {
    for (Held& held : held_.of(id)) {
        held.is_row_dirty = true;
        held.is_doubtful = true;
    }
}

void Committer::absorb(item::Outcome& outcome) {
    const TaskRef task = outcome.attempt->task();
    Held* held = held_.find(task);
    if (held != nullptr && held->state.attempt() == outcome.attempt) held->state.take_outcome();
    // The progress of the failed attempt. A successful attempt needs no such event.
    if (std::holds_alternative<event::StepFailed>(outcome.event)) {
        note_progress(outcome.attempt, outcome.attempt->take_last_progress());
    }
    // Even without its lease, the outcome is decided: the state knows whether it is still wanted.
    work_of(task.instance).causes.push_back({std::move(outcome.event), outcome.attempt, {}, {}});
}

void Committer::note_progress(const AttemptPtr& attempt, std::optional<Payload> value) {
    if (!value) return;
    work_of(attempt->task().instance)
        .causes.push_back(
            {event::StepProgressed{
                 attempt->call().invocation.attempt,
                 std::move(*value),
                 environment().options.worker_id
             },
             attempt,
             {},
             {}}
        );
}

void Committer::absorb(item::Transacted& transacted) {
    using Kind = item::Transacted::Kind;
    const TaskRef task = transacted.attempt->task();
    Held* held = held_.find(task);
    const bool is_ours = held != nullptr && held->state.attempt() == transacted.attempt;
    if (is_ours) held->state.end_call();
    if (transacted.kind == Kind::Committed) {
        Turn& turn = *transacted.turn;
        const LivePtr known = cache_.find(task.instance);
        const std::int64_t before = turn.live->row.revision;
        const bool is_outrun = known != nullptr && known->row.revision > before + 1;
        if (known != nullptr && known->row.revision == before) {
            // What is remembered of its history need not be read again.
            turn.live->recent = std::move(known->recent);
            turn.live->undo = std::move(known->undo);
        }
        settle_committed(turn);
        if (!is_outrun) return;
    }
    cache_.erase(task.instance);
    distrust_rows(task.instance);
    touched_.push_back(task.instance);
    if (!is_ours || transacted.kind == Kind::Committed) return;
    // Another worker has taken the token further, so this worker must not continue it.
    if (transacted.kind == Kind::Stale) return hand_back(task);
    held->not_before = environment().steady_now() + kUnstartedPause;
    look_again_at_ = std::min(look_again_at_, held->not_before);
}

void Committer::absorb(item::Unstarted& unstarted) {
    Held* held = held_.find(unstarted.attempt->task());
    if (held == nullptr || held->state.attempt() != unstarted.attempt) return;
    held->state.end_call();
    held->not_before = environment().steady_now() + kUnstartedPause;
    touched_.push_back(held->task.instance);
}

void Committer::absorb(item::Claimed& claimed) {
    // The item came too late for the heartbeat that reported it. The other process finds it with
    // its own heartbeat.
    if (environment().worker.is_displaced) return;
    for (item::ClaimedTask& task : claimed.tasks) {
        // An attempt of a lease that was lost and has come back may still be running here.
        let_go(task.task, Attempt::StopReason::LeaseLost);
        const Token* token = task.live->state.find_token(task.task.token);
        const Visit visit = token == nullptr ? 0 : token->visit;
        keep_newer(std::move(task.live));
        Held& held = hold(task.task, std::move(task.slot));
        held.is_engine_task = task.is_engine_task;
        held.due_visit = visit;
        held.was_lost = task.was_lost;
        held.lost_by = std::move(task.lost_by);
        held.is_stop = task.is_stop;
        // The row of an engine task says that no handler is called under its lease.
        held.is_row_dirty = task.is_stop || task.was_lost || task.is_engine_task;
        touched_.push_back(task.task.instance);
    }
}

void Committer::absorb(item::Begun& begun) {
    const auto& events = begun.live->recent.events();
    observe(*begun.live, std::vector<HistoryEvent>(events.begin(), events.end()));
    if (is_terminal(begun.live->state.status)) return settle_end(*begun.live);
    // A task that is not held here does not concern this worker until it claims it.
    if (begun.held.empty() || environment().worker.is_displaced) return;
    const LivePtr live = keep_newer(begun.live);
    for (const TokenId token : begun.held) hold({live->row.id, token});
    touched_.push_back(live->row.id);
}

void Committer::absorb(item::Request& request) {
    const InstanceId id = request.live->row.id;
    keep_newer(std::move(request.live));
    Work& work = work_of(id);
    work.causes.push_back(
        {std::move(request.event), std::move(request.reply), {}, {}, request.expected_revision}
    );
    // Its caller waits for an answer.
    work.not_before = {};
    delayed_ = 0;
}

void Committer::absorb(item::Withdrawal&) {
    held_.for_each([this](Held& held) {
        if (!held.state.is_called() || held.state.withdraw())
            touched_.push_back(held.task.instance);
    });
}

void Committer::absorb(item::Shutdown&) {
    held_.for_each([this](Held& held) {
        if (!held.state.is_called()) return;
        held.was_asked_to_stop = true;
        parts_.watchdog.stop(held.state.attempt(), Attempt::StopReason::Shutdown);
    });
}

void Committer::absorb(item::Heartbeat& heartbeat) {
    share_store(heartbeat.result.others);
    drop_lost(heartbeat);
    // Only now, because lost tasks would otherwise count as held and be taken back from their new
    // workers.
    WorkerState& worker = environment().worker;
    const bool was_invalid = !worker.has_valid_leases(environment().steady_now());
    worker.leases_valid_until = heartbeat.valid_until.time_since_epoch().count();
    if (was_invalid) parts_.signals.ring();
    obey_stops(heartbeat.result);
    // Nothing is claimed before the first answer, so a predecessor held the tasks that it names.
    if (!std::exchange(has_adopted_, true)) {
        adopt_orphans(heartbeat.result);
        predecessor_gone_at_ = environment().steady_now() + environment().options.lease;
    } else {
        doubt_predecessor(heartbeat);
        release_unknown(heartbeat);
    }
    const SteadyPoint now = environment().steady_now();
    held_.for_each([&](const Held& held) {
        // Tasks that wait for valid leases can continue, and running attempts report their progress
        // occasionally.
        if (held.state.is_called()) {
            note_progress(held.state.attempt(), held.state.attempt()->take_progress(now));
        } else if (held.state.is_idle()) {
            touched_.push_back(held.task.instance);
        }
    });
}

void Committer::share_store(int others) {
    // Two, so that one is on its way while the other is answered and its consequences are decided.
    const int least = std::min(2, commits_at_once_);
    flights_max_ = std::clamp(2 * commits_at_once_ / (others + 1), least, commits_at_once_);
}

void Committer::absorb(item::Told& told) {
    for (const InstanceId& id : told.stops) {
        if (!held_.has_any_of(id)) continue;
        // The review reads it again and finds the reason.
        distrust_rows(id);
        cache_.erase(id);
        touched_.push_back(id);
    }
}

void Committer::drop_lost(const item::Heartbeat& heartbeat) {
    const std::vector<TaskRef> in_store = tasks_in(heartbeat.result);
    std::vector<TaskRef> lost;
    held_.for_each([&](const Held& held) {
        const bool is_known_to_store =
            std::binary_search(in_store.begin(), in_store.end(), held.task);
        const bool is_on_its_way =
            held.acquired >= heartbeat.number && !heartbeat.result.is_displaced;
        if (!is_known_to_store && !is_on_its_way) lost.push_back(held.task);
    });
    for (const TaskRef& task : lost) {
        ++environment().statistics.leases_lost;
        environment().log.warning(
            "lease_lost", {{"instance", task.instance.to_string()}, {"token", task.token}}
        );
        let_go(task, Attempt::StopReason::LeaseLost);
    }
}

void Committer::obey_stops(const HeartbeatResult& result) {
    for (const HeldTask& task : result.held) {
        Held* held = task.is_stop ? held_.find(task.task) : nullptr;
        if (held == nullptr || held->was_asked_to_stop || held->state.is_deciding()) continue;
        // Another process has changed the instance: the review reads it again and finds the stop.
        held->is_row_dirty = true;
        cache_.erase(task.task.instance);
        touched_.push_back(task.task.instance);
    }
}

void Committer::adopt_orphans(const HeartbeatResult& result) {
    // An earlier process of the same name died while it held these, and may have called handlers.
    for (const HeldTask& orphan : result.held) {
        if (held_.find(orphan.task) == nullptr) adopt(orphan.task, orphan.may_have_been_called);
    }
}

void Committer::adopt(const TaskRef& task, bool may_have_been_called) {
    Held& held = hold(task);
    held.was_lost = may_have_been_called && !environment().worker.knows_calls;
    held.is_called_in_vain = held.was_lost;  // and the row does not say so
    held.lost_by = environment().options.worker_id;
    held.is_row_dirty = true;
    touched_.push_back(task.instance);
}

/// The predecessor may still be alive, and claim and call until its leases end.
void Committer::doubt_predecessor(const item::Heartbeat& heartbeat) {
    if (is_predecessor_gone_) return;
    for (const HeldTask& held : heartbeat.result.held) {
        if (held_.find(held.task) == nullptr) doubts_.push_back({held.task, heartbeat.number});
    }
    const SteadyPoint sent_at = heartbeat.valid_until - environment().options.lease;
    is_predecessor_gone_ = sent_at >= predecessor_gone_at_;
}

void Committer::release_unknown(const item::Heartbeat& heartbeat) {
    // For example, a claim whose answer was lost. Wait for one more heartbeat in case the answer is
    // only late.
    std::vector<TaskRef> unknown;
    if (acquiring_ == 0) {
        for (const HeldTask& held : heartbeat.result.held) {
            if (held_.find(held.task) == nullptr) unknown.push_back(held.task);
        }
    }
    std::sort(unknown.begin(), unknown.end());
    std::vector<TaskRef> again;
    std::set_intersection(
        unknown.begin(), unknown.end(), unknown_.begin(), unknown_.end(), std::back_inserter(again)
    );
    for (const TaskRef& task : again) {
        if (environment().worker.knows_calls) {
            adopt(task, false);
            continue;
        }
        const bool was_called = std::any_of(
            doubts_.begin(), doubts_.end(), [&](const Doubt& doubt) { return doubt.task == task; }
        );
        (was_called ? abandoned_ : releases_).push_back(task);
    }
    unknown_ = std::move(unknown);
    if (!doubts_.empty()) settle_doubts(heartbeat);
}

void Committer::settle_doubts(const item::Heartbeat& heartbeat) {
    const std::vector<TaskRef> in_store = tasks_in(heartbeat.result);
    std::erase_if(doubts_, [&](const Doubt& doubt) {
        if (heartbeat.number <= doubt.since) return false;
        const bool is_in_store = std::binary_search(in_store.begin(), in_store.end(), doubt.task);
        return !is_in_store || held_.find(doubt.task) != nullptr;
    });
}

}  // namespace ebb::engine
