// What an editor asks for while a text is typed: whole nodes, the indent of a new line, and whether
// its picture is an old one.

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "lsp/features/node_snippets.h"
#include "source/workflow_text.h"

namespace ebb::lsp::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// The text of a snippet with what its tab stops propose.
std::string filled(std::string_view snippet) {
    std::string text;
    for (std::size_t at = 0; at < snippet.size(); ++at) {
        if (snippet.substr(at).starts_with("$0")) {
            ++at;
        } else if (snippet.substr(at).starts_with("${")) {
            const std::size_t colon = snippet.find_first_of(":|", at);
            const std::size_t end = snippet.find_first_of(",}", colon);
            text += snippet.substr(colon + 1, end - colon - 1);
            at = snippet.find('}', colon);
        } else {
            text += snippet[at];
        }
    }
    return text;
}

Json item_of(const Json& list, const std::string& label) {
    for (const Json& item : list["items"]) {
        if (item["label"] == label) return item;
    }
    return nullptr;
}

TEST(Snippets, are_offered_to_clients_that_know_tab_stops) {
    Client plain;
    plain.open("workflow: a\nsteps:\n  - |\n");
    const Json words = item_of(plain.ask("textDocument/completion"), "condition");
    EXPECT_EQ(words["textEdit"]["newText"], "condition: ");
    EXPECT_FALSE(words.contains("insertTextFormat"));

    Client client("utf-16", Client::Snippets::Known);
    client.open("workflow: a\nsteps:\n  - con|\n");
    const Json list = client.ask("textDocument/completion");
    const Json block = item_of(list, "condition");
    EXPECT_EQ(block["insertTextFormat"], 2);
    EXPECT_EQ(block["insertTextMode"], 1);
    EXPECT_EQ(client.text_at(block["textEdit"]["range"]), "con");
    EXPECT_EQ(item_of(list, "condition { }")["insertTextFormat"], 2);
    // In brackets there is one line only, and in a node that has a kind there is none.
    client.open("workflow: a\nsteps: [|]\n");
    EXPECT_THAT(client.labels(), Contains("step { }"));
    client.open("workflow: a\nsteps:\n  - |\n    step: b\n");
    EXPECT_THAT(client.labels(), Not(Contains("step { }")));
    client.open("workflow: a\nsteps:\n  - step: b\n    input:\n      - |\n");
    EXPECT_THAT(client.labels(), Not(Contains("step { }")));
}

TEST(Snippets, give_valid_workflows) {
    std::set<std::string> kinds;
    for (const NodeSnippet& snippet : node_snippets()) {
        kinds.emplace(snippet.kind);
        for (const std::string& node : {filled(indented(snippet.lines, 4)), filled(snippet.line)}) {
            const std::string before = "workflow: a\ndeadline: 30d\nsteps:\n  - poll\n  - ";
            std::string text = before + node + "\n";
            // A name may be taken once.
            if (snippet.kind == "loop") text.replace(text.find("- poll"), 6, "- early");
            // There is something to go back for.
            if (snippet.kind == "savepoint") text += "  - last\n";
            const source::CheckedText checked = source::check_text(text);
            const std::string problem =
                checked.problems.empty() ? "" : checked.problems.front().message;
            EXPECT_TRUE(checked.is_valid()) << text << problem;
        }
    }
    EXPECT_EQ(kinds.size(), 11U);
    EXPECT_TRUE(source::check_text(filled(workflow_snippet())).is_valid());
}

TEST(Snippets, begin_an_empty_file) {
    Client client("utf-16", Client::Snippets::Known);
    client.open("|");
    EXPECT_EQ(item_of(client.ask("textDocument/completion"), "workflow")["insertTextFormat"], 2);
}

TEST(OnTypeFormatting, indents_the_new_line) {
    Client client;
    const auto typed = [&client](const std::string& text) {
        client.open(text);
        const Json edits = client.ask(
            "textDocument/onTypeFormatting",
            {{"ch", "\n"}, {"options", {{"tabSize", 2}, {"insertSpaces", true}}}}
        );
        return edits.is_array() ? client.after({{"changes", {{"file:///order.ebb.yaml", edits}}}})
                                : "nothing";
    };
    const std::string head = "workflow: a\nsteps:\n";
    EXPECT_EQ(typed(head + "  - condition: b\n|"), head + "  - condition: b\n    ");
    EXPECT_EQ(typed(head + "  - condition: b\n  |"), head + "  - condition: b\n    ");
    EXPECT_EQ(
        typed(head + "  - condition: b\n    then:  # yes\n    |"),
        head + "  - condition: b\n    then:  # yes\n      "
    );
    EXPECT_EQ(typed("workflow: a\nsteps:\n|"), "workflow: a\nsteps:\n  ");
    EXPECT_EQ(typed("workflow: a\r\nsteps:\r\n|\r\n"), "workflow: a\r\nsteps:\r\n  \r\n");
    EXPECT_EQ(typed(head + "  - step: b\n    |"), head + "  - step: b\n    ");
    // What the line says, a text of several lines and brackets are left alone.
    EXPECT_EQ(typed(head + "  - step: b\n|timeout: 5s"), "nothing");
    EXPECT_EQ(typed(head + "  - step: b\n    description: >\n      a: b\n|\n      c\n"), "nothing");
    EXPECT_EQ(typed("workflow: a\nsteps: [{step: b,\n|\ntimeout: 5s}]\n"), "nothing");
    EXPECT_EQ(typed("|workflow: a\nsteps: [b]\n"), "nothing");
}

TEST(Picture, a_client_that_has_one_gets_a_notice_that_it_is_old) {
    Client client;
    const auto noticed = [&client](const std::string& text) {
        const std::vector<Json> answers = client.open(text);
        return std::count_if(answers.begin(), answers.end(), [](const Json& message) {
            return message.value("method", "") == "ebb/didChangeDiagram";
        });
    };
    EXPECT_EQ(noticed("workflow: a\nsteps: [b]\n"), 0);
    EXPECT_EQ(noticed("workflow: a\nsteps: [b, c]\n"), 0);
    EXPECT_TRUE(client.ask("ebb/diagram").contains("svg"));
    EXPECT_EQ(noticed("workflow: a\nsteps: [b, c, d]\n"), 1);
    EXPECT_EQ(noticed("workflow: a\nsteps: [b, c, d, e]\n"), 0) << "once is enough";
    EXPECT_TRUE(client.ask("ebb/diagram").contains("svg"));
    EXPECT_EQ(noticed("workflow: a\nsteps: [b]\n"), 1);
}

TEST(Picture, has_the_format_that_was_asked_for) {
    Client client;
    for (const std::string uri : {"file:///order.ebb.yaml", "file:///order.cpp"}) {
        client.open(
            uri.ends_with("cpp")
                ? "auto f() { return ebb::WorkflowBuilder(\"w\").step(\"a\").build(); }"
                : "workflow: w\nsteps: [a]\n",
            uri
        );
        EXPECT_TRUE(client.ask("ebb/diagram")["svg"].get<std::string>().starts_with("<svg"));
        const auto text = [&client](const char* format) {
            return client.ask("ebb/diagram", {{"format", format}})["text"].get<std::string>();
        };
        EXPECT_THAT(text("mermaid"), HasSubstr("flowchart"));
        EXPECT_THAT(text("plantuml"), HasSubstr("@startuml"));
        EXPECT_THAT(text("dot"), HasSubstr("digraph"));
        EXPECT_THAT(text("text"), HasSubstr("a"));
        EXPECT_TRUE(client.ask("ebb/diagram", {{"format", "png"}}).contains("code"));
    }
}

TEST(Expand, shows_what_the_engine_makes_of_the_text) {
    Client client;
    client.open("workflow: a\ndefaults: {timeout: 5s}\nsteps: [b]\n");
    const Json expanded = client.ask("ebb/expand");
    EXPECT_EQ(expanded["workflow"], "a");
    const source::CheckedText checked = source::check_text(expanded["text"].get<std::string>());
    EXPECT_TRUE(checked.is_valid());
    EXPECT_EQ(checked.definition, source::check_text(client.text()).definition);
    EXPECT_THAT(expanded["text"].get<std::string>(), HasSubstr("timeout: 5s"));
    EXPECT_EQ(client.ask("ebb/definitionJson")["definition"]["steps"][0]["timeout"], "5s");
    client.open("workflow: a\nsteps: [b, b]\n");
    EXPECT_TRUE(client.ask("ebb/expand").contains("code"));

    client.open(
        "auto f() { return ebb::WorkflowBuilder(\"w\").step(\"a\").build(); }\n", "file:///f.cpp"
    );
    EXPECT_EQ(client.ask("ebb/expand")["workflow"], "w");
    client.open(
        "auto f(std::string s) { return ebb::WorkflowBuilder(\"w\").step(s).build(); }\n",
        "file:///f.cpp"
    );
    EXPECT_TRUE(client.ask("ebb/expand").contains("code"));
}

}  // namespace
}  // namespace ebb::lsp::test
