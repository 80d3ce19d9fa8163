#include "engine/held.h"

#include <algorithm>
#include <utility>

#include "call/outcome_text.h"
#include "support/assert.h"

namespace ebb::engine {

void HeldState::call(AttemptPtr attempt) {
    EBB_ASSERT(is_idle(), "a task is called if nothing else is under way for it");
    EBB_ASSERT(attempt != nullptr, "a call has an attempt");
    attempt_ = std::move(attempt);
    state_ = State::Called;
}

void HeldState::end_call() {
    EBB_ASSERT(is_called(), "only a call can end");
    attempt_ = nullptr;
    state_ = State::Idle;
}

bool HeldState::withdraw() {
    EBB_ASSERT(is_called(), "only a call can be withdrawn");
    if (!attempt_->withdraw()) return false;
    end_call();
    return true;
}

void HeldState::take_outcome() {
    EBB_ASSERT(is_called(), "only a call has an outcome");
    returned_ = std::exchange(attempt_, nullptr);
    state_ = State::Deciding;
}

void HeldState::decide() {
    EBB_ASSERT(is_idle(), "one decision at a time, and none while the task is called");
    state_ = State::Deciding;
}

void HeldState::decide_again() {
    EBB_ASSERT(!is_called(), "a task that is called is not being decided on");
    state_ = State::Deciding;
}

void HeldState::end_decision() {
    if (is_deciding()) state_ = State::Idle;
}

namespace {

bool needs_thread_slot(const Held& held) {
    return !held.slot.empty() && held.has_thread;
}

}  // namespace

Held* HeldTable::find(const TaskRef& task) {
    const auto tasks = tasks_.find(task.instance);
    if (tasks == tasks_.end()) return nullptr;
    const auto found =
        std::find_if(tasks->second.begin(), tasks->second.end(), [&](const Held& held) {
            return held.task.token == task.token;
        });
    return found == tasks->second.end() ? nullptr : &*found;
}

std::vector<Held>& HeldTable::of(const InstanceId& id) {
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? none_ : found->second;
}

Held& HeldTable::add(Held held) {
    erase(held.task);
    ++size_;
    slots_ += held.slot.empty() ? 0 : 1;
    thread_slots_ += needs_thread_slot(held) ? 1 : 0;
    return tasks_[held.task.instance].emplace_back(std::move(held));
}

void HeldTable::erase(const TaskRef& task) {
    const auto tasks = tasks_.find(task.instance);
    if (tasks == tasks_.end()) return;
    std::erase_if(tasks->second, [&](const Held& held) {
        if (held.task.token != task.token) return false;
        --size_;
        slots_ -= held.slot.empty() ? 0 : 1;
        thread_slots_ -= needs_thread_slot(held) ? 1 : 0;
        return true;
    });
    if (tasks->second.empty()) tasks_.erase(tasks);
}

namespace {

bool has_handler(const Token& token) {
    return token.status == TokenStatus::Ready || token.status == TokenStatus::Retrying;
}

bool waits(const Token& token) {
    return token.status == TokenStatus::WaitingTimer ||
           token.status == TokenStatus::WaitingDecision ||
           token.status == TokenStatus::WaitingSignal;
}

TaskChange remove_row(TokenId token) {
    return {.kind = TaskChange::Kind::Remove, .token = token, .handler = {}, .due = {}};
}

TaskChange put_engine_row(TokenId token, TimePoint due) {
    return {.kind = TaskChange::Kind::Put, .token = token, .handler = {}, .due = due};
}

/// The row of a deadline whose event had no effect: the store's clock was ahead of this worker's,
/// or the deadline is gone.
TaskChange repaired_deadline_row(const Held& held, const LiveInstance& live, TimePoint now) {
    if (held.task.token == kInstanceToken) {
        const TimePoint deadline = live.state.deadline;
        return deadline == kNever ? remove_row(kInstanceToken)
                                  : put_engine_row(kInstanceToken, std::max(now, deadline));
    }
    const Token* token = live.state.find_token(-held.task.token);
    if (token == nullptr || token->deadline == kNever || token->stopping) {
        return remove_row(held.task.token);
    }
    return put_engine_row(
        held.task.token, std::max(now, token->deadline) + std::chrono::seconds(1)
    );
}

/// The row of a token that has no handler to run now.
NextMove move_of_idle_token(const Held& held, const LiveInstance& live, TimePoint now) {
    using Kind = NextMove::Kind;
    if (held.task.token <= kInstanceToken) {
        return {Kind::Rewrite, {}, repaired_deadline_row(held, live, now)};
    }
    const Token* token = live.state.find_token(held.task.token);
    const bool is_gone = token == nullptr || token->status == TokenStatus::Forked ||
                         token->status == TokenStatus::Frozen || token->is_parked;
    if (is_gone) return {Kind::Rewrite, {}, remove_row(held.task.token)};
    if (!waits(*token)) return {Kind::Release, {}, {}};
    if (token->due == kNever) return {Kind::Rewrite, {}, remove_row(held.task.token)};
    return {Kind::Rewrite, {}, put_engine_row(held.task.token, token->due)};
}

TaskChange put_call_row(const CallPlace& call, TokenId token, TimePoint now) {
    return {
        .kind = TaskChange::Kind::Put,
        .token = token,
        .handler = std::string(call.handler),
        .queue = std::string(call.queue),
        .concurrency_key = std::string(call.concurrency_key),
        .due = now,
        .is_continued = true,
    };
}

}  // namespace

namespace {

/// What was handed in, if the token still waits for it. A stopping token does, too: what it has
/// completed is compensated.
bool is_outcome_wanted(const Held& held, const Token& token) {
    return held.outcome && has_handler(token) &&
           attempt_of(*held.outcome) == present_attempt(token);
}

}  // namespace

std::optional<Event> event_for(const Held& held, const LiveInstance& live) {
    const InstanceState& state = live.state;
    const TokenId id = held.task.token;
    if (is_terminal(state.status)) return std::nullopt;
    if (id <= kInstanceToken) {
        if (!held.is_engine_task) return std::nullopt;
        return event::TimerFired{.token = id, .visit = 0};
    }
    const Token* token = state.find_token(id);
    if (token == nullptr) return std::nullopt;
    if (is_outcome_wanted(held, *token)) return held.outcome;
    if (token->stopping) {
        return event::TokenStopped{.token = id, .visit = token->visit, .was_called = held.was_lost};
    }
    if (held.is_engine_task && waits(*token)) {
        // It belongs to the visit that was due when it was claimed. Another worker may have
        // continued from there, and the token may now wait for something else.
        return event::TimerFired{.token = id, .visit = held.due_visit};
    }
    if (held.was_lost && has_handler(*token)) {
        return event::LeaseLost{.attempt = present_attempt(*token), .worker = held.lost_by};
    }
    return std::nullopt;
}

NextMove next_move(
    const Held& held, const LiveInstance& live, const Environment& environment, const Moment& now
) {
    using Kind = NextMove::Kind;
    if (is_terminal(live.state.status)) return {Kind::Release, {}, {}};
    const TokenId token = held.task.token;
    const auto call = call_place(*live.program, live.state, token);
    if (!call) return move_of_idle_token(held, live, now.date);
    const bool is_for_others = !environment.can_run(call->handler, call->queue) ||
                               environment.lacks_transaction(call->handler);
    if (is_for_others) {
        return {Kind::Rewrite, {}, put_call_row(*call, token, now.date)};
    }
    if (!environment.worker.may_hold(now.steady)) {
        if (environment.worker.may_come_back()) return {Kind::Wait, {}, {}};
        return held.is_row_dirty ? NextMove{Kind::Rewrite, {}, put_call_row(*call, token, now.date)}
                                 : NextMove{Kind::Release, {}, {}};
    }
    // A task of a queue with limits runs in the slot with which it was claimed, or is claimed
    // again.
    const bool has_right_slot =
        held.slot.empty() ? !environment.limited.has(call->queue) : held.slot == call->queue;
    if (held.is_row_dirty || !has_right_slot) {
        return {Kind::Rewrite, {}, put_call_row(*call, token, now.date)};
    }
    return {Kind::Run, invocation(*live.program, live.identity(), live.state, token), {}};
}

bool is_surely_held(const Held& held, const Environment& environment, SteadyPoint now) {
    return held.is_stop || environment.worker.has_valid_leases(now);
}

Standing standing_of(const Attempt& attempt, const LiveInstance& live) {
    const AttemptRef& ref = attempt.call().invocation.attempt;
    const Token* token = live.state.find_token(ref.token);
    const bool is_same = token != nullptr && present_attempt(*token) == ref && has_handler(*token);
    if (!is_same || is_terminal(live.state.status)) return Standing::Orphaned;
    return token->stopping ? Standing::Unwanted : Standing::Wanted;
}

}  // namespace ebb::engine
