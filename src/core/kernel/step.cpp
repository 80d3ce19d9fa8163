#include <utility>

#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

/// A worker's timeout ends the attempts at the step's deadline; this later wake is for a step that
/// no worker has.
constexpr Duration kDeadlineGrace = std::chrono::seconds(1);

/// The token whose present attempt `ref` names; null = the outcome is stale.
Token* find_attempt(Transition& t, const AttemptRef& ref) {
    Token* token = t.state.find_token(ref.token);
    if (token == nullptr || token->visit != ref.visit || token->attempt != ref.attempt)
        return nullptr;
    const bool has_handler =
        token->status == TokenStatus::Ready || token->status == TokenStatus::Retrying;
    return has_handler ? token : nullptr;
}

HistoryEvent attempt_details(TimePoint started_at, const std::string& worker) {
    HistoryEvent details;
    details.started_at = started_at;
    details.worker = worker;
    return details;
}

Seq append_attempt(
    Transition& t, const Token& token, HistoryType type, HistoryEvent details, Payload payload
) {
    details.type = type;
    details.node = t.node_of(token).name;
    details.path = t.path_of(token);
    details.token = token.id;
    details.visit = token.visit;
    details.attempt = token.attempt;
    details.ref = token.input;
    details.payload = std::move(payload);
    return t.append(std::move(details));
}

/// What follows on a failure for good: the block around it bears it, the instance waits for an
/// operator, or it ebbs back.
void give_up(Transition& t, TokenId id, Seq cause, Seq first) {
    if (bear_branch_failure(t, *t.state.find_token(id), cause)) return;
    if (t.program.definition().on_error == Definition::OnError::DeadLetter) {
        Token& token = *t.state.find_token(id);
        token.status = TokenStatus::Frozen;
        if (token.deadline != kNever) t.remove_task(deadline_task(id));
        token.deadline = kNever;
        t.remove_task(id);
        enter_dead_letter(t, cause);
        return;
    }
    t.erase_token(id);
    begin_instance_rollback(t, Rollback::Kind::Failure, cause, first);
}

/// The first loss is nobody's fault and costs no time. After that a step that kills its workers
/// must not take down, time and again, those that happen to wait beside it: 1 s, 4 s, 16 s.
Duration delay_after_loss(std::int32_t losses) {
    if (losses < 2) return Duration::zero();
    return kLossDelay * (std::int64_t{1} << (2 * (losses - 2)));
}

bool may_retry(const AttemptPolicy& policy, const Token& token, const Failure& failure) {
    return !failure.is_permanent && token.attempt - token.attempt_base < policy.max_attempts;
}

void retry(
    Transition& t,
    Token& token,
    const AttemptPolicy& policy,
    const Failure& failure,
    HistoryEvent details
) {
    const HistoryType type =
        token.compensates != 0 ? HistoryType::CompensationRetried : HistoryType::StepRetried;
    append_attempt(t, token, type, std::move(details), failure_payload(failure));
    const Duration delay = failure.retry_after.value_or(
        retry_delay(policy.backoff, token.attempt - token.attempt_base, t.identity.id, token.visit)
    );
    token.due = t.now + delay;
    token.status = TokenStatus::Retrying;
    ++token.attempt;
    t.schedule(token);
}

/// The token's attempt has failed (by its handler, or because its worker is gone).
void fail_attempt(Transition& t, Token& token, Failure failure, HistoryEvent details) {
    if (token.compensates != 0)
        return on_compensation_failed(t, token, std::move(failure), std::move(details));
    const AttemptPolicy& policy = t.node_of(token).attempts;
    if (!may_retry(policy, token, failure))
        return fail_step(t, token.id, std::move(failure), std::move(details));
    const Duration delay = failure.retry_after.value_or(
        retry_delay(policy.backoff, token.attempt - token.attempt_base, t.identity.id, token.visit)
    );
    if (t.now + delay >= token.deadline) {
        failure.message =
            "The next attempt would begin after the step's step_timeout. Last error: " +
            failure.message;
        failure.code = "step_timeout";
        return fail_step(t, token.id, std::move(failure), std::move(details));
    }
    retry(t, token, policy, failure, std::move(details));
}

}  // namespace

void enter_step(Transition& t, Token& token) {
    const ProgramNode& node = t.node_of(token);
    if (node.input) {
        const Json input = node.input->render(TokenVariables(t, token));
        token.input = t.append_at(token, HistoryType::InputResolved, 0, to_text(input));
    }
    token.attempt = 1;
    if (node.attempts.step_timeout > Duration::zero()) {
        token.deadline = t.now + node.attempts.step_timeout;
        t.set_task(
            {.kind = TaskChange::Kind::Put,
             .token = deadline_task(token.id),
             .handler = {},
             .due = token.deadline + kDeadlineGrace}
        );
    }
    t.schedule(token);
}

void on_step_completed(Transition& t, const event::StepCompleted& e) {
    Token* token = find_attempt(t, e.attempt);
    if (token == nullptr) return t.ignore();
    if (token->compensates != 0) return on_compensation_completed(t, *token, e);
    const Seq output = append_attempt(
        t, *token, HistoryType::StepCompleted, attempt_details(e.started_at, e.worker), e.output
    );
    if (token->stopping) return t.erase_token(token->id);
    token->input = output;
    go_to(t, *token, t.node_of(*token).next);
}

void fail_step(Transition& t, TokenId id, Failure failure, HistoryEvent details) {
    const Token& token = *t.state.find_token(id);
    const Seq cause = append_attempt(
        t, token, HistoryType::StepFailed, std::move(details), failure_payload(failure)
    );
    give_up(t, id, cause, cause);
}

void fail_node(Transition& t, TokenId id, Failure failure) {
    const Token& token = *t.state.find_token(id);
    const Seq cause =
        t.append_at(token, HistoryType::StepFailed, token.input, failure_payload(failure));
    give_up(t, id, cause, 0);
}

void on_step_failed(Transition& t, const event::StepFailed& e) {
    Token* token = find_attempt(t, e.attempt);
    if (token == nullptr) return t.ignore();
    HistoryEvent details = attempt_details(e.started_at, e.worker);
    if (token->stopping) {
        return end_stopped_token(t, token->id, true, Outcome::Failed, failure_payload(e.failure));
    }
    fail_attempt(t, *token, e.failure, std::move(details));
}

void on_lease_lost(Transition& t, const event::LeaseLost& e) {
    Token* token = find_attempt(t, e.attempt);
    if (token == nullptr) return t.ignore();
    if (token->stopping) return end_stopped_token(t, token->id, true, Outcome::Unknown);
    HistoryEvent details = attempt_details({}, e.worker);
    const ProgramNode& node = t.node_of(*token);
    if (node.non_idempotent && token->compensates == 0) {
        Failure failure{
            .code = "in_doubt",
            .message =
                "The worker was lost during the only call that a non_idempotent step may have.",
            .is_permanent = true
        };
        return fail_step(t, token->id, std::move(failure), std::move(details));
    }
    if (++token->losses >= kLostLeasesMax) {
        Failure failure{
            .code = "worker_lost",
            .message =
                "Its worker was lost " + std::to_string(token->losses) + " times during this step.",
            .is_permanent = true
        };
        return fail_attempt(t, *token, std::move(failure), std::move(details));
    }
    append_attempt(t, *token, HistoryType::LeaseLost, std::move(details), {});
    ++token->attempt;
    ++token->attempt_base;
    token->status = TokenStatus::Ready;
    if (const Duration delay = delay_after_loss(token->losses); delay > Duration::zero()) {
        token->status = TokenStatus::Retrying;
        token->due = t.now + delay;
    }
    t.schedule(*token);
}

void on_token_stopped(Transition& t, const event::TokenStopped& e) {
    const Token* token = t.state.find_token(e.token);
    if (token == nullptr || !token->stopping || token->visit != e.visit) return t.ignore();
    end_stopped_token(t, e.token, e.was_called, e.was_called ? Outcome::Unknown : Outcome::Failed);
}

void end_stopped_token(Transition& t, TokenId id, bool was_called, Outcome outcome, Payload error) {
    Token& token = *t.state.find_token(id);
    const bool was_called_before = token.attempt - 1 > 0 || token.losses > 0;
    if (was_called || was_called_before) {
        if (!was_called) outcome = token.losses > 0 ? Outcome::Unknown : Outcome::Failed;
        std::string payload = "{\"outcome\":\"" + std::string(to_string(outcome)) + "\"";
        if (!error.empty()) payload += ",\"error\":" + error;
        t.append_at(token, HistoryType::StepStopped, token.input, payload + "}");
    } else {
        t.append_at(token, HistoryType::StepSkipped);
    }
    t.erase_token(id);
}

void on_compensation_completed(Transition& t, Token& token, const event::StepCompleted& e) {
    HistoryEvent details = attempt_details(e.started_at, e.worker);
    token.input = token.compensates;
    append_attempt(t, token, HistoryType::StepCompensated, std::move(details), e.output);
    t.erase_token(token.id);
}

void on_compensation_failed(Transition& t, Token& token, Failure failure, HistoryEvent details) {
    const AttemptPolicy& policy = t.node_of(token).compensate->attempts;
    token.input = token.compensates;
    if (may_retry(policy, token, failure))
        return retry(t, token, policy, failure, std::move(details));
    const Seq cause = append_attempt(
        t, token, HistoryType::CompensationFailed, std::move(details), failure_payload(failure)
    );
    token.status = TokenStatus::Frozen;
    t.remove_task(token.id);
    enter_dead_letter(t, cause);
}

}  // namespace ebb::kernel
