#include "core/rules/program.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/rules/values.h"
#include "support/json.h"

namespace ebb::rules {

std::vector<predicate::Column> columns_of(const Rules& rules) {
    std::vector<predicate::Column> columns;
    columns.reserve(rules.attributes.size());
    for (const Attribute& attribute : rules.attributes) {
        columns.push_back(
            {.name = attribute.is_enabled ? attribute.name : std::string(),
             .type = predicate_type(attribute.type)}
        );
    }
    return columns;
}

Program::Guard Program::guard_of(const Rule& rule) {
    // An edge is noted when it is false, too, and what waits for its time is disarmed.
    const bool is_level = rule.mode != Trigger::Mode::Edge && !rule.is_delayed && rule.is_enabled;
    const auto guard = is_level ? predicate::guard_of(rule.when) : std::nullopt;
    if (!guard) return {};
    return {
        .attribute = static_cast<std::uint32_t>(guard->column),
        .excludes_null = guard->excludes_null,
        .key = guard->key,
    };
}

Program::Program(const Rules& rules, const std::vector<std::string>& names) : rules_(rules) {
    const std::vector<predicate::Column> columns = columns_of(rules_);
    const auto compile_all = [&](const std::vector<NamedCondition>& named) {
        std::vector<Condition> compiled;
        compiled.reserve(named.size());
        for (const NamedCondition& condition : named) {
            compiled.push_back({condition.name, Predicate::compile(condition.when, columns)});
        }
        return compiled;
    };
    finals_ = compile_all(rules_.finals);
    exceptions_ = compile_all(rules_.exceptions);
    invariants_ = compile_all(rules_.invariants);
    for (const SavepointCondition& savepoint : rules_.savepoints) {
        savepoints_.push_back({savepoint.name, Predicate::compile(savepoint.when, columns)});
    }
    readers_.resize(columns.size());
    for (std::size_t i = 0; i < rules_.triggers.size(); ++i) {
        const Trigger& trigger = rules_.triggers[i];
        Rule rule{
            .name = names[i],
            .when = Predicate::compile(trigger.when, columns),
            .mode = trigger.mode,
            .max_fires = trigger.max_fires,
            .is_delayed = trigger.after > Duration::zero(),
            .is_enabled = trigger.is_enabled,
            .may_write_all = !trigger.writes.has_value(),
            .writes = std::vector<bool>(columns.size(), !trigger.writes.has_value()),
        };
        for (std::size_t a = 0; a < columns.size(); ++a) {
            if (rule.when.reads()[a]) readers_[a].push_back(static_cast<int>(i));
        }
        if (trigger.writes) {
            for (const DeclaredWrite& write : *trigger.writes) {
                rule.writes[static_cast<std::size_t>(find_attribute(write.attribute))] = true;
            }
        }
        guards_.push_back(guard_of(rule));
        const std::size_t attribute = guards_.back().attribute;
        const bool is_new =
            std::find(guarded_.begin(), guarded_.end(), attribute) == guarded_.end();
        if (attribute != Guard::kNone && is_new) guarded_.push_back(attribute);
        triggers_.push_back(std::move(rule));
    }
    for (const Attribute& attribute : rules_.attributes) {
        defaults_.push_back(coerce(attribute.type, Json::parse(attribute.initial)).json);
        std::string key = keys_.empty() ? "{" : ",";
        append_json_string(key, attribute.name);
        keys_.push_back(key + ":");
    }
}

int Program::find_attribute(std::string_view name) const {
    for (std::size_t i = 0; i < rules_.attributes.size(); ++i) {
        if (rules_.attributes[i].name == name) return static_cast<int>(i);
    }
    return -1;
}

int Program::find_known_attribute(std::string_view name) const {
    if (const int found = find_attribute(name); found >= 0) return found;
    for (std::size_t i = 0; i < rules_.attributes.size(); ++i) {
        const auto& earlier = rules_.attributes[i].renamed_from;
        if (std::find(earlier.begin(), earlier.end(), name) != earlier.end()) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

State Program::initial_state() const {
    State state;
    for (const Payload& initial : defaults_) state.values.push_back({.json = initial});
    state.marks.resize(triggers_.size());
    return state;
}

predicate::Row Program::row_of(const State& state) const {
    predicate::Row row;
    row.reserve(state.values.size());
    for (std::size_t i = 0; i < state.values.size(); ++i) {
        row.push_back(datum_of(rules_.attributes[i].type, state.values[i].json));
    }
    return row;
}

std::vector<std::uint64_t> Program::keys_of(const predicate::Row& row) const {
    std::vector<std::uint64_t> keys(row.size());
    for (const std::size_t attribute : guarded_) {
        const predicate::Type type = predicate_type(rules_.attributes[attribute].type);
        keys[attribute] = predicate::key_of(type, row[attribute]);
    }
    return keys;
}

Payload Program::state_text(const State& state) const {
    if (keys_.empty()) return "{}";
    Payload text;
    text.reserve(state_size(state));
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        text += keys_[i];
        text += state.values[i].json;
    }
    text += '}';
    return text;
}

std::size_t Program::state_size(const State& state) const {
    std::size_t size = 1;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        size += keys_[i].size() + state.values[i].json.size();
    }
    return size;
}

}  // namespace ebb::rules
