// What helps while one writes: completion, hover, hints and signatures.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "core/expression/functions.h"
#include "lsp/features/functions.h"

namespace ebb::lsp::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(Completion, offers_the_keys_of_the_node) {
    Client client;
    client.open("workflow: a\nsteps:\n  - condition: b\n    |\n");
    EXPECT_THAT(
        client.labels(),
        AllOf(
            Contains("when"), Contains("then"), Not(Contains("condition")), Not(Contains("timeout"))
        )
    );
    client.open("workflow: a\nsteps:\n  - step: b\n    tim|\n");
    EXPECT_THAT(
        client.labels(), AllOf(Contains("timeout"), Contains("compensate"), Not(Contains("when")))
    );
    client.open("workflow: a\n|\nsteps:\n  - step: b\n");
    EXPECT_THAT(client.labels(), AllOf(Contains("deadline"), Not(Contains("steps"))));
    client.open("workflow: a\nsteps:\n  - |\n");
    EXPECT_THAT(client.labels(), AllOf(Contains("step"), Contains("parallel")));
    client.open("workflow: a\nsteps:\n  - {step: b, ti|}\n");
    EXPECT_THAT(client.labels(), Contains("timeout"));
    client.open("workflow: a\ndefaults:\n  |\nsteps: [b]\n");
    EXPECT_THAT(client.labels(), AllOf(Contains("max_attempts"), Not(Contains("when"))));
    client.open("workflow: a\nsteps:\n  - step: b\n    input:\n      |\n");
    EXPECT_THAT(client.labels(), ElementsAre());
}

TEST(Completion, offers_words_durations_and_names) {
    Client client;
    client.open("workflow: a\non_error: |\nsteps: [b]\n");
    EXPECT_THAT(client.labels(), UnorderedElementsAre("compensate", "dead_letter", "exception"));
    client.open("workflow: a\ndeadline: 1|\nsteps: [b]\n");
    EXPECT_THAT(client.labels(), Contains("1h"));
    client.open("workflow: a\nhandlers:\n  pay: {exec: [x]}\nsteps:\n  - step: b\n    handler: |\n"
    );
    EXPECT_THAT(client.labels(), ElementsAre("pay"));
    client.open("workflow: a\nnodes: [x, y]\nedges:\n  - {from: x, to: |}\n");
    EXPECT_THAT(client.labels(), ElementsAre("x", "y"));
}

TEST(Completion, knows_expressions) {
    Client client;
    client.open(
        "workflow: a\nsteps:\n  - step: one\n  - condition: b\n    when: inp|\n    then: [c]\n"
    );
    EXPECT_THAT(
        client.labels(), AllOf(Contains("input"), Contains("size"), Not(Contains("startsWith")))
    );
    client.open(
        "workflow: a\nsteps:\n  - step: one\n  - step: two\n    input: {x: \"${steps.|}\"}\n  - "
        "step: three\n"
    );
    EXPECT_THAT(client.labels(), ElementsAre("one"));
    client.open("workflow: a\nsteps:\n  - step: one\n  - step: two\n    input: \"${steps.one.|\n");
    EXPECT_THAT(client.labels(), ::testing::UnorderedElementsAre("output", "attempts", "error"));
    client.open(
        "workflow: a\nsteps:\n  - step: one\n  - step: two\n    input: \"${steps.one.error.|\n"
    );
    EXPECT_THAT(client.labels(), ::testing::UnorderedElementsAre("code", "message", "details"));
    client.open("workflow: a\nsteps:\n  - step: one\n    input: \"${input.name.|}\"\n");
    EXPECT_THAT(client.labels(), AllOf(Contains("startsWith"), Not(Contains("input"))));
    client.open("workflow: a\nsteps:\n  - step: one\n    input: \"text |\"\n");
    EXPECT_THAT(client.labels(), ElementsAre());
}

TEST(Completion, inserts_at_the_word_that_is_typed) {
    Client client;
    client.open("workflow: a\nsteps:\n  - step: b\n    tim|\n");
    const Json list = client.ask("textDocument/completion");
    for (const Json& item : list["items"]) {
        if (item["label"] != "timeout") continue;
        EXPECT_EQ(client.text_at(item["textEdit"]["range"]), "tim");
        EXPECT_EQ(item["textEdit"]["newText"], "timeout: ");
        EXPECT_EQ(item["detail"], "duration, default 0");
        return;
    }
    FAIL() << list;
}

TEST(Hover, explains_keys_steps_and_functions) {
    Client client;
    client.open("workflow: a\nsteps:\n  - step: b\n    time|out: 5s\n");
    EXPECT_THAT(client.ask("textDocument/hover").dump(), HasSubstr("Of one attempt"));
    client.open("workflow: a\nsteps:\n  - step: o|ne\n    timeout: 30s\n    compensate: undo\n");
    EXPECT_THAT(
        client.ask("textDocument/hover").dump(),
        AllOf(HasSubstr("30s"), HasSubstr("undone by: undo"))
    );
    client.open("workflow: a\nsteps:\n  - step: b\n    input: \"${si|ze(input)}\"\n");
    EXPECT_THAT(client.ask("textDocument/hover").dump(), HasSubstr("Characters of a string"));
    client.open("workflow: a\nsteps:\n  - step: b\n    input: {|steps: 1}\n");
    EXPECT_TRUE(client.ask("textDocument/hover").is_null());
}

TEST(Hover, shows_hostile_names_as_text) {
    Client client;
    client.open(
        "workflow: a\nsteps:\n  - step: b\n    description: \"``` [x](command:evil) ```\"\n  - "
        "step: "
        "c\n    input: \"${steps.b|.output}\"\n"
    );
    const auto text = client.ask("textDocument/hover")["contents"]["value"].get<std::string>();
    EXPECT_EQ(std::count(text.begin(), text.end(), '`'), 6) << text;
}

constexpr std::string_view kDefaults =
    "workflow: w\ndefaults: {timeout: 30s, max_attempts: 4}\nsteps:\n  - step: a\n    timeout: "
    "5s\n  - b\n  - delay: c\n    for: 1s\n";

Json hints(Client& client, const std::string& mode) {
    client.send(notification(
        "workspace/didChangeConfiguration", {{"settings", {{"ebb", {{"inlayHints", mode}}}}}}
    ));
    Json range = {
        {"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 99}, {"character", 0}}}
    };
    return client.ask("textDocument/inlayHint", {{"range", std::move(range)}});
}

TEST(Hints, show_what_a_step_inherits) {
    Client client;
    client.open(kDefaults);
    EXPECT_TRUE(hints(client, "off").empty());
    const Json inherited = hints(client, "defaults");
    ASSERT_EQ(inherited.size(), 2U);
    EXPECT_EQ(inherited[0]["label"], "max_attempts: 4");
    EXPECT_EQ(inherited[0]["tooltip"], "max_attempts is from line 2.");
    EXPECT_EQ(inherited[0]["position"], Json({{"line", 3}, {"character", 11}}));
    EXPECT_EQ(inherited[1]["label"], "timeout: 30s, max_attempts: 4");
    // A mode that the server does not know changes nothing.
    EXPECT_EQ(hints(client, "loud"), inherited);
    client.open("workflow: w\nsteps:\n  - step: a\n    timeout: 5s\n");
    const Json all = hints(client, "all");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_THAT(all[0]["label"].get<std::string>(), HasSubstr("max_attempts: "));
    EXPECT_THAT(all[0]["label"].get<std::string>(), HasSubstr("backoff: 1s, 2s"));
    EXPECT_THAT(all[0]["label"].get<std::string>(), Not(HasSubstr("5s")));
}

TEST(Hints, are_those_of_the_lines_that_are_asked_about) {
    Client client;
    client.open(kDefaults);
    hints(client, "defaults");
    Json range = {
        {"start", {{"line", 5}, {"character", 0}}}, {"end", {{"line", 6}, {"character", 0}}}
    };
    EXPECT_EQ(client.ask("textDocument/inlayHint", {{"range", std::move(range)}}).size(), 1U);
}

Json signature(std::string_view expression) {
    Client client;
    client.open("workflow: w\nsteps:\n  - condition: c\n    when: " + std::string(expression));
    return client.ask("textDocument/signatureHelp");
}

TEST(Signature, is_that_of_the_innermost_function) {
    const Json help = signature("input.name.replace(\"a\", |");
    ASSERT_EQ(help["signatures"].size(), 1U);
    EXPECT_EQ(help["signatures"][0]["label"], "s.replace(t, u, n?)");
    EXPECT_EQ(help["activeParameter"], 1);
    EXPECT_EQ(help["signatures"][0]["parameters"][2]["label"], Json({16, 18}));
    EXPECT_EQ(signature("input.list.exists(x, size([1, 2, |")["signatures"][0]["label"], "size(x)");
    EXPECT_EQ(signature("size(input.a) + (1 + |"), nullptr);
    EXPECT_EQ(signature("matches(\"never closed, |")["activeParameter"], 0);
    EXPECT_EQ(signature("input.size|"), nullptr);
}

class NoVariables : public Variables {
 public:
    const Json* find(std::string_view) const override { return nullptr; }

    const Json* find_step(std::string_view) const override { return nullptr; }
};

TEST(Functions, are_those_of_the_language) {
    std::vector<std::string_view> known(
        expression::callable_names().begin(), expression::callable_names().end()
    );
    std::vector<std::string_view> told;
    for (const FunctionText& function : function_texts()) told.push_back(function.name);
    std::sort(known.begin(), known.end());
    std::sort(told.begin(), told.end());
    EXPECT_EQ(known, told);
    for (const FunctionText& function : function_texts()) {
        const Expression example = Expression::compile(function.example);
        EXPECT_NE(function.example.find(function.name), std::string_view::npos);
        EXPECT_EQ(example.evaluate(NoVariables()), Json::parse(function.result))
            << function.example;
    }
    for (const expression::Function& function : expression::functions()) {
        const auto texts = function_texts();
        EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [&](const FunctionText& text) {
            return text.name == function.name && text.is_method == function.is_method;
        })) << function.name;
    }
}

}  // namespace
}  // namespace ebb::lsp::test
