// What `validate` accepts and refuses where a golden file cannot show it: the reads that are right,
// each limit at its value and one above, and what only C++ can build. Method: small definitions as
// JSON, and by hand.

#include <limits>

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/definition.h>

#include "support/json.h"

namespace ebb::test {
namespace {

std::string codes_of(const std::vector<Diagnostic>& problems) {
    std::string text;
    for (const Diagnostic& d : problems) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", d.path, d.code);
    }
    return text;
}

/// The problems of a workflow with these steps (JSON), as `path code, ...`.
std::string problems_of(std::string_view steps, std::string_view head = "") {
    const std::string text = fmt::format(R"({{"workflow": "w", {} "steps": {}}})", head, steps);
    try {
        parse_definition_json(text);
    } catch (const DefinitionError& error) {
        return codes_of(error.diagnostics());
    }
    return "";
}

TEST(StepsRead, may_come_from_any_step_that_can_have_completed) {
    // Before it, on one side of a condition before it, in another branch, a join, a wait.
    EXPECT_EQ(
        problems_of(R"([
            "a",
            {"condition": "c", "when": "input.x", "then": ["b"]},
            {"parallel": "p", "branches": {
                "x": ["d"], "y": [{"step": "e", "input": "${ steps.d.output }"}]}},
            {"signal": "s"}, {"delay": "t", "for": "1s"}, {"decision": "h"},
            {"step": "f", "input": [
                "${ steps.a.output }", "${ steps.b.output }", "${ steps.d.output }",
                "${ steps.p.output }", "${ steps.s.output }", "${ steps.t.output }",
                "${ steps.h.output }"]}
        ])"),
        ""
    );
}

TEST(StepsRead, may_come_from_an_earlier_turn_of_a_loop) {
    EXPECT_EQ(
        problems_of(R"([
            {"loop": "l", "while": "!has(steps.b.output) || steps.b.output.more", "do": [
                {"step": "a", "input": "${ steps.b.output }"},
                {"step": "b", "input": "${ steps.b.output }"},
                {"condition": "c", "when": "steps.d.output", "then": ["d"],
                    "else": [{"step": "e", "input": "${ steps.d.output }"}]}
            ]},
            {"loop": "m", "until": "steps.f.output.done", "do": ["f"]},
            {"step": "g", "input": "${ steps.l.output }"}
        ])"),
        ""
    );
}

TEST(StepsRead, may_be_the_decision_that_was_rejected) {
    EXPECT_EQ(
        problems_of(
            R"([{"decision": "d", "on_reject": [
                {"fail": "f", "message": "${ steps.d.output.decision }"}]}])"
        ),
        ""
    );
}

TEST(StepsRead, may_have_completed_before_a_resume) {
    const std::string later = R"({"step": "a", "input": "${ steps.b.output }"}, "b"])";
    EXPECT_EQ(problems_of("[" + later), "/steps/0/input step_not_before");
    EXPECT_EQ(problems_of(R"([{"savepoint": "s", "on_rollback": "resume"},)" + later), "");
}

TEST(StepsRead, are_found_with_names_that_need_brackets) {
    EXPECT_EQ(problems_of(R"(["a-b", {"step": "c", "input": "${ steps['a-b'].output }"}])"), "");
    EXPECT_EQ(
        problems_of(R"(["a-b", {"step": "c", "input": "${ steps['a-c'].output }"}])"),
        "/steps/1/input unknown_step"
    );
}

TEST(Unreachable, is_known_across_blocks) {
    const std::string fail = R"([{"fail": "f"}])";
    EXPECT_EQ(
        problems_of(R"([{"parallel": "p", "branches": {"x": [{"fail": "f"}], "y": ["a"]}}, "b"])"),
        "/steps/1 unreachable"
    );
    EXPECT_EQ(
        problems_of(
            R"([{"parallel": "p", "join": "any",
                 "branches": {"x": [{"fail": "f"}], "y": ["a"]}}, "b"])"
        ),
        ""
    );
    EXPECT_EQ(
        problems_of(R"([{"loop": "l", "until": "input.x", "do": [{"fail": "f"}]}, "b"])"),
        "/steps/1 unreachable"
    );
    EXPECT_EQ(
        problems_of(R"([{"loop": "l", "while": "input.x", "do": [{"fail": "f"}]}, "b"])"), ""
    );
    EXPECT_EQ(
        problems_of(R"([{"condition": "c", "when": "input.x", "then": [{"fail": "f"}]}, "b"])"), ""
    );
}

TEST(Savepoint, may_be_resumed_where_something_follows_in_any_way) {
    const std::string savepoint = R"({"savepoint": "s", "on_rollback": "resume"})";
    EXPECT_EQ(problems_of("[" + savepoint + R"(, "a"])"), "");
    EXPECT_EQ(
        problems_of(
            R"([{"condition": "c", "when": "input.x", "then": [)" + savepoint + R"(]}, "a"])"
        ),
        ""
    );
    EXPECT_EQ(
        problems_of(R"([{"loop": "l", "while": "input.x", "do": ["a", )" + savepoint + "]}]"), ""
    );
    EXPECT_EQ(
        problems_of(R"(["a", )" + savepoint + "]"), "/steps/1/on_rollback savepoint_pointless"
    );
}

std::string list_of(std::size_t count, const std::function<std::string(std::size_t)>& item) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + item(i);
    return text + "]";
}

std::string in_quotes(const std::string& text) {
    return "\"" + text + "\"";
}

std::string numbered_steps(std::size_t count) {
    return list_of(count, [](std::size_t i) { return in_quotes("s" + std::to_string(i)); });
}

TEST(DefinitionLimit, of_nodes) {
    EXPECT_EQ(problems_of(numbered_steps(DefinitionLimits::kNodesMax)), "");
    EXPECT_EQ(
        problems_of(numbered_steps(DefinitionLimits::kNodesMax + 1)), "/steps too_many_nodes"
    );
}

TEST(DefinitionLimit, of_branches_and_cases) {
    const auto parallel = [](std::size_t count) {
        return R"([{"parallel": "p", "branches": )" +
               list_of(
                   count,
                   [](std::size_t i) {
                       return fmt::format(R"({{"branch": "b{0}", "do": ["s{0}"]}})", i);
                   }
               ) +
               "}]";
    };
    const auto choice = [](std::size_t count) {
        return R"([{"switch": "p", "cases": )" +
               list_of(
                   count,
                   [](std::size_t i) {
                       return fmt::format(R"({{"when": "input.x == {0}", "do": ["s{0}"]}})", i);
                   }
               ) +
               "}]";
    };
    constexpr std::size_t kMax = DefinitionLimits::kBranchesMax;
    EXPECT_EQ(problems_of(parallel(kMax)), "");
    EXPECT_EQ(problems_of(parallel(kMax + 1)), "/steps/0/branches too_many_branches");
    EXPECT_EQ(problems_of(choice(kMax)), "");
    EXPECT_EQ(problems_of(choice(kMax + 1)), "/steps/0/cases too_many_branches");
}

/// A step inside `depth` parallel blocks, the form that needs the most levels of JSON.
Block nested(int depth) {
    Block block = {{.name = "inner", .description = {}, .kind = Step{}}};
    for (int i = 0; i < depth; ++i) {
        Node other{.name = "other" + std::to_string(i), .description = {}, .kind = Step{}};
        Parallel parallel;
        parallel.branches.push_back({"x", std::move(block)});
        parallel.branches.push_back({"y", {std::move(other)}});
        block = {{.name = "p" + std::to_string(i), .description = {}, .kind = std::move(parallel)}};
    }
    return block;
}

TEST(DefinitionLimit, of_nesting_fits_into_that_of_documents) {
    Definition definition;
    definition.name = "w";
    definition.steps = nested(DefinitionLimits::kNestingMax);
    Block* inner = &definition.steps;
    while (auto* parallel = std::get_if<Parallel>(&inner->front().kind)) {
        inner = &parallel->branches[0].steps;
    }
    constexpr auto kDepth = static_cast<std::size_t>(DefinitionLimits::kPayloadDepthMax);
    std::get<Step>(inner->front().kind).input = std::string(kDepth, '[') + std::string(kDepth, ']');
    EXPECT_EQ(codes_of(validate(definition)), "");
    EXPECT_EQ(parse_definition_json(definition_to_json(definition).dump()), definition);

    definition.steps = nested(DefinitionLimits::kNestingMax + 1);
    const std::vector<Diagnostic> problems = validate(definition);
    ASSERT_EQ(problems.size(), 1u) << codes_of(problems);
    EXPECT_EQ(problems[0].code, "nested_too_deeply");
}

TEST(DefinitionLimit, of_the_depth_of_payloads) {
    const auto step = [](std::size_t depth) {
        return R"([{"step": "a", "input": )" + std::string(depth, '[') + std::string(depth, ']') +
               "}]";
    };
    constexpr auto kMax = static_cast<std::size_t>(DefinitionLimits::kPayloadDepthMax);
    EXPECT_EQ(problems_of(step(kMax)), "");
    EXPECT_EQ(problems_of(step(kMax + 1)), "/steps/0/input invalid_payload");
}

TEST(DefinitionLimit, of_the_depth_of_documents) {
    // The map itself, `steps`, the step and its input are the first four.
    constexpr auto kMax = static_cast<std::size_t>(DefinitionLimits::kDocumentDepthMax);
    const auto text = [](std::size_t depth) {
        return R"({"workflow": "w", "x": )" + std::string(depth - 1, '[') +
               std::string(depth - 1, ']') + "}";
    };
    const auto first_code = [](const std::string& json) {
        try {
            parse_definition_json(json);
        } catch (const DefinitionError& error) {
            return error.diagnostics().at(0).code;
        }
        return std::string();
    };
    EXPECT_EQ(first_code(text(kMax)), "missing_key");
    EXPECT_EQ(first_code(text(kMax + 1)), "nested_too_deeply");
    EXPECT_EQ(first_code(std::string(500'000, '[')), "nested_too_deeply");
    Json deep = 1;
    for (std::size_t i = 0; i <= kMax; ++i) deep = Json::array({std::move(deep)});
    EXPECT_THROW(definition_from_json(deep), DefinitionError);
}

TEST(DefinitionLimit, of_names_and_texts) {
    const auto step = [](std::size_t name, std::size_t description) {
        return fmt::format(
            R"([{{"step": "{}", "description": "{}"}}])",
            std::string(name, 'n'),
            std::string(description, 'd')
        );
    };
    constexpr std::size_t kName = DefinitionLimits::kNameBytesMax;
    constexpr std::size_t kText = DefinitionLimits::kDescriptionBytesMax;
    EXPECT_EQ(problems_of(step(kName, kText)), "");
    EXPECT_EQ(problems_of(step(kName + 1, kText)), "/steps/0/step name_too_long");
    EXPECT_EQ(problems_of(step(kName, kText + 1)), "/steps/0/description text_too_long");
}

/// One key with a number, at both ends of its range and one outside.
void expect_range(const std::string& step, std::int64_t least, std::int64_t most) {
    const auto problems = [&](std::int64_t value) {
        return problems_of(fmt::format(fmt::runtime(step), value));
    };
    EXPECT_EQ(problems(least), "") << step;
    EXPECT_EQ(problems(most), "") << step;
    EXPECT_THAT(problems(least - 1), ::testing::EndsWith("out_of_range")) << step;
    EXPECT_THAT(problems(most + 1), ::testing::EndsWith("out_of_range")) << step;
}

TEST(DefinitionLimit, of_numbers) {
    expect_range(R"([{{"step": "a", "max_attempts": {}}}])", 1, DefinitionLimits::kAttemptsMax);
    expect_range(R"([{{"step": "a", "max_retries": {}}}])", 0, DefinitionLimits::kAttemptsMax - 1);
    expect_range(R"([{{"decision": "d", "quorum": {}}}])", 1, DefinitionLimits::kQuorumMax);
    expect_range(
        R"([{{"loop": "l", "while": "input.x", "do": ["a"], "max_iterations": {}}}])",
        1,
        DefinitionLimits::kIterationsMax
    );
    expect_range(
        R"([{{"savepoint": "s", "on_rollback": "resume", "max_resumes": {}}}, "a"])",
        1,
        DefinitionLimits::kResumesMax
    );
    expect_range(
        R"([{{"step": "a", "backoff": {{"factor": {}}}}}])",
        1,
        static_cast<std::int64_t>(DefinitionLimits::kFactorMax)
    );
    expect_range(R"([{{"step": "a", "backoff": {{"jitter": {}}}}}])", 0, 1);
}

TEST(DefinitionLimit, of_numbers_of_the_workflow) {
    const auto problems = [](const std::string& key, std::int64_t value) {
        return problems_of(R"(["a"])", fmt::format(R"("{}": {},)", key, value));
    };
    const auto expect = [&](const std::string& key, std::int64_t least, std::int64_t most) {
        EXPECT_EQ(problems(key, least), "");
        EXPECT_EQ(problems(key, most), "");
        EXPECT_EQ(problems(key, least - 1), "/" + key + " out_of_range");
        EXPECT_EQ(problems(key, most + 1), "/" + key + " out_of_range");
    };
    expect("version", 1, DefinitionLimits::kVersionMax);
    expect("priority", -DefinitionLimits::kPriorityMax, DefinitionLimits::kPriorityMax);
    expect("step_budget", 1, DefinitionLimits::kStepBudgetMax);
}

TEST(DefinitionLimit, of_durations) {
    EXPECT_EQ(problems_of(R"([{"step": "a", "timeout": "36525d"}])"), "");
    EXPECT_EQ(
        problems_of(R"([{"step": "a", "timeout": "36525d1us"}])"), "/steps/0/timeout out_of_range"
    );
    EXPECT_EQ(problems_of(R"([{"delay": "d", "for": "36525d"}])"), "");
    EXPECT_EQ(problems_of(R"([{"delay": "d", "for": "36525d1us"}])"), "/steps/0/for out_of_range");
}

TEST(DefinitionLimit, of_roles_and_handlers) {
    const auto roles = [](std::size_t count) {
        return R"([{"decision": "d", "roles": )" + numbered_steps(count) + "}]";
    };
    EXPECT_EQ(problems_of(roles(DefinitionLimits::kRolesMax)), "");
    EXPECT_EQ(problems_of(roles(DefinitionLimits::kRolesMax + 1)), "/steps/0/roles too_many_roles");
    const auto handlers = [](std::size_t count) {
        std::string map;
        for (std::size_t i = 0; i < count; ++i) {
            map += fmt::format("{}\"s{}\": {{}}", i == 0 ? "" : ",", i);
        }
        return problems_of(numbered_steps(count), "\"handlers\": {" + map + "},");
    };
    EXPECT_EQ(handlers(DefinitionLimits::kHandlersMax), "");
    EXPECT_EQ(handlers(DefinitionLimits::kHandlersMax + 1), "/handlers too_many_handlers");
}

TEST(DefinitionLimit, of_the_size) {
    Definition definition;
    definition.name = "w";
    definition.steps = {{.name = "a", .description = {}, .kind = Step{.input = "\"\""}}};
    const std::size_t size = definition_to_json(definition).dump().size();
    auto& input = std::get<Step>(definition.steps[0].kind).input;
    input = "\"" + std::string(DefinitionLimits::kDefinitionBytesMax - size, 'x') + "\"";
    EXPECT_EQ(codes_of(validate(definition)), "");
    EXPECT_EQ(parse_definition_json(definition_to_json(definition).dump()), definition);
    input.insert(1, "x");
    EXPECT_EQ(codes_of(validate(definition)), " definition_too_large");
    EXPECT_THROW(parse_definition_json(definition_to_json(definition).dump()), DefinitionError);
}

TEST(DefinitionLimit, of_problems_that_are_reported) {
    std::string steps = "[1";
    for (int i = 0; i < 200'000; ++i) steps += ",1";
    try {
        parse_definition_json(R"({"workflow": "w", "steps": )" + steps + "]}");
        FAIL();
    } catch (const DefinitionError& error) {
        EXPECT_EQ(error.diagnostics().size(), 1'000u);
        EXPECT_LT(std::string_view(error.what()).size(), 20'000u);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("and 950 more."));
    }
}

Definition one_step(Step step) {
    Definition definition;
    definition.name = "w";
    definition.steps = {{.name = "a", .description = {}, .kind = std::move(step)}};
    return definition;
}

TEST(Validate, sees_what_only_code_can_build) {
    EXPECT_EQ(
        codes_of(validate(one_step({.input = "{not json"}))), "/steps/0/input invalid_payload"
    );
    EXPECT_EQ(
        codes_of(validate(one_step({.compensate = Compensation{}}))),
        "/steps/0/compensate/handler invalid_name"
    );
    EXPECT_EQ(
        codes_of(validate(one_step({.attempts = {.timeout = Duration(-1)}}))),
        "/steps/0/timeout out_of_range"
    );
    EXPECT_EQ(
        codes_of(validate(one_step(
            {.attempts = {.backoff = {.factor = std::numeric_limits<double>::quiet_NaN()}}}
        ))),
        "/steps/0/backoff/factor out_of_range"
    );
    EXPECT_EQ(
        codes_of(validate(one_step({.non_idempotent = true}))),
        "/steps/0/max_attempts non_idempotent_attempts"
    );
    Definition definition = one_step({});
    definition.description = "\xff";
    definition.handlers["a"] = "[";
    definition.input_schema = "{";
    EXPECT_EQ(
        codes_of(validate(definition)),
        "/description invalid_text, /input_schema invalid_payload, /handlers/a invalid_payload"
    );
    definition = one_step({});
    definition.input_schema = R"({"$ref":"#"})";
    EXPECT_EQ(codes_of(validate(definition)), "/input_schema invalid_schema");
}

TEST(Validate, says_that_an_expression_needs_its_quotes) {
    const auto bare = validate(one_step({.input = "${ workflow.input }"}));
    ASSERT_EQ(codes_of(bare), "/steps/0/input invalid_payload");
    EXPECT_TRUE(bare[0].message.ends_with(" An expression is a JSON string: put it into quotes."))
        << bare[0].message;
    EXPECT_EQ(codes_of(validate(one_step({.input = R"("${ workflow.input }")"}))), "");
}

TEST(Validate, reports_in_the_order_of_the_document) {
    EXPECT_EQ(
        problems_of(
            R"([{"step": "a", "zzz": 1, "timeout": "soon"}, {"step": "b b"},
                {"step": "c", "max_attempts": 0}])",
            R"("version": 0,)"
        ),
        "/version out_of_range, /steps/0/zzz unknown_key, /steps/0/timeout invalid_duration, "
        "/steps/1/step invalid_name, /steps/2/max_attempts out_of_range"
    );
}

TEST(Validate, does_not_blame_the_rest_for_a_part_that_cannot_be_read) {
    EXPECT_EQ(
        problems_of(
            R"([{"stpe": "pay"}, {"step": "b", "input": "${ steps.pay.output }"},
                {"condition": "c", "when": "input.x", "then": 1}])",
            R"("handlers": {"pay": {}},)"
        ),
        "/steps/0 missing_kind, /steps/2/then wrong_type"
    );
}

TEST(Validate, judges_defaults_once) {
    EXPECT_EQ(
        problems_of(R"(["a", "b", "c"])", R"("defaults": {"max_attempts": 0, "queue": "a b"},)"),
        "/defaults/max_attempts out_of_range, /defaults/queue invalid_name"
    );
}

}  // namespace
}  // namespace ebb::test
