// What keeps the transitions of an instance with rules from being fired.

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/view.h"

namespace ebb::engine {

namespace {

bool is_pending(const Facts& facts, std::size_t trigger) {
    const auto& tokens = facts.state.tokens;
    return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
        return token.compensates == 0 && token.branch == static_cast<std::int32_t>(trigger);
    });
}

/// ` (hotel_status is "Requested", price is null)`: what the condition reads.
std::string values_read(const Facts& facts, const Predicate& condition) {
    constexpr std::size_t kShownMax = 60;
    const auto& attributes = facts.program.rules()->rules().attributes;
    std::vector<std::string> values;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        if (!condition.reads()[i]) continue;
        const Payload& value = facts.state.rules->values[i].json;
        values.push_back(fmt::format("{} is {}", attributes[i].name, clean_text(value, kShownMax)));
    }
    return values.empty() ? std::string() : fmt::format(" ({})", fmt::join(values, ", "));
}

/// Why a trigger whose condition is true is not fired; empty when there is no such reason.
std::string restraint(const Facts& facts, std::size_t index) {
    const rules::Program::Rule& rule = facts.program.rules()->triggers()[index];
    if (!rule.is_enabled) return "is not enabled";
    const bool has_fired = facts.state.rules->marks[index].fires > 0;
    if (rule.mode == Trigger::Mode::Once && has_fired)
        return "has fired already, and its mode is once";
    if (rule.mode == Trigger::Mode::Edge) return "waits until its condition has been false";
    return {};
}

std::optional<bool> value_of(const Facts& facts, const Predicate& condition) {
    try {
        return condition.evaluate(facts.program.rules()->row_of(*facts.state.rules));
    } catch (const PredicateError&) {
        return std::nullopt;
    }
}

}  // namespace

std::string describe_rules(const Facts& facts) {
    const rules::Program* program = facts.program.rules();
    if (program == nullptr || !facts.state.rules || is_terminal(facts.state.status)) return {};
    std::vector<std::string> idle;
    for (std::size_t i = 0; i < program->triggers().size(); ++i) {
        if (is_pending(facts, i)) continue;
        const rules::Program::Rule& rule = program->triggers()[i];
        std::string reason = restraint(facts, i);
        if (reason.empty() || value_of(facts, rule.when) != true) {
            reason = fmt::format("needs {}{}", rule.when.source(), values_read(facts, rule.when));
        }
        idle.push_back(rule.name + " " + reason);
    }
    std::string text;
    if (facts.state.rules->is_finishing) {
        text = " A final condition holds; the instance completes when nothing is pending.";
    }
    if (idle.empty()) return text;
    return text + fmt::format(" Not fired: {}.", fmt::join(idle, "; "));
}

}  // namespace ebb::engine
