// Where a name is defined and used, and what changes with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"

namespace ebb::lsp::test {
namespace {

using ::testing::HasSubstr;

TEST(Navigation, finds_definitions_and_references) {
    Client client;
    std::string text(kOrderWorkflow);
    const std::size_t at = text.find("steps.reserve") + 8;
    client.open(text.substr(0, at) + "|" + text.substr(at));
    EXPECT_EQ(client.ask("textDocument/definition")["range"]["start"]["line"], 5);
    EXPECT_EQ(client.ask("textDocument/references").size(), 2U);
    EXPECT_EQ(client.ask("textDocument/documentHighlight").size(), 2U);
    EXPECT_EQ(
        client.ask(
                  "textDocument/references", {{"context", {{"includeDeclaration", false}}}}
        ).size(),
        1U
    );
    const std::size_t handler = text.find("handler: charge") + 10;
    client.open(text.substr(0, handler) + "|" + text.substr(handler));
    EXPECT_EQ(client.ask("textDocument/definition")["range"]["start"]["line"], 3);
    EXPECT_EQ(client.ask("textDocument/references").size(), 3U);
}

TEST(Anchors, lead_from_the_alias_to_the_anchor) {
    const std::string text =
        "workflow: a\nsteps:\n  - step: b\n    input: &data {x: 1}\n  - step: c\n"
        "    input: *|data\n  - {step: d, input: [*data, 1]}\n";
    Client client;
    client.open(text);
    EXPECT_EQ(client.text_at(client.ask("textDocument/definition")["range"]), "data");
    EXPECT_EQ(client.ask("textDocument/definition")["range"]["start"]["line"], 3);
    EXPECT_EQ(client.ask("textDocument/references").size(), 3U);
    const std::string renamed =
        client.after(client.ask("textDocument/rename", {{"newName", "payload"}}));
    std::string wanted = text;
    wanted.erase(wanted.find('|'), 1);
    for (std::size_t at = wanted.find("data"); at != std::string::npos; at = wanted.find("data")) {
        wanted.replace(at, 4, "payload");
    }
    EXPECT_EQ(renamed, wanted);
    for (const char* name : {"a b", "", "*"}) {
        EXPECT_EQ(client.ask("textDocument/rename", {{"newName", name}})["code"], -32803) << name;
    }
    // What stands before a key is the key's.
    client.open("workflow: a\nsteps:\n  - &it step: b\n  - *i|t\n");
    EXPECT_EQ(client.ask("textDocument/definition"), nullptr);
}

TEST(Rename, of_a_node_says_that_running_instances_keep_the_old_version) {
    Server server;
    const Json edit = {{"documentChanges", true}, {"changeAnnotationSupport", Json::object()}};
    server.handle(
        request(1, "initialize", {{"capabilities", {{"workspace", {{"workspaceEdit", edit}}}}}})
    );
    const Json document = {
        {"uri", "file:///a.ebb.yaml"}, {"version", 7}, {"text", "workflow: a\nsteps:\n  - one\n"}
    };
    server.handle(notification("textDocument/didOpen", {{"textDocument", document}}));
    const Json answer = server
                            .handle(request(
                                2,
                                "textDocument/rename",
                                {{"textDocument", {{"uri", document["uri"]}}},
                                 {"position", {{"line", 2}, {"character", 5}}},
                                 {"newName", "two"}}
                            ))
                            .front()["result"];
    const Json& change = answer["documentChanges"][0];
    EXPECT_EQ(change["textDocument"]["version"], 7);
    ASSERT_EQ(change["edits"].size(), 1U);
    EXPECT_EQ(change["edits"][0]["newText"], "{step: two, handler: one}");
    const Json& annotations = answer["changeAnnotations"];
    EXPECT_TRUE(annotations.contains(change["edits"][0]["annotationId"].get<std::string>()));
}

TEST(Rename, changes_every_use_and_nothing_else) {
    Client client;
    std::string text(kOrderWorkflow);
    const std::size_t at = text.find("step: reserve") + 8;
    client.open(text.substr(0, at) + "|" + text.substr(at));
    EXPECT_EQ(client.ask("textDocument/prepareRename")["placeholder"], "reserve");
    const std::string renamed =
        client.after(client.ask("textDocument/rename", {{"newName", "hold"}}));
    EXPECT_THAT(renamed, HasSubstr("  - step: hold\n    handler: reserve\n"));
    EXPECT_THAT(renamed, HasSubstr("${steps.hold.output.id}"));
    client.open(renamed);
    EXPECT_EQ(client.diagnostics(), Json::array());
    EXPECT_THAT(client.ask("textDocument/rename", {{"newName", "a b"}}).dump(), HasSubstr("code"));
}

TEST(Rename, refuses_what_would_not_be_valid) {
    Client client;
    std::string text(kOrderWorkflow);
    const std::size_t at = text.find("step: reserve") + 8;
    client.open(text.substr(0, at) + "|" + text.substr(at));
    for (const char* name : {"charge", "a b", "", "with-dash"}) {
        const Json answer = client.ask("textDocument/rename", {{"newName", name}});
        EXPECT_EQ(answer["code"], -32803) << name << answer;
    }
}

}  // namespace
}  // namespace ebb::lsp::test
