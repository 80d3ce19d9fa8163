#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

void go_to(Transition& t, const Token& token, NodeIndex node) {
    t.arrivals.push_back({token.id, node});
}

namespace {

void complete_instance(Transition& t, TokenId id) {
    const Token& token = *t.state.find_token(id);
    HistoryEvent event;
    event.type = HistoryType::Completed;
    if (t.program.output()) {
        try {
            event.payload = to_text(t.program.output()->render(TokenVariables(t, token)));
        } catch (const Error& error) {
            fail_end(
                t, id, {.code = "expression_error", .message = error.what(), .is_permanent = true}
            );
            return;
        }
    } else {
        event.ref = token.input;
    }
    finish(t, InstanceStatus::Completed, std::move(event));
    t.state.result = t.state.last_seq;
}

/// The first case that is true; the last one always is.
const ProgramNode::Case& choose(Transition& t, const Token& token) {
    const ProgramNode& node = t.node_of(token);
    const TokenVariables variables(t, token);
    for (const ProgramNode::Case& c : node.cases) {
        if (!c.when || c.when->evaluate_bool(variables)) return c;
    }
    return node.cases.back();
}

void enter_branch(Transition& t, const Token& token) {
    const ProgramNode::Case& chosen = choose(t, token);
    t.append_at(
        token, HistoryType::BranchTaken, token.input, "{\"branch\":\"" + chosen.label + "\"}"
    );
    go_to(t, token, chosen.target);
}

void enter_loop(Transition& t, Token& token) {
    const ProgramNode& node = t.node_of(token);
    const bool is_back = !token.loops.empty() && token.loops.back().loop == token.node;
    if (!is_back) token.loops.push_back({.loop = token.node, .turn = 0});
    const std::int64_t turn = token.loops.back().turn;
    bool goes_on = true;
    if (!node.is_until || turn > 0) {
        goes_on = node.condition->evaluate_bool(TokenVariables(t, token)) != node.is_until;
    }
    if (!goes_on) {
        token.loops.pop_back();
        token.attempt = static_cast<std::int32_t>(turn);
        token.input = t.append_at(token, HistoryType::LoopFinished, token.input);
        go_to(t, token, node.next);
    } else if (turn >= node.max_iterations) {
        fail_node(
            t,
            token.id,
            {.code = "max_iterations",
             .message = "The loop \"" + node.name +
                        "\" would need more than its max_iterations of " +
                        std::to_string(node.max_iterations) + " turns.",
             .is_permanent = true}
        );
    } else {
        ++token.loops.back().turn;
        go_to(t, token, node.body);
    }
}

void enter_savepoint(Transition& t, const Token& token) {
    const Seq reached = t.append_at(token, HistoryType::SavepointReached, token.input);
    t.state.savepoint = SavepointMark{
        .node = token.node,
        .reached = reached,
        .resumes = 0,
        .loops = token.loops,
        .input = token.input
    };
    go_to(t, token, t.node_of(token).next);
}

void enter_fail(Transition& t, const Token& token) {
    const Json message = t.node_of(token).message->render(TokenVariables(t, token));
    fail_node(
        t,
        token.id,
        {.code = "failed",
         .message = message.is_string() ? message.get<std::string>() : to_text(message),
         .is_permanent = true}
    );
}

/// Its nodes lead back to it. If its write fails, only that is tried again.
void enter_sequence(Transition& t, Token& token) {
    const bool is_back = !token.loops.empty() && token.loops.back().loop == token.node;
    if (is_back) return end_sequence(t, token.id);
    token.loops.push_back({.loop = token.node, .turn = 0});
    go_to(t, token, t.node_of(token).body);
}

void enter_node(Transition& t, Token& token) {
    if (must_wait(t, token)) return arm(t, token);
    switch (t.node_of(token).op) {
        case Op::Step:
            return enter_step(t, token);
        case Op::Branch:
            return enter_branch(t, token);
        case Op::Fork:
            return enter_fork(t, token);
        case Op::Loop:
            return enter_loop(t, token);
        case Op::Timer:
            return enter_timer(t, token);
        case Op::Decision:
            return enter_decision(t, token);
        case Op::Signal:
            return enter_signal(t, token);
        case Op::Savepoint:
            return enter_savepoint(t, token);
        case Op::Fail:
            return enter_fail(t, token);
        case Op::Graph:
            return go_to(t, token, t.node_of(token).body);
        case Op::Sequence:
            return enter_sequence(t, token);
    }
}

/// What a visit leaves behind is wiped when the next begins.
void begin_visit(Transition& t, Token& token, NodeIndex node) {
    if (token.deadline != kNever) t.remove_task(deadline_task(token.id));
    token.node = node;
    token.status = TokenStatus::Ready;
    token.visit = ++t.state.last_visit;
    token.attempt = 0;
    token.attempt_base = 0;
    token.losses = 0;
    token.pauses = 0;
    token.due = kNever;
    token.deadline = kNever;
    token.failed = 0;
    token.payload = 0;
    token.concurrency_key.clear();
    token.is_parked = false;
    token.in_doubt = false;
    token.is_at_end = false;
    token.votes.clear();
}

/// Empty if one more visit is allowed.
std::string budget_excess(const Transition& t) {
    const std::int64_t budget = t.program.definition().step_budget;
    if (t.state.last_visit > budget) {
        return fmt::format(
            "The instance would visit more than its step_budget of {} nodes.", budget
        );
    }
    if (t.visits() <= kVisitsPerDecisionMax) return {};
    return fmt::format(
        "The instance would visit more than {} nodes one after another without a step or a wait.",
        kVisitsPerDecisionMax
    );
}

void arrive(Transition& t, const Arrival& arrival) {
    Token* token = t.state.find_token(arrival.token);
    if (token == nullptr) return;
    if (arrival.node == kNoNode) {
        return token->scope == 0 ? complete_instance(t, token->id) : end_branch(t, token->id);
    }
    begin_visit(t, *token, arrival.node);
    const TokenId id = token->id;
    if (std::string excess = budget_excess(t); !excess.empty()) {
        return fail_node(
            t, id, {.code = "step_budget", .message = std::move(excess), .is_permanent = true}
        );
    }
    enter(t, *token);
}

}  // namespace

void enter(Transition& t, Token& token) {
    const TokenId id = token.id;
    try {
        enter_node(t, token);
    } catch (const ExpressionError& error) {
        fail_node(
            t, id, {.code = "expression_error", .message = error.what(), .is_permanent = true}
        );
    }
}

void settle(Transition& t) {
    do {
        while (!t.arrivals.empty() && !t.is_over()) {
            const Arrival arrival = t.arrivals.front();
            t.arrivals.erase(t.arrivals.begin());
            arrive(t, arrival);
        }
    } while (!t.is_over() && (progress_rollbacks(t) || !t.arrivals.empty()));
}

}  // namespace ebb::kernel
