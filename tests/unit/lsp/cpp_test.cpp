// Code in C++ in the language server: its workflows, and handlers across the files of a workspace.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "lsp/uri.h"

namespace ebb::lsp::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kCode = "file:///shop/order.cpp";

constexpr std::string_view kOrder =
    R"cpp(#include <ebb/ebb.h>

          ebb::Definition order() {
              return ebb::WorkflowBuilder("order")
                  .step("reserve")
                  .compensate("release")
                  .condition(
                      "large", "input.amount > 100", [](ebb::BlockBuilder& b) { b.step("approve"); }
                  )
                  .step("charge")
                  .max_attempts(5)
                  .build();
          }

          ebb::Definition back(const std::string& name) {
              return ebb::WorkflowBuilder("back").step(name).step("refund").build();
          }

          void add(ebb::HandlerRegistry& handlers) {
              handlers.add("reserve", reserve);
              handlers.add("charge", charge);
          }
    )cpp";

std::string marked(std::string text, const std::string& before, const std::string& behind) {
    const std::size_t at = text.find(before + behind);
    EXPECT_NE(at, std::string::npos) << before + behind;
    return text.insert(at + before.size(), "|");
}

/// The text of a range in one of the texts that the test has sent.
std::string text_in(const std::string& text, const Json& range) {
    const LineIndex lines(text, Encoding::Utf16);
    const auto offset = [&](const char* key) {
        return lines.offset(
            {.line = range[key]["line"].get<std::size_t>(),
             .character = range[key]["character"].get<std::size_t>()}
        );
    };
    return text.substr(offset("start"), offset("end") - offset("start"));
}

TEST(CppDiagnostics, are_those_of_the_workflows_at_their_places) {
    Client client;
    client.open(
        "auto d = ebb::WorkflowBuilder(\"é😀\").step(\"a\").max_attempts(0)\n"
        "    .condition(\"c\", \"input. >\", [](ebb::BlockBuilder& b) { b.step(\"b\"); "
        "}).build();\n",
        kCode
    );
    std::vector<std::string> marks;
    for (const Json& problem : client.diagnostics()) {
        marks.push_back(
            problem["code"].get<std::string>() + " " + client.text_at(problem["range"])
        );
    }
    EXPECT_THAT(marks, Contains("out_of_range 0"));
    EXPECT_THAT(marks, Contains("invalid_expression \"input. >\""));
    client.open("auto d = ebb::WorkflowBuilder(\"a\").step(\"a\").build();\n", kCode);
    EXPECT_EQ(client.diagnostics(), Json::array());
}

TEST(CppDiagnostics, of_code_without_workflows_are_not_sent) {
    Client client;
    for (const Json& answer : client.send(notification(
             "textDocument/didOpen",
             {{"textDocument",
               {{"uri", kCode}, {"languageId", "cpp"}, {"version", 1}, {"text", "int main( {"}}}}
         ))) {
        EXPECT_NE(answer["method"], "textDocument/publishDiagnostics") << answer;
    }
}

TEST(CppOutline, has_the_workflows_with_their_nodes_and_the_handlers) {
    Client client;
    client.open(kOrder, kCode);
    const Json symbols = client.ask("textDocument/documentSymbol");
    std::vector<std::string> names;
    for (const Json& symbol : symbols) {
        names.push_back(
            symbol["name"].get<std::string>() + ": " + symbol["detail"].get<std::string>()
        );
    }
    EXPECT_THAT(
        names,
        ElementsAre(
            "order: workflow",
            "back: workflow, known in part",
            "reserve: handler",
            "charge: handler"
        )
    );
    const Json& nodes = symbols[0]["children"];
    ASSERT_EQ(nodes.size(), 3U);
    EXPECT_EQ(nodes[1]["name"], "large");
    EXPECT_EQ(nodes[1]["children"][0]["name"], "approve");
    EXPECT_EQ(client.text_at(nodes[1]["children"][0]["selectionRange"]), "step(\"approve\")");
    EXPECT_THAT(client.text_at(nodes[2]["range"]), HasSubstr("max_attempts(5"));
}

TEST(CppDiagram, draws_the_workflow_around_the_cursor) {
    Client client;
    client.open(marked(std::string(kOrder), "step(\"char", "ge\")"), kCode);
    Json drawn = client.ask("ebb/diagram");
    EXPECT_EQ(drawn["workflow"], "order");
    EXPECT_EQ(drawn["exact"], true);
    EXPECT_EQ(drawn["workflows"], Json({"order", "back"}));
    EXPECT_THAT(drawn["svg"].get<std::string>(), HasSubstr("data-node=\"charge\""));
    ASSERT_EQ(drawn["nodes"].size(), 4U);
    EXPECT_EQ(drawn["nodes"][3]["path"], "/steps/2");
    EXPECT_THAT(client.text_at(drawn["nodes"][3]["range"]), HasSubstr("charge"));

    drawn = client.ask("ebb/diagram", {{"workflow", "back"}});
    EXPECT_EQ(drawn["exact"], false);
    EXPECT_THAT(drawn["svg"].get<std::string>(), HasSubstr("‹name›"));
    EXPECT_THAT(
        client.ask("ebb/diagram", {{"workflow", "none"}})["message"].get<std::string>(),
        HasSubstr("no workflow of this name")
    );
    client.open("int main() {}\n", kCode);
    EXPECT_THAT(
        client.ask("ebb/diagram")["message"].get<std::string>(), HasSubstr("builds no workflow")
    );
    client.open("auto d = ebb::RulesBuilder(\"r\").attribute(\"a\").build();\n", kCode);
    EXPECT_THAT(
        client.ask("ebb/diagram")["message"].get<std::string>(), HasSubstr("does not read rules")
    );
}

/// A file whose second workflow has a problem, and whose third one is decided when it runs.
constexpr std::string_view kThree =
    "auto a() { return ebb::WorkflowBuilder(\"good\").step(\"x\").build(); }\n"
    "auto b() { return ebb::WorkflowBuilder(\"bad\").step(\"y y\").build(); }\n"
    "auto c(std::string n) { return ebb::WorkflowBuilder(\"open\").step(n).build(); }\n";

TEST(CppLenses, say_how_many_problems_a_workflow_has_and_show_what_is_known) {
    Server server;
    const Json commands = {"ebb.showDiagram", "ebb.showProblems", "ebb.showExpanded"};
    server.handle(request(1, "initialize", {{"initializationOptions", {{"commands", commands}}}}));
    const Json document = {
        {"uri", "file:///w/three.cpp"}, {"version", 1}, {"text", std::string(kThree)}
    };
    server.handle(notification("textDocument/didOpen", {{"textDocument", document}}));
    const Json identifier = {{"textDocument", {{"uri", document["uri"]}}}};
    const Json list =
        server.handle(request(2, "textDocument/codeLens", identifier)).front()["result"];
    std::vector<std::string> said;
    for (const Json& lens : list) {
        said.push_back(
            lens["range"]["start"]["line"].dump() + " " +
            lens["command"]["title"].get<std::string>()
        );
        EXPECT_EQ(lens["command"]["arguments"][0], document["uri"]);
    }
    EXPECT_THAT(
        said,
        ElementsAre(
            "0 Show diagram", "0 Export YAML", "1 Show diagram", "1 1 problem", "2 Show diagram"
        )
    );
    // The place leads to the workflow that the lens is above.
    Json params = identifier;
    params["position"] = list[1]["command"]["arguments"][1];
    const Json expanded = server.handle(request(3, "ebb/expand", params)).front()["result"];
    EXPECT_EQ(expanded["workflow"], "good");
}

TEST(CppHover, tells_what_a_step_does) {
    Client client;
    client.open(
        "auto a() {\n    return ebb::WorkflowBuilder(\"order\")\n        .step(\"ch|arge\")\n"
        "        .step(\"ship\")\n        .build();\n}\n",
        "file:///order.cpp"
    );
    const Json hover = client.ask("textDocument/hover");
    EXPECT_THAT(
        hover["contents"]["value"].get<std::string>(), HasSubstr("step charge\nhandler: charge\n")
    );
    EXPECT_EQ(client.text_at(hover["range"]), "step(\"charge\")");
    client.open("int main() { ret|urn 0; }\n", "file:///order.cpp");
    EXPECT_EQ(client.ask("textDocument/hover"), nullptr);
}

TEST(CppKind, is_that_of_code_that_has_to_do_with_workflows) {
    Client client;
    client.open(kOrder, kCode);
    EXPECT_EQ(client.ask("ebb/kindOf"), "cpp");
    client.open("int main() {}\n", kCode);
    EXPECT_EQ(client.ask("ebb/kindOf"), "other");
}

TEST(Handlers, lead_from_the_workflow_to_the_code_and_back) {
    Client client;
    const std::string code(kOrder);
    client.server().take_file("/shop/order.cpp", code);
    client.server().take_file(
        "/shop/later.ebb.yaml", "workflow: later\nsteps:\n  - step: pay\n    handler: charge\n"
    );
    // A step without `handler:` calls the handler of its name.
    client.open("workflow: w\nsteps:\n  - step: cha|rge\n");
    Json found = client.ask("textDocument/definition");
    ASSERT_TRUE(found.is_object()) << found;
    EXPECT_EQ(found["uri"], "file:///shop/order.cpp");
    EXPECT_EQ(text_in(code, found["range"]), "charge");
    EXPECT_EQ(found["range"]["start"]["line"], 20);
    // With an entry of `handlers:` there are two places.
    client.open(
        "workflow: w\nhandlers:\n  charge: {input_schema: {type: object}}\n"
        "steps:\n  - step: a\n    handler: charge|\n"
    );
    found = client.ask("textDocument/definition");
    ASSERT_EQ(found.size(), 2U) << found;
    EXPECT_EQ(found[0]["range"]["start"]["line"], 2);
    EXPECT_EQ(found[1]["uri"], "file:///shop/order.cpp");

    client.open("workflow: w\nsteps:\n  - charge\n");
    client.open(marked(code, "add(\"char", "ge\""), kCode);
    found = client.ask("textDocument/references");
    std::vector<std::string> places;
    for (const Json& place : found) {
        places.push_back(
            place["uri"].get<std::string>() + ":" +
            std::to_string(place["range"]["start"]["line"].get<int>())
        );
    }
    EXPECT_THAT(
        places,
        ElementsAre(
            "file:///shop/order.cpp:9",
            "file:///shop/order.cpp:20",
            "file:///order.ebb.yaml:2",
            "file:///shop/later.ebb.yaml:3"
        )
    );
    found = client.ask("textDocument/references", {{"context", {{"includeDeclaration", false}}}});
    EXPECT_EQ(found.size(), 3U) << found;
    // From the builder's call to the registration.
    client.open(marked(code, "step(\"cha", "rge\""), kCode);
    EXPECT_EQ(client.ask("textDocument/definition")["range"]["start"]["line"], 20);
}

TEST(Handlers, of_the_code_are_offered_where_a_handler_is_named) {
    Client client;
    client.server().take_file("/shop/order.cpp", std::string(kOrder));
    client.open("workflow: w\nsteps:\n  - step: a\n    handler: |\n");
    EXPECT_THAT(client.labels(), Contains("reserve"));
    // The editor's text counts, not that of the file.
    client.open("void f() { handlers.add(\"ship\", ship); }\n", kCode);
    client.open("workflow: w\nsteps:\n  - step: b\n    handler: |\n", "file:///b.ebb.yaml");
    EXPECT_THAT(client.labels(), Contains("ship"));
    EXPECT_THAT(client.labels(), Not(Contains("reserve")));
    client.server().drop_file("/shop/order.cpp");
    EXPECT_THAT(client.labels(), Not(Contains("ship")));
}

TEST(Handlers, say_on_hover_where_they_are_registered) {
    Client client;
    client.server().take_file("/shop/order.cpp", std::string(kOrder));
    client.open("workflow: w\nsteps:\n  - step: a\n    handler: char|ge\n");
    EXPECT_THAT(
        client.ask("textDocument/hover")["contents"]["value"].get<std::string>(),
        HasSubstr("registered in order.cpp:21")
    );
}

TEST(Workspace, tells_what_to_read) {
    Server server;
    server.handle(request(
        1,
        "initialize",
        {{"capabilities",
          {{"workspace", {{"didChangeWatchedFiles", {{"dynamicRegistration", true}}}}}}},
         {"workspaceFolders", {{{"uri", "file:///my%20shop/"}, {"name", "shop"}}}},
         {"initializationOptions", {{"handlers", {"src/**/*.cpp"}}, {"exclude", {"gen/"}}}}}
    ));
    EXPECT_THAT(server.workspace().folders, ElementsAre("/my shop"));
    EXPECT_THAT(server.workspace().handlers, ElementsAre("src/**/*.cpp"));
    EXPECT_THAT(server.workspace().exclude, ElementsAre("gen/"));
    const std::vector<Json> asked = server.handle(notification("initialized", Json::object()));
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0]["method"], "client/registerCapability");
    EXPECT_TRUE(server.handle({{"jsonrpc", "2.0"}, {"id", asked[0]["id"]}, {"result", nullptr}}
    ).empty());

    server.handle(notification(
        "workspace/didChangeWatchedFiles",
        {{"changes",
          {{{"uri", "file:///my%20shop/a.cpp"}, {"type", 2}}, {{"uri", "untitled:1"}, {"type", 1}}}}
        }
    ));
    EXPECT_THAT(server.take_changed_files(), ElementsAre("/my shop/a.cpp"));
    EXPECT_THAT(server.take_changed_files(), IsEmpty());

    const int revision = server.workspace().revision;
    const auto configure = [&](const Json& settings) {
        server.handle(
            notification("workspace/didChangeConfiguration", {{"settings", {{"ebb", settings}}}})
        );
    };
    configure({{"inlayHints", "all"}});
    EXPECT_EQ(server.workspace().revision, revision);
    configure({{"cpp", false}});
    EXPECT_GT(server.workspace().revision, revision);
    EXPECT_FALSE(server.workspace().with_cpp);
    server.handle(notification(
        "workspace/didChangeWorkspaceFolders",
        {{"event",
          {{"added", {{{"uri", "file:///other"}}}}, {"removed", {{{"uri", "file:///my%20shop"}}}}}}}
    ));
    EXPECT_THAT(server.workspace().folders, ElementsAre("/other"));
}

TEST(Workspace, survives_wrong_settings) {
    Server server;
    server.handle(request(
        1,
        "initialize",
        {{"workspaceFolders", "none"},
         {"rootUri", 5},
         {"initializationOptions", {{"handlers", 7}, {"exclude", {1, nullptr}}, {"cpp", "no"}}}}
    ));
    EXPECT_THAT(server.workspace().folders, IsEmpty());
    EXPECT_THAT(server.workspace().exclude, IsEmpty());
    EXPECT_TRUE(server.workspace().with_cpp);
    for (const char* params : {"{}", "[]", "{\"changes\": 1}", "{\"event\": null}"}) {
        for (const char* method :
             {"workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders"}) {
            EXPECT_TRUE(server.handle(notification(method, Json::parse(params))).empty());
        }
    }
}

TEST(Workspace, keeps_a_bounded_number_of_names) {
    WorkspaceIndex index;
    std::string text = "workflow: w\nsteps:\n";
    for (int i = 0; i < 9'000; ++i) text += "  - s" + std::to_string(i) + "\n";
    for (int file = 0; !index.is_full(); ++file) {
        ASSERT_LT(file, 1'000);
        index.set(Document("file:///" + std::to_string(file) + ".yaml", text, Encoding::Utf8));
    }
    EXPECT_GE(index.find("s1", "").size(), WorkspaceLimits::kNamesMax / 9'000);
    index.remove("file:///0.yaml");
    EXPECT_FALSE(index.is_full());
    index.clear();
    EXPECT_THAT(index.find("s1", ""), IsEmpty());
}

TEST(Uri, has_one_spelling) {
    EXPECT_EQ(path_of_uri("file:///a%20b/%C3%BC.cpp"), "/a b/ü.cpp");
    EXPECT_EQ(path_of_uri("file://localhost/a"), "/a");
    EXPECT_EQ(uri_of_path("/a b/ü(1).cpp"), "file:///a%20b/%C3%BC%281%29.cpp");
    EXPECT_EQ(canonical_uri("file:///a(1)%2fb"), "file:///a%281%29/b");
    for (const char* none : {"", "untitled:1", "file://host/a", "http://x/y", "file:///a%00b"}) {
        EXPECT_EQ(path_of_uri(none), "") << none;
        EXPECT_EQ(canonical_uri(none), none);
    }
    EXPECT_EQ(path_of_uri("file:///a%2"), "/a%2");
}

}  // namespace
}  // namespace ebb::lsp::test
