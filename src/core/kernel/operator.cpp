#include <algorithm>
#include <utility>

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

void refuse_finished(Transition& t, std::string_view what) {
    t.refuse(
        "invalid_state",
        "The instance is " + std::string(to_string(t.state.status)) + " already; it cannot be " +
            std::string(what) + " any more."
    );
}

Rollback* instance_rollback(Transition& t) {
    for (Rollback& rollback : t.state.rollbacks) {
        if (rollback.kind != Rollback::Kind::Losers) return &rollback;
    }
    return nullptr;
}

void unpark_all(Transition& t) {
    for (Token& token : t.state.tokens) t.unpark(token);
}

void park_all(Transition& t) {
    for (Token& token : t.state.tokens) t.park(token);
}

/// A failing instance that ebbs back already goes on to the start instead of to its savepoint.
void turn_into_cancel(Transition& t, Rollback& rollback, Seq cause) {
    rollback.kind = Rollback::Kind::Cancel;
    rollback.cause = cause;
    rollback.floor = 0;
    // The view passes over what is compensated already, so looking again from the end is safe, and
    // it finds the step whose exhausted compensation is dropped here.
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
            "invalid_state", "The instance is dead-lettered: nothing runs that could be paused."
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

/// Attempts are counted afresh, but their numbers go on: a late result of an old one stays
/// recognisable.
void try_again(Transition& t, Token& token) {
    token.attempt_base = token.attempt;
    ++token.attempt;
    token.losses = 0;
    token.status = TokenStatus::Ready;
    t.schedule(token);
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
    if (was_called) return try_again(t, token);
    token.status = TokenStatus::Ready;
    go_to(t, token, token.node);
}

bool is_frozen_at_compensation(const Token& token) {
    return token.status == TokenStatus::Frozen && token.compensates != 0;
}

/// What an operator asked for must fit what is frozen. False = refused.
bool fits(Transition& t, const event::Requeued& e) {
    const auto& tokens = t.state.tokens;
    const bool by_compensation =
        std::any_of(tokens.begin(), tokens.end(), is_frozen_at_compensation);
    if (e.new_input && by_compensation) {
        t.refuse(
            "invalid_argument", "A compensation is frozen, not a step: it takes no new input."
        );
    } else if (e.skip_compensation && !by_compensation) {
        t.refuse("invalid_argument", "No compensation is frozen that could be skipped.");
    }
    return t.verdict != Decision::Verdict::Refused;
}

}  // namespace

void on_requeued(Transition& t, const event::Requeued& e) {
    if (t.is_over()) return refuse_finished(t, "requeued");
    if (t.phase() != InstanceStatus::DeadLetter) return t.ignore();
    if (!fits(t, e)) return;
    append_request(t, HistoryType::Requeued, e.by, {}, t.state.error);
    const Rollback* rollback = instance_rollback(t);
    t.state.error = rollback != nullptr ? rollback->cause : 0;
    t.set_phase(rollback != nullptr ? InstanceStatus::Compensating : InstanceStatus::Running);
    std::vector<TokenId> frozen;
    for (Token& token : t.state.tokens) {
        if (token.status == TokenStatus::Frozen) {
            frozen.push_back(token.id);
        } else if (t.may_start()) {
            t.unpark(token);
        }
    }
    for (const TokenId id : frozen) requeue_token(t, id, e);
}

}  // namespace ebb::kernel
