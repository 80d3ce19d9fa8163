// Conditions that must be true for a while before they fire: the transition's place exists from the
// beginning and waits for a timer. A write that makes the condition false takes it away.

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/kernel/rules_parts.h"
#include "support/clock.h"

namespace ebb::kernel {

namespace {

/// The event by which a transition has fired names it, if it fired because its time had come.
bool has_waited(const Transition& t, const Token& token) {
    const auto fired = t.past.find_event(token.fired);
    return fired && fired->node == t.node_of(token).name;
}

/// If the instance has followed to other rules since its condition became true, these decide.
bool may_fire(const Transition& t, const Token& token) {
    if (!t.state.rules->asks_all) return true;
    const auto at = static_cast<std::size_t>(token.branch);
    const rules::Program::Rule& rule = rules_of(t).triggers()[at];
    const std::int64_t fires = t.state.rules->marks[at].fires;
    const bool is_used_up = (rule.mode == Trigger::Mode::Once && fires > 0) ||
                            (rule.max_fires > 0 && fires >= rule.max_fires);
    if (!rule.is_enabled || is_used_up) return false;
    try {
        return rule.when.evaluate(rules_of(t).row_of(*t.state.rules)) == true;
    } catch (const PredicateError&) {
        return false;
    }
}

}  // namespace

bool must_wait(const Transition& t, const Token& token) {
    const bool is_delayed = t.node_of(token).after > Duration::zero();
    const bool is_inside = !token.loops.empty();
    return is_delayed && !is_inside && is_transition(token) && !has_waited(t, token);
}

void arm(Transition& t, Token& token) {
    token.due = t.now + t.node_of(token).after;
    token.status = TokenStatus::WaitingTimer;
    t.append_at(
        token,
        HistoryType::TimerStarted,
        token.fired,
        "{\"due\":\"" + format_time(token.due) + "\"}"
    );
    t.schedule(token);
}

bool is_armed(const Transition& t, const Token& token) {
    return t.state.rules && is_transition(token) && token.node == token.branch &&
           token.status == TokenStatus::WaitingTimer;
}

void fire_armed(Transition& t, Token& token) {
    if (!may_fire(t, token)) {
        const Seq disarmed = t.append_at(token, HistoryType::StepSkipped);
        t.erase_token(token.id);
        return continue_without(t, {.seq = disarmed});
    }
    rules::fire_armed(rules_of(t), *t.state.rules, token.branch);
    const Seq state = t.append_at(
        token, HistoryType::StateWritten, token.fired, rules_of(t).state_text(*t.state.rules)
    );
    token.input = state;
    token.fired = state;
    token.status = TokenStatus::Ready;
    token.due = kNever;
    enter(t, token);
}

}  // namespace ebb::kernel
