#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/expression/names.h"
#include "core/expression/source.h"
#include "core/expression/template.h"
#include "core/model/check.h"
#include "core/model/check_expressions.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "core/predicate/judgement.h"
#include "core/predicate/predicate.h"
#include "core/rules/program.h"
#include "core/rules/values.h"
#include "support/json.h"

namespace ebb::model {

namespace {

class RulesChecker {
 public:
    RulesChecker(Findings& findings, const Definition& definition)
        : findings_(findings),
          definition_(definition),
          rules_(*definition.rules),
          columns_(rules::columns_of(rules_)) {}

    void check() {
        if (!are_counts_allowed()) return;
        check_attributes();
        check_triggers();
        check_handler();
        check_conditions("final", "final condition", rules_.finals);
        check_conditions("exceptions", "exception", rules_.exceptions);
        check_conditions("invariants", "invariant", rules_.invariants);
        check_savepoints();
    }

 private:
    Findings& findings_;
    const Definition& definition_;
    const Rules& rules_;
    std::vector<predicate::Column> columns_;

    void note(std::string code, std::string path, std::string message) {
        findings_.note(std::move(code), std::move(path), std::move(message));
    }

    bool is_count_allowed(std::string_view key, std::size_t count, std::size_t most) {
        if (count <= most) return true;
        note(
            "too_many",
            fmt::format("/rules/{}", key),
            fmt::format("There are {} {}; at most {} are allowed.", count, key, most)
        );
        return false;
    }

    bool are_counts_allowed() {
        const bool has_handler = rules_.on_exception == Rules::OnException::Handle;
        if (rules_.triggers.size() + (has_handler ? 1 : 0) != definition_.steps.size()) {
            note(
                "trigger_without_step",
                "/rules/triggers",
                fmt::format(
                    "There are {} triggers and {} steps: the trigger of an index fires the step of "
                    "the same index{}.",
                    rules_.triggers.size(),
                    definition_.steps.size(),
                    has_handler ? ", and the last step handles exceptions" : ""
                )
            );
            return false;
        }
        if (rules_.triggers.empty()) {
            note("empty_block", "/rules/triggers", "The rules do nothing: give them a trigger.");
        }
        const bool are_few =
            is_count_allowed("attributes", rules_.attributes.size(), RulesLimits::kAttributesMax);
        return is_count_allowed("triggers", rules_.triggers.size(), RulesLimits::kTriggersMax) &&
               is_count_allowed("final", rules_.finals.size(), RulesLimits::kFinalsMax) &&
               is_count_allowed(
                   "exceptions", rules_.exceptions.size(), RulesLimits::kExceptionsMax
               ) &&
               is_count_allowed(
                   "invariants", rules_.invariants.size(), RulesLimits::kInvariantsMax
               ) &&
               is_count_allowed(
                   "savepoints", rules_.savepoints.size(), RulesLimits::kSavepointsMax
               ) &&
               are_few;
    }

    static bool is_attribute_name(std::string_view name) {
        const auto is_allowed = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        };
        return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
               name.size() <= RulesLimits::kAttributeNameBytesMax &&
               std::all_of(name.begin(), name.end(), is_allowed);
    }

    void check_attributes() {
        std::set<std::string_view> names;
        for (std::size_t i = 0; i < rules_.attributes.size(); ++i) {
            const Attribute& attribute = rules_.attributes[i];
            const std::string path = fmt::format("/rules/attributes/{}", i);
            // Columns of that name are already there, where rules have a table.
            const bool is_reserved = attribute.name == "wid" || attribute.name == "instance_id";
            if (!is_attribute_name(attribute.name) || is_reserved) {
                note(
                    "invalid_name",
                    path,
                    fmt::format(
                        "The name {} cannot be that of an attribute: allowed are lower-case "
                        "letters, digits and _, at most {} of them, with a letter first, except "
                        "\"wid\" and \"instance_id\".",
                        in_quotes(attribute.name),
                        RulesLimits::kAttributeNameBytesMax
                    )
                );
            }
            if (!names.insert(attribute.name).second) {
                note(
                    "duplicate_name",
                    path,
                    fmt::format("There are two attributes {}.", in_quotes(attribute.name))
                );
            }
            check_default(attribute, path + "/default");
        }
        check_earlier_names(names);
    }

    /// Writes may name an attribute by an earlier name, so it must mean one attribute only.
    void check_earlier_names(std::set<std::string_view> names) {
        for (std::size_t i = 0; i < rules_.attributes.size(); ++i) {
            const auto& earlier = rules_.attributes[i].renamed_from;
            const std::string path = fmt::format("/rules/attributes/{}/renamed_from", i);
            if (earlier.size() > RulesLimits::kEarlierNamesMax) {
                note(
                    "too_many",
                    path,
                    fmt::format(
                        "There are {} earlier names; at most {} are allowed.",
                        earlier.size(),
                        RulesLimits::kEarlierNamesMax
                    )
                );
                continue;
            }
            for (const std::string& name : earlier) {
                if (!is_attribute_name(name)) {
                    note(
                        "invalid_name",
                        path,
                        fmt::format(
                            "The earlier name {} cannot be that of an attribute.", in_quotes(name)
                        )
                    );
                }
                if (names.insert(name).second) continue;
                note(
                    "duplicate_name",
                    path,
                    fmt::format(
                        "{} is the name of an attribute, or the earlier name of another one.",
                        in_quotes(name)
                    )
                );
            }
        }
    }

    void check_default(const Attribute& attribute, const std::string& path) {
        constexpr std::size_t kShownMax = 60;
        try {
            const rules::Coerced coerced = rules::coerce(
                attribute.type,
                parse_json(
                    attribute.initial,
                    "The default",
                    {.payload_bytes_max = RulesLimits::kStateBytesMax,
                     .json_depth_max = DefinitionLimits::kPayloadDepthMax}
                )
            );
            if (coerced.fault.empty()) return;
            note(
                "invalid_default",
                path,
                fmt::format(
                    "{} cannot be the default of the attribute {} ({}); allowed is {}.",
                    clean_text(attribute.initial, kShownMax),
                    in_quotes(attribute.name),
                    to_string(attribute.type),
                    coerced.fault
                )
            );
        } catch (const Error& error) {
            note("invalid_payload", path, error.what());
        }
    }

    void check_condition(const std::string& path, const std::string& source) {
        try {
            const Predicate compiled = Predicate::compile(source, columns_);
            if (findings_.is_of_stored()) return;
            for (const predicate::Objection& each : predicate::objections_to(compiled)) {
                const expression::Place place = expression::place_of(source, each.offset);
                const PredicateError error(each.message, source, place.line, place.column);
                note_condition(path, source, error, error.what());
            }
        } catch (const PredicateError& error) {
            note_condition(path, source, error, what_is_wrong(source, error));
        }
    }

    /// A condition cannot read a disabled attribute, but the message says that the attribute
    /// exists.
    std::string what_is_wrong(const std::string& source, const PredicateError& error) const {
        for (const Attribute& attribute : rules_.attributes) {
            const std::string begin = fmt::format("There is no attribute \"{}\"", attribute.name);
            if (attribute.is_enabled || !error.message().starts_with(begin)) continue;
            const std::string message = fmt::format(
                "The attribute \"{}\" is disabled, so no condition can read it: enable it, or take "
                "it out of the condition.",
                attribute.name
            );
            return PredicateError(message, source, error.line(), error.column()).what();
        }
        return error.what();
    }

    void note_condition(
        const std::string& path,
        const std::string& source,
        const PredicateError& error,
        std::string message
    ) {
        const std::size_t at =
            expression::offset_of(source, {.line = error.line(), .column = error.column()});
        findings_.note(
            {.diagnostic =
                 {.code = "invalid_condition", .path = path, .message = std::move(message)},
             .span = expression::token_at(source, at)}
        );
    }

    void check_triggers() {
        for (std::size_t i = 0; i < rules_.triggers.size(); ++i) {
            const Trigger& trigger = rules_.triggers[i];
            const std::string path = fmt::format("/rules/triggers/{}", i);
            check_condition(path + "/when", trigger.when);
            check_transition(definition_.steps[i], path);
            check_after(trigger.after, path + "/after");
            if (trigger.max_fires < 0 || trigger.max_fires > RulesLimits::kFiresMax) {
                note(
                    "out_of_range",
                    path + "/max_fires",
                    fmt::format(
                        "\"max_fires\" is {}; it must be from 0 (no limit) to {}.",
                        trigger.max_fires,
                        RulesLimits::kFiresMax
                    )
                );
            }
            if (!trigger.set.empty()) check_set(trigger.set, path + "/set");
            if (trigger.writes) check_writes(*trigger.writes, path + "/writes");
        }
    }

    void check_transition(const Node& node, const std::string& path) {
        const auto* sequence = std::get_if<Sequence>(&node.kind);
        if (sequence == nullptr) {
            if (std::holds_alternative<Step>(node.kind)) return;
            return note(
                "not_a_step", path, "A trigger fires a step with a handler, or a block of nodes."
            );
        }
        if (sequence->steps.empty()) {
            note("empty_block", path + "/steps", "The block is empty: give it a node.");
        }
        if (rules_.final_while_pending != Rules::FinalWhilePending::Refuse) return;
        note(
            "steps_cannot_be_refused",
            path + "/steps",
            "With \"final_while_pending: refuse\" a handler is called again later. A block of "
            "nodes "
            "cannot be: use \"wait\" or \"stop\", or a handler."
        );
    }

    void check_after(Duration after, const std::string& path) {
        if (after >= Duration::zero() && after <= DefinitionLimits::kDurationMax) return;
        note(
            "out_of_range",
            path,
            "\"after\" must be a duration from 0 (it fires at once) to a hundred years."
        );
    }

    void check_savepoints() {
        std::set<std::string_view> names;
        for (std::size_t i = 0; i < rules_.savepoints.size(); ++i) {
            const SavepointCondition& savepoint = rules_.savepoints[i];
            const std::string path = fmt::format("/rules/savepoints/{}", i);
            check_name(findings_, path, "savepoint", savepoint.name);
            if (has_node(definition_.steps, savepoint.name) ||
                !names.insert(savepoint.name).second) {
                note(
                    "duplicate_name",
                    path,
                    fmt::format(
                        "The name {} is already taken by a transition, a node or another "
                        "savepoint.",
                        in_quotes(savepoint.name)
                    )
                );
            }
            check_condition(path + "/when", savepoint.when);
            if (!savepoint.resumes && savepoint.max_resumes != SavepointCondition{}.max_resumes) {
                note(
                    "resume_missing",
                    path + "/max_resumes",
                    "\"max_resumes\" has no effect without \"on_rollback: resume\"."
                );
            }
            const int most = DefinitionLimits::kResumesMax;
            if (savepoint.max_resumes >= 1 && savepoint.max_resumes <= most) continue;
            note(
                "out_of_range",
                path + "/max_resumes",
                fmt::format(
                    "\"max_resumes\" is {}; it must be from 1 to {}.", savepoint.max_resumes, most
                )
            );
        }
    }

    static bool has_node(const Block& block, const std::string& name) {
        return std::any_of(block.begin(), block.end(), [&](const Node& node) {
            bool is_inside = node.name == name;
            visit_blocks(node, [&](const Block& inner, const std::string&) {
                is_inside = is_inside || has_node(inner, name);
            });
            return is_inside;
        });
    }

    void check_handler() {
        for (std::size_t i = 0; i < rules_.triggers.size(); ++i) {
            if (definition_.steps[i].name != kExceptionStep) continue;
            note(
                "invalid_name",
                fmt::format("/rules/triggers/{}", i),
                fmt::format(
                    "A trigger cannot have the name {}: it is that of the handler of exceptions.",
                    in_quotes(kExceptionStep)
                )
            );
        }
        if (rules_.on_exception != Rules::OnException::Handle) return;
        const Node& handler = definition_.steps.back();
        if (std::holds_alternative<Step>(handler.kind) && handler.name == kExceptionStep) return;
        note(
            "not_a_step",
            "/rules/on_exception",
            fmt::format("The last step must be named {}.", in_quotes(kExceptionStep))
        );
    }

    void check_set(const Payload& set, const std::string& path) {
        constexpr std::array<std::string_view, 9> kVariables{
            "output",
            "state",
            "input",
            "workflow",
            "steps",
            "instance",
            "attempt",
            "now",
            "metadata",
        };
        try {
            const Json value = parse_json(
                set,
                "The template",
                {.payload_bytes_max = RulesLimits::kStateBytesMax,
                 .json_depth_max = DefinitionLimits::kPayloadDepthMax}
            );
            const Template compiled = Template::compile(value);
            for (const std::string& name : compiled.variables_read()) {
                if (std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end()) {
                    continue;
                }
                note(
                    "unknown_variable",
                    path,
                    fmt::format(
                        "There is no variable {}; \"set\" sees {}.{}",
                        in_quotes(name),
                        fmt::join(kVariables, ", "),
                        hint(name, kVariables)
                    )
                );
            }
            note_wrong_reads(findings_, path, value);
        } catch (const Error& error) {
            note("invalid_expression", path, error.what());
        }
    }

    void check_writes(const std::vector<DeclaredWrite>& writes, const std::string& path) {
        for (std::size_t i = 0; i < writes.size(); ++i) {
            const DeclaredWrite& write = writes[i];
            const auto found = std::find_if(
                rules_.attributes.begin(),
                rules_.attributes.end(),
                [&](const Attribute& attribute) { return attribute.name == write.attribute; }
            );
            if (found == rules_.attributes.end()) {
                std::vector<std::string_view> names;
                for (const Attribute& known : rules_.attributes) names.push_back(known.name);
                findings_.note({
                    .diagnostic =
                        {.code = "unknown_attribute",
                         .path = fmt::format("{}/{}", path, i),
                         .message = fmt::format(
                             "There is no attribute {}{}",
                             in_quotes(write.attribute),
                             expression::instead_of(write.attribute, names)
                         )},
                    .meant = std::string(closest(write.attribute, names)),
                });
                continue;
            }
            check_values(*found, write, fmt::format("{}/{}", path, i));
        }
    }

    void check_values(
        const Attribute& attribute, const DeclaredWrite& write, const std::string& path
    ) {
        for (const Payload& value : write.values) {
            const Json json = Json::parse(value, nullptr, false);
            const rules::Coerced coerced = rules::coerce(attribute.type, json);
            if (!json.is_discarded() && coerced.fault.empty()) continue;
            note(
                "invalid_value",
                path,
                fmt::format(
                    "{} is not a value of the attribute {} ({}); allowed is {}.",
                    in_quotes(value),
                    in_quotes(attribute.name),
                    to_string(attribute.type),
                    coerced.fault
                )
            );
        }
    }

    void check_conditions(
        std::string_view key, std::string_view what, const std::vector<NamedCondition>& conditions
    ) {
        std::set<std::string_view> names;
        for (std::size_t i = 0; i < conditions.size(); ++i) {
            const std::string path = fmt::format("/rules/{}/{}", key, i);
            check_name(findings_, path, what, conditions[i].name);
            if (!names.insert(conditions[i].name).second) {
                note(
                    "duplicate_name",
                    path,
                    fmt::format("There are two of the name {}.", in_quotes(conditions[i].name))
                );
            }
            check_condition(path + "/when", conditions[i].when);
        }
    }
};

}  // namespace

void check_rules(Findings& findings, const Definition& definition) {
    RulesChecker(findings, definition).check();
}

}  // namespace ebb::model
