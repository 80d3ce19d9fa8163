#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

Seq append_request(
    Transition& t,
    HistoryType type,
    const std::string& by,
    const std::string& reason = {},
    Seq ref = 0
) {
    HistoryEvent event;
    event.type = type;
    event.ref = ref;
    if (!by.empty() || !reason.empty()) {
        event.payload = "{\"by\":";
        append_json_string(event.payload, by);
        event.payload += ",\"reason\":";
        append_json_string(event.payload, reason);
        event.payload += '}';
    }
    return t.append(std::move(event));
}

Rollback* instance_rollback(Transition& t) {
    for (Rollback& rollback : t.state.rollbacks) {
        if (rollback.kind != Rollback::Kind::Losers) return &rollback;
    }
    return nullptr;
}

void park_all(Transition& t) {
    for (Token& token : t.state.tokens) t.park(token);
}

/// A failing instance that is already rolling back continues to the start instead of to its
/// savepoint.
void turn_into_cancel(Transition& t, Rollback& rollback, Seq cause) {
    rollback.kind = Rollback::Kind::Cancel;
    rollback.cause = cause;
    rollback.floor = 0;
    // The view skips what is already compensated, so it is safe to look again from the end. This
    // finds the step whose exhausted compensation is dropped here.
    rollback.cursor = 0;
    std::vector<TokenId> frozen;
    for (const Token& token : t.state.tokens) {
        if (token.status == TokenStatus::Frozen) frozen.push_back(token.id);
    }
    for (const TokenId id : frozen) t.erase_token(id);
    t.set_status(InstanceStatus::Compensating);
    t.state.error = cause;
    unpark_all(t);
}

}  // namespace

void refuse_ended(Transition& t, std::string_view why) {
    const InstanceStatus status = t.state.status;
    // An instance completes and fails; others cancel and abort it.
    const bool ends_itself =
        status == InstanceStatus::Completed || status == InstanceStatus::Failed;
    t.refuse(
        "invalid_state",
        fmt::format(
            "The instance {} already {}{}.", ends_itself ? "has" : "was", to_string(status), why
        )
    );
}

void refuse_finished(Transition& t, std::string_view what) {
    refuse_ended(t, fmt::format(", so it can no longer be {}", what));
}

void unpark_all(Transition& t) {
    for (Token& token : t.state.tokens) t.unpark(token);
}

bool is_repeated(Transition& t, const std::string& request_id) {
    if (request_id.empty()) return false;
    auto& requests = t.state.requests;
    if (std::find(requests.begin(), requests.end(), request_id) != requests.end()) {
        t.ignore();
        return true;
    }
    if (requests.size() >= kRememberedRequestsMax) requests.erase(requests.begin());
    requests.push_back(request_id);
    return false;
}

void on_cancel_requested(Transition& t, const event::CancelRequested& e) {
    if (t.state.status == InstanceStatus::Cancelled) return t.ignore();
    if (t.is_over()) return refuse_finished(t, "cancelled");
    Rollback* rollback = instance_rollback(t);
    const bool is_moving = t.state.status == InstanceStatus::Compensating;
    if (rollback != nullptr && rollback->kind == Rollback::Kind::Cancel && is_moving)
        return t.ignore();
    const Seq cause = append_request(t, HistoryType::CancelRequested, e.by, e.reason);
    if (rollback != nullptr) return turn_into_cancel(t, *rollback, cause);
    t.set_status(InstanceStatus::Running);
    begin_instance_rollback(t, Rollback::Kind::Cancel, cause, 0);
    unpark_all(t);
}

void on_abort_requested(Transition& t, const event::AbortRequested& e) {
    if (t.state.status == InstanceStatus::Aborted) return t.ignore();
    if (t.is_over()) return refuse_finished(t, "aborted");
    const Seq cause = append_request(t, HistoryType::AbortRequested, e.by, e.reason);
    // Their handlers may continue and take effect, so the fact that they were called must be kept.
    stop_tokens(t, 0, {}, StopMode::DropRunning);
    t.state.error = cause;
    HistoryEvent event;
    event.type = HistoryType::Aborted;
    event.ref = cause;
    finish(t, InstanceStatus::Aborted, std::move(event));
}

void on_paused(Transition& t, const event::Paused& e) {
    if (t.state.status == InstanceStatus::Paused) return t.ignore();
    if (t.is_over()) return refuse_finished(t, "paused");
    if (t.state.status == InstanceStatus::DeadLetter) {
        return t.refuse(
            "invalid_state", "The instance is dead-lettered: there is nothing to pause."
        );
    }
    append_request(t, HistoryType::Paused, e.by, e.reason);
    t.state.paused_from = t.state.status;
    t.state.status = InstanceStatus::Paused;
    park_all(t);
}

void on_resumed(Transition& t, const event::Resumed& e) {
    if (t.is_over()) return refuse_finished(t, "resumed");
    if (t.state.status != InstanceStatus::Paused) return t.ignore();
    append_request(t, HistoryType::Unpaused, e.by);
    t.set_status(t.state.paused_from);
    if (t.may_start()) unpark_all(t);
}

void enter_dead_letter(Transition& t, Seq cause) {
    t.state.error = cause;
    if (t.phase() == InstanceStatus::DeadLetter) return;
    HistoryEvent event;
    event.type = HistoryType::DeadLettered;
    event.ref = cause;
    t.append(std::move(event));
    t.set_phase(InstanceStatus::DeadLetter);
    park_all(t);
}

namespace {

/// Attempts are counted from zero again, but their numbers continue, so that a late result of an
/// old attempt stays recognizable.
void try_again(Transition& t, Token& token) {
    token.attempt_base = token.attempt;
    ++token.attempt;
    token.losses = 0;
    token.failed = 0;
    token.status = TokenStatus::Ready;
    begin_step_timeout(t, token);
    t.schedule(token);
}

/// The failed call no longer ends the visit: another call follows, which is compensated in its
/// place.
void try_step_again(Transition& t, Token& token) {
    const Seq failed = token.failed;
    const HistoryEvent failure{.type = HistoryType::StepFailed, .payload = t.past.payload(failed)};
    token.in_doubt = token.in_doubt || outcome_of(failure) == Outcome::Unknown;
    try_again(t, token);
    t.append_at(token, HistoryType::StepRequeued, failed);
}

void requeue_token(Transition& t, TokenId id, const event::Requeued& e) {
    Token& token = *t.state.find_token(id);
    if (token.compensates != 0) {
        if (!e.skip_compensation) return try_again(t, token);
        t.append_at(token, HistoryType::CompensationSkipped, token.compensates);
        return t.erase_token(id);
    }
    if (e.new_input) token.input = t.append_at(token, HistoryType::InputResolved, 0, *e.new_input);
    const bool was_called = t.node_of(token).op == Op::Step && token.attempt > 0;
    if (was_called) return try_step_again(t, token);
    token.status = TokenStatus::Ready;
    go_to(t, token, token.is_at_end ? kNoNode : token.node);
}

bool is_frozen(const Token& token, bool at_compensation) {
    return token.status == TokenStatus::Frozen && (token.compensates != 0) == at_compensation;
}

bool has_frozen(const Transition& t, bool at_compensation) {
    return std::any_of(t.state.tokens.begin(), t.state.tokens.end(), [&](const Token& token) {
        return is_frozen(token, at_compensation);
    });
}

/// An operator's request must fit the frozen token. False = refused.
bool fits(Transition& t, const event::Requeued& e) {
    const bool by_compensation = has_frozen(t, true);
    if (e.new_input && by_compensation) {
        t.refuse(
            "invalid_argument", "A compensation is frozen, not a step: it takes no new input."
        );
    } else if (e.new_input && !(has_frozen(t, false) && freezes_on_failure(t))) {
        t.refuse("invalid_argument", "There is no frozen step that could take a new input.");
    } else if (e.skip_compensation && !by_compensation) {
        t.refuse("invalid_argument", "There is no frozen compensation that could be skipped.");
    }
    return t.verdict != Decision::Verdict::Refused;
}

/// A step in a workflow that rolls back failed while the instance waited for an operator. Now its
/// rollback may begin.
void roll_back_late_failure(Transition& t, TokenId id) {
    const Token& token = *t.state.find_token(id);
    const bool was_called = t.node_of(token).op == Op::Step && token.attempt > 0;
    const Seq cause = token.failed;
    unfire(t, token);
    t.erase_token(id);
    begin_instance_rollback(t, Rollback::Kind::Failure, cause, was_called ? cause : 0);
}

void requeue_frozen(Transition& t, const event::Requeued& e) {
    std::vector<TokenId> frozen;
    for (const Token& token : t.state.tokens) {
        if (token.status == TokenStatus::Frozen) frozen.push_back(token.id);
    }
    TokenId late_failure = 0;
    for (const TokenId id : frozen) {
        const bool is_step = t.state.find_token(id)->compensates == 0;
        if (is_step && !freezes_on_failure(t)) {
            if (late_failure == 0) late_failure = id;
        } else {
            requeue_token(t, id, e);
        }
    }
    if (late_failure != 0) roll_back_late_failure(t, late_failure);
}

}  // namespace

void on_requeued(Transition& t, const event::Requeued& e) {
    if (t.is_over()) return refuse_finished(t, "requeued");
    if (t.phase() != InstanceStatus::DeadLetter) return t.ignore();
    if (!fits(t, e)) return;
    const Seq request = append_request(t, HistoryType::Requeued, e.by, {}, t.state.error);
    const Rollback* rollback = instance_rollback(t);
    t.state.error = rollback != nullptr ? rollback->cause : 0;
    t.set_phase(rollback != nullptr ? InstanceStatus::Compensating : InstanceStatus::Running);
    if (!leave_exception(t, request) || t.is_over()) return;
    requeue_frozen(t, e);
    if (t.may_start()) unpark_all(t);
}

}  // namespace ebb::kernel
