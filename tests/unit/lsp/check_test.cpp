// What is said of a text, by the command and the language server alike.

#include <gtest/gtest.h>

#include "source/workflow_text.h"
#include "yaml/scalar_map.h"

namespace ebb::source {
namespace {

std::vector<std::string> codes_of(std::string_view text) {
    std::vector<std::string> codes;
    for (const Diagnostic& problem : check_text(text).problems) codes.push_back(problem.code);
    return codes;
}

using Codes = std::vector<std::string>;

TEST(TextKind, is_known_by_name_and_content) {
    EXPECT_EQ(kind_of("a.ebb.yaml", ""), TextKind::Workflow);
    EXPECT_EQ(kind_of("a.yaml", "workflow: a\nsteps: [b]\n"), TextKind::Workflow);
    EXPECT_EQ(kind_of("a.json", R"({"workflow": "a", "nodes": [)"), TextKind::Workflow);
    EXPECT_EQ(kind_of("a.yaml", "workflow: a\n"), TextKind::Workflow);
    EXPECT_EQ(kind_of("a.yaml", "workflow: a\nstepss: [b]\n"), TextKind::Workflow);
    EXPECT_EQ(kind_of("a.json", R"({"workflow": "a", "stepss": ["b"]})"), TextKind::Workflow);
    // Of GitLab, and what `ebb show --json` and snapshots are.
    EXPECT_EQ(kind_of("a.yml", "workflow:\n  rules: []\n"), TextKind::Other);
    EXPECT_EQ(kind_of("a.json", R"({"workflow": "a", "version": 1, "id": 7})"), TextKind::Other);
    EXPECT_EQ(kind_of("a.yaml", "on: push\njobs: {}\n"), TextKind::Other);
    EXPECT_EQ(kind_of("a.yaml", "types:\n  a: {exec: [b]}\n"), TextKind::Types);
    EXPECT_EQ(kind_of("a.yaml", ""), TextKind::Other);
}

TEST(CheckText, a_broken_part_does_not_hide_the_others) {
    EXPECT_EQ(
        codes_of("workflow: a\nsteps:\n  - step: b\n    input: {x: ]\n  - step: c\n    tim: 1\n"),
        (Codes{"yaml_syntax", "unknown_key"})
    );
    EXPECT_EQ(
        codes_of("workflow: a\nsteps:\n  - step: b\n    input: !odd x\n  - step: c\n"),
        (Codes{"unknown_tag"})
    );
    EXPECT_EQ(codes_of("workflow: a\nsteps: [b\n").front(), "yaml_syntax");
    EXPECT_EQ(codes_of("{").front(), "yaml_syntax");
}

TEST(CheckText, a_text_that_was_never_broken_has_no_other_problems) {
    EXPECT_EQ(
        codes_of("workflow: a\nsteps:\n  - step: b\n  - step: b\n"), (Codes{"duplicate_name"})
    );
    EXPECT_EQ(codes_of("types:\n  a: {exec: []}\n").size(), 1U);
}

TEST(CheckText, an_expression_is_marked_where_it_stands) {
    struct Case {
        std::string_view text;
        int line;
        int column;
        int end_column;
    };

    for (const Case& each : {
             Case{
                 "workflow: a\nsteps:\n  - step: b\n    input: \"\\u00e9\\n${inptu}\"\n", 4, 23, 28
             },
             Case{"workflow: a\nsteps:\n  - step: b\n    input: 'it''s ${inptu}'\n", 4, 21, 26},
             Case{
                 "workflow: a\nsteps:\n  - step: b\n    input: |\n      one\n      ${inptu}\n",
                 6,
                 9,
                 14
             },
             Case{
                 "workflow: a\nsteps:\n  - step: b\n    input: >\n      one\n      é ${inptu}\n",
                 6,
                 11,
                 16
             },
             Case{"workflow: a\nsteps:\n  - step: b\n    input: one\n      ${inptu}\n", 5, 9, 14},
             Case{
                 "workflow: a\nsteps:\n  - loop: b\n    while: size(inptu) > 1\n    do: [c]\n",
                 4,
                 17,
                 22
             },
             Case{
                 "{\"workflow\": \"a\", \"steps\": [{\"step\": \"b\", \"input\": "
                 "\"\\ud83d\\ude00${inptu}\"}]}",
                 1,
                 67,
                 72
             },
         }) {
        const std::vector<Diagnostic> problems = check_text(each.text).problems;
        ASSERT_EQ(problems.size(), 1U) << each.text;
        EXPECT_EQ(problems[0].line, each.line) << each.text;
        EXPECT_EQ(problems[0].column, each.column) << each.text;
        EXPECT_EQ(problems[0].end_column, each.end_column) << each.text;
        ASSERT_EQ(problems[0].fixes.size(), 1U) << each.text;
        EXPECT_EQ(problems[0].fixes[0].replacement, "input");
    }
}

/// The codes of the warnings of a workflow.
std::vector<std::string> lints(const std::string& text) {
    std::vector<std::string> codes;
    for (const Diagnostic& problem : check_workflow(text, {.with_lints = true}).problems) {
        codes.push_back(problem.code + " " + std::to_string(problem.line));
    }
    return codes;
}

TEST(Lint, a_program_that_nothing_limits_never_times_out) {
    const std::string head =
        "workflow: a\nhandlers:\n  run: {exec: [sleep, inf]}\n"
        "  call: {http: {url: 'https://example.com'}}\n";
    EXPECT_EQ(
        lints(head + "steps:\n  - step: run\n  - step: again\n    handler: run\n  - call\n"),
        std::vector<std::string>{"never_times_out 6"}
    );
    EXPECT_EQ(
        lints(head + "steps:\n  - step: call\n    compensate: run\n"),
        std::vector<std::string>{"never_times_out 7"}
    );
    for (const std::string rest :
         {"deadline: 1h\nsteps: [run, call]\n",
          "defaults: {timeout: 5s}\nsteps: [run, call]\n",
          "steps:\n  - {step: run, step_timeout: 1m}\n  - call\n",
          "# ebb: allow never_times_out\nsteps: [run, call]\n"}) {
        EXPECT_EQ(lints(head + rest), std::vector<std::string>{}) << rest;
    }
    EXPECT_EQ(
        lints("workflow: a\nhandlers: {run: {exec: [jq, .], timeout: 5s}}\nsteps: [run]\n"),
        std::vector<std::string>{}
    );
}

TEST(CheckText, fixes_are_offered_only_where_one_edit_is_certain) {
    const auto fixes = [](std::string_view text) {
        std::vector<std::string> found;
        for (const Diagnostic& problem : check_text(text).problems) {
            for (const Diagnostic::Fix& fix : problem.fixes) found.push_back(fix.replacement);
        }
        return found;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(
        fixes("workflow: a\nsteps:\n  - step: b\n    timeout: 5\n"), (Texts{"5s", "5m", "5h"})
    );
    EXPECT_EQ(fixes("workflow: a\non_error: compensat\nsteps: [b]\n"), (Texts{"compensate"}));
    EXPECT_EQ(fixes("workflow: 7\nsteps: [b]\n"), (Texts{"\"7\""}));
    EXPECT_EQ(
        fixes("workflow: a\nsteps:\n  - condition: b\n    when: ${input.x}\n    then: [c]\n"),
        (Texts{"input.x"})
    );
    EXPECT_EQ(fixes("workflow: a\nsteps:\n  - step: b\n    qqqqqq: 5\n"), Texts{});
    EXPECT_EQ(
        fixes("workflow: a\nsteps:\n  - step: b\n    input: \"${siez(input)}\"\n"), (Texts{"size"})
    );
}

}  // namespace
}  // namespace ebb::source
