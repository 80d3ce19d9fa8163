// Exceptions of instances with rules: states in which nothing is fired as usual.

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/rules_parts.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

using Verdict = rules::Outcome::Verdict;

/// Begins the cause of an exception that a failed transition has led to; its name follows.
constexpr std::string_view kFailed = "failed:";

NodeIndex handler_of(const Transition& t) {
    return static_cast<NodeIndex>(rules_of(t).triggers().size());
}

bool has_handler(const Transition& t) {
    return rules_of(t).rules().on_exception == Rules::OnException::Handle;
}

std::string message_of(const Transition& t, const rules::Outcome& outcome) {
    const std::string& cause = outcome.cause;
    if (!outcome.message.empty()) return outcome.message;
    if (cause == "no_condition") {
        return "No trigger and no final condition holds for the attributes, and nothing is "
               "pending.";
    }
    if (cause == "no_progress") {
        return fmt::format(
            "A transition, or the handler of exceptions, has run {} times in a row without "
            "changing an attribute.",
            RulesLimits::kIdleFiresMax
        );
    }
    if (cause == "max_fires") {
        return "A trigger would fire more often than its \"max_fires\" allows.";
    }
    if (cause.starts_with(kFailed)) {
        return fmt::format(
            "The transition \"{}\" has failed for good, and nothing else is pending.",
            cause.substr(kFailed.size())
        );
    }
    for (const rules::Program::Condition& exception : rules_of(t).exceptions()) {
        if (exception.name != cause) continue;
        return fmt::format("The exception \"{}\" holds: {}.", cause, exception.when.source());
    }
    return {};
}

bool is_handling(const Transition& t) {
    return std::any_of(t.state.tokens.begin(), t.state.tokens.end(), [&](const Token& token) {
        return is_exception_handler(t, token);
    });
}

bool has_frozen(const Transition& t) {
    return std::any_of(t.state.tokens.begin(), t.state.tokens.end(), [](const Token& token) {
        return token.status == TokenStatus::Frozen;
    });
}

/// What the handler gets: the attributes, why it is called, and the transition that led there.
Payload handler_input(const Transition& t, const Token* last, const rules::Outcome& outcome) {
    Payload text = "{\"state\":" + rules_of(t).state_text(*t.state.rules) + ",\"cause\":";
    append_json_string(text, outcome.cause);
    text += ",\"message\":";
    append_json_string(text, message_of(t, outcome));
    text += ",\"transition\":";
    if (last == nullptr) return text + "null,\"fired_state\":null}";
    append_json_string(text, t.program.node(last->branch).name);
    return text + ",\"fired_state\":" + attributes_given(t, *last) + "}";
}

/// One at a time: a write of a transition that is still pending may raise another exception.
void call_handler(Transition& t, Payload input) {
    const bool waits_for_operator = t.phase() == InstanceStatus::DeadLetter;
    if (waits_for_operator && !has_frozen(t)) {
        t.state.error = 0;
        t.set_phase(InstanceStatus::Running);
        if (t.may_start()) unpark_all(t);
    }
    if (is_handling(t)) return;
    HistoryEvent given;
    given.type = HistoryType::InputResolved;
    given.node = t.program.node(handler_of(t)).name;
    given.payload = std::move(input);
    const Seq seq = t.append(std::move(given));
    const Token& token = t.add_token({.branch = handler_of(t), .input = seq, .fired = seq});
    go_to(t, token, handler_of(t));
}

/// The handler has failed for good: an operator must do its work. True where that is all.
bool hand_to_operator(Transition& t, TokenId handler, Seq cause) {
    if (t.state.rules->exception == 0) return false;
    t.erase_token(handler);
    enter_dead_letter(t, cause);
    return true;
}

/// The place of the transition that the token is inside of.
TokenId transition_of(const Transition& t, TokenId id) {
    const Token* token = t.state.find_token(id);
    while (token->scope != 0) token = t.state.find_token(t.state.find_scope(token->scope)->parent);
    return token->id;
}

/// `failed` ends, and with it whatever runs beside it inside the same transition.
void end_inside(Transition& t, TokenId transition, TokenId failed) {
    if (transition == failed) return;
    t.erase_token(failed);
    const auto is_its_own = [&](const Scope& scope) { return scope.parent == transition; };
    const auto& scopes = t.state.scopes;
    const ScopeId scope = std::find_if(scopes.begin(), scopes.end(), is_its_own)->id;
    std::vector<std::int32_t> branches(t.state.find_scope(scope)->branches.size());
    std::iota(branches.begin(), branches.end(), 0);
    stop_tokens(t, scope, branches, StopMode::DropRunning);
    std::erase_if(t.state.rollbacks, [&](const Rollback& each) { return each.scope == scope; });
    std::erase_if(t.state.scopes, is_its_own);
}

}  // namespace

bool is_exception_handler(const Transition& t, const Token& token) {
    return has_handler(t) && is_transition(token) && token.branch == handler_of(t);
}

Payload attributes_given(const Transition& t, const Token& token) {
    Payload given = t.past.payload(token.fired);
    if (!is_exception_handler(t, token)) return given;
    return to_text(Json::parse(given).at("state"));
}

void raise(Transition& t, const Origin& origin, Seq write, const rules::Outcome& outcome) {
    HistoryEvent event;
    event.type = HistoryType::ExceptionRaised;
    event.ref = write;
    event.payload = failure_payload({.code = outcome.cause, .message = message_of(t, outcome)});
    const Token* const last = t.state.find_token(origin.token);
    if (last != nullptr) event.node = t.program.node(last->branch).name;
    // A handler that has changed nothing so often would not do so now.
    const bool is_handled = has_handler(t) && outcome.cause != "no_progress";
    Payload input = is_handled ? handler_input(t, last, outcome) : Payload();
    t.erase_token(origin.token);
    const Seq raised = t.append(std::move(event));
    // If an operator is already awaited, nothing is undone without asking.
    const bool may_roll_back = t.phase() != InstanceStatus::DeadLetter;
    if (may_roll_back && rules_of(t).rules().on_exception == Rules::OnException::Compensate) {
        return begin_instance_rollback(t, Rollback::Kind::Failure, raised, 0);
    }
    t.state.rules->exception = raised;
    if (is_handled) return call_handler(t, std::move(input));
    enter_dead_letter(t, raised);
}

void end_handler(Transition& t, TokenId ended) {
    const auto handler =
        std::find_if(t.state.tokens.begin(), t.state.tokens.end(), [&](const Token& token) {
            return token.id != ended && is_exception_handler(t, token);
        });
    if (handler == t.state.tokens.end()) return;
    // If its handler may be running, its effects are unknown.
    const bool waits =
        handler->is_parked || (handler->status == TokenStatus::Retrying && handler->due > t.now);
    end_stopped_token(t, handler->id, !waits, waits ? Outcome::Failed : Outcome::Unknown);
}

void end_exception(Transition& t) {
    if (std::exchange(t.state.rules->exception, 0) == 0) return;
    if (t.phase() != InstanceStatus::DeadLetter) return;
    for (const Token& token : t.state.tokens) {
        if (token.status != TokenStatus::Frozen) continue;
        t.state.error = token.failed;
        return;
    }
    t.state.error = 0;
    t.set_phase(InstanceStatus::Running);
    if (t.may_start()) unpark_all(t);
}

void continue_without(Transition& t, const Unwritten& transition) {
    const rules::Write write{
        .source = rules::Write::Source::Failure,
        .trigger = transition.trigger,
        .seq = transition.seq,
        .pending = pending_besides(t, transition.token),
        .armed = armed_in(t),
    };
    Written written = decide_write(t, write, t.state.find_token(transition.token));
    rules::Outcome& outcome = written.outcome;
    if (outcome.verdict == Verdict::Refused) {
        outcome.verdict = Verdict::Exception;
        outcome.cause = outcome.code;
    }
    if (t.state.rules->exception != 0) {
        *t.state.rules = std::move(outcome.state);
        t.erase_token(transition.token);
        return;
    }
    const Origin origin{.token = transition.token, .cause = transition.seq, .is_failure = true};
    take(t, origin, std::move(written));
}

bool hold_back(Transition& t, TokenId failed, Seq cause) {
    const TokenId id = transition_of(t, failed);
    const Token& token = *t.state.find_token(id);
    const bool is_handler = is_exception_handler(t, token);
    const bool is_held =
        is_handler || t.program.definition().on_error == Definition::OnError::Exception;
    if (!is_held) return false;
    if (is_handler && hand_to_operator(t, id, cause)) return true;
    end_inside(t, id, failed);
    continue_without(t, {.token = id, .trigger = is_handler ? -1 : token.branch, .seq = cause});
    return true;
}

bool leave_exception(Transition& t, Seq request) {
    if (!t.state.rules || t.state.rules->exception == 0 || is_handling(t)) return true;
    Written written = decide_write(
        t,
        {.source = rules::Write::Source::Repair,
         .seq = t.state.last_seq + 1,
         .pending = pending_besides(t, 0),
         .armed = armed_in(t)},
        nullptr
    );
    rules::Outcome& outcome = written.outcome;
    if (outcome.verdict == Verdict::Refused) {
        t.refuse(std::move(outcome.code), std::move(outcome.message));
        return false;
    }
    if (outcome.verdict == Verdict::Exception && !has_handler(t)) {
        t.refuse(
            "invalid_state",
            fmt::format(
                "The instance would be in an exception again: {} Change its attributes first.",
                message_of(t, outcome)
            )
        );
        return false;
    }
    const event::AttributesWritten repair{
        .values = "null", .is_repair = true, .by = {}, .request_id = {}
    };
    take(t, {.cause = request, .request = &repair}, std::move(written));
    return true;
}

}  // namespace ebb::kernel
