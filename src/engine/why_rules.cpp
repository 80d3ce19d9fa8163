// What keeps the transitions of an instance with rules from being fired.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/expression/source.h"
#include "core/predicate/explain.h"
#include "engine/view.h"
#include "support/json.h"

namespace ebb::engine {

namespace {

/// More would not be read.
constexpr std::size_t kWritersMax = 3;

const Token* pending_token(const Facts& facts, std::size_t trigger) {
    const auto& tokens = facts.state.tokens;
    const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
        const bool is_transition = token.scope == 0 && token.compensates == 0;
        return is_transition && token.branch == static_cast<std::int32_t>(trigger);
    });
    return found == tokens.end() ? nullptr : &*found;
}

/// `runs on w3`, of a transition that is pending.
std::string progress_of(const Facts& facts, const Token& token) {
    const bool is_inside = token.node != token.branch;
    if (is_inside) return fmt::format("is at \"{}\"", facts.program.node(token.node).name);
    if (token.status == TokenStatus::WaitingTimer) return "waits for its time";
    if (token.status == TokenStatus::Frozen) return "has failed for good";
    if (token.status == TokenStatus::Retrying) return "waits for its next attempt";
    for (const TaskRow& row : facts.tasks) {
        if (row.task.token == token.id && !row.lease_owner.empty()) {
            return "runs on " + row.lease_owner;
        }
    }
    return "waits for a worker";
}

/// `transition hotel can write it and runs on w3`: where another value may come from.
std::string writers_of(const Facts& facts, std::size_t attribute) {
    const rules::Program& program = *facts.program.rules();
    std::vector<std::string> writers;
    for (std::size_t i = 0; i < program.triggers().size(); ++i) {
        const rules::Program::Rule& rule = program.triggers()[i];
        // Those that may write all would be named everywhere.
        if (rule.may_write_all || !rule.writes[attribute]) continue;
        std::string text = fmt::format("transition {} can write it", rule.name);
        if (const Token* token = pending_token(facts, i)) {
            text += " and " + progress_of(facts, *token);
        } else if (facts.state.rules->marks[i].failed != 0) {
            text += " but has failed for good";
        }
        if (writers.size() < kWritersMax) writers.push_back(std::move(text));
    }
    const auto allowed = program.rules().external_writes;
    const bool is_external = allowed == Rules::ExternalWrites::All ||
                             (allowed == Rules::ExternalWrites::Declared &&
                              program.rules().attributes[attribute].is_external);
    if (is_external) writers.emplace_back("an application can write it");
    return fmt::format("{}", fmt::join(writers, ", "));
}

/// The value of an attribute as far as a sentence may tell it; empty = not at all.
Payload visible_value(const Facts& facts, const std::string& name, const Payload& value) {
    if (!facts.shown) return value;
    const Payload object = fmt::format("{{{}:{}}}", Json(name).dump(), value);
    const Json visible = Json::parse(facts.visible(object), nullptr, false);
    return visible.is_object() ? Payload(visible.at(name).dump()) : Payload();
}

/// `hotel_status is "Requested"; transition hotel can write it and runs on w3`.
std::string describe_value(const Facts& facts, std::size_t attribute) {
    constexpr std::size_t kShownMax = 60;
    const Payload& value = facts.state.rules->values[attribute].json;
    const std::string& name = facts.program.rules()->rules().attributes[attribute].name;
    std::string text = name;
    if (const Payload visible = visible_value(facts, name, value); !visible.empty()) {
        text += " is " + expression::shortened(visible, kShownMax);
    }
    const std::string writers = writers_of(facts, attribute);
    return writers.empty() ? text : text + "; " + writers;
}

/// `needs A (a is 1) and B (b is null)`: the parts of the condition that are not true.
std::string describe_need(const Facts& facts, const Predicate& condition) {
    const predicate::Row row = facts.program.rules()->row_of(*facts.state.rules);
    std::vector<std::string> needs;
    for (const predicate::BlockingPart& part : predicate::blocking_parts(condition, row)) {
        std::vector<std::string> values;
        for (std::size_t i = 0; i < part.reads.size(); ++i) {
            if (part.reads[i]) values.push_back(describe_value(facts, i));
        }
        needs.push_back(part.source);
        if (!values.empty()) needs.back() += fmt::format(" ({})", fmt::join(values, ", "));
    }
    // Its condition is true, so what keeps it from firing is not a part of it.
    if (needs.empty()) {
        if (facts.state.rules->exception != 0) return "is held back by the exception";
        return facts.state.rollbacks.empty() ? "is asked again at the next write"
                                             : "is held back by the rollback";
    }
    return fmt::format("needs {}", fmt::join(needs, " and "));
}

/// Why a trigger whose condition is true is not fired; empty when there is no such reason.
std::string restraint(const Facts& facts, std::size_t index) {
    const rules::Program::Rule& rule = facts.program.rules()->triggers()[index];
    if (!rule.is_enabled) return "is not enabled";
    const rules::TriggerMark& mark = facts.state.rules->marks[index];
    if (mark.failed != 0) {
        return "has failed for good and is held back until an attribute that it reads changes";
    }
    const bool has_fired = mark.fires > 0;
    if (rule.mode == Trigger::Mode::Once && has_fired)
        return "has already fired, and its mode is once";
    // An exception clears this mark: when the exception ends, the trigger fires again.
    if (rule.mode == Trigger::Mode::Edge && mark.was_true)
        return "waits until its condition has been false";
    return {};
}

bool holds(const Facts& facts, const Predicate& condition) {
    try {
        return condition.holds(facts.program.rules()->row_of(*facts.state.rules));
    } catch (const PredicateError&) {
        return false;
    }
}

/// `booked needs air_status = 'purchased' and hotel_status = 'reserved'`, of each final condition.
std::string describe_finals(const Facts& facts) {
    constexpr std::size_t kPartsMax = 3;
    const rules::Program& program = *facts.program.rules();
    const predicate::Row row = program.row_of(*facts.state.rules);
    std::vector<std::string> missing;
    for (const rules::Program::Condition& condition : program.finals()) {
        const auto parts = predicate::blocking_parts(condition.when, row);
        if (parts.empty()) continue;
        std::vector<std::string> needs;
        for (const predicate::BlockingPart& part : parts) {
            if (needs.size() == kPartsMax) break;
            needs.push_back(part.source);
        }
        if (parts.size() > kPartsMax) {
            needs.push_back(fmt::format("{} more", parts.size() - kPartsMax));
        }
        missing.push_back(fmt::format("{} needs {}", condition.name, fmt::join(needs, " and ")));
    }
    if (missing.empty()) return {};
    return fmt::format(" Not final: {}.", fmt::join(missing, "; "));
}

bool is_stopping(const Facts& facts) {
    const auto& rollbacks = facts.state.rollbacks;
    return std::any_of(rollbacks.begin(), rollbacks.end(), [](const Rollback& rollback) {
        return rollback.scope == 0;
    });
}

}  // namespace

std::string describe_rules(const Facts& facts) {
    const rules::Program* program = facts.program.rules();
    if (program == nullptr || !facts.state.rules || is_terminal(facts.state.status)) return {};
    std::vector<std::string> idle;
    for (std::size_t i = 0; i < program->triggers().size(); ++i) {
        if (pending_token(facts, i) != nullptr) continue;
        const rules::Program::Rule& rule = program->triggers()[i];
        std::string reason = restraint(facts, i);
        const bool is_restrained = !reason.empty() && holds(facts, rule.when);
        if (!is_restrained && facts.state.rules->marks[i].failed == 0) {
            reason = describe_need(facts, rule.when);
        }
        idle.push_back(rule.name + " " + reason);
    }
    std::string text;
    if (facts.state.rules->is_finishing) {
        text = is_stopping(facts)
                   ? " A final condition holds; the instance completes when what was pending is "
                     "stopped and undone."
                   : " A final condition holds; the instance completes when nothing is pending.";
    }
    if (!idle.empty()) text += fmt::format(" Not fired: {}.", fmt::join(idle, "; "));
    return facts.state.rules->is_finishing ? text : text + describe_finals(facts);
}

}  // namespace ebb::engine
