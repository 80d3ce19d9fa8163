#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "support/clock.h"
#include "support/closest.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

/// A hundred years: longer waits are mistakes, and sums of times must not overflow.
constexpr Duration kWaitMax = std::chrono::hours(24) * 36'525;

[[noreturn]] void throw_bad_wait(
    const ProgramNode& node, const Json& value, std::string_view allowed
) {
    throw ExpressionError(
        fmt::format("The delay \"{}\" got {}; allowed is {}.", node.name, to_text(value), allowed),
        "",
        1,
        1
    );
}

TimePoint wait_end(const Transition& t, const Token& token) {
    const ProgramNode& node = t.node_of(token);
    const Json value = node.wait_template->render(TokenVariables(t, token));
    if (node.is_wait_until) {
        const auto time = value.is_string() ? parse_time(value.get<std::string>()) : std::nullopt;
        if (!time || *time > t.now + kWaitMax) {
            throw_bad_wait(node, value, "an RFC 3339 time within a hundred years");
        }
        return *time;
    }
    std::optional<Duration> duration;
    if (value.is_string()) duration = parse_duration(value.get<std::string>());
    if (value.is_number()) {
        const double seconds = value.get<double>();
        const double max = static_cast<double>(kWaitMax.count()) / 1e6;
        if (seconds >= 0 && seconds <= max)
            duration = Duration(static_cast<Duration::rep>(seconds * 1e6));
    }
    if (!duration || *duration > kWaitMax) {
        throw_bad_wait(
            node,
            value,
            "a number of seconds or a duration (\"90s\", \"2d\") of at most a hundred years"
        );
    }
    return t.now + *duration;
}

Payload due_payload(TimePoint due) {
    return due == kNever ? Payload() : "{\"due\":\"" + format_time(due) + "\"}";
}

void wait_at(Transition& t, Token& token, TokenStatus status, HistoryType type) {
    token.status = status;
    t.append_at(token, type, 0, due_payload(token.due));
    t.schedule(token);
}

void finish_timer(Transition& t, Token& token) {
    token.input = t.append_at(token, HistoryType::TimerFired, token.input);
    go_to(t, token, t.node_of(token).next);
}

/// Takes the signal of this name that came early; 0 = there is none.
Seq take_early_signal(Transition& t, const std::string& name) {
    auto& signals = t.state.signals;
    const auto early = std::find_if(signals.begin(), signals.end(), [&](const auto& signal) {
        return signal.name == name;
    });
    if (early == signals.end()) return 0;
    const Seq seq = early->event;
    signals.erase(early);
    return seq;
}

}  // namespace

void enter_timer(Transition& t, Token& token) {
    token.due = wait_end(t, token);
    wait_at(t, token, TokenStatus::WaitingTimer, HistoryType::TimerStarted);
}

void enter_decision(Transition& t, Token& token) {
    const Duration wait = t.node_of(token).wait;
    if (wait > Duration::zero()) token.due = t.now + wait;
    wait_at(t, token, TokenStatus::WaitingDecision, HistoryType::DecisionAwaited);
}

namespace {

void complete_signal(Transition& t, Token& token, Seq signal) {
    token.input = t.append_at(token, HistoryType::SignalCompleted, signal);
    go_to(t, token, t.node_of(token).next);
}

}  // namespace

void enter_signal(Transition& t, Token& token) {
    const ProgramNode& node = t.node_of(token);
    if (const Seq early = take_early_signal(t, node.signal); early != 0)
        return complete_signal(t, token, early);
    if (node.wait > Duration::zero()) token.due = t.now + node.wait;
    wait_at(t, token, TokenStatus::WaitingSignal, HistoryType::SignalAwaited);
}

void await_payload(Transition& t, Token& token) {
    token.due = kNever;
    wait_at(t, token, TokenStatus::WaitingSignal, HistoryType::SignalAwaited);
    const Seq early = take_early_signal(t, t.node_of(token).signal);
    if (early != 0) resume_step(t, token, early);
}

namespace {

/// Confirm: output = input + decision. An input that is not an object goes into {"input": ...}.
Payload decided_output(const Transition& t, const Token& token, Json decision) {
    Json output = Json::parse(t.past.payload(token.input));
    if (!output.is_object()) output = Json{{"input", std::move(output)}};
    output["decision"] = std::move(decision);
    return to_text(output);
}

Json decision_json(
    const Token& token, bool is_confirmed, const event::DecisionMade& e, TimePoint now
) {
    Json by = Json::array();
    // One rejection decides, whatever was confirmed before.
    if (!is_confirmed && !e.by.empty()) by.push_back(e.by);
    if (is_confirmed) {
        for (const Vote& vote : token.votes) {
            if (!vote.by.empty()) by.push_back(vote.by);
        }
    }
    return {
        {"verdict", is_confirmed ? "confirmed" : "rejected"},
        {"by", std::move(by)},
        {"comment", e.comment},
        {"at", format_time(now)}
    };
}

void complete_decision(
    Transition& t, Token& token, bool is_confirmed, const event::DecisionMade& e
) {
    const ProgramNode& node = t.node_of(token);
    if (!is_confirmed && !node.has_reject_target) {
        std::string message = "The decision \"" + node.name + "\" was rejected";
        if (!e.by.empty()) message += " by " + e.by;
        message += e.comment.empty() ? "." : ": " + e.comment;
        return fail_node(
            t, token.id, {.code = "rejected", .message = message, .is_permanent = true}
        );
    }
    Json decision = decision_json(token, is_confirmed, e, t.now);
    token.input = t.append_at(
        token, HistoryType::DecisionCompleted, 0, decided_output(t, token, std::move(decision))
    );
    go_to(t, token, is_confirmed ? node.next : node.reject_target);
}

void on_decision_deadline(Transition& t, Token& token) {
    const event::DecisionMade nobody{.comment = "The deadline has passed."};
    switch (t.node_of(token).human.on_deadline) {
        case HumanDecision::OnDeadline::Confirm:
            return complete_decision(t, token, true, nobody);
        case HumanDecision::OnDeadline::Reject:
            return complete_decision(t, token, false, nobody);
        case HumanDecision::OnDeadline::Fail:
            return fail_node(
                t,
                token.id,
                {.code = "timeout",
                 .message = "No one decided \"" + t.node_of(token).name + "\" before its deadline.",
                 .is_permanent = true}
            );
    }
}

void on_signal_deadline(Transition& t, Token& token) {
    const ProgramNode& node = t.node_of(token);
    if (const ProgramNode::Edge* edge = node.find_edge("timeout")) {
        token.input = t.append_at(token, HistoryType::TimerFired, token.input);
        return leave_by(t, token, *edge, token.input);
    }
    if (node.continue_on_deadline) return finish_timer(t, token);
    fail_node(
        t,
        token.id,
        {.code = "timeout",
         .message = "The signal \"" + node.signal + "\" did not come before the deadline.",
         .is_permanent = true}
    );
}

void on_instance_deadline(Transition& t) {
    if (t.is_over()) return t.ignore();
    // Its task has been claimed: it must go whatever the phase, or it would be claimed again at
    // once.
    t.remove_task(kInstanceToken);
    if (t.phase() != InstanceStatus::Running || t.state.deadline == kNever) {
        t.state.deadline = kNever;
        return;
    }
    HistoryEvent event;
    event.type = HistoryType::StepFailed;
    event.payload = failure_payload(
        {.code = "deadline_exceeded", .message = "The instance did not end before its deadline."}
    );
    const Seq cause = t.append(std::move(event));
    if (!freezes_on_failure(t)) {
        begin_instance_rollback(t, Rollback::Kind::Failure, cause, 0);
        return;
    }
    t.state.deadline = kNever;
    enter_dead_letter(t, cause);
}

}  // namespace

void set_instance_deadline(Transition& t, TimePoint deadline) {
    t.state.deadline = deadline;
    if (deadline == kNever) return;
    t.set_task(
        {.kind = TaskChange::Kind::Put, .token = kInstanceToken, .handler = {}, .due = deadline}
    );
}

void on_timer_fired(Transition& t, const event::TimerFired& e) {
    if (e.token == kInstanceToken) return on_instance_deadline(t);
    if (e.token < 0) return on_step_deadline(t, -e.token);
    Token* token = t.state.find_token(e.token);
    if (token == nullptr || token->visit != e.visit || token->due == kNever) return t.ignore();
    switch (token->status) {
        case TokenStatus::WaitingTimer:
            return is_armed(t, *token) ? fire_armed(t, *token) : finish_timer(t, *token);
        case TokenStatus::WaitingDecision:
            return on_decision_deadline(t, *token);
        case TokenStatus::WaitingSignal:
            return on_signal_deadline(t, *token);
        case TokenStatus::Ready:
        case TokenStatus::Retrying:
        case TokenStatus::Forked:
        case TokenStatus::Frozen:
            return t.ignore();
    }
}

namespace {

/// The decision that is meant: by name, or the only one that waits. Null = refused, with the reason
/// set.
Token* find_decision(Transition& t, const event::DecisionMade& e) {
    std::vector<Token*> waiting;
    std::string names;
    for (Token& token : t.state.tokens) {
        if (token.status != TokenStatus::WaitingDecision) continue;
        const std::string& name = t.node_of(token).name;
        names += (names.empty() ? "" : ", ") + name;
        if (e.node.empty() || e.node == name) waiting.push_back(&token);
    }
    if (waiting.empty()) {
        t.refuse(
            "not_waiting",
            e.node.empty() ? "The instance does not wait for a decision."
                           : fmt::format(
                                 "The instance does not wait for the decision \"{}\"{}.",
                                 e.node,
                                 names.empty() ? "" : "; it waits for: " + names
                             )
        );
        return nullptr;
    }
    if (e.node.empty() && waiting.size() > 1) {
        t.refuse(
            "invalid_argument", fmt::format("Several decisions are awaited ({}): name one.", names)
        );
        return nullptr;
    }
    return waiting.front();
}

bool is_allowed(Transition& t, const Token& token, const event::DecisionMade& e) {
    const std::vector<std::string>& roles = t.node_of(token).human.roles;
    if (roles.empty() || std::find(roles.begin(), roles.end(), e.role) != roles.end()) return true;
    t.refuse(
        "not_allowed",
        fmt::format(
            "The decision \"{}\" needs the role {}, and {}.",
            t.node_of(token).name,
            fmt::join(roles, " or "),
            e.role.empty() ? "the request names no role"
                           : "the request has the role \"" + e.role + "\""
        )
    );
    return false;
}

bool has_voted(const Token& token, const std::string& by) {
    return std::any_of(token.votes.begin(), token.votes.end(), [&](const Vote& vote) {
        return vote.by == by;
    });
}

/// What a repeated decision of a person looks like when it is no longer awaited.
std::string decision_request(
    const Transition& t, const Token& token, const event::DecisionMade& e
) {
    if (!e.request_id.empty()) return e.request_id;
    return fmt::format("decide:{}:{}:{}", t.node_of(token).name, e.by, e.is_confirmed);
}

bool was_decided_before(const Transition& t, const event::DecisionMade& e) {
    const auto& requests = t.state.requests;
    return std::any_of(requests.begin(), requests.end(), [&](const std::string& request) {
        if (!e.request_id.empty()) return request == e.request_id;
        const std::string tail = fmt::format(":{}:{}", e.by, e.is_confirmed);
        const bool is_same_node = e.node.empty() || request.starts_with("decide:" + e.node + ":");
        return request.starts_with("decide:") && is_same_node && request.ends_with(tail);
    });
}

void refuse_input(Transition& t, std::string_view what) {
    refuse_ended(t, fmt::format(" and no longer accepts {}", what));
}

void append_vote(Transition& t, const Token& token, const event::DecisionMade& e) {
    Json vote = {{"verdict", e.is_confirmed ? "confirmed" : "rejected"}, {"by", e.by}};
    if (!e.role.empty()) vote["role"] = e.role;
    if (!e.comment.empty()) vote["comment"] = e.comment;
    t.append_at(token, HistoryType::DecisionMade, 0, to_text(vote));
}

bool takes_signals(const ProgramNode& node) {
    // A step that pauses waits for a signal with its name.
    return node.op == Op::Signal || node.op == Op::Step;
}

/// No node will ever wait for a signal with this name: it is misspelled.
void refuse_unknown_signal(Transition& t, std::string_view name) {
    std::vector<std::string_view> known;
    std::vector<std::string> quoted;
    for (const ProgramNode& node : t.program.nodes()) {
        if (!takes_signals(node)) continue;
        known.push_back(node.signal);
        if (node.op == Op::Signal) quoted.push_back(fmt::format("\"{}\"", node.signal));
    }
    const std::string_view meant = closest(name, known);
    std::string hint = " This workflow waits for no signals.";
    if (!quoted.empty()) hint = fmt::format(" It waits for {}.", fmt::join(quoted, ", "));
    if (!meant.empty()) hint = fmt::format(" Did you mean \"{}\"?", meant);
    const Definition& definition = t.program.definition();
    t.refuse(
        "not_waiting",
        fmt::format(
            "No node of {} v{} waits for the signal \"{}\".{}",
            definition.name,
            definition.version,
            name,
            hint
        )
    );
}

/// A payload that the nodes behind the signal could not use. The instance keeps waiting.
bool is_fit(Transition& t, const event::SignalReceived& e) {
    const std::vector<std::string> violations = t.program.signal_violations(e.name, e.payload);
    if (violations.empty()) return true;
    t.refuse(
        "invalid_payload",
        fmt::format(
            "The payload of the signal \"{}\" does not conform to its schema:\n  {}",
            e.name,
            fmt::join(violations, "\n  ")
        )
    );
    return false;
}

}  // namespace

void on_decision_made(Transition& t, const event::DecisionMade& e) {
    const bool is_repeat = !e.request_id.empty() && was_decided_before(t, e);
    if (is_repeat) return t.ignore();
    if (t.is_over()) {
        // A person who repeats a vote because the answer was lost gets no error.
        return was_decided_before(t, e) ? t.ignore() : refuse_input(t, "decisions");
    }
    Token* token = find_decision(t, e);
    if (token == nullptr) {
        if (t.refusal.code == "not_waiting" && was_decided_before(t, e)) t.ignore();
        return;
    }
    if (!is_allowed(t, *token, e)) return;
    const int quorum = t.node_of(*token).human.quorum;
    if (e.is_confirmed && quorum > 1 && e.by.empty()) {
        return t.refuse("invalid_argument", "A decision with a quorum needs to know who decides.");
    }
    if (e.is_confirmed && !e.by.empty() && has_voted(*token, e.by)) return t.ignore();
    is_repeated(t, decision_request(t, *token, e));
    append_vote(t, *token, e);
    if (!e.is_confirmed) return complete_decision(t, *token, false, e);
    token->votes.push_back({.by = e.by});
    if (static_cast<int>(token->votes.size()) >= quorum) complete_decision(t, *token, true, e);
}

void on_signal_received(Transition& t, const event::SignalReceived& e) {
    if (is_repeated(t, e.request_id)) return;
    if (t.is_over()) return refuse_input(t, "signals");
    if (t.phase() == InstanceStatus::Compensating) {
        return t.refuse(
            "invalid_state", "The instance is compensating and no longer accepts signals."
        );
    }
    const auto waits = [&](const Token& token) {
        return token.status == TokenStatus::WaitingSignal && t.node_of(token).signal == e.name;
    };
    const auto token = std::find_if(t.state.tokens.begin(), t.state.tokens.end(), waits);
    if (token == t.state.tokens.end()) {
        const auto& nodes = t.program.nodes();
        const bool is_known = std::any_of(nodes.begin(), nodes.end(), [&](const ProgramNode& node) {
            return takes_signals(node) && node.signal == e.name;
        });
        if (!is_known) return refuse_unknown_signal(t, e.name);
    }
    if (token == t.state.tokens.end() && t.state.signals.size() >= kBufferedSignalsMax) {
        return t.refuse(
            "limit_exceeded",
            fmt::format(
                "{} early signals are already waiting; Ebb keeps no more.", kBufferedSignalsMax
            )
        );
    }
    if (!is_fit(t, e)) return;
    HistoryEvent event;
    event.type = HistoryType::SignalReceived;
    event.node = e.name;
    event.payload = e.payload;
    event.worker = e.by;
    const Seq seq = t.append(std::move(event));
    if (token == t.state.tokens.end()) {
        t.state.signals.push_back({.name = e.name, .event = seq});
    } else if (t.node_of(*token).op == Op::Step) {
        resume_step(t, *token, seq);
    } else {
        complete_signal(t, *token, seq);
    }
}

}  // namespace ebb::kernel
