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
    EXPECT_TRUE(report.is_complete());
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

/// The lists in `writes` are hints: a handler may write another value, and then it does end.
TEST(RulesAnalysis, what_only_the_lists_exclude_is_a_warning) {
    Definition definition = rules_of(
        {{trigger("a = 'go' and b is null", {{"b", {"\"1\"", "\"2\""}}}), {}},
         {trigger("b = '4'", {}), {}}},
        {{"done", "b = '3'"}, {"ok", "b = '1'"}}
    );
    definition.rules->attributes.resize(2);
    const AnalysisReport report = analyze(definition, {.starts = {R"({"a":"go"})"}});
    const auto find = [&](const std::string& code) {
        const auto found = std::ranges::find(report.findings, code, &Diagnostic::code);
        return found == report.findings.end() ? Diagnostic() : *found;
    };
    EXPECT_EQ(find("unreachable_final").severity, Diagnostic::Severity::Warning);
    EXPECT_EQ(
        find("unreachable_final").message,
        "The final condition \"done\" never ends an instance, as long as transitions write only "
        "the "
        "values that their `writes` list: it can be true, but in no state that an instance can "
        "reach."
    );
    EXPECT_EQ(find("never_enabled").severity, Diagnostic::Severity::Warning);

    definition.rules->triggers[0].writes = {{{"a", {"\"1\"", "\"2\""}}}};
    const AnalysisReport certain = analyze(definition, {.starts = {R"({"a":"go"})"}});
    const auto last = std::ranges::find(certain.findings, "unreachable_final", &Diagnostic::code);
    ASSERT_NE(last, certain.findings.end());
    EXPECT_EQ(last->severity, Diagnostic::Severity::Error) << "whatever is written to a";
}

TEST(RulesAnalysis, one_cause_is_one_warning) {
    const Step undone{.compensate = Compensation{.handler = "undo"}};
    Definition definition = rules_of(
        {{trigger("a is null", {{"a", {"\"x\""}}}), {}},
         {trigger("b is null", {{"b", {"\"x\""}}}), {}},
         {trigger("c is null", {{"c", {"\"x\""}}}), undone}},
        {{"done", "a = 'x' and b = 'x' and c = 'x'"}}
    );
    const AnalysisReport report = analyze(definition, {.starts = {"{}"}});
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(
        report.findings[0].message,
        "\"t0\" and \"t1\" have no compensation and can run beside \"t2\": if \"t2\" fails for "
        "good, "
        "everything is rolled back but \"t0\" and \"t1\"."
    );
    EXPECT_EQ(report.findings[0].related.size(), 2U);
}

TEST(RulesAnalysis, a_comparison_with_null_is_never_true) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->triggers.push_back(trigger("a = 'new' and a <> null", {}));
    definition.steps.push_back({.name = "t2", .description = {}, .kind = Step{}});
    const AnalysisReport report = analyze(definition, {.starts = {R"({"a":"new"})"}});
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings[0].code, "dead_rule");
    EXPECT_EQ(
        report.findings[0].message,
        "The condition of the trigger \"t2\" is never true, whatever the values of its attributes: "
        "`a <> null` compares with NULL, which is never true; write `is null` or `is not null`."
    );
}

TEST(RulesAnalysis, says_why_it_did_not_search_everything) {
    Definition definition = sound();
    const auto gap_of = [&](SearchLimits limits) {
        return analyze(definition, {.starts = {R"({"a":"new"})"}, .limits = limits}).gap;
    };
    EXPECT_EQ(gap_of({}), "");
    EXPECT_TRUE(gap_of({.states_max = 1})
                    .starts_with("There are more than 1 states, which is the limit (--states). "
                                 "Narrow what can happen"));
    EXPECT_TRUE(gap_of({.work_max = 1}).starts_with("The search has taken 1 steps"));
    for (Attribute& attribute : definition.rules->attributes) attribute.is_external = true;
    definition.rules->triggers[0].when = "a = 'new' and b in ('1', '2') and c in ('1', '2')";
    const AnalysisReport report = analyze(definition, {.limits = {.starts_max = 10}});
    EXPECT_TRUE(report.gap.starts_with(
        "Instances can start with more than 10 kinds of inputs, so only those were searched that "
        "differ from the defaults in one attribute."
    )) << report.gap;
    EXPECT_GT(report.states, 10U) << "from there it searched on";

    definition = sound();
    definition.rules->attributes.push_back({.name = "n", .type = AttributeType::Integer});
    for (int i = 0; i < 200; ++i) {
        definition.rules->finals.push_back(
            {"f" + std::to_string(i),
             "n between " + std::to_string(2 * i) + " and " + std::to_string(2 * i + 1)}
        );
    }
    EXPECT_TRUE(analyze(definition, {}).gap.starts_with("The conditions divide the values of \"n\"")
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
    EXPECT_FALSE(report.is_complete());
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

TEST(RulesExploration, endings_that_look_the_same_are_one) {
    Definition definition = sound();
    definition.rules->attributes.resize(1);
    definition.rules->on_exception = Rules::OnException::Handle;
    definition.steps.push_back(
        {.name = std::string(kExceptionStep), .description = {}, .kind = Step{.handler = "fix"}}
    );
    definition.rules->exceptions = {{"lost", "a = 'lost'"}};
    definition.rules->triggers[0].writes = {{{"a", {"\"paid\"", "\"lost\""}}}};
    definition.rules->triggers[1].writes = {{{"a", {"\"sent\"", "\"lost\""}}}};
    const Exploration found = explore(definition, {.input = R"({"a":"new"})"});
    ASSERT_EQ(found.endings.size(), 2U);
    EXPECT_EQ(found.endings[0].what, "exception lost, whose handler is called");
    EXPECT_EQ(found.endings[0].ways, 2U);
    EXPECT_EQ(found.endings[1].what, "completed: done");
    EXPECT_EQ(found.ways, 3U);
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

TEST(RulesDifference, follows_an_attribute_to_its_new_name_and_type) {
    Definition before = sound();
    before.rules->triggers[1].when = "b is not null";
    Definition after = before;
    after.rules->attributes[1] = {.name = "total", .type = AttributeType::Numeric};
    after.rules->attributes[1].renamed_from = {"b"};
    after.rules->triggers[1].when = "total is not null";
    std::vector<std::string> changes;
    for (const RulesChange& change : compare(before, after).changes) {
        changes.push_back(change.kind + " " + change.name + " " + change.change);
    }
    EXPECT_EQ(
        changes, (std::vector<std::string>{"attribute total renamed", "attribute total type"})
    ) << "the condition means the same";
    after.rules->triggers[1].when = "total > 7";
    changes.clear();
    for (const RulesChange& change : compare(before, after).changes) {
        if (change.kind == "trigger") changes.push_back(change.change + " " + change.example);
    }
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(changes[0].starts_with("newly_false ")) << changes[0];
}

TEST(RulesDifference, an_instance_that_does_not_follow_is_asked_nothing) {
    const Definition before = sound();
    Definition after = before;
    after.rules->attributes[0].type = AttributeType::Integer;
    after.rules->triggers[0].when = "a is null";
    after.rules->triggers[1].when = "a = 1";
    after.rules->finals[0].when = "a = 2";
    for (Trigger& each : after.rules->triggers) each.writes = {};
    const LiveChange change = examine_live(
        rules::Program(*before.rules, transition_names(before)),
        rules::Program(*after.rules, transition_names(after)),
        R"({"a":"other"})",
        {}
    );
    EXPECT_EQ(change.fault, "Its attribute \"a\" cannot be converted to integer.");
    EXPECT_TRUE(change.is_empty()) << "it stays as it is";
    EXPECT_TRUE(change.fires.empty());
    EXPECT_TRUE(change.no_longer.empty());
}

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

TEST(RulesDifference, a_live_instance_leaves_an_exception) {
    Definition before = sound();
    before.rules->exceptions.push_back({"bad", "b = 'bad'"});
    Definition after = before;
    after.rules->exceptions[0].when = "b = 'worse'";
    const rules::Program old_rules(*before.rules, transition_names(before));
    const rules::Program new_rules(*after.rules, transition_names(after));
    const char* attributes = R"({"a":"paid","b":"bad","c":null})";
    const LiveChange change = examine_live(old_rules, new_rules, attributes, {});
    EXPECT_EQ(change.left_exception, "bad");
    EXPECT_FALSE(change.is_empty());
    // One that is in the same exception under both versions does not change.
    EXPECT_TRUE(examine_live(old_rules, old_rules, attributes, {}).is_empty());
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
