// What the server says of values: of expressions on the samples of a workflow, and of steps and
// durations.

#include <map>

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
        "```\n workflow.input.amount * 2 \ntype: int\nsmall: 20 (int)\nlarge: 4000 (int)\n```"
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
        "```\nstep a\nhandler: a\nattempts: 4 (line 6)\ndelays between attempts: 1s, 2s, 4s ± 20 "
        "%\n"
        "timeout of an attempt: 30s (defaults, line 3)\ntimeout of the step: none\n"
        "all attempts together: at most 2m8.4s\n```"
    );
    // The step's own timeout ends them earlier.
    EXPECT_THAT(
        hover(
            client,
            "workflow: w\nsteps:\n  - step: a|\n    timeout: 30s\n    step_timeout: 1m\n"
            "    backoff: {jitter: 0}\n"
        ),
        AllOf(HasSubstr("attempts: 1s, 2s\n"), HasSubstr("at most 1m\n"))
    );
}

TEST(HoverTypes, come_from_the_schema_of_the_input_and_of_signals) {
    const auto shown = [](const std::string& expression) {
        Client client;
        return hover(
            client,
            "workflow: w\ninput_schema:\n  type: object\n  properties:\n    amount: {type: "
            "integer}\n"
            "    note: {type: [string, 'null']}\nsteps:\n  - signal: paid\n    deadline: 1d\n"
            "    schema: {properties: {sum: {type: number}}}\n  - step: a\n    input: \"${ " +
                expression + " }\"\n"
        );
    };
    EXPECT_EQ(shown("workflow.input.am|ount"), "```\nworkflow.input.amount\ntype: int\n```");
    EXPECT_THAT(shown("workflow.input.no|te"), HasSubstr("\ntype: string or null\n"));
    EXPECT_THAT(shown("steps.paid.output.s|um"), HasSubstr("\ntype: int or double\n"));
    EXPECT_THAT(shown("workflow.input.amount |> 1"), HasSubstr("\ntype: bool\n"));
    // Behind the signal `input` is what it carried.
    EXPECT_THAT(shown("input.s|um"), HasSubstr("\ntype: int or double\n"));
    EXPECT_EQ(shown("workflow.input.oth|er"), "null");
    EXPECT_EQ(shown("workflow.input.amount |+"), "null");
}

TEST(Hover, leads_to_the_reference_if_its_place_is_known) {
    const auto link = [](const std::string& text, const Json& docs) {
        Client client;
        client.send(notification(
            "workspace/didChangeConfiguration", {{"settings", {{"ebb", {{"docs", docs}}}}}}
        ));
        const std::string shown = hover(client, text);
        const std::size_t at = shown.find("[Reference](");
        return at == std::string::npos ? std::string() : shown.substr(at);
    };
    const std::string step = "workflow: w\nsteps:\n  - step: a\n    time|out: 5s\n";
    EXPECT_EQ(link(step, ""), "");
    EXPECT_EQ(
        link(step, "https://docs.example.com"),
        "[Reference](https://docs.example.com/reference/definition.html#step)"
    );
    for (const auto& [text, section] : std::map<std::string, std::string>{
             {"workflow: w\ndead|line: 1h\nsteps: [a]\n", "the-workflow"},
             {"workflow: w\ndefaults: {time|out: 1h}\nsteps: [a]\n", "defaults"},
             {"workflow: w\nsteps:\n  - step: a\n    backoff: {ini|tial: 1s}\n", "backoff"},
             {"workflow: w\nsteps:\n  - {signal: a, dead|line: 1d}\n", "signal"},
         }) {
        EXPECT_EQ(
            link(text, "file:///docs"),
            "[Reference](file:///docs/reference/definition.md#" + section + ")"
        );
    }
}

TEST(Hover, tells_durations_in_seconds) {
    Client client;
    EXPECT_EQ(
        hover(client, "workflow: w\ndeadline: 1h3|0m\nsteps: [a]\n"), "```\n1h30m = 5400 s\n```"
    );
    EXPECT_EQ(hover(client, "workflow: w\ndeadline: so|on\nsteps: [a]\n"), "null");
}

TEST(Completion, knows_queues_roles_and_signals) {
    Client client;
    client.server().take_file(
        "/w/other.ebb.yaml",
        "workflow: other\nsteps:\n  - {step: a, queue: slow}\n  - decision: b\n    roles: [boss]\n"
        "  - {signal: c, name: paid}\n  - signal: shipped\n"
    );
    client.server().take_file(
        "/w/code.cpp",
        "auto f() { return ebb::WorkflowBuilder(\"x\").signal(\"returned\").build(); }\n"
    );
    const auto offered = [&](const std::string& step) {
        client.open("workflow: w\nsteps:\n  - {step: z, queue: fast}\n" + step);
        return client.labels();
    };
    EXPECT_THAT(offered("  - step: a\n    queue: |\n"), ElementsAre("fast", "slow"));
    EXPECT_THAT(offered("  - step: a\n    queue: ne|w\n"), ElementsAre("fast", "slow"));
    EXPECT_THAT(offered("  - decision: a\n    roles: [|]\n"), ElementsAre("boss"));
    EXPECT_THAT(offered("  - decision: a\n    roles:\n      - |\n"), ElementsAre("boss"));
    EXPECT_THAT(offered("  - signal: |\n"), IsSupersetOf({"paid", "returned", "shipped"}));
    EXPECT_THAT(
        offered("  - signal: a\n    name: |\n"), ElementsAre("paid", "returned", "shipped")
    );
    client.server().drop_file("/w/other.ebb.yaml");
    EXPECT_THAT(offered("  - step: a\n    queue: |\n"), ElementsAre("fast"));
}

TEST(Completion, says_what_a_strategy_waits) {
    Client client;
    client.open("workflow: w\nsteps:\n  - step: a\n    backoff: {initial: 2s, strategy: |}\n");
    std::map<std::string, std::string> details;
    const Json list = client.ask("textDocument/completion");
    for (const Json& item : list["items"]) {
        details[item["label"].get<std::string>()] = item["detail"].get<std::string>();
    }
    EXPECT_EQ(details["fixed"], "delays 2s, 2s, 2s, 2s");
    EXPECT_EQ(details["linear"], "delays 2s, 4s, 6s, 8s");
    EXPECT_EQ(details["exponential"], "delays 2s, 4s, 8s, 16s");
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
