#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

/// A worker's timeout ends the attempts at the step's deadline. This later wake-up is for a step
/// that no worker runs.
constexpr Duration kDeadlineGrace = std::chrono::seconds(1);

/// The token whose present attempt `ref` names; null = the outcome is stale.
Token* find_attempt(Transition& t, const AttemptRef& ref) {
    Token* token = t.state.find_token(ref.token);
    if (token == nullptr || present_attempt(*token) != ref) return nullptr;
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

/// An attempt of the step has ended; `failure` is its event if it failed. Costs nothing unless an
/// expression reads it.
void record_attempt(Transition& t, const Token& token, Seq failure = 0) {
    if (token.compensates != 0 || !t.program.is_attempts_read(token.node)) return;
    std::vector<StepRecord>& records = t.state.records;
    auto record = std::find_if(records.begin(), records.end(), [&](const StepRecord& each) {
        return each.node == token.node;
    });
    if (record == records.end()) record = records.insert(record, StepRecord{.node = token.node});
    if (record->visit != token.visit) {
        *record = StepRecord{.node = token.node, .visit = token.visit};
    }
    record->attempts = token.attempt;
    if (failure != 0) record->failure = failure;
}

void freeze(Transition& t, Token& token, Seq cause) {
    token.status = TokenStatus::Frozen;
    token.failed = cause;
    token.due = kNever;
    if (token.deadline != kNever) t.remove_task(deadline_task(token.id));
    token.deadline = kNever;
    t.remove_task(token.id);
    enter_dead_letter(t, cause);
}

/// Handles a permanent failure: the enclosing block tolerates it, the instance waits for an
/// operator, or the instance rolls back.
void give_up(Transition& t, TokenId id, Seq cause, Seq first) {
    if (bear_branch_failure(t, *t.state.find_token(id), cause)) return;
    if (t.state.rules && hold_back(t, id, cause)) return;
    // If an operator is already awaited, no rollback may begin before the operator acts.
    const bool waits_for_operator = t.phase() == InstanceStatus::DeadLetter;
    if (waits_for_operator || freezes_on_failure(t)) {
        freeze(t, *t.state.find_token(id), cause);
        return;
    }
    unfire(t, *t.state.find_token(id));
    t.erase_token(id);
    begin_instance_rollback(t, Rollback::Kind::Failure, cause, first);
}

/// The first loss has no delay, because it is not the step's fault. After that, a step that kills
/// its workers must not repeatedly take down the steps that wait beside it: 1 s, 4 s, 16 s.
Duration delay_after_loss(std::int32_t losses) {
    if (losses < 2) return Duration::zero();
    return kLossDelay * (std::int64_t{1} << (2 * (losses - 2)));
}

bool may_retry(const AttemptPolicy& policy, const Token& token, const Failure& failure) {
    return !failure.is_permanent && token.attempt - token.attempt_base < policy.max_attempts;
}

void retry(
    Transition& t, Token& token, const Failure& failure, Duration delay, HistoryEvent details
) {
    const HistoryType type =
        token.compensates != 0 ? HistoryType::CompensationRetried : HistoryType::StepRetried;
    const Seq failed = append_attempt(t, token, type, std::move(details), failure_payload(failure));
    record_attempt(t, token, failed);
    token.in_doubt = token.in_doubt || leaves_doubt(failure.code);
    token.due = t.now + delay;
    token.status = TokenStatus::Retrying;
    ++token.attempt;
    t.schedule(token);
}

void fail_compensation(Transition& t, Token& token, const Failure& failure, HistoryEvent details) {
    const Seq cause = append_attempt(
        t, token, HistoryType::CompensationFailed, std::move(details), failure_payload(failure)
    );
    freeze(t, token, cause);
}

/// No further attempt of the step or compensation follows.
void exhaust(Transition& t, Token& token, Failure failure, HistoryEvent details) {
    if (token.compensates != 0) return fail_compensation(t, token, failure, std::move(details));
    fail_step(t, token.id, std::move(failure), std::move(details));
}

/// The call ended, but no edge fits its result. It may have had its effect.
void fail_result(Transition& t, Token& token, const event::StepCompleted& e, Failure failure) {
    failure.is_permanent = true;
    token.in_doubt = true;
    fail_step(t, token.id, std::move(failure), attempt_details(e.started_at, e.worker));
}

/// The values that a transition wrote are not possible, or not yet: while other transitions are
/// pending, a final condition may have to wait for them, which is not a fault of the attempt.
void fail_write(
    Transition& t, Token& token, const event::StepCompleted& e, rules::Outcome&& refused
) {
    Failure failure{.code = std::move(refused.code), .message = std::move(refused.message)};
    if (failure.code != "final_while_pending") return fail_result(t, token, e, std::move(failure));
    const Duration delay =
        retry_delay(attempts_of(t, token).backoff, token.attempt, t.identity.id, token.visit);
    retry(t, token, failure, delay, attempt_details(e.started_at, e.worker));
    ++token.attempt_base;
}

/// The token's attempt has failed, because of its handler or because its worker is gone.
void fail_attempt(Transition& t, Token& token, Failure failure, HistoryEvent details) {
    const AttemptPolicy& policy = attempts_of(t, token);
    if (!may_retry(policy, token, failure))
        return exhaust(t, token, std::move(failure), std::move(details));
    const Duration delay = failure.retry_after.value_or(
        retry_delay(policy.backoff, token.attempt - token.attempt_base, t.identity.id, token.visit)
    );
    if (t.now + delay >= token.deadline) {
        failure.message =
            "The next attempt would begin after the step's step_timeout. Last error: " +
            failure.message;
        failure.code = "step_timeout";
        return exhaust(t, token, std::move(failure), std::move(details));
    }
    retry(t, token, failure, delay, std::move(details));
}

}  // namespace

const AttemptPolicy& attempts_of(const Transition& t, const Token& token) {
    const ProgramNode& node = t.node_of(token);
    return token.compensates != 0 ? node.compensate->attempts : node.attempts;
}

bool freezes_on_failure(const Transition& t) {
    return t.program.definition().on_error == Definition::OnError::DeadLetter;
}

void begin_step_timeout(Transition& t, Token& token) {
    const Duration limit = attempts_of(t, token).step_timeout;
    if (limit <= Duration::zero()) return;
    token.deadline = t.now + limit;
    schedule_step_timeout(t, token);
}

void schedule_step_timeout(Transition& t, const Token& token) {
    t.set_task(
        {.kind = TaskChange::Kind::Put,
         .token = deadline_task(token.id),
         .handler = {},
         .due = token.deadline + kDeadlineGrace}
    );
}

void on_step_deadline(Transition& t, TokenId id) {
    Token* token = t.state.find_token(id);
    if (token == nullptr || token->stopping || token->deadline > t.now) return t.ignore();
    Failure failure{
        .code = "step_timeout",
        .message = "The step did not complete within its step_timeout.",
        .is_permanent = true
    };
    exhaust(t, *token, std::move(failure), {});
}

std::string concurrency_key_of(const Transition& t, const Token& token) {
    const ProgramNode& node = t.node_of(token);
    if (!node.concurrency_key) return {};
    const Expression& expression = *node.concurrency_key;
    const auto refuse = [&](std::string why) {
        throw ExpressionError(std::move(why), expression.source(), 1, 1);
    };
    const Json value = expression.evaluate(TokenVariables(t, token));
    if (value.is_null()) return {};
    if (value.is_structured()) {
        refuse("A concurrency_key is a text, a number, a bool or null; this is a list or a map.");
    }
    std::string key = value.is_string() ? value.get<std::string>() : to_text(value);
    if (key.find('\0') != std::string::npos) refuse("A concurrency_key holds no NUL character.");
    if (key.size() > kConcurrencyKeyBytesMax) {
        refuse(
            "The concurrency_key has " + std::to_string(key.size()) + " bytes; allowed are " +
            std::to_string(kConcurrencyKeyBytesMax) + "."
        );
    }
    return key;
}

void enter_step(Transition& t, Token& token) {
    const ProgramNode& node = t.node_of(token);
    if (node.input) {
        const Json input = node.input->render(TokenVariables(t, token));
        token.input = t.append_at(token, HistoryType::InputResolved, 0, to_text(input));
    }
    token.concurrency_key = concurrency_key_of(t, token);
    token.attempt = 1;
    begin_step_timeout(t, token);
    t.schedule(token);
}

void on_step_completed(Transition& t, const event::StepCompleted& e) {
    Token* token = find_attempt(t, e.attempt);
    if (token == nullptr) return t.ignore();
    if (token->compensates != 0) return on_compensation_completed(t, *token, e);
    record_attempt(t, *token);
    Way way;
    if (!token->stopping) {
        try {
            way = way_of(t, *token, e);
        } catch (const ExpressionError& error) {
            return fail_result(t, *token, e, {.code = "expression_error", .message = error.what()});
        }
        if (way.is_unmatched)
            return fail_result(t, *token, e, unmatched_failure(t, *token, way.handle));
    }
    std::optional<Written> written;
    if (ends_transition(t, *token) && !token->stopping) {
        written = write_output(t, *token, e.output);
        if (written->outcome.verdict == rules::Outcome::Verdict::Refused) {
            return fail_write(t, *token, e, std::move(written->outcome));
        }
    }
    const Seq output = append_attempt(
        t, *token, HistoryType::StepCompleted, attempt_details(e.started_at, e.worker), e.output
    );
    if (token->stopping) return t.erase_token(token->id);
    if (written) return end_transition(t, token->id, std::move(*written), output);
    token->input = output;
    if (way.handle.empty()) return go_to(t, *token, way.target);
    leave_by(t, *token, {way.handle, way.target}, output);
}

void on_step_paused(Transition& t, const event::StepPaused& e) {
    Token* token = find_attempt(t, e.attempt);
    if (token == nullptr) return t.ignore();
    if (token->stopping) return end_stopped_token(t, token->id, true, Outcome::Unknown);
    if (token->compensates != 0) {
        Failure failure{
            .code = "invalid_output",
            .message = "A compensation cannot pause, because it could not be resumed.",
            .is_permanent = true
        };
        return exhaust(t, *token, std::move(failure), attempt_details({}, e.worker));
    }
    await_payload(t, *token);
}

void on_step_progressed(Transition& t, const event::StepProgressed& e) {
    const Token* token = find_attempt(t, e.attempt);
    // A compensation has its own visit: its events are not shown as those of its step.
    const bool is_wanted = token != nullptr && token->compensates == 0 && !token->stopping;
    if (!is_wanted) return t.ignore();
    append_attempt(t, *token, HistoryType::StepProgressed, attempt_details({}, e.worker), e.value);
}

void resume_step(Transition& t, Token& token, Seq payload) {
    token.payload = payload;
    token.status = TokenStatus::Ready;
    token.attempt_base = token.attempt - 1;
    ++token.pauses;
    token.losses = 0;
    t.schedule(token);
}

void fail_step(Transition& t, TokenId id, Failure failure, HistoryEvent details) {
    const Token& token = *t.state.find_token(id);
    const Seq cause = append_attempt(
        t,
        token,
        HistoryType::StepFailed,
        std::move(details),
        failure_payload(failure, token.in_doubt)
    );
    record_attempt(t, token, cause);
    if (leave_by_error(t, *t.state.find_token(id), failure, cause)) return;
    give_up(t, id, cause, cause);
}

void fail_node(Transition& t, TokenId id, Failure failure) {
    const Token& token = *t.state.find_token(id);
    const Seq cause =
        t.append_at(token, HistoryType::StepFailed, token.input, failure_payload(failure));
    record_attempt(t, token, cause);
    if (leave_by_error(t, *t.state.find_token(id), failure, cause)) return;
    give_up(t, id, cause, 0);
}

void fail_end(Transition& t, TokenId id, Failure failure) {
    HistoryEvent event;
    event.type = HistoryType::StepFailed;
    event.payload = failure_payload(failure);
    Token& token = *t.state.find_token(id);
    token.attempt = 0;
    token.is_at_end = true;
    give_up(t, id, t.append(std::move(event)), 0);
}

void on_step_failed(Transition& t, const event::StepFailed& e) {
    Token* token = find_attempt(t, e.attempt);
    if (token == nullptr) return t.ignore();
    HistoryEvent details = attempt_details(e.started_at, e.worker);
    if (token->stopping) {
        const bool in_doubt = leaves_doubt(e.failure.code);
        const Outcome outcome = in_doubt ? Outcome::Unknown : Outcome::Failed;
        return end_stopped_token(t, token->id, true, outcome, failure_payload(e.failure));
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
    token->in_doubt = true;
    if (++token->losses >= kLostLeasesMax) {
        Failure failure{
            .code = "worker_lost",
            .message =
                "Its worker was lost " + std::to_string(token->losses) + " times during this step.",
            .is_permanent = true
        };
        return fail_attempt(t, *token, std::move(failure), std::move(details));
    }
    const char* what = token->compensates != 0 ? R"({"of":"compensation"})" : "";
    append_attempt(t, *token, HistoryType::LeaseLost, std::move(details), what);
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

namespace {

/// What is known about the calls of a token that will not continue.
Payload stopped_payload(const Token& token, Outcome outcome, const Payload& error = {}) {
    if (token.in_doubt) outcome = Outcome::Unknown;
    std::string payload = "{\"outcome\":\"" + std::string(to_string(outcome)) + "\"";
    if (!error.empty()) payload += ",\"error\":" + error;
    return payload + "}";
}

}  // namespace

void end_stopped_compensation(Transition& t, TokenId id, Outcome outcome) {
    const Token& token = *t.state.find_token(id);
    t.append_at(
        token, HistoryType::CompensationStopped, token.compensates, stopped_payload(token, outcome)
    );
    t.erase_token(id);
}

void end_stopped_token(Transition& t, TokenId id, bool was_called, Outcome outcome, Payload error) {
    Token& token = *t.state.find_token(id);
    const bool was_called_before = token.attempt > 1 || token.pauses > 0;
    // What a call did before it paused is not known.
    const bool has_only_paused = token.pauses > 0 && token.status != TokenStatus::Retrying;
    if (!was_called && has_only_paused) outcome = Outcome::Unknown;
    if (was_called || was_called_before) {
        Payload payload = stopped_payload(token, outcome, error);
        t.append_at(token, HistoryType::StepStopped, token.input, std::move(payload));
    } else {
        t.append_at(token, HistoryType::StepSkipped);
    }
    t.erase_token(id);
}

void on_compensation_completed(Transition& t, Token& token, const event::StepCompleted& e) {
    HistoryEvent details = attempt_details(e.started_at, e.worker);
    append_attempt(t, token, HistoryType::StepCompensated, std::move(details), e.output);
    t.erase_token(token.id);
}

}  // namespace ebb::kernel
