#include "engine/intake.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb::engine {

namespace {

constexpr Duration kUnstartedPause = std::chrono::seconds(1);

}  // namespace

void Intake::take_items() {
    const auto max = static_cast<std::size_t>(environment().options.commit_batch_max);
    settled_before_ = parts_.flights.settled();
    wants_quiet_ = false;
    for (Item& item : std::exchange(held_back_, {})) absorb_or_hold_back(std::move(item));
    for (Item& item : parts_.inbox.take(max)) absorb_or_hold_back(std::move(item));
}

bool Intake::may_absorb() const {
    const bool has_settled = parts_.flights.settled() != settled_before_;
    return holds_back() && (has_settled || !parts_.flights.has_pending());
}

void Intake::absorb_or_hold_back(Item item) {
    if (!must_wait(item)) {
        std::visit([this](auto& posted) EBB_REQUIRES(kCommitter) { absorb(posted); }, item);
        return;
    }
    held_back_.push_back(std::move(item));
}

bool Intake::must_wait(const Item& item) {
    const auto is_pending = [this](const InstanceId& id)
                                EBB_REQUIRES(kCommitter) { return parts_.flights.is_pending(id); };
    if (const auto* outcome = std::get_if<item::Outcome>(&item)) {
        return is_pending(outcome->attempt->task().instance);
    }
    if (const auto* transacted = std::get_if<item::Transacted>(&item)) {
        return is_pending(transacted->attempt->task().instance);
    }
    if (const auto* unstarted = std::get_if<item::Unstarted>(&item)) {
        return is_pending(unstarted->attempt->task().instance);
    }
    if (const auto* begun = std::get_if<item::Begun>(&item)) return is_pending(begun->live->row.id);
    if (const auto* asked = std::get_if<item::Request>(&item))
        return is_pending(asked->live->row.id);
    if (const auto* claimed = std::get_if<item::Claimed>(&item)) {
        return std::any_of(
            claimed->tasks.begin(),
            claimed->tasks.end(),
            [&](const item::ClaimedTask& task)
                EBB_REQUIRES(kCommitter) { return is_pending(task.task.instance); }
        );
    }
    // The item concerns all held tasks.
    const bool must_wait = parts_.flights.has_pending();
    wants_quiet_ |= must_wait;
    return must_wait;
}

void Intake::refuse_requests(const std::exception_ptr& error) {
    std::vector<Item> kept;
    for (Item& item : parts_.inbox.take(std::numeric_limits<std::size_t>::max())) {
        if (const auto* request = std::get_if<item::Request>(&item)) {
            request->reply->give({.refusal = {}, .error = error});
        } else {
            kept.push_back(std::move(item));
        }
    }
    parts_.inbox.put_back(std::move(kept));
    std::erase_if(held_back_, [&](const Item& item) {
        const auto* request = std::get_if<item::Request>(&item);
        if (request != nullptr) request->reply->give({.refusal = {}, .error = error});
        return request != nullptr;
    });
}

void Intake::absorb(item::Outcome& outcome) {
    const TaskRef task = outcome.attempt->task();
    Held* held = tasks().find(task);
    if (held != nullptr && held->state.attempt() == outcome.attempt) held->state.take_outcome();
    // The progress of the failed attempt. A successful attempt needs no such event.
    if (std::holds_alternative<event::StepFailed>(outcome.event)) {
        note_progress(outcome.attempt, outcome.attempt->take_last_progress());
    }
    // Even without its lease, the outcome is decided: the state knows whether it is still wanted.
    parts_.open.work_of(task.instance)
        .causes.push_back({std::move(outcome.event), outcome.attempt, {}, {}});
}

void Intake::note_progress(const AttemptPtr& attempt, std::optional<Payload> value) {
    if (!value) return;
    parts_.open.work_of(attempt->task().instance)
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

void Intake::absorb(item::Transacted& transacted) {
    using Kind = item::Transacted::Kind;
    const TaskRef task = transacted.attempt->task();
    Held* held = tasks().find(task);
    const bool is_ours = held != nullptr && held->state.attempt() == transacted.attempt;
    if (is_ours) held->state.end_call();
    if (transacted.kind == Kind::Committed) {
        Turn& turn = *transacted.turn;
        const LivePtr known = parts_.holdings.known(task.instance);
        const std::int64_t before = turn.live->row.revision;
        const bool is_outrun = known != nullptr && known->row.revision > before + 1;
        if (known != nullptr && known->row.revision == before) {
            // What is remembered of its history need not be read again.
            turn.live->recent = std::move(known->recent);
            turn.live->undo = std::move(known->undo);
        }
        parts_.settler.settle_committed(turn);
        if (!is_outrun) return;
    }
    parts_.holdings.distrust(task.instance);
    if (!is_ours || transacted.kind == Kind::Committed) return;
    // Another worker has taken the token further, so this worker must not continue it.
    if (transacted.kind == Kind::Stale) return parts_.holdings.hand_back(task);
    held->not_before = environment().steady_now() + kUnstartedPause;
    parts_.agenda.look_at(held->not_before);
}

void Intake::absorb(item::Unstarted& unstarted) {
    Held* held = tasks().find(unstarted.attempt->task());
    if (held == nullptr || held->state.attempt() != unstarted.attempt) return;
    held->state.end_call();
    held->not_before = environment().steady_now() + kUnstartedPause;
    parts_.agenda.touch(held->task.instance);
}

void Intake::absorb(item::Claimed& claimed) {
    // The item came too late for the heartbeat that reported it. The other process finds it with
    // its own heartbeat.
    if (environment().worker.is_displaced) return;
    for (item::ClaimedTask& task : claimed.tasks) {
        // An attempt of a lease that was lost and has come back may still be running here.
        parts_.holdings.let_go(task.task, Attempt::StopReason::LeaseLost);
        const Token* token = task.live->state.find_token(task.task.token);
        const Visit visit = token == nullptr ? 0 : token->visit;
        parts_.holdings.keep_newer(std::move(task.live));
        Held& held = parts_.holdings.hold(task.task, std::move(task.slot), task.has_thread);
        held.is_engine_task = task.is_engine_task;
        held.due_visit = visit;
        held.was_lost = task.was_lost;
        held.lost_by = std::move(task.lost_by);
        held.outcome = std::move(task.outcome);
        held.letters = std::move(task.letters);
        held.is_stop = task.is_stop;
        // The row of an engine task says that no handler is called under its lease.
        held.is_row_dirty = task.is_stop || task.was_lost || task.is_engine_task;
        parts_.agenda.touch(task.task.instance);
    }
}

void Intake::absorb(item::Begun& begun) {
    const auto& events = begun.live->recent.events();
    parts_.settler.observe(*begun.live, std::vector<HistoryEvent>(events.begin(), events.end()));
    if (is_terminal(begun.live->state.status)) return parts_.settler.settle_end(*begun.live);
    // A task that is not held here does not concern this worker until it claims it.
    if (begun.held.empty() || environment().worker.is_displaced) return;
    const LivePtr live = parts_.holdings.keep_newer(begun.live);
    for (const TokenId token : begun.held) parts_.holdings.hold({live->row.id, token});
    parts_.agenda.touch(live->row.id);
}

void Intake::absorb(item::Request& request) {
    const InstanceId id = request.live->row.id;
    parts_.holdings.keep_newer(std::move(request.live));
    parts_.open.urgent_work_of(id).causes.push_back(
        {std::move(request.event), std::move(request.reply), {}, {}, request.expected_revision}
    );
}

void Intake::absorb(item::Withdrawal&) {
    tasks().for_each([this](Held& held) EBB_REQUIRES(kCommitter) {
        if (!held.state.is_called() || held.state.withdraw())
            parts_.agenda.touch(held.task.instance);
    });
}

void Intake::absorb(item::Shutdown&) {
    tasks().for_each([this](Held& held) EBB_REQUIRES(kCommitter) {
        if (!held.state.is_called()) return;
        held.was_asked_to_stop = true;
        parts_.watchdog.stop(held.state.attempt(), Attempt::StopReason::Shutdown);
    });
}

void Intake::absorb(item::Heartbeat& heartbeat) {
    parts_.flights.share_store(heartbeat.result.others);
    parts_.audit.compare(heartbeat);
    const SteadyPoint now = environment().steady_now();
    tasks().for_each([&](const Held& held) EBB_REQUIRES(kCommitter) {
        // Tasks that wait for valid leases can continue, and running attempts report their progress
        // occasionally.
        if (held.state.is_called()) {
            note_progress(held.state.attempt(), held.state.attempt()->take_progress(now));
        } else if (held.state.is_idle()) {
            parts_.agenda.touch(held.task.instance);
        }
    });
}

void Intake::absorb(item::Told& told) {
    for (const InstanceId& id : told.stops) {
        if (!tasks().has_any_of(id)) continue;
        // The review reads it again and finds the reason.
        parts_.holdings.distrust(id);
    }
}

}  // namespace ebb::engine
