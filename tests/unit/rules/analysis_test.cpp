// What `ebb rules check` finds: for each finding, rules that have it and the same rules repaired.

#include "core/rules_analysis/analysis.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/rules_analysis/difference.h"
#include "core/rules_analysis/explore.h"
#include "core/rules_analysis/subject.h"

namespace ebb::rules_analysis {
namespace {

using Values = std::vector<Payload>;

/// A workflow with text attributes `a`, `b`, `c`, and one step for each trigger.
Definition rules_of(
    std::vector<std::pair<Trigger, Step>> triggers, std::vector<NamedCondition> finals
) {
    Definition made{.name = "w"};
    made.rules.emplace();
    for (const char* name : {"a", "b", "c"}) made.rules->attributes.push_back({.name = name});
    made.rules->finals = std::move(finals);
    for (std::size_t i = 0; i < triggers.size(); ++i) {
        made.rules->triggers.push_back(triggers[i].first);
        made.steps.push_back(
            {.name = "t" + std::to_string(i), .description = {}, .kind = triggers[i].second}
        );
    }
    return made;
}

Trigger trigger(std::string when, std::vector<DeclaredWrite> writes) {
    return {.when = std::move(when), .writes = std::move(writes)};
}

/// The codes of all findings with their places, in the order of the report.
std::vector<std::string> found_in(const Definition& definition, std::vector<Payload> starts = {}) {
    std::vector<std::string> found;
    const AnalysisReport report = analyze(definition, {.starts = std::move(starts)});
    EXPECT_TRUE(report.is_complete);
    for (const Diagnostic& finding : report.findings) {
        found.push_back(finding.code + " " + finding.path);
        EXPECT_TRUE(finding.message.ends_with(".")) << finding.message;
    }
    return found;
}

using Found = std::vector<std::string>;

/// From `new` over `paid` to the end.
Definition sound() {
    return rules_of(
        {{trigger("a = 'new'", {{"a", {"\"paid\""}}}), {}},
         {trigger("a = 'paid'", {{"a", {"\"sent\""}}}), {}}},
        {{"done", "a = 'sent'"}}
    );
}

TEST(RulesAnalysis, sound_rules_have_no_finding) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    EXPECT_EQ(found_in(definition), Found{});
}

TEST(RulesAnalysis, a_contradiction_is_dead) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->triggers[1].when = "a = 'paid' and a is null";
    definition.rules->finals.push_back({"never", "lower(a) = 'SENT'"});
    EXPECT_EQ(
        found_in(definition, {R"({"a":"new"})"}),
        (Found{
            "dead_rule /rules/triggers/1/when",
            "dead_final /rules/final/1/when",
            "unreachable_final /rules/final/0/when",
            "stuck /rules/triggers/0/when",
            "no_way_to_final /rules/final"
        })
    );
}

TEST(RulesAnalysis, what_no_state_enables_never_fires) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->triggers.push_back(trigger("a = 'lost'", {{"a", {"\"sent\""}}}));
    definition.steps.push_back({.name = "t2", .description = {}, .kind = Step{}});
    EXPECT_EQ(
        found_in(definition, {R"({"a":"new"})"}), Found{"never_enabled /rules/triggers/2/when"}
    );
    EXPECT_EQ(found_in(definition), Found{}) << "an input may begin there";
}

TEST(RulesAnalysis, the_schema_says_what_an_input_can_set) {
    Definition definition = sound();
    definition.rules->attributes.resize(2);
    definition.rules->triggers[0].when = "a = 'new' and b is null";
    EXPECT_EQ(found_in(definition), Found{}) << "an input may set b";
    definition.input_schema =
        R"({"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false})";
    EXPECT_EQ(found_in(definition), Found{"unwritten_attribute /rules/attributes/1"});
    definition.rules->triggers[0].when = "a = 'new'";
    EXPECT_EQ(found_in(definition), Found{"unread_attribute /rules/attributes/1"});
}

TEST(RulesAnalysis, a_way_that_ends_nowhere_is_shown) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->triggers[0].writes = {{{"a", {"\"paid\"", "\"lost\""}}}};
    const AnalysisReport report = analyze(definition, {.starts = {R"({"a":"new"})"}});
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings[0].code, "stuck");
    EXPECT_EQ(
        report.findings[0].message,
        "After \"t0\" no condition may be true, and the instance is in the exception "
        "`no_condition`: start with a = 'new'; \"t0\" writes a (another value)."
    );
    EXPECT_EQ(report.findings[0].severity, Diagnostic::Severity::Warning);
}

TEST(RulesAnalysis, two_that_write_the_same_are_in_conflict) {
    Definition definition = rules_of(
        {{trigger("a is null", {{"a", {"\"x\""}}}), {}},
         {trigger("a is null", {{"a", {"\"y\""}}}), {.compensate = Compensation{.handler = "undo"}}}
        },
        {{"done", "a is not null"}}
    );
    definition.rules->attributes.resize(1);
    EXPECT_EQ(
        found_in(definition, {"{}"}),
        (Found{"write_conflict /rules/triggers/1/writes", "no_compensation /rules/triggers/0/when"})
    );
}

TEST(RulesAnalysis, what_cannot_stop_is_endless) {
    Definition definition = rules_of(
        {{trigger("a = 'x'", {{"a", {"\"y\""}}}), {}}, {trigger("a = 'y'", {{"a", {"\"x\""}}}), {}}
        },
        {{"done", "a = 'z'"}}
    );
    definition.rules->attributes.resize(1);
    EXPECT_EQ(
        found_in(definition, {R"({"a":"x"})"}),
        (Found{"unreachable_final /rules/final/0/when", "endless /rules/triggers"})
    );
}

TEST(RulesAnalysis, what_leaves_its_condition_true_fires_itself_again) {
    Definition definition = sound();
    definition.rules->attributes.resize(2);
    definition.rules->triggers.push_back(trigger("a is not null", {{"b", {"\"seen\""}}}));
    definition.steps.push_back({.name = "t2", .description = {}, .kind = Step{}});
    const Found found = found_in(definition, {R"({"a":"new"})"});
    EXPECT_EQ(std::count(found.begin(), found.end(), "self_refire /rules/triggers/2/when"), 1);
    definition.rules->triggers[2].mode = Trigger::Mode::Edge;
    EXPECT_EQ(found_in(definition, {R"({"a":"new"})"}), Found{});
}

TEST(RulesAnalysis, a_final_that_is_always_refused_is_a_livelock) {
    Definition definition = rules_of(
        {{trigger("a is null", {{"a", {"\"x\""}}}), {}}, {trigger("true", {}), {}}},
        {{"done", "a = 'x'"}}
    );
    definition.rules->attributes.resize(1);
    definition.rules->final_while_pending = Rules::FinalWhilePending::Refuse;
    const std::string livelock = "livelock_final /rules/final/0/when";
    Found found = found_in(definition, {"{}"});
    EXPECT_EQ(std::count(found.begin(), found.end(), livelock), 1);
    EXPECT_EQ(
        std::count(found.begin(), found.end(), "constant_condition /rules/triggers/1/when"), 1
    );
    definition.rules->triggers[1].mode = Trigger::Mode::Once;
    found = found_in(definition, {"{}"});
    EXPECT_EQ(std::count(found.begin(), found.end(), livelock), 0);
}

TEST(RulesAnalysis, only_the_first_of_two_counts) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->finals.push_back({"again", "a = 'sent' and a is not null"});
    definition.rules->exceptions.push_back({"odd", "a in ('sent')"});
    const Found found = found_in(definition);
    EXPECT_EQ(found, (Found{"shadowed /rules/final/1/when", "shadowed /rules/exceptions/0/when"}));
}

TEST(RulesAnalysis, the_same_handler_twice_is_shadowed) {
    Definition definition = rules_of(
        {{trigger("a = 'x' and b = 'y'", {{"a", {"\"z\""}}}), {.handler = "h"}},
         {trigger("a = 'x'", {{"a", {"\"z\""}}}), {.handler = "h"}}},
        {{"done", "a = 'z'"}}
    );
    definition.rules->attributes.resize(2);
    const Found found = found_in(definition, {R"({"a":"x"})"});
    EXPECT_EQ(std::count(found.begin(), found.end(), "shadowed /rules/triggers/0/when"), 1);
}

TEST(RulesAnalysis, a_savepoint_may_be_reached_at_the_start) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->savepoints.push_back(
        {.name = "begun", .when = "a is not null", .resumes = true}
    );
    EXPECT_EQ(found_in(definition), Found{});
}

TEST(RulesAnalysis, above_its_limit_it_claims_nothing) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->triggers[0].when = "a = 'other'";
    const AnalysisReport report =
        analyze(definition, {.starts = {R"({"a":"paid"})"}, .limits = {.states_max = 1}});
    EXPECT_FALSE(report.is_complete);
    EXPECT_TRUE(report.findings.empty());
}

// Regions.

TEST(RulesAnalysisRegions, cut_the_values_where_conditions_do) {
    Definition definition = rules_of(
        {{trigger("n > 3 and lower(a) = 'x' and b = 'y'", {}), {}}}, {{"done", "n is null"}}
    );
    definition.rules->attributes.push_back({.name = "n", .type = AttributeType::Integer});
    const Subject subject(definition);
    const auto texts = [&](std::size_t attribute) {
        std::vector<std::string> made;
        for (const Region& region : subject.domains()[attribute].regions())
            made.push_back(region.text);
        return made;
    };
    EXPECT_EQ(texts(3), (std::vector<std::string>{"null", "less than 3", "3", "more than 3"}));
    EXPECT_EQ(
        texts(0), (std::vector<std::string>{"null", "'x'", "'x' in any case", "another value"})
    );
    EXPECT_EQ(texts(1), (std::vector<std::string>{"null", "'y'", "another value"}));
}

// Exploration with the kernel.

/// Independent chains of transitions, one after another in each: `a` counts to `lengths[0]`, ...
Definition chains(const std::vector<int>& lengths) {
    Definition made{.name = "w"};
    made.rules.emplace();
    std::string done;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::string name = "n" + std::to_string(i);
        made.rules->attributes.push_back(
            {.name = name, .type = AttributeType::Integer, .initial = "0"}
        );
        for (int at = 0; at < lengths[i]; ++at) {
            made.rules->triggers.push_back(
                trigger(name + " = " + std::to_string(at), {{name, {std::to_string(at + 1)}}})
            );
            made.steps.push_back(
                {.name = name + "_" + std::to_string(at), .description = {}, .kind = Step{}}
            );
        }
        done += (done.empty() ? "" : " and ") + name + " = " + std::to_string(lengths[i]);
    }
    made.rules->finals.push_back({"done", done});
    return made;
}

std::optional<std::uint64_t> ways_of(const std::vector<int>& lengths) {
    const Exploration found = explore(chains(lengths), {});
    EXPECT_TRUE(found.is_complete);
    EXPECT_TRUE(found.faults.empty());
    EXPECT_EQ(found.endings.size(), 1U);
    EXPECT_EQ(found.endings.at(0).what, "completed: done");
    return found.ways;
}

TEST(RulesExploration, counts_every_order_of_the_transitions) {
    EXPECT_EQ(ways_of({1, 1, 1}), 6U);
    EXPECT_EQ(ways_of({3, 3}), 20U);
    EXPECT_EQ(ways_of({2, 2, 2}), 90U);
    EXPECT_EQ(ways_of({5, 4, 3}), 27'720U);
    EXPECT_EQ(explore(chains({5, 4, 3}), {}).states, 120U);
}

TEST(RulesExploration, lists_all_endings) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->triggers[0].writes = {{{"a", {"\"paid\"", "\"lost\""}}}};
    const Exploration found = explore(definition, {.input = R"({"a":"new"})"});
    ASSERT_EQ(found.endings.size(), 2U);
    EXPECT_EQ(found.endings[0].what, "exception no_condition");
    EXPECT_EQ(found.endings[0].attributes, R"({"a":"lost"})");
    EXPECT_EQ(found.endings[1].what, "completed: done");
    EXPECT_EQ(found.ways, 2U);
}

TEST(RulesExploration, a_circle_has_any_number_of_ways) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->triggers[1].writes = {{{"a", {"\"new\"", "\"sent\""}}}};
    const Exploration found = explore(definition, {.input = R"({"a":"new"})"});
    EXPECT_FALSE(found.ways.has_value());
    EXPECT_EQ(found.endings.size(), 1U);
}

TEST(RulesExploration, stops_at_its_limit) {
    const Exploration found = explore(chains({5, 4, 3}), {.states_max = 50});
    EXPECT_FALSE(found.is_complete);
    EXPECT_FALSE(found.ways.has_value());
    EXPECT_THROW(explore(sound(), {.input = R"({"nothing":1})"}), Error);
}

// Difference.

TEST(RulesDifference, says_for_which_values_a_condition_differs) {
    const Definition before = sound();
    Definition after = before;
    after.rules->triggers[1].when = "a in ('paid', 'checked')";
    after.rules->finals[0].when = "a = 'sent' and b = 'x'";
    after.rules->attributes[2].name = "d";
    after.rules->attributes[2].renamed_from = {"c"};
    after.rules->attributes.push_back({.name = "e"});
    after.rules->evolution = Rules::Evolution::Follow;
    const RulesDifference found = compare(before, after);
    EXPECT_TRUE(found.follows);
    std::vector<std::string> changes;
    for (const RulesChange& change : found.changes) {
        changes.push_back(
            change.kind + " " + change.name + " " + change.change + " " + change.example
        );
    }
    EXPECT_EQ(
        changes,
        (std::vector<std::string>{
            "attribute d renamed ",
            "attribute e added ",
            "trigger t1 newly_true a = 'checked'",
            "final done newly_false a = 'sent', b = null"
        })
    );
    EXPECT_TRUE(compare(before, before).changes.empty());
}

TEST(RulesDifference, a_live_instance_fires_what_is_newly_true) {
    const Definition before = sound();
    Definition after = before;
    after.rules->triggers[1].when = "a in ('paid', 'checked')";
    after.rules->invariants.push_back({"no_b", "b is null"});
    const rules::Program old_rules(*before.rules, transition_names(before));
    const rules::Program new_rules(*after.rules, transition_names(after));
    const LiveChange change =
        examine_live(old_rules, new_rules, R"({"a":"checked","b":"x","c":null})", {});
    EXPECT_EQ(change.fires, std::vector<std::string>{"t1"});
    EXPECT_EQ(change.violated, std::vector<std::string>{"no_b"});
    EXPECT_TRUE(
        examine_live(old_rules, new_rules, R"({"a":"checked","b":null})", {"t1"}).fires.empty()
    ) << "it is already pending";
    EXPECT_TRUE(examine_live(old_rules, new_rules, R"({"a":"paid","b":null})", {}).is_empty());
    EXPECT_EQ(
        examine_live(old_rules, new_rules, R"({"a":"sent","b":null})", {}).final_condition, "done"
    );
}

}  // namespace
}  // namespace ebb::rules_analysis
