// Requests about places: what a selection grows to, the files that a text names, symbols of the
// workspace, and the tokens of a part of a text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"

namespace ebb::lsp::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The texts that a selection at the mark grows to.
std::vector<std::string> selections(Client& client, std::string_view marked) {
    const std::size_t mark = marked.find('|');
    client.open(marked);
    const LineIndex lines(client.text(), Encoding::Utf16);
    const Json answer =
        client.ask("textDocument/selectionRange", {{"positions", {to_json(lines.position(mark))}}});
    std::vector<std::string> texts;
    for (const Json* at = &answer.at(0); at != nullptr;
         at = at->contains("parent") ? &at->at("parent") : nullptr) {
        texts.push_back(client.text_at(at->at("range")));
    }
    return texts;
}

TEST(Selection, grows_from_the_word_to_the_text) {
    Client client;
    const std::string text =
        "workflow: w\nsteps:\n  - step: a\n    input: \"${ size(steps.b.out|put.c) }\"\n";
    std::string whole = text;
    whole.erase(whole.find('|'), 1);
    std::vector<std::string> got = selections(client, text);
    ASSERT_GE(got.size(), 10U);
    EXPECT_EQ(got.back(), whole);
    got.resize(7);
    EXPECT_THAT(
        got,
        ElementsAre(
            "output",
            "steps.b.output",
            "steps.b.output.c",
            "(steps.b.output.c)",
            " size(steps.b.output.c) ",
            "${ size(steps.b.output.c) }",
            "input: \"${ size(steps.b.output.c) }\""
        )
    );
}

TEST(Selection, has_an_answer_for_every_position) {
    Client client;
    client.open("workflow: w\n\nsteps: [a]\n");
    const Json positions = Json::parse(
        R"([{"line": 0, "character": 2}, {"line": 1, "character": 0},
            {"line": 99, "character": 9}])"
    );
    const Json answer = client.ask("textDocument/selectionRange", {{"positions", positions}});
    ASSERT_EQ(answer.size(), 3U);
    EXPECT_EQ(client.text_at(answer[0]["range"]), "workflow");
    const Json many(std::vector<Json>(1'001, positions[0]));
    EXPECT_EQ(client.ask("textDocument/selectionRange", {{"positions", many}})["code"], -32803);
    client.open("no workflow", "file:///notes.txt");
    EXPECT_TRUE(client.ask("textDocument/selectionRange", {{"positions", positions}}).is_null());
}

std::vector<std::string> links(
    Client& client, const std::string& text, const std::string& uri = "file:///shop/o.ebb.yaml"
) {
    client.open(text, uri);
    std::vector<std::string> all;
    for (const Json& link : client.ask("textDocument/documentLink")) {
        all.push_back(client.text_at(link["range"]) + " " + link["target"].get<std::string>());
    }
    return all;
}

TEST(Links, lead_to_programs_types_and_the_schema) {
    Client client;
    EXPECT_THAT(
        links(
            client,
            "# yaml-language-server: $schema=../schema/workflow.json\nworkflow: w\nhandlers:\n"
            "  a: {exec: [./bin/charge, -x, ./no.txt]}\n  b: {exec: [jq, .]}\n"
            "  c: {exec: [\"bin/my prog\"]}\n  d: {exec: \"./a script\"}\n"
            "  e: {exec: [./x], cwd: elsewhere}\n  f: {http: \"https://example.com/a\"}\n"
            "  g: {exec: [\"./${env.A}\"]}\nsteps: [a]\n"
        ),
        ElementsAre(
            "../schema/workflow.json file:///schema/workflow.json",
            "./bin/charge file:///shop/bin/charge",
            "bin/my prog file:///shop/bin/my%20prog"
        )
    );
    EXPECT_THAT(
        links(client, "# A comment.\ntypes: [types/mail.yaml]\n", "file:///shop/.ebbrc.yaml"),
        ElementsAre("types/mail.yaml file:///shop/types/mail.yaml")
    );
    EXPECT_THAT(
        links(client, "workflow: w\nhandlers: {a: {exec: [./x]}}\nsteps: [a]\n", "untitled:1"),
        IsEmpty()
    );
}

std::vector<std::string> symbols(Client& client, const std::string& query) {
    std::vector<std::string> all;
    for (const Json& symbol : client.ask("workspace/symbol", {{"query", query}})) {
        all.push_back(
            symbol["name"].get<std::string>() + " " + std::to_string(symbol["kind"].get<int>()) +
            " " + symbol.value("containerName", "-") + " " +
            symbol["location"]["uri"].get<std::string>()
        );
    }
    return all;
}

TEST(WorkspaceSymbols, are_workflows_nodes_and_handlers_of_all_files) {
    Client client;
    client.open(
        "|workflow: order\nhandlers: {charge_card: {exec: [jq, .]}}\nsteps:\n  - reserve\n"
        "  - decision: approve\n"
    );
    client.server().take_file(
        "/shop/a.cpp",
        "auto f() { return ebb::WorkflowBuilder(\"refund\").step(\"reserve_back\").build(); }\n"
        "void g(ebb::HandlerRegistry& h) { h.add(\"reserve\", reserve); }\n"
    );
    client.server().take_file("/shop/other.yaml", "steps: [reserve]\n");
    EXPECT_THAT(
        symbols(client, "Reserve"),
        ElementsAre(
            "reserve 12 order file:///order.ebb.yaml",
            "reserve 6 - file:///shop/a.cpp",
            "reserve_back 12 refund file:///shop/a.cpp"
        )
    );
    EXPECT_THAT(symbols(client, "prov"), ElementsAre(StartsWith("approve 24 order")));
    EXPECT_THAT(symbols(client, "ccrd"), ElementsAre(StartsWith("charge_card 6 order")));
    EXPECT_THAT(symbols(client, "zebra"), IsEmpty());
    EXPECT_EQ(symbols(client, "").size(), 7U);
    client.server().drop_file("/shop/a.cpp");
    EXPECT_EQ(symbols(client, "").size(), 4U);
}

TEST(WorkspaceSymbols, follow_the_text_in_the_editor) {
    Client client;
    client.open("|workflow: one\nsteps: [a]\n");
    EXPECT_EQ(symbols(client, "one").size(), 1U);
    client.open("|workflow: two\nsteps: [a]\n");
    EXPECT_THAT(symbols(client, "one"), IsEmpty());
    EXPECT_EQ(symbols(client, "two").size(), 1U);
}

TEST(Tokens, of_a_range_are_those_of_its_lines) {
    Client client;
    client.open("workflow: w\nsteps:\n  - step: a\n    handler: b\n  - step: c\n");
    const Json all = client.ask("textDocument/semanticTokens/full")["data"];
    EXPECT_EQ(all.size(), 3U * 5U);
    Json range =
        Json::parse(R"({"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}})"
        );
    const Json some = client.ask("textDocument/semanticTokens/range", {{"range", range}})["data"];
    ASSERT_EQ(some.size(), 5U);
    EXPECT_EQ(some[0], 3);
}

}  // namespace
}  // namespace ebb::lsp::test
