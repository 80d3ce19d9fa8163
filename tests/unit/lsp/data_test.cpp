// What the server says of values: of expressions on the samples of a workflow, and of steps and
// durations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"

namespace ebb::lsp::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// A workflow with two samples, whose nodes are `steps`.
std::string shop(const std::string& steps) {
    return "workflow: shop\nversion: 3\nsamples:\n  small: {amount: 10, items: [1, 2]}\n"
           "  large: {amount: 2000, items: []}\nsteps:\n" +
           steps;
}

/// The values of the expression at the mark, as `sample=value` or `sample!error`.
std::vector<std::string> values(
    Client& client, const std::string& steps, Json params = Json::object()
) {
    client.open(shop(steps));
    std::vector<std::string> all;
    const Json answer = client.ask("ebb/evaluate", std::move(params));
    if (!answer.contains("values")) return {answer.dump()};
    for (const Json& one : answer["values"]) {
        const auto sample = one["sample"].get<std::string>();
        all.push_back(
            one.contains("value") ? sample + "=" + one["value"].dump()
                                  : sample + "!" + one["error"].get<std::string>()
        );
    }
    return all;
}

std::string hover(Client& client, const std::string& text) {
    client.open(text);
    const Json answer = client.ask("textDocument/hover");
    return answer.is_null() ? "null" : answer["contents"]["value"].get<std::string>();
}

TEST(Evaluate, yields_a_value_for_each_sample) {
    Client client;
    EXPECT_THAT(
        values(
            client, "  - condition: c\n    when: workflow.input.amount > |1000\n    then: [a]\n"
        ),
        ElementsAre("small=false", "large=true")
    );
    EXPECT_THAT(
        values(client, "  - step: a\n    input: \"x ${ |size(workflow.input.items) } y\"\n"),
        ElementsAre("small=2", "large=0")
    );
    EXPECT_THAT(
        values(client, "  - step: a\n    input: \"${ |workflow.version }\"\n"),
        ElementsAre("small=3", "large=3")
    );
    EXPECT_THAT(
        values(client, "  - step: a\n    input: \"${ |workflow.input.amonut }\"\n"),
        ElementsAre(HasSubstr("small!"), HasSubstr("large!"))
    );
    EXPECT_THAT(values(client, "  - step: |a\n"), ElementsAre("null"));
}

TEST(Evaluate, claims_no_input_that_a_step_decides) {
    Client client;
    const std::string first = "  - step: a\n    input: \"${ |input.amount }\"\n";
    EXPECT_THAT(values(client, first), ElementsAre("small=10", "large=2000"));
    // A condition and a branch pass on what arrives.
    EXPECT_THAT(
        values(
            client,
            "  - condition: c\n    when: \"true\"\n    then:\n      - parallel: p\n        "
            "branches:\n"
            "          x:\n            - step: a\n              input: \"${ |input.amount }\"\n"
        ),
        ElementsAre("small=10", "large=2000")
    );
    const std::string second = "  - before\n  - step: a\n    input: \"${ |input.amount }\"\n";
    EXPECT_THAT(values(client, second), Each(HasSubstr("\"input\" at this place")));
    EXPECT_THAT(
        values(
            client,
            "  - loop: l\n    while: \"|input.amount > 1\"\n    max_iterations: 3\n    do: [a]\n"
        ),
        Each(HasSubstr("\"input\" at this place"))
    );
    EXPECT_THAT(
        values(client, "  - before\n  - step: a\n    input: \"${ |steps.before.output.n }\"\n"),
        Each(HasSubstr("the output of the step \"before\""))
    );
    EXPECT_THAT(
        values(client, "  - step: a\n    input: \"${ |now }\"\n"), Each(HasSubstr("\"now\""))
    );
}

TEST(Evaluate, takes_data_of_the_client) {
    Client client;
    const std::string text = "  - before\n  - step: a\n    input: \"${ |input.n + 1 }\"\n";
    const Json data = {{"name", "mine"}, {"input", 1}, {"steps", {{"before", {{"n", 4}}}}}};
    EXPECT_THAT(values(client, text, {{"sample", data}}), ElementsAre("mine=5"));
    EXPECT_THAT(
        values(client, "  - step: a\n    input: \"${ |input.amount }\"\n", {{"sample", "large"}}),
        ElementsAre("large=2000")
    );
    EXPECT_THAT(
        values(client, "  - step: a\n    input: \"${ |input }\"\n", {{"sample", "gone"}}),
        ElementsAre(HasSubstr("has no sample \\\"gone\\\""))
    );
    EXPECT_THAT(
        values(client, "  - step: a\n    input: \"${ |input }\"\n", {{"sample", {{"steps", 1}}}}),
        ElementsAre(HasSubstr("-32602"))
    );
}

TEST(Evaluate, reads_samples_of_a_text_that_is_broken_elsewhere) {
    Client client;
    client.open(
        "workflow: w\nsamples:\n  one: {n: 1}\nsteps:\n  - step: a\n    input: \"${ |input.n }\"\n"
        "  - step: [b\n"
    );
    EXPECT_EQ(client.ask("ebb/samples")[0]["input"], Json({{"n", 1}}));
    client.open("{\"workflow\": \"w\", \"samples\": {\"one\": {\"n\": 1}}, \"steps\": [\"a|\"]}");
    EXPECT_EQ(client.ask("ebb/samples")[0]["input"], Json({{"n", 1}}));
    client.open(
        "workflow: w\nmetadata: {a: &n {n: 7}}\nsamples:\n  one: *n\nsteps:\n  - step: a\n"
        "    input: \"${ |input.n }\"\n"
    );
    EXPECT_EQ(client.ask("ebb/evaluate")["values"][0]["value"], 7);
}

TEST(HoverValues, are_those_of_the_part_up_to_the_cursor) {
    Client client;
    EXPECT_EQ(
        hover(client, shop("  - step: a\n    input: \"${ workflow.input.am|ount * 2 }\"\n")),
        "```\nworkflow.input.amount\nsmall: 10 (int)\nlarge: 2000 (int)\n```"
    );
    EXPECT_EQ(
        hover(client, shop("  - step: a\n    input: \"${ workflow.input.amount |* 2 }\"\n")),
        "```\n workflow.input.amount * 2 \nsmall: 20 (int)\nlarge: 4000 (int)\n```"
    );
    EXPECT_THAT(
        hover(client, shop("  - step: a\n    input: \"${ inp|ut }\"\n")),
        AllOf(HasSubstr("`input`"), HasSubstr("small: {\"amount\":10,\"items\":[1,2]} (object)"))
    );
    // What a step decides is not shown.
    EXPECT_THAT(
        hover(client, shop("  - b\n  - step: a\n    input: \"${ inp|ut }\"\n")),
        Not(HasSubstr("small"))
    );
}

TEST(HoverValues, are_cut_between_characters) {
    Client client;
    std::string word;
    for (int i = 0; i < 1'500; ++i) word += "é";
    const std::string text = hover(
        client,
        "workflow: w\nsamples:\n  one: {n: " + word + "}\nsteps:\n  - step: a\n    description: " +
            word + "\n    input: \"${ workflow.input.|n }\"\n"
    );
    EXPECT_THAT(text, AllOf(HasSubstr("é... (string)"), Not(HasSubstr("\xEF\xBF\xBD"))));
}

TEST(Hover, says_where_attempts_and_timeouts_come_from) {
    Client client;
    EXPECT_EQ(
        hover(
            client,
            "workflow: w\ndefaults:\n  timeout: 30s\nsteps:\n  - step: a|\n    max_attempts: 4\n"
        ),
        "```\nstep a\nhandler: a\nattempts: 4 (line 6)\ndelays between attempts: 1s, 2s, 4s\n"
        "timeout of an attempt: 30s (defaults, line 3)\ntimeout of the step: none\n```"
    );
}

TEST(Hover, tells_durations_in_seconds) {
    Client client;
    EXPECT_EQ(
        hover(client, "workflow: w\ndeadline: 1h3|0m\nsteps: [a]\n"), "```\n1h30m = 5400 s\n```"
    );
    EXPECT_EQ(hover(client, "workflow: w\ndeadline: so|on\nsteps: [a]\n"), "null");
}

TEST(Completion, knows_the_fields_of_the_input) {
    Client client;
    client.open(shop("  - step: a\n    input: \"${ workflow.input.|\"\n"));
    EXPECT_THAT(client.labels(), IsSupersetOf({"amount", "items", "startsWith"}));
    client.open(
        "workflow: w\ninput_schema:\n  properties:\n    customer: {type: object, properties: {id: "
        "{type: string}}}\nsteps:\n  - step: a\n    input: \"${ input.customer.|\"\n"
    );
    EXPECT_THAT(client.labels(), AllOf(Contains("id"), Not(Contains("customer"))));
    client.open(shop("  - before\n  - step: a\n    input: \"${ input.|\"\n"));
    EXPECT_THAT(client.labels(), Not(Contains("amount")));
}

}  // namespace
}  // namespace ebb::lsp::test
