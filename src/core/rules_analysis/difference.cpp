#include "core/rules_analysis/difference.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/rules_evolution.h"
#include "core/kernel/stored_program.h"
#include "core/rules/values.h"
#include "core/rules_analysis/condition.h"
#include "core/rules_analysis/subject.h"
#include "support/json.h"

namespace ebb::rules_analysis {

namespace {

constexpr std::size_t kCombinationsMax = 100'000;

/// The attributes of both versions: those of the newer one, then those that only the older has.
struct Joined {
    std::vector<Attribute> attributes;
    std::vector<predicate::Column> before;
    std::vector<predicate::Column> after;

    /// One attribute whose type has changed: it is two here, and the value of the second one says
    /// which the first one has.
    struct Retyped {
        std::size_t after = 0;
        std::size_t before = 0;
    };

    std::vector<Retyped> retyped;
};

predicate::Column column_of(const Attribute& attribute) {
    return {
        .name = attribute.is_enabled ? attribute.name : std::string(),
        .type = rules::predicate_type(attribute.type)
    };
}

/// The attribute of the older version that the newer one continues; null = none.
const Attribute* earlier_of(const Attribute& attribute, const Rules& before) {
    const auto named = [&](const std::string& name) -> const Attribute* {
        for (const Attribute& each : before.attributes) {
            if (each.name == name) return &each;
        }
        return nullptr;
    };
    if (const Attribute* same = named(attribute.name)) return same;
    for (const std::string& name : attribute.renamed_from) {
        if (const Attribute* earlier = named(name)) return earlier;
    }
    return nullptr;
}

Joined join(const Rules& before, const Rules& after) {
    Joined joined;
    std::vector<const Attribute*> continued;
    std::vector<std::pair<const Attribute*, std::size_t>> retyped;
    for (const Attribute& attribute : after.attributes) {
        const Attribute* earlier = earlier_of(attribute, before);
        if (earlier != nullptr && earlier->type != attribute.type) {
            retyped.emplace_back(earlier, joined.attributes.size());
            earlier = nullptr;
        }
        continued.push_back(earlier);
        joined.attributes.push_back(attribute);
        joined.after.push_back(column_of(attribute));
        joined.before.push_back(
            earlier != nullptr
                ? column_of(*earlier)
                : predicate::Column{.name = {}, .type = rules::predicate_type(attribute.type)}
        );
    }
    for (const Attribute& attribute : before.attributes) {
        if (std::find(continued.begin(), continued.end(), &attribute) != continued.end()) continue;
        for (const auto& [earlier, at] : retyped) {
            if (earlier != &attribute) continue;
            joined.retyped.push_back({.after = at, .before = joined.attributes.size()});
        }
        joined.attributes.push_back(attribute);
        joined.before.push_back(column_of(attribute));
        joined.after.push_back({.name = {}, .type = rules::predicate_type(attribute.type)});
    }
    return joined;
}

/// Compares two conditions region by region.
class TwoConditions {
 public:
    TwoConditions(const Joined& joined, const std::string& before, const std::string& after)
        : joined_(joined),
          cuts_(joined.attributes.size()),
          before_(Predicate::compile(before, joined.before), cuts_),
          after_(Predicate::compile(after, joined.after), cuts_) {
        before_.settle(cuts_);
        after_.settle(cuts_);
        for (std::size_t i = 0; i < cuts_.size(); ++i) {
            domains_.emplace_back(joined.attributes[i].type, cuts_[i]);
        }
    }

    struct Found {
        std::optional<std::string> newly_true;  ///< an example
        std::optional<std::string> newly_false;
        bool is_certain = true;
    };

    Found find() {
        Found found;
        std::vector<std::size_t> read;
        std::size_t product = 1;
        for (std::size_t i = 0; i < cuts_.size(); ++i) {
            if (!is_read(i)) continue;
            read.push_back(i);
            product *= domains_[i].size();
            if (product > kCombinationsMax)
                return {.newly_true = {}, .newly_false = {}, .is_certain = false};
        }
        std::vector<std::size_t> at(read.size(), 0);
        predicate::Row row(cuts_.size());
        while (true) {
            for (std::size_t i = 0; i < read.size(); ++i) {
                row[read[i]] = domains_[read[i]].regions()[at[i]].sample;
            }
            if (is_possible(read, at)) visit(row, read, at, found);
            std::size_t i = 0;
            while (i < read.size() && ++at[i] == domains_[read[i]].size()) at[i++] = 0;
            if (i == read.size()) return found;
        }
    }

 private:
    const Joined& joined_;
    std::vector<Cuts> cuts_;
    Condition before_;
    Condition after_;
    std::vector<Domain> domains_;

    bool is_read(std::size_t attribute) const {
        if (before_.reads()[attribute] || after_.reads()[attribute]) return true;
        // The other half of a retyped one says which values this half can have.
        return std::ranges::any_of(joined_.retyped, [&](const Joined::Retyped& each) {
            const bool is_half = attribute == each.after || attribute == each.before;
            const std::size_t other = attribute == each.after ? each.before : each.after;
            return is_half && (before_.reads()[other] || after_.reads()[other]);
        });
    }

    /// Whether a retyped attribute can have had the one value and have the other one now.
    bool is_possible(const std::vector<std::size_t>& read, const std::vector<std::size_t>& at)
        const {
        const auto region_of = [&](std::size_t attribute) {
            const auto found = std::find(read.begin(), read.end(), attribute);
            return found == read.end()
                       ? -1
                       : static_cast<int>(at[static_cast<std::size_t>(found - read.begin())]);
        };
        return std::ranges::all_of(joined_.retyped, [&](const Joined::Retyped& each) {
            const int was = region_of(each.before);
            const int is = region_of(each.after);
            return was < 0 || is < 0 || continues(each, was, is);
        });
    }

    bool continues(const Joined::Retyped& each, int was, int is) const {
        const Domain& before = domains_[each.before];
        if (was == 0 || is == 0) return was == is;  // NULL
        if (!before.regions()[static_cast<std::size_t>(was)].is_named) return true;
        const AttributeType type = joined_.attributes[each.after].type;
        const rules::Coerced coerced = converted(type, before.json_of(was));
        // An instance whose value the newer type cannot have stays on its version.
        if (!coerced.fault.empty()) return false;
        return domains_[each.after].find(rules::datum_of(type, coerced.json)) == is;
    }

    void visit(
        const predicate::Row& row,
        const std::vector<std::size_t>& read,
        const std::vector<std::size_t>& at,
        Found& found
    ) const {
        const Truths before = before_.on(row);
        const Truths after = after_.on(row);
        const auto example = [&] {
            std::string text;
            for (std::size_t i = 0; i < read.size(); ++i) {
                const Region& region = domains_[read[i]].regions()[at[i]];
                text += fmt::format(
                    "{}{} {}{}",
                    i == 0 ? "" : ", ",
                    joined_.attributes[read[i]].name,
                    region.is_named ? "= " : "is ",
                    region.text
                );
            }
            return text;
        };
        if (must_hold(after) && !can_hold(before) && !found.newly_true)
            found.newly_true = example();
        if (must_hold(before) && !can_hold(after) && !found.newly_false) {
            found.newly_false = example();
        }
        const bool is_open =
            (can_hold(before) && !must_hold(before)) || (can_hold(after) && !must_hold(after));
        if (is_open) found.is_certain = false;
    }
};

struct Named {
    std::string name;
    std::string when;
    bool is_enabled = true;
};

class Comparison {
 public:
    Comparison(const Definition& before, const Definition& after)
        : before_(before), after_(after), joined_(join(*before.rules, *after.rules)) {}

    RulesDifference run() {
        found_.follows = after_.rules->evolution == Rules::Evolution::Follow;
        compare_attributes();
        compare_list("trigger", triggers_of(before_), triggers_of(after_));
        compare_list("final", named(before_.rules->finals), named(after_.rules->finals));
        compare_list(
            "exception", named(before_.rules->exceptions), named(after_.rules->exceptions)
        );
        compare_list(
            "invariant", named(before_.rules->invariants), named(after_.rules->invariants)
        );
        found_.obstacles = obstacles_between(*compile_stored(before_), *compile_stored(after_));
        return std::move(found_);
    }

 private:
    const Definition& before_;
    const Definition& after_;
    Joined joined_;
    RulesDifference found_;

    static std::vector<Named> named(const std::vector<NamedCondition>& conditions) {
        std::vector<Named> made;
        for (const NamedCondition& each : conditions) made.push_back({each.name, each.when});
        return made;
    }

    static std::vector<Named> triggers_of(const Definition& definition) {
        std::vector<Named> made;
        for (std::size_t i = 0; i < definition.rules->triggers.size(); ++i) {
            const Trigger& trigger = definition.rules->triggers[i];
            made.push_back({definition.steps[i].name, trigger.when, trigger.is_enabled});
        }
        return made;
    }

    void note(
        std::string kind,
        std::string name,
        std::string change,
        std::string message,
        std::string example = {}
    ) {
        found_.changes.push_back(
            {std::move(kind),
             std::move(name),
             std::move(change),
             std::move(message),
             std::move(example)}
        );
    }

    void compare_attributes() {
        std::vector<const Attribute*> continued;
        for (const Attribute& attribute : after_.rules->attributes) {
            const Attribute* earlier = earlier_of(attribute, *before_.rules);
            continued.push_back(earlier);
            compare_attribute(earlier, attribute);
        }
        for (const Attribute& attribute : before_.rules->attributes) {
            const bool is_kept =
                std::find(continued.begin(), continued.end(), &attribute) != continued.end();
            if (is_kept) continue;
            note(
                "attribute",
                attribute.name,
                "removed",
                fmt::format("The attribute \"{}\" and its values are gone.", attribute.name)
            );
        }
    }

    void compare_attribute(const Attribute* earlier, const Attribute& attribute) {
        const std::string& name = attribute.name;
        if (earlier == nullptr) {
            return note(
                "attribute",
                name,
                "added",
                fmt::format(
                    "The attribute \"{}\" is new: instances that follow have its default, {}.",
                    name,
                    std::string_view(attribute.initial)
                )
            );
        }
        if (earlier->name != name) {
            note(
                "attribute",
                name,
                "renamed",
                fmt::format("The attribute \"{}\" is now \"{}\".", earlier->name, name)
            );
        }
        if (earlier->type != attribute.type) {
            note(
                "attribute",
                name,
                "type",
                fmt::format(
                    "The attribute \"{}\" was {} and is {}: a value that it cannot have keeps an "
                    "instance on its version.",
                    name,
                    to_string(earlier->type),
                    to_string(attribute.type)
                )
            );
        } else if (earlier->initial != attribute.initial) {
            note(
                "attribute",
                name,
                "default",
                fmt::format(
                    "The default of \"{}\" was {} and is {}; live instances keep their value.",
                    name,
                    std::string_view(earlier->initial),
                    std::string_view(attribute.initial)
                )
            );
        }
    }

    void compare_list(
        const std::string& kind, const std::vector<Named>& before, const std::vector<Named>& after
    ) {
        const auto find = [](const std::vector<Named>& in, const std::string& name) {
            return std::find_if(in.begin(), in.end(), [&](const Named& each) {
                return each.name == name;
            });
        };
        for (const Named& now : after) {
            const auto earlier = find(before, now.name);
            if (earlier == before.end()) {
                note(
                    kind,
                    now.name,
                    "added",
                    fmt::format("The {} \"{}\" is new: {}.", kind, now.name, now.when)
                );
                continue;
            }
            compare_conditions(kind, *earlier, now);
        }
        for (const Named& earlier : before) {
            if (find(after, earlier.name) != after.end()) continue;
            note(
                kind,
                earlier.name,
                "removed",
                fmt::format("The {} \"{}\" is gone.", kind, earlier.name)
            );
        }
    }

    void compare_conditions(const std::string& kind, const Named& before, const Named& after) {
        if (before.is_enabled != after.is_enabled) {
            note(
                kind,
                after.name,
                after.is_enabled ? "enabled" : "disabled",
                fmt::format(
                    "The {} \"{}\" is {} now.",
                    kind,
                    after.name,
                    after.is_enabled ? "enabled" : "disabled"
                )
            );
        }
        if (before.when == after.when) return;
        const TwoConditions::Found found = TwoConditions(joined_, before.when, after.when).find();
        if (found.newly_true) {
            note(
                kind,
                after.name,
                "newly_true",
                fmt::format(
                    "The condition of the {} \"{}\" is true for more values.", kind, after.name
                ),
                *found.newly_true
            );
        }
        if (found.newly_false) {
            note(
                kind,
                after.name,
                "newly_false",
                fmt::format(
                    "The condition of the {} \"{}\" is true for fewer values.", kind, after.name
                ),
                *found.newly_false
            );
        }
        if (found.newly_true || found.newly_false || found.is_certain) return;
        note(
            kind,
            after.name,
            "maybe",
            fmt::format(
                "The condition of the {} \"{}\" is another one; for which values it differs cannot "
                "be said.",
                kind,
                after.name
            )
        );
    }
};

/// The state of an instance, with the attributes of a program. Empty `fault`: it has them.
struct LiveState {
    rules::State state;
    std::string fault;
};

LiveState state_in(const rules::Program& program, const Json& attributes) {
    LiveState live{.state = program.initial_state(), .fault = {}};
    for (const auto& [name, value] : attributes.items()) {
        const int index = program.find_known_attribute(name);
        if (index < 0) continue;
        const Attribute& attribute = program.rules().attributes[static_cast<std::size_t>(index)];
        const rules::Coerced coerced = converted(attribute.type, to_text(value));
        if (!coerced.fault.empty()) {
            live.fault = fmt::format(
                "Its attribute \"{}\" cannot be converted to {}.",
                attribute.name,
                to_string(attribute.type)
            );
            continue;
        }
        live.state.values[static_cast<std::size_t>(index)].json = coerced.json;
    }
    return live;
}

std::optional<bool> value_of(const Predicate& condition, const predicate::Row& row) {
    try {
        return condition.evaluate(row);
    } catch (const PredicateError&) {
        return std::nullopt;
    }
}

std::string first_of(
    const std::vector<rules::Program::Condition>& conditions, const predicate::Row& row
) {
    for (const rules::Program::Condition& each : conditions) {
        if (value_of(each.when, row) == true) return each.name;
    }
    return {};
}

}  // namespace

RulesDifference compare(const Definition& before, const Definition& after) {
    return Comparison(before, after).run();
}

LiveChange examine_live(
    const rules::Program& before,
    const rules::Program& after,
    const Payload& attributes,
    const std::vector<std::string>& pending
) {
    const Json json = Json::parse(attributes, nullptr, false);
    const LiveState old_state = state_in(before, json);
    const LiveState live = state_in(after, json);
    LiveChange change{.fault = live.fault};
    // It does not follow: nothing of the newer version is asked of it.
    if (!live.fault.empty()) return change;
    const predicate::Row row = after.row_of(live.state);
    const predicate::Row old_row = before.row_of(old_state.state);
    change.final_condition = first_of(after.finals(), row);
    const std::string was =
        first_of(before.finals(), old_row).empty() ? first_of(before.exceptions(), old_row) : "";
    const std::string is =
        change.final_condition.empty() ? first_of(after.exceptions(), row) : std::string();
    if (is != was) change.exception = is;
    if (is.empty()) change.left_exception = was;
    for (const rules::Program::Condition& each : after.invariants()) {
        if (value_of(each.when, row) == false) change.violated.push_back(each.name);
    }
    const bool fires = change.final_condition.empty() && is.empty();
    for (const rules::Program::Rule& rule : after.triggers()) {
        const bool is_pending =
            std::find(pending.begin(), pending.end(), rule.name) != pending.end();
        const bool is_true = rule.is_enabled && value_of(rule.when, row) == true;
        const auto earlier = std::find_if(
            before.triggers().begin(),
            before.triggers().end(),
            [&](const rules::Program::Rule& each) { return each.name == rule.name; }
        );
        const bool was_true = earlier != before.triggers().end() && earlier->is_enabled &&
                              value_of(earlier->when, old_row) == true;
        if (fires && is_true && !is_pending && !was_true) change.fires.push_back(rule.name);
        if (was_true && !is_true) change.no_longer.push_back(rule.name);
    }
    return change;
}

}  // namespace ebb::rules_analysis
