// Triggers with a delay or a block of nodes, and savepoints: what is written can be read again, the
// builder makes the same, and every problem has its place.

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ebb/definition.h>
#include <ebb/rules_builder.h>

#include "support/json.h"

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

const std::string kTrip = R"({
    "workflow": "trip",
    "rules": {
        "attributes": [{"attribute": "price", "type": "integer"}, {"attribute": "approved"}],
        "triggers": [
            {"trigger": "approve", "when": "price > 1000 and approved is null",
             "steps": [{"decision": "boss", "roles": ["boss"]}, {"step": "note"}],
             "set": {"approved": "${ output.decision.verdict }"}},
            {"trigger": "remind", "when": "approved is null", "after": "3d"}
        ],
        "final": [{"final": "done", "when": "approved = 'confirmed'"}],
        "savepoints": [
            {"savepoint": "priced", "when": "price is not null"},
            {"savepoint": "asked", "when": "approved is not null", "on_rollback": "resume",
             "max_resumes": 2}
        ]
    }
})";

TEST(RulesBlocks, round_trip_is_exact) {
    const Definition definition = parse_definition_json(kTrip);
    ASSERT_TRUE(definition.rules.has_value());
    EXPECT_EQ(std::get<Sequence>(definition.steps[0].kind).steps.size(), 2U);
    EXPECT_EQ(definition.rules->triggers[1].after, 72h);
    EXPECT_FALSE(definition.rules->savepoints[0].resumes);
    EXPECT_EQ(definition.rules->savepoints[1].max_resumes, 2);
    EXPECT_EQ(definition_to_json(definition), Json::parse(kTrip));
    EXPECT_EQ(definition_from_json(definition_to_json(definition)), definition);
}

TEST(RulesBlocks, the_builder_makes_the_same) {
    const Definition built = RulesBuilder("trip")
                                 .attribute("price", AttributeType::Integer)
                                 .attribute("approved")
                                 .trigger(
                                     "approve",
                                     "price > 1000 and approved is null",
                                     {.steps =
                                          [](BlockBuilder& block) {
                                              block.decision("boss").roles({"boss"});
                                              block.step("note");
                                          },
                                      .set = R"({"approved": "${ output.decision.verdict }"})"}
                                 )
                                 .trigger("remind", "approved is null", {.after = 72h})
                                 .final_condition("done", "approved = 'confirmed'")
                                 .savepoint("priced", "price is not null")
                                 .savepoint("asked", "approved is not null", 2)
                                 .build();
    EXPECT_EQ(built, parse_definition_json(kTrip));
}

TEST(RulesBlocks, the_builder_refuses_steps_beside_a_handler) {
    const TriggerOptions both{.step = {.handler = "h"}, .steps = [](BlockBuilder& block) {
                                  block.step("s");
                              }};
    EXPECT_THROW(RulesBuilder("w").attribute("a").trigger("t", "a is null", both), Error);
}

std::string problems_of(std::string_view trigger, std::string_view more = "") {
    try {
        parse_definition_json(fmt::format(
            R"({{"workflow": "w", "rules": {{"attributes": {{"a": "text"}},
                "triggers": {{"t": {}}} {}}}}})",
            trigger,
            more
        ));
    } catch (const DefinitionError& error) {
        std::string text;
        for (const Diagnostic& d : error.diagnostics()) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", d.path, d.code);
        }
        return text;
    }
    return "";
}

TEST(RulesBlocks, says_where_a_block_is_wrong) {
    EXPECT_EQ(problems_of(R"({"when": "true", "steps": [{"step": "s"}]})"), "");
    EXPECT_EQ(
        problems_of(R"({"when": "true", "steps": []})"), "/rules/triggers/t/steps empty_block"
    );
    EXPECT_EQ(
        problems_of(R"({"when": "true", "steps": [{"step": "s"}], "do": "h"})"),
        "/rules/triggers/t/do unknown_key"
    );
    EXPECT_EQ(
        problems_of(R"({"when": "true", "steps": [{"savepoint": "s"}]})"),
        "/rules/triggers/t/steps/0 savepoint_in_rules"
    );
    EXPECT_EQ(
        problems_of(R"({"when": "true", "steps": [{"step": "t"}]})"),
        "/rules/triggers/t/steps/0/step duplicate_name"
    );
    EXPECT_EQ(
        problems_of(
            R"({"when": "true", "steps": [{"step": "s"}]})", R"(, "final_while_pending": "refuse")"
        ),
        "/rules/triggers/t/steps steps_cannot_be_refused"
    );
    EXPECT_EQ(
        problems_of(R"({"when": "true", "steps": [{"sequence": "s"}]})"),
        "/rules/triggers/t/steps/0 missing_kind"
    );
}

TEST(RulesBlocks, only_a_trigger_runs_a_sequence) {
    Definition definition{.name = "w"};
    definition.steps.push_back(
        {.name = "all", .kind = Sequence{.steps = {{.name = "s", .kind = Step{}}}}}
    );
    const auto diagnostics = validate(definition);
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].code, "misplaced_sequence");
}

TEST(RulesBlocks, says_what_is_wrong_with_a_time) {
    EXPECT_EQ(problems_of(R"({"when": "true", "after": "1s"})"), "");
    EXPECT_EQ(
        problems_of(R"({"when": "true", "after": "soon"})"),
        "/rules/triggers/t/after invalid_duration"
    );
    EXPECT_EQ(
        problems_of(R"({"when": "true", "after": "36526d"})"),
        "/rules/triggers/t/after out_of_range"
    );
}

TEST(RulesBlocks, says_what_is_wrong_with_a_savepoint) {
    const auto with = [](std::string_view savepoints) {
        return problems_of(R"({"when": "true"})", fmt::format(R"(, "savepoints": {})", savepoints));
    };
    EXPECT_EQ(with(R"({"s": "a is null"})"), "");
    EXPECT_EQ(with(R"({"s": "b is null"})"), "/rules/savepoints/s invalid_condition");
    EXPECT_EQ(with(R"({"t": "a is null"})"), "/rules/savepoints/t duplicate_name");
    EXPECT_EQ(with(R"({"s": {"on_rollback": "fail"}})"), "/rules/savepoints/s/when missing_key");
    EXPECT_EQ(
        with(R"({"s": {"when": "a is null", "on_rollback": "resume", "max_resumes": 0}})"),
        "/rules/savepoints/s/max_resumes out_of_range"
    );
    EXPECT_EQ(
        with(R"({"s": {"when": "a is null", "max_resumes": 2}})"),
        "/rules/savepoints/s/max_resumes resume_missing"
    );
    std::string many;
    for (int i = 0; i <= static_cast<int>(RulesLimits::kSavepointsMax); ++i) {
        many += fmt::format(R"({}"s{}": "a is null")", i == 0 ? "{" : ", ", i);
    }
    EXPECT_EQ(with(many + "}"), "/rules/savepoints too_many");
}

}  // namespace
}  // namespace ebb::test
