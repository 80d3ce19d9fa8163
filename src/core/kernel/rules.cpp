// Workflows with rules: each write of attributes ends with the transitions that it fires. A pending
// transition is a token at the top level, whose branch is the index of its trigger.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/rules_parts.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

using Verdict = rules::Outcome::Verdict;

/// What templates see: `state`, the attributes, besides what they see elsewhere.
class AttributeVariables : public Variables {
 public:
    /// `is_end`: of the instance's output, whose input is nothing but the attributes.
    AttributeVariables(const Variables& others, const Payload& state, bool is_end)
        : others_(others), state_(Json::parse(state)), is_end_(is_end) {}

    const Json* find(std::string_view name) const override {
        if (name == "state" || (is_end_ && name == "input")) return &state_;
        if (is_end_ && name == "metadata") return nullptr;
        return others_.find(name);
    }

    const Json* find_step(std::string_view name) const override { return others_.find_step(name); }

 private:
    const Variables& others_;
    Json state_;
    bool is_end_;
};

rules::Outcome refused(const Transition& t, std::string code, std::string message) {
    rules::Outcome outcome;
    outcome.verdict = Verdict::Refused;
    outcome.state = *t.state.rules;
    outcome.code = std::move(code);
    outcome.message = std::move(message);
    return outcome;
}

template <typename Items, typename Write>
void append_list(Payload& text, const Items& items, Write write) {
    bool is_first = true;
    for (const auto& item : items) {
        if (!std::exchange(is_first, false)) text += ',';
        write(item);
    }
}

Payload write_payload(const Transition& t, const Origin& origin, const rules::Outcome& outcome) {
    const rules::Program& program = rules_of(t);
    const auto name_of = [&](int attribute) -> const std::string& {
        return program.rules().attributes[static_cast<std::size_t>(attribute)].name;
    };
    const auto change_key = [&](Payload& text, const rules::Outcome::Change& change) {
        append_json_string(text, name_of(change.attribute));
        text += ':';
    };
    Payload text = "{\"values\":{";
    append_list(text, outcome.changes, [&](const rules::Outcome::Change& change) {
        change_key(text, change);
        text += outcome.state.values[static_cast<std::size_t>(change.attribute)].json;
    });
    text += "},\"was\":{";
    append_list(text, outcome.changes, [&](const rules::Outcome::Change& change) {
        change_key(text, change);
        text += '[';
        text += change.before.json;
        text += ',';
        append_number(text, change.before.written);
        text += ']';
    });
    text += "},\"fired\":[";
    append_list(text, outcome.fired, [&](int trigger) {
        append_json_string(text, program.triggers()[static_cast<std::size_t>(trigger)].name);
    });
    text += ']';
    const auto name_triggers = [&](const char* key, const std::vector<int>& triggers) {
        if (triggers.empty()) return;
        text += key;
        append_list(text, triggers, [&](int trigger) {
            append_json_string(text, program.triggers()[static_cast<std::size_t>(trigger)].name);
        });
        text += ']';
    };
    name_triggers(",\"armed\":[", outcome.armed);
    name_triggers(",\"disarmed\":[", outcome.disarmed);
    if (outcome.final_condition >= 0) {
        text += ",\"final\":";
        const auto at = static_cast<std::size_t>(outcome.final_condition);
        append_json_string(text, program.finals()[at].name);
    }
    if (!outcome.overwrote.empty()) {
        text += ",\"overwrote\":[";
        append_list(text, outcome.overwrote, [&](int attribute) {
            append_json_string(text, name_of(attribute));
        });
        text += ']';
    }
    if (origin.request != nullptr && !origin.request->by.empty()) {
        text += ",\"by\":";
        append_json_string(text, origin.request->by);
    }
    if (origin.request != nullptr && origin.request->is_repair) text += ",\"repair\":true";
    if (origin.is_resume) text += ",\"resume\":true";
    return text + "}";
}

/// The event that represents the write: the transitions that it fires refer to it.
Seq tell_write(Transition& t, const Origin& origin, const rules::Outcome& outcome) {
    const bool is_written =
        origin.request != nullptr || origin.is_resume || (origin.token != 0 && !origin.is_failure);
    if (!is_written) return origin.cause;
    Payload payload = write_payload(t, origin, outcome);
    if (const Token* token = t.state.find_token(origin.token)) {
        return t.append_at(
            *token, HistoryType::AttributesWritten, origin.cause, std::move(payload)
        );
    }
    HistoryEvent event;
    event.type = HistoryType::AttributesWritten;
    event.payload = std::move(payload);
    event.ref = origin.cause;
    if (origin.request != nullptr) event.worker = origin.request->by;
    return t.append(std::move(event));
}

/// What begins now, or when its time has come, in the definition's order.
std::vector<int> begun_by(const rules::Outcome& outcome) {
    std::vector<int> begun = outcome.fired;
    begun.insert(begun.end(), outcome.armed.begin(), outcome.armed.end());
    std::sort(begun.begin(), begun.end());
    return begun;
}

/// Their conditions are no longer true, or nothing fires any more.
void disarm(Transition& t, const std::vector<int>& triggers) {
    for (const int trigger : triggers) {
        const auto at =
            std::find_if(t.state.tokens.begin(), t.state.tokens.end(), [&](const Token& token) {
                return is_armed(t, token) && token.branch == trigger;
            });
        if (at == t.state.tokens.end()) continue;
        t.append_at(*at, HistoryType::StepSkipped);
        t.erase_token(at->id);
    }
}

void reach_savepoint(Transition& t, int savepoint, Seq write) {
    if (savepoint < 0) return;
    const auto index = static_cast<std::size_t>(savepoint);
    const NodeIndex node = t.program.find(rules_of(t).savepoints()[index].name);
    HistoryEvent event;
    event.type = HistoryType::SavepointReached;
    event.node = t.program.node(node).name;
    event.ref = write;
    const Seq reached = t.append(std::move(event));
    t.state.savepoint =
        SavepointMark{.node = node, .reached = reached, .resumes = 0, .loops = {}, .input = write};
}

void fire(Transition& t, TokenId id, const std::vector<int>& fired, Seq write) {
    if (fired.empty()) {
        if (id != 0) t.erase_token(id);
        return;
    }
    HistoryEvent event;
    event.type = HistoryType::StateWritten;
    event.ref = write;
    event.payload = rules_of(t).state_text(*t.state.rules);
    const Seq state = t.append(std::move(event));
    for (const int trigger : fired) {
        // The first one continues with the token of the transition that has ended.
        Token* const ended = t.state.find_token(std::exchange(id, 0));
        Token& token = ended != nullptr ? *ended : t.add_token({});
        token.branch = trigger;
        token.input = state;
        token.fired = state;
        token.loops.clear();
        go_to(t, token, static_cast<NodeIndex>(trigger));
    }
}

}  // namespace

std::vector<bool> pending_besides(const Transition& t, TokenId id) {
    std::vector<bool> pending(rules_of(t).triggers().size() + 1, false);
    for (const Token& token : t.state.tokens) {
        const bool is_other = is_transition(token) && token.id != id;
        if (is_other) pending[static_cast<std::size_t>(token.branch)] = true;
    }
    return pending;
}

std::vector<bool> armed_in(const Transition& t) {
    std::vector<bool> armed(rules_of(t).triggers().size() + 1, false);
    for (const Token& token : t.state.tokens) {
        if (is_armed(t, token)) armed[static_cast<std::size_t>(token.branch)] = true;
    }
    return armed;
}

bool ends_transition(const Transition& t, const Token& token) {
    return t.state.rules && is_transition(token) && token.node == token.branch;
}

Written decide_write(const Transition& t, const rules::Write& write, const Token* token) {
    Written written{.outcome = rules::write(rules_of(t), *t.state.rules, write), .result = {}};
    const Verdict verdict = written.outcome.verdict;
    if (verdict != Verdict::Completed && verdict != Verdict::Stops) return written;
    written.result = rules_of(t).state_text(written.outcome.state);
    if (!t.program.output()) return written;
    try {
        const Token somewhere{.node = 0};
        const TokenVariables others(t, token == nullptr ? somewhere : *token);
        const AttributeVariables variables(others, written.result, true);
        written.result = to_text(t.program.output()->render(variables));
    } catch (const Error& error) {
        written.outcome = refused(t, "expression_error", error.what());
    }
    return written;
}

bool is_rolled_back(const Transition& t) {
    return std::any_of(
        t.state.rollbacks.begin(),
        t.state.rollbacks.end(),
        [](const Rollback& rollback) { return rollback.scope == 0; }
    );
}

void take(Transition& t, const Origin& origin, Written written) {
    rules::Outcome& outcome = written.outcome;
    const Seq write = tell_write(t, origin, outcome);
    *t.state.rules = std::move(outcome.state);
    disarm(t, outcome.disarmed);
    if (outcome.verdict == Verdict::Exception) return raise(t, origin, write, outcome);
    end_handler(t, origin.token);
    end_exception(t);
    if (outcome.verdict == Verdict::Stops) return stop_pending(t, origin, written.result);
    if (outcome.verdict != Verdict::Completed) {
        reach_savepoint(t, outcome.savepoint, write);
        return fire(t, origin.token, begun_by(outcome), write);
    }
    HistoryEvent completed;
    completed.type = HistoryType::Completed;
    completed.payload = std::move(written.result);
    finish(t, InstanceStatus::Completed, std::move(completed));
    t.state.error = 0;
    t.state.result = t.state.last_seq;
}

void start_rules(Transition& t, const Payload& input) {
    t.state.rules = rules_of(t).initial_state();
    Written written = decide_write(
        t,
        {.source = rules::Write::Source::Start, .values = input, .seq = t.state.last_seq},
        nullptr
    );
    rules::Outcome& outcome = written.outcome;
    if (outcome.verdict == Verdict::Refused) {
        return t.refuse(std::move(outcome.code), std::move(outcome.message));
    }
    take(t, {.cause = t.state.last_seq}, std::move(written));
}

Written write_output(Transition& t, const Token& token, const Payload& output) {
    const bool is_handler = is_exception_handler(t, token);
    rules::Write write{
        .source = is_handler ? rules::Write::Source::Handler : rules::Write::Source::Transition,
        .values = output,
        .trigger = is_handler ? -1 : token.branch,
        .given = attributes_given(t, token),
        .fired = token.fired,
        // The event of the output comes before it.
        .seq = t.state.last_seq + 2,
        .pending = pending_besides(t, token.id),
        .armed = armed_in(t),
    };
    if (const auto& set = t.node_of(token).set) {
        try {
            const TokenVariables others(t, token, output);
            const Payload state = rules_of(t).state_text(*t.state.rules);
            write.values = to_text(set->render(AttributeVariables(others, state, false)));
        } catch (const ExpressionError& error) {
            return {.outcome = refused(t, "expression_error", error.what()), .result = {}};
        }
    }
    return decide_write(t, write, &token);
}

void end_transition(Transition& t, TokenId token, Written written, Seq output) {
    take(t, {.token = token, .cause = output}, std::move(written));
}

void end_sequence(Transition& t, TokenId id) {
    Token& token = *t.state.find_token(id);
    Payload output = t.past.payload(token.input);
    Written written = write_output(t, token, output);
    if (written.outcome.verdict == Verdict::Refused) {
        return fail_node(
            t,
            id,
            {.code = std::move(written.outcome.code),
             .message = std::move(written.outcome.message),
             .is_permanent = true}
        );
    }
    const Seq completed =
        t.append_at(token, HistoryType::StepCompleted, token.fired, std::move(output));
    end_transition(t, id, std::move(written), completed);
}

void on_attributes_written(Transition& t, const event::AttributesWritten& e) {
    if (t.program.rules() == nullptr) {
        return t.refuse(
            "invalid_argument", "Only instances of a workflow with rules have attributes."
        );
    }
    if (is_repeated(t, e.request_id)) return;
    if (t.is_over()) return refuse_finished(t, "written to");
    if (is_rolled_back(t)) {
        return t.refuse(
            "invalid_state",
            t.state.rules->is_finishing
                ? "A final condition holds, and what was pending is being stopped: the instance "
                  "cannot be written to."
                : "The instance is rolled back: it cannot be written to."
        );
    }
    const bool was_exception = t.state.rules->exception != 0;
    Written written = decide_write(
        t,
        {.source = e.is_repair ? rules::Write::Source::Repair : rules::Write::Source::Outside,
         .values = e.values,
         .seq = t.state.last_seq + 1,
         .pending = pending_besides(t, 0),
         .armed = armed_in(t)},
        nullptr
    );
    rules::Outcome& outcome = written.outcome;
    if (outcome.verdict == Verdict::Refused) {
        return t.refuse(std::move(outcome.code), std::move(outcome.message));
    }
    // A newer version may have a condition that holds without any change of an attribute.
    const bool stays = outcome.verdict == Verdict::Goes ||
                       (outcome.verdict == Verdict::Finishes && t.state.rules->is_finishing);
    const bool does_nothing = stays && outcome.changes.empty() && begun_by(outcome).empty();
    if (does_nothing && !was_exception) return t.ignore();
    take(t, {.request = &e}, std::move(written));
}

namespace {

/// The attribute with this name, now or in an earlier version, that the event `write` has written
/// last; -1: another has written it since, and that stays.
int attribute_written(const Transition& t, std::string_view name, Seq write) {
    const auto& attributes = rules_of(t).rules().attributes;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const auto& earlier = attributes[i].renamed_from;
        const bool is_named = attributes[i].name == name ||
                              std::find(earlier.begin(), earlier.end(), name) != earlier.end();
        if (is_named && t.state.rules->values[i].written == write) return static_cast<int>(i);
    }
    return -1;
}

/// The transition has not fired. Returns whether its trigger counts how often it has.
bool uncount(Transition& t, std::string_view node) {
    const NodeIndex index = t.program.find(node);
    const auto& triggers = rules_of(t).triggers();
    if (index < 0 || static_cast<std::size_t>(index) >= triggers.size()) return false;
    rules::unfire(rules_of(t), *t.state.rules, index);
    const rules::Program::Rule& rule = triggers[static_cast<std::size_t>(index)];
    return rule.mode == Trigger::Mode::Once || rule.max_fires > 0;
}

/// The members that get their values from before the write back.
Payload restore_values(Transition& t, const HistoryEvent& write) {
    Payload restored;
    const Json event = Json::parse(write.payload, nullptr, false);
    const Json* was = event.is_object() && event.contains("was") ? &event["was"] : nullptr;
    if (was == nullptr || !was->is_object()) return restored;
    for (const auto& [name, before] : was->items()) {
        const int index = attribute_written(t, name, write.seq);
        const bool is_pair = before.is_array() && before.size() == 2 && before[1].is_number();
        if (index < 0 || !is_pair) continue;
        const auto at = static_cast<std::size_t>(index);
        auto& value = t.state.rules->values[at];
        value = {.json = to_text(before[0]), .written = before[1].get<Seq>()};
        restored += restored.empty() ? "" : ",";
        append_json_string(restored, rules_of(t).rules().attributes[at].name);
        restored += ":" + value.json;
    }
    return restored;
}

}  // namespace

void restore_attributes(Transition& t, const HistoryEvent& write) {
    // Writes from outside stay.
    if (write.node.empty()) return;
    const bool is_counted = uncount(t, write.node);
    const Payload restored = restore_values(t, write);
    // Where there is nothing to restore, the event says that the firing no longer counts: a later
    // rollback passes this write again.
    if (restored.empty() && !is_counted) return;
    HistoryEvent restoring;
    restoring.type = HistoryType::StateRestored;
    restoring.node = write.node;
    restoring.ref = write.seq;
    restoring.payload = "{\"values\":{" + restored + "}}";
    t.append(std::move(restoring));
}

}  // namespace ebb::kernel
