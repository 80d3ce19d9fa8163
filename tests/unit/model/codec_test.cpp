// What is written can be read again and is the same: every kind of node with every field, defaults
// left out, the shorter forms, and the fingerprint.

#include <ebb/builder.h>
#include <ebb/definition.h>

#include "core/model/writer.h"
#include "support/json.h"
#include "unit/model/everything.h"

namespace ebb::test {
namespace {

using std::chrono::seconds;

TEST(DefinitionJson, round_trip_of_everything_is_exact) {
    const Definition definition = everything();
    const Json json = definition_to_json(definition);
    EXPECT_EQ(definition_from_json(json), definition) << json.dump(2);
    EXPECT_EQ(parse_definition_json(json.dump()), definition);
    EXPECT_EQ(parse_definition_json(json.dump(4)), definition);
    EXPECT_EQ(parse_definition_json(model::write_definition(definition).dump()), definition);
}

TEST(DefinitionJson, leaves_out_what_has_its_default_value) {
    const Definition definition = WorkflowBuilder("small").step("a").build();
    EXPECT_EQ(
        definition_to_json(definition).dump(), R"({"steps":[{"step":"a"}],"workflow":"small"})"
    );
}

Definition read(std::string_view steps) {
    return parse_definition_json(R"({"workflow": "w", "steps": )" + std::string(steps) + "}");
}

TEST(DefinitionJson, a_scalar_is_a_step_of_that_name) {
    EXPECT_EQ(read(R"(["a"])"), read(R"([{"step": "a"}])"));
}

TEST(DefinitionJson, a_compensation_may_be_a_name) {
    EXPECT_EQ(
        read(R"([{"step": "a", "compensate": "b"}])"),
        read(R"([{"step": "a", "compensate": {"handler": "b", "max_attempts": 3}}])")
    );
}

TEST(DefinitionJson, branches_are_a_map_or_a_list_in_the_order_of_the_text) {
    const Definition map =
        read(R"([{"parallel": "p", "branches": {"z": ["a"], "b": ["c"]}, "join": "all"}])");
    const auto& branches = std::get<Parallel>(map.steps[0].kind).branches;
    EXPECT_EQ(branches[0].name, "z");
    EXPECT_EQ(branches[1].name, "b");
    EXPECT_EQ(
        map,
        read(
            R"([{"parallel": "p", "branches": [
                {"branch": "z", "do": ["a"]}, {"branch": "b", "do": ["c"]}]}])"
        )
    );
}

TEST(DefinitionJson, max_retries_do_not_count_the_first_call) {
    EXPECT_EQ(
        read(R"([{"step": "a", "max_retries": 0}])"), read(R"([{"step": "a", "max_attempts": 1}])")
    );
}

TEST(DefinitionJson, jitter_may_be_a_percentage) {
    EXPECT_EQ(
        read(R"([{"step": "a", "backoff": {"jitter": "35%"}}])"),
        read(R"([{"step": "a", "backoff": {"jitter": 0.35}}])")
    );
}

TEST(DefinitionJson, a_non_idempotent_step_has_one_attempt) {
    const Definition definition = read(R"([{"step": "a", "non_idempotent": true}])");
    EXPECT_EQ(std::get<Step>(definition.steps[0].kind).attempts.max_attempts, 1);
    EXPECT_EQ(definition_from_json(definition_to_json(definition)), definition);
}

TEST(DefinitionJson, defaults_apply_key_by_key_to_what_does_not_say_otherwise) {
    const Definition definition = parse_definition_json(R"({
        "workflow": "w",
        "defaults": {"max_retries": 4, "timeout": "10s", "queue": "slow",
                     "backoff": {"initial": "2s", "max": "1m"}},
        "steps": [
            "plain",
            {"step": "own", "max_attempts": 2, "queue": "fast",
             "backoff": {"max": "3s"}, "compensate": "undo"},
            {"step": "once", "non_idempotent": true,
             "compensate": {"handler": "undo", "timeout": 0}}
        ]})");
    const auto step = [&](std::size_t i) { return std::get<Step>(definition.steps[i].kind); };
    EXPECT_EQ(step(0).attempts.max_attempts, 5);
    EXPECT_EQ(step(0).attempts.timeout, seconds(10));
    EXPECT_EQ(step(0).queue, "slow");
    EXPECT_EQ(step(1).attempts.max_attempts, 2);
    EXPECT_EQ(step(1).queue, "fast");
    EXPECT_EQ(step(1).attempts.backoff.initial, seconds(2));
    EXPECT_EQ(step(1).attempts.backoff.max, seconds(3));
    EXPECT_EQ(step(1).compensate->attempts.max_attempts, 5);
    EXPECT_EQ(step(2).attempts.max_attempts, 1);
    EXPECT_EQ(step(2).compensate->attempts.max_attempts, 5);
    EXPECT_EQ(step(2).compensate->attempts.timeout, seconds(0));
}

TEST(DefinitionJson, a_schema_for_editors_is_allowed_and_not_kept) {
    EXPECT_EQ(
        parse_definition_json(R"({"$schema": "x.json", "workflow": "w", "steps": ["a"]})"),
        read(R"(["a"])")
    );
}

std::vector<Diagnostic> problems_of(std::string_view text) {
    try {
        parse_definition_json(text);
    } catch (const DefinitionError& error) {
        return error.diagnostics();
    }
    return {};
}

TEST(DefinitionJson, a_syntax_error_has_its_line_and_column) {
    const auto problems = problems_of("{\"workflow\": \"w\",\n  \"steps\": [,]}");
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].code, "json_syntax");
    EXPECT_EQ(problems[0].line, 2);
    EXPECT_EQ(problems[0].column, 13);
}

TEST(DefinitionJson, what_comes_after_the_document_is_an_error) {
    EXPECT_EQ(problems_of(R"({"workflow": "w", "steps": ["a"]} x)").at(0).code, "json_syntax");
    EXPECT_EQ(problems_of("").at(0).code, "json_syntax");
}

TEST(DefinitionJson, u0000_is_refused) {
    EXPECT_EQ(
        problems_of("{\"workflow\": \"w\", \"steps\": [\"a\"], \"description\": \"\\u0000\"}")
            .at(0)
            .code,
        "invalid_text"
    );
}

TEST(Checksum, is_equal_for_equal_definitions_and_differs_otherwise) {
    const Definition a = WorkflowBuilder("w").step("a", {.input = R"({"x": 1, "y": 2})"}).build();
    Definition spaced = a;
    std::get<Step>(spaced.steps[0].kind).input = R"({ "y": 2, "x": 1 })";
    Definition other = a;
    other.steps[0].name = "b";
    EXPECT_EQ(definition_checksum(a).size(), 64u);
    EXPECT_EQ(definition_checksum(a), definition_checksum(spaced));
    EXPECT_NE(definition_checksum(a), definition_checksum(other));
}

TEST(Checksum, does_not_change_from_one_release_to_the_next) {
    EXPECT_EQ(
        definition_checksum(everything()),
        "2501b615ae243770ad2f495dfe7b752777e9151afa88ad170aeb30b585d4c0c9"
    );
}

}  // namespace
}  // namespace ebb::test
