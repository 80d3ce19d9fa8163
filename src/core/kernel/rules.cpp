// Workflows with rules: each write of attributes ends with the transitions that it fires. A pending
// transition is a token at the top level, whose branch is the index of its trigger.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "core/rules/write.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

using Verdict = rules::Outcome::Verdict;

const rules::Program& rules_of(const Transition& t) {
    return *t.program.rules();
}

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

std::vector<bool> pending_besides(const Transition& t, TokenId id) {
    std::vector<bool> pending(rules_of(t).triggers().size(), false);
    for (const Token& token : t.state.tokens) {
        const bool is_other = token.compensates == 0 && token.id != id && token.branch >= 0;
        if (is_other) pending[static_cast<std::size_t>(token.branch)] = true;
    }
    return pending;
}

Written decide_write(const Transition& t, const rules::Write& write, const Token* token) {
    Written written{.outcome = rules::write(rules_of(t), *t.state.rules, write), .result = {}};
    if (written.outcome.verdict != Verdict::Completed) return written;
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

/// Where a write comes from, for the history.
struct Origin {
    TokenId token = 0;  ///< of the transition
    Seq cause = 0;      ///< the event of its output, of the start, or of an operator's request
    const event::AttributesWritten* request = nullptr;
};

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
        text += fmt::format("[{},{}]", std::string_view(change.before.json), change.before.written);
    });
    text += "},\"fired\":[";
    append_list(text, outcome.fired, [&](int trigger) {
        append_json_string(text, program.triggers()[static_cast<std::size_t>(trigger)].name);
    });
    text += ']';
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
    return text + "}";
}

/// The event that stands for the write: what it fires refers to it.
Seq tell_write(Transition& t, const Origin& origin, const rules::Outcome& outcome) {
    if (origin.token == 0 && origin.request == nullptr) return origin.cause;
    Payload payload = write_payload(t, origin, outcome);
    if (const Token* token = t.state.find_token(origin.token)) {
        return t.append_at(
            *token, HistoryType::AttributesWritten, origin.cause, std::move(payload)
        );
    }
    HistoryEvent event;
    event.type = HistoryType::AttributesWritten;
    event.payload = std::move(payload);
    event.worker = origin.request->by;
    return t.append(std::move(event));
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
        // The first one goes on with the token of the transition that has ended.
        Token* const ended = t.state.find_token(std::exchange(id, 0));
        Token& token = ended != nullptr ? *ended : t.add_token({});
        token.branch = trigger;
        token.input = state;
        token.fired = state;
        go_to(t, token, static_cast<NodeIndex>(trigger));
    }
}

std::string message_of(const Transition& t, const std::string& cause) {
    if (cause == "no_condition") {
        return "No trigger and no final condition holds for the attributes, and nothing is "
               "pending.";
    }
    if (cause == "no_progress") {
        return fmt::format(
            "A transition has fired itself {} times in a row without changing an attribute.",
            RulesLimits::kIdleFiresMax
        );
    }
    if (cause == "max_fires") {
        return "A trigger would fire more often than its \"max_fires\" allows.";
    }
    for (const rules::Program::Condition& exception : rules_of(t).exceptions()) {
        if (exception.name != cause) continue;
        return fmt::format("The exception \"{}\" holds: {}.", cause, exception.when.source());
    }
    return {};
}

void raise(Transition& t, const Origin& origin, Seq write, const std::string& cause) {
    HistoryEvent event;
    event.type = HistoryType::ExceptionRaised;
    event.ref = write;
    event.payload = failure_payload({.code = cause, .message = message_of(t, cause)});
    if (const Token* token = t.state.find_token(origin.token)) event.node = t.node_of(*token).name;
    t.erase_token(origin.token);
    const Seq raised = t.append(std::move(event));
    // If an operator is awaited already, nothing is undone without asking.
    const bool may_roll_back = t.phase() != InstanceStatus::DeadLetter;
    if (may_roll_back && rules_of(t).rules().on_exception == Rules::OnException::Compensate) {
        return begin_instance_rollback(t, Rollback::Kind::Failure, raised, 0);
    }
    t.state.rules->exception = raised;
    enter_dead_letter(t, raised);
}

/// The attributes are no longer those of an exception.
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

void take(Transition& t, const Origin& origin, Written written) {
    rules::Outcome& outcome = written.outcome;
    const Seq write = tell_write(t, origin, outcome);
    *t.state.rules = std::move(outcome.state);
    if (outcome.verdict == Verdict::Exception) return raise(t, origin, write, outcome.cause);
    if (outcome.verdict != Verdict::Completed) {
        end_exception(t);
        return fire(t, origin.token, outcome.fired, write);
    }
    t.state.rules->exception = 0;
    HistoryEvent completed;
    completed.type = HistoryType::Completed;
    completed.payload = std::move(written.result);
    finish(t, InstanceStatus::Completed, std::move(completed));
    t.state.error = 0;
    t.state.result = t.state.last_seq;
}

}  // namespace

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
    rules::Write write{
        .source = rules::Write::Source::Transition,
        .values = output,
        .trigger = token.branch,
        .given = t.past.payload(token.fired),
        .fired = token.fired,
        // The event of the output comes before it.
        .seq = t.state.last_seq + 2,
        .pending = pending_besides(t, token.id),
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

void on_attributes_written(Transition& t, const event::AttributesWritten& e) {
    if (t.program.rules() == nullptr) {
        return t.refuse(
            "invalid_argument", "Only instances of a workflow with rules have attributes."
        );
    }
    if (is_repeated(t, e.request_id)) return;
    if (t.is_over()) return refuse_finished(t, "written to");
    if (!t.state.rollbacks.empty()) {
        return t.refuse("invalid_state", "The instance is rolled back: it cannot be written to.");
    }
    const bool was_exception = t.state.rules->exception != 0;
    Written written = decide_write(
        t,
        {.source = e.is_repair ? rules::Write::Source::Repair : rules::Write::Source::Outside,
         .values = e.values,
         .seq = t.state.last_seq + 1,
         .pending = pending_besides(t, 0)},
        nullptr
    );
    rules::Outcome& outcome = written.outcome;
    if (outcome.verdict == Verdict::Refused) {
        return t.refuse(std::move(outcome.code), std::move(outcome.message));
    }
    const bool does_nothing = outcome.changes.empty() && outcome.fired.empty();
    if (does_nothing && !was_exception) return t.ignore();
    take(t, {.request = &e}, std::move(written));
}

bool leave_exception(Transition& t, Seq request) {
    if (!t.state.rules || t.state.rules->exception == 0) return true;
    Written written = decide_write(
        t,
        {.source = rules::Write::Source::Repair,
         .seq = t.state.last_seq + 1,
         .pending = pending_besides(t, 0)},
        nullptr
    );
    rules::Outcome& outcome = written.outcome;
    if (outcome.verdict == Verdict::Refused) {
        t.refuse(std::move(outcome.code), std::move(outcome.message));
        return false;
    }
    if (outcome.verdict == Verdict::Exception) {
        t.refuse(
            "invalid_state",
            fmt::format(
                "The instance would be in an exception again: {} Change its attributes first.",
                message_of(t, outcome.cause)
            )
        );
        return false;
    }
    take(t, {.cause = request}, std::move(written));
    return true;
}

void restore_attributes(Transition& t, const HistoryEvent& completed) {
    // The output of a stopped transition comes too late to be written.
    if (completed.type != HistoryType::StepCompleted || completed.seq >= t.state.last_seq) return;
    const Seq write = completed.seq + 1;
    const Json event = Json::parse(t.past.payload(write), nullptr, false);
    const Json* was = event.is_object() && event.contains("was") ? &event["was"] : nullptr;
    if (was == nullptr || !was->is_object()) return;
    Payload restored;
    for (const auto& [name, before] : was->items()) {
        const int index = rules_of(t).find_attribute(name);
        const bool is_pair = before.is_array() && before.size() == 2 && before[1].is_number();
        if (index < 0 || !is_pair) continue;
        auto& value = t.state.rules->values[static_cast<std::size_t>(index)];
        // Another has written it since, and that stays.
        if (value.written != write) continue;
        value = {.json = to_text(before[0]), .written = before[1].get<Seq>()};
        restored += restored.empty() ? "" : ",";
        append_json_string(restored, name);
        restored += ":" + value.json;
    }
    if (restored.empty()) return;
    HistoryEvent restoring;
    restoring.type = HistoryType::StateRestored;
    restoring.node = completed.node;
    restoring.ref = write;
    restoring.payload = "{\"values\":{" + restored + "}}";
    t.append(std::move(restoring));
}

}  // namespace ebb::kernel
