#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/reader.h"
#include "support/json.h"

namespace ebb::model {

namespace {

/// Of the language of conditions, which is not that of expressions.
constexpr std::string_view kConditionExample = "status = 'received' and price > 0";

/// Calls `read(name, value, path)` for every entry of a map of names, or of a list of maps whose
/// key `kind` is the name.
template <typename Read>
void each_named(
    const MapReader& rules, std::string_view key, std::string_view kind, const Read& read
) {
    const Document* value = rules.find(key);
    if (value == nullptr) return;
    const std::string path = rules.path_of(key);
    if (value->is_map()) {
        for (const Document::Member& member : value->members) {
            read(member.key, member.value, path + "/" + escape_pointer(member.key));
        }
        return;
    }
    if (!value->is_list()) {
        rules.note(
            "wrong_type",
            key,
            fmt::format("\"{}\" must be a map of names, but here is {}.", key, describe(*value))
        );
        return;
    }
    for (std::size_t i = 0; i < value->elements.size(); ++i) {
        const Document& element = value->elements[i];
        const std::string element_path = fmt::format("{}/{}", path, i);
        const Document* name = element.is_map() ? element.find(kind) : nullptr;
        if (name == nullptr || !name->is_text()) {
            rules.problems().set_incomplete();
            rules.problems().add(
                "wrong_type",
                element_path,
                element,
                fmt::format("This must be a map with \"{}\" and its name.", kind)
            );
            continue;
        }
        read(name->text(), element, element_path);
    }
}

/// One name, or a list of names.
std::vector<std::string> read_names(const MapReader& map, std::string_view key) {
    const Document* value = map.find(key);
    if (value == nullptr) return {};
    if (value->is_text()) return {value->text()};
    std::vector<std::string> names;
    const bool is_list = value->is_list();
    for (const Document& element : value->elements) {
        if (is_list && element.is_text()) names.push_back(element.text());
    }
    const bool is_read = is_list && names.size() == value->elements.size() && !names.empty();
    if (is_read) return names;
    map.note(
        "wrong_type",
        key,
        fmt::format(
            "\"{}\" must be a name or a list of names, but here is {}.", key, describe(*value)
        )
    );
    return {};
}

Attribute read_attribute(
    Problems& problems, const std::string& name, const Document& value, const std::string& path
) {
    const Attribute otherwise;
    if (!value.is_map()) {
        // `name: text`, the short form.
        Document whole{.type = Document::Type::Map, .scalar = {}, .elements = {}, .members = {}};
        whole.members.push_back({.key = "type", .place = value.place, .value = value});
        const MapReader map(problems, whole, path);
        return {.name = name, .type = map.word("type", kAttributeTypeWords, otherwise.type)};
    }
    const MapReader map(problems, value, path);
    map.allow_only({"attribute", "type", "default", "external", "enabled", "renamed_from"});
    return {
        .name = name,
        .type = map.word("type", kAttributeTypeWords, otherwise.type),
        .initial = map.has("default") ? map.payload("default") : otherwise.initial,
        .is_external = map.boolean("external", otherwise.is_external),
        .is_enabled = map.boolean("enabled", otherwise.is_enabled),
        .renamed_from = read_names(map, "renamed_from"),
    };
}

std::vector<Payload> read_values(const MapReader& map, std::string_view key) {
    const Document* value = map.find(key);
    std::vector<Payload> values;
    if (value == nullptr || (value->is_text() && value->text() == "any")) return values;
    if (!value->is_list() || value->elements.empty()) {
        map.note(
            "wrong_type",
            key,
            fmt::format(
                "The values that a transition may write must be a list, or \"any\", but here is "
                "{}.",
                describe(*value)
            )
        );
        return values;
    }
    for (const Document& element : value->elements) values.push_back(to_text(element.to_json()));
    return values;
}

/// A name, or a map with `attribute` and `values`.
DeclaredWrite read_write(const MapReader& outer, const Document& value, const std::string& path) {
    if (value.is_text()) return {.attribute = value.text()};
    if (!value.is_map()) {
        outer.problems().add(
            "wrong_type",
            path,
            value,
            fmt::format(
                "This must be the name of an attribute, or a map with \"attribute\" and "
                "\"values\", but here is {}.",
                describe(value)
            )
        );
        return {};
    }
    const MapReader map(outer.problems(), value, path);
    map.allow_only({"attribute", "values"});
    map.require("attribute", "it is what the transition may write");
    return {.attribute = map.text("attribute"), .values = read_values(map, "values")};
}

std::optional<std::vector<DeclaredWrite>> read_writes(const MapReader& map) {
    const Document* value = map.find("writes");
    if (value == nullptr) return std::nullopt;
    std::vector<DeclaredWrite> writes;
    const std::string path = map.path_of("writes");
    if (value->is_map()) {
        const MapReader inner(map.problems(), *value, path);
        for (const Document::Member& member : value->members) {
            writes.push_back({.attribute = member.key, .values = read_values(inner, member.key)});
        }
    } else if (value->is_list()) {
        for (std::size_t i = 0; i < value->elements.size(); ++i) {
            writes.push_back(read_write(map, value->elements[i], fmt::format("{}/{}", path, i)));
        }
    } else {
        map.note(
            "wrong_type",
            "writes",
            fmt::format(
                "\"writes\" must be a list of attributes, but here is {}.{}",
                describe(*value),
                value->is_text() ? fmt::format(" Write [{}].", clean_text(value->text(), 60))
                                 : std::string()
            )
        );
    }
    return writes;
}

/// What only a trigger or a handler with one step may say.
constexpr std::array<std::string_view, 11> kCallKeys{
    "do",
    "input",
    "compensate",
    "max_attempts",
    "max_retries",
    "backoff",
    "timeout",
    "step_timeout",
    "queue",
    "non_idempotent",
    "concurrency_key",
};

/// A word, or a map with the handler of exceptions, which becomes the last step.
void read_on_exception(const MapReader& rules, const StepDefaults& defaults, Definition& into) {
    const Document* value = rules.find("on_exception");
    Rules& read = *into.rules;
    const bool is_unknown =
        value != nullptr && value->is_text() &&
        std::none_of(kOnExceptionWords.begin(), kOnExceptionWords.end(), [&](const auto& word) {
            return word.text == value->text();
        });
    if (is_unknown) {
        rules.note(
            "invalid_value",
            "on_exception",
            fmt::format(
                "\"on_exception\" must be dead_letter, compensate, or a map with \"do\" and the "
                "handler of exceptions, but here is {}.",
                describe(*value)
            )
        );
        return;
    }
    if (value == nullptr || !value->is_map()) {
        read.on_exception = rules.word("on_exception", kOnExceptionWords, read.on_exception);
        return;
    }
    const std::string path = rules.path_of("on_exception");
    const MapReader map(rules.problems(), *value, path);
    std::vector<std::string_view> keys{"description", "metadata"};
    keys.insert(keys.end(), kCallKeys.begin(), kCallKeys.end());
    map.allow_only(keys);
    const std::string name(kExceptionStep);
    read.on_exception = Rules::OnException::Handle;
    into.steps.push_back({
        .name = name,
        .description = map.free_text("description"),
        .kind = read_step_fields(map, "do", name, defaults),
        .metadata = map.payload("metadata"),
    });
}

/// One step, or a block of nodes.
Node::Kind read_transition(
    const MapReader& map, const std::string& name, const StepDefaults& defaults
) {
    if (map.has("steps")) return Sequence{.steps = read_block(map, "steps", defaults)};
    return read_step_fields(map, "do", name, defaults);
}

void read_trigger(
    const MapReader& map, const std::string& name, const StepDefaults& defaults, Definition& into
) {
    std::vector<std::string_view> keys{
        "trigger",
        "when",
        "description",
        "metadata",
        "set",
        "writes",
        "mode",
        "after",
        "max_fires",
        "enabled",
        "steps"
    };
    if (!map.has("steps")) keys.insert(keys.end(), kCallKeys.begin(), kCallKeys.end());
    map.allow_only(keys);
    map.require("when", "it is the condition that fires the transition");
    const Trigger otherwise;
    into.rules->triggers.push_back({
        .when = map.expression("when", kConditionExample),
        .set = map.payload("set"),
        .writes = read_writes(map),
        .mode = map.word("mode", kTriggerModeWords, otherwise.mode),
        .after = map.duration("after", otherwise.after),
        .max_fires = map.integer("max_fires", otherwise.max_fires),
        .is_enabled = map.boolean("enabled", otherwise.is_enabled),
    });
    into.steps.push_back({
        .name = name,
        .description = map.free_text("description"),
        .kind = read_transition(map, name, defaults),
        .metadata = map.payload("metadata"),
    });
}

SavepointCondition read_savepoint(
    const MapReader& rules, const std::string& name, const Document& value, const std::string& path
) {
    if (value.is_text()) return {.name = name, .when = value.text()};
    if (!value.is_map()) {
        rules.problems().add(
            "wrong_type",
            path,
            value,
            fmt::format(
                "A savepoint must be a condition or a map with \"when\", but here is {}.",
                describe(value)
            )
        );
        return {.name = name};
    }
    const MapReader map(rules.problems(), value, path);
    map.allow_only({"savepoint", "when", "on_rollback", "max_resumes"});
    map.require("when", "it is the condition from which on everything stays");
    const SavepointCondition otherwise;
    const auto reaction = map.word("on_rollback", kRollbackWords, Savepoint{}.on_rollback);
    return {
        .name = name,
        .when = map.expression("when", kConditionExample),
        .resumes = reaction == Savepoint::OnRollback::Resume,
        .max_resumes = map.small_integer("max_resumes", otherwise.max_resumes),
    };
}

void read_conditions(
    const MapReader& rules,
    std::string_view key,
    std::string_view kind,
    std::vector<NamedCondition>& into
) {
    each_named(
        rules,
        key,
        kind,
        [&](const std::string& name, const Document& value, const std::string& path) {
            if (value.is_text()) {
                into.push_back({.name = name, .when = value.text()});
                return;
            }
            if (!value.is_map()) {
                rules.problems().add(
                    "wrong_type",
                    path,
                    value,
                    fmt::format("A condition must be a text, but here is {}.", describe(value))
                );
                return;
            }
            const MapReader map(rules.problems(), value, path);
            map.allow_only({kind, "when"});
            map.require("when", "it is the condition");
            into.push_back({.name = name, .when = map.expression("when", kConditionExample)});
        }
    );
}

void note_steps_beside(const MapReader& root) {
    for (const std::string_view key : {"steps", "nodes", "entry", "edges", "unmatched"}) {
        if (!root.has(key)) continue;
        root.problems().set_incomplete();
        root.note(
            "steps_and_rules",
            key,
            fmt::format(
                "A workflow has either \"rules\", whose conditions say what comes next, or \"{}\", "
                "not both.",
                key
            )
        );
    }
}

void read_triggers(const MapReader& map, const StepDefaults& defaults, Definition& definition) {
    each_named(
        map,
        "triggers",
        "trigger",
        [&](const std::string& name, const Document& at, const std::string& at_path) {
            if (at.is_map()) {
                const MapReader trigger(map.problems(), at, at_path);
                return read_trigger(trigger, name, defaults, definition);
            }
            map.problems().set_incomplete();
            map.problems().add(
                "wrong_type",
                at_path,
                at,
                fmt::format("A trigger must be a map with \"when\", but here is {}.", describe(at))
            );
        }
    );
}

void read_options(const MapReader& map, Rules& rules) {
    const Rules otherwise;
    rules.on_idle = map.word("on_idle", kOnIdleWords, otherwise.on_idle);
    rules.final_while_pending =
        map.word("final_while_pending", kFinalWhilePendingWords, otherwise.final_while_pending);
    rules.external_writes =
        map.word("external_writes", kExternalWritesWords, otherwise.external_writes);
    rules.evolution = map.word("evolution", kEvolutionWords, otherwise.evolution);
}

}  // namespace

void read_rules(const MapReader& root, const StepDefaults& defaults, Definition& definition) {
    note_steps_beside(root);
    definition.rules.emplace();
    const Document& value = *root.find("rules");
    if (!value.is_map()) {
        root.problems().set_incomplete();
        root.note(
            "wrong_type",
            "rules",
            fmt::format(
                "\"rules\" must be a map with \"attributes\" and \"triggers\", but here is {}.",
                describe(value)
            )
        );
        return;
    }
    const std::string path = root.path_of("rules");
    const MapReader map(root.problems(), value, path);
    map.allow_only(
        {"attributes",
         "triggers",
         "final",
         "exceptions",
         "invariants",
         "savepoints",
         "on_exception",
         "on_idle",
         "final_while_pending",
         "external_writes",
         "evolution"}
    );
    map.require("attributes", "they are what conditions read and transitions write");
    map.require("triggers", "they say which condition fires what");
    Rules& rules = *definition.rules;
    each_named(
        map,
        "attributes",
        "attribute",
        [&](const std::string& name, const Document& at, const std::string& at_path) {
            rules.attributes.push_back(read_attribute(map.problems(), name, at, at_path));
        }
    );
    read_triggers(map, defaults, definition);
    read_conditions(map, "final", "final", rules.finals);
    read_conditions(map, "exceptions", "exception", rules.exceptions);
    read_conditions(map, "invariants", "invariant", rules.invariants);
    each_named(
        map,
        "savepoints",
        "savepoint",
        [&](const std::string& name, const Document& at, const std::string& at_path) {
            rules.savepoints.push_back(read_savepoint(map, name, at, at_path));
        }
    );
    read_on_exception(map, defaults, definition);
    read_options(map, rules);
}

}  // namespace ebb::model
