#include "core/rules_analysis/subject.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/rules/values.h"
#include "support/json.h"

namespace ebb::rules_analysis {

namespace {

/// The attributes that a template can yield: the keys of the object that it is. Empty if it may
/// yield any.
std::optional<std::vector<std::string>> keys_of(const Payload& set) {
    if (set.empty()) return std::nullopt;
    const Json json = Json::parse(set, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return keys;
}

}  // namespace

std::vector<std::string> transition_names(const Definition& definition) {
    std::vector<std::string> names;
    for (const Node& step : definition.steps) names.push_back(step.name);
    return names;
}

Subject::Subject(const Definition& definition)
    : definition_(definition),
      program_(std::make_unique<rules::Program>(*definition.rules, transition_names(definition))),
      cuts_(definition.rules->attributes.size()) {
    judge_all();
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
        domains_.emplace_back(rules().attributes[i].type, cuts_[i]);
        is_small_ = is_small_ && domains_.back().size() <= kRegionsMax;
    }
    if (!is_small_) return;
    defaults_ = values_of(program_->row_of(program_->initial_state()));
    make_effects();
    read_schema();
}

void Subject::judge_all() {
    const auto judge = [&](std::vector<Judged>& into, const auto& conditions) {
        for (const auto& condition : conditions) {
            into.push_back({condition.name, Condition(condition.when, cuts_)});
        }
    };
    judge(triggers_, program_->triggers());
    judge(finals_, program_->finals());
    judge(exceptions_, program_->exceptions());
    judge(invariants_, program_->invariants());
    judge(savepoints_, program_->savepoints());
    for (auto* list : {&triggers_, &finals_, &exceptions_, &invariants_, &savepoints_}) {
        for (Judged& judged : *list) judged.when.settle(cuts_);
    }
}

Effect Subject::effect_of(const Trigger& trigger) const {
    Effect effect{
        .any = std::vector<bool>(attribute_count(), false),
        .listed = std::vector<std::vector<int>>(attribute_count())
    };
    const auto keys = keys_of(trigger.set);
    const auto is_yielded = [&](const std::string& name) {
        return !keys || std::find(keys->begin(), keys->end(), name) != keys->end();
    };
    for (std::size_t i = 0; i < attribute_count(); ++i) {
        const Attribute& attribute = rules().attributes[i];
        if (!is_yielded(attribute.name)) continue;
        if (!trigger.writes) effect.any[i] = true;
        if (!trigger.writes) continue;
        for (const DeclaredWrite& write : *trigger.writes) {
            if (write.attribute != attribute.name) continue;
            effect.any[i] = write.values.empty();
            for (const Payload& value : write.values) {
                const auto coerced =
                    rules::coerce(attribute.type, Json::parse(value, nullptr, false));
                effect.listed[i].push_back(
                    domains_[i].find(rules::datum_of(attribute.type, coerced.json))
                );
            }
        }
    }
    return effect;
}

void Subject::make_effects() {
    for (const Trigger& trigger : rules().triggers) effects_.push_back(effect_of(trigger));
    outside_ = {
        .any = std::vector<bool>(attribute_count(), false),
        .listed = std::vector<std::vector<int>>(attribute_count())
    };
    handler_ = outside_;
    handler_.any.assign(attribute_count(), true);
    using Policy = Rules::ExternalWrites;
    for (std::size_t i = 0; i < attribute_count(); ++i) {
        outside_.any[i] =
            rules().external_writes == Policy::All ||
            (rules().external_writes == Policy::Declared && rules().attributes[i].is_external);
    }
}

void Subject::read_schema() {
    fixed_.assign(attribute_count(), false);
    if (definition_.input_schema.empty()) return;
    const Json schema = Json::parse(definition_.input_schema, nullptr, false);
    const bool is_closed = schema.is_object() && schema.contains("properties") &&
                           schema["properties"].is_object() &&
                           schema.value("additionalProperties", Json(true)) == Json(false) &&
                           !schema.contains("patternProperties");
    if (!is_closed) return;
    for (std::size_t i = 0; i < attribute_count(); ++i) {
        fixed_[i] = !schema["properties"].contains(rules().attributes[i].name);
    }
    // Inputs may use the names of earlier versions, too.
    for (std::size_t i = 0; i < attribute_count(); ++i) {
        for (const std::string& earlier : rules().attributes[i].renamed_from) {
            if (schema["properties"].contains(earlier)) fixed_[i] = false;
        }
    }
}

predicate::Row Subject::row_of(const Values& values) const {
    predicate::Row row;
    row.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        row.push_back(domains_[i].regions()[values[i]].sample);
    }
    return row;
}

Values Subject::values_of(const predicate::Row& row) const {
    Values values;
    for (std::size_t i = 0; i < row.size(); ++i) {
        values.push_back(static_cast<std::uint8_t>(domains_[i].find(row[i])));
    }
    return values;
}

std::string Subject::text_of(const Values& values, const Values& base) const {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == base[i]) continue;
        const Region& region = domains_[i].regions()[values[i]];
        text += fmt::format(
            "{}{} {}",
            text.empty() ? "" : ", ",
            rules().attributes[i].name,
            region.is_named ? "= " + region.text : "(" + region.text + ")"
        );
    }
    return text;
}

}  // namespace ebb::rules_analysis
