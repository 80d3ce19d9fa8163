// The language server as an editor sees it: messages in, messages out.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "core/expression/functions.h"
#include "ebb_test_dirs.h"
#include "lsp/features/functions.h"
#include "lsp/wire.h"

namespace ebb::lsp::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kOrder = R"(workflow: order
deadline: 1h
handlers:
  charge: {http: {url: "https://example.com/charge"}}
steps:
  - step: reserve
    compensate: release
  - condition: large
    when: input.amount > 100
    then:
      - step: approve
        handler: charge
  - step: charge
    input: {order: "${steps.reserve.output.id}"}
)";

TEST(Wire, any_split_of_the_stream_gives_the_same_messages) {
    std::string stream;
    std::vector<Json> sent;
    for (int i = 0; i < 5; ++i) {
        sent.push_back(notification("m" + std::to_string(i), {{"text", "é😀\r\n\r\n"}}));
        stream += frame(sent.back());
    }
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        FrameReader frames;
        std::vector<Json> got;
        std::size_t at = 0;
        while (at < stream.size()) {
            const std::size_t size = 1 + random() % 60;
            frames.feed(stream.substr(at, size));
            at += size;
            while (const auto content = frames.next()) got.push_back(*parse_message(*content));
        }
        ASSERT_EQ(got, sent);
    }
}

TEST(Wire, what_has_no_length_breaks_the_stream) {
    FrameReader none;
    none.feed("Content-Type: x\r\n\r\n{}");
    EXPECT_FALSE(none.next());
    EXPECT_TRUE(none.is_broken());
    FrameReader large;
    large.feed("content-length: 16777217\r\n\r\n");
    EXPECT_FALSE(large.next());
    EXPECT_TRUE(large.is_broken());
    FrameReader at_limit;
    at_limit.feed("Content-Length: 16777216\r\n\r\n");
    EXPECT_FALSE(at_limit.next());
    EXPECT_FALSE(at_limit.is_broken());
    EXPECT_FALSE(parse_message(std::string(65, '[') + std::string(65, ']')));
    EXPECT_FALSE(parse_message("{bad}"));
}

TEST(Wire, a_text_that_is_not_json_has_an_error_of_its_own) {
    Server server;
    const Json broken = server.handle(no_message()).at(0);
    EXPECT_EQ(broken["error"]["code"], -32700);
    EXPECT_TRUE(broken["id"].is_null());
    EXPECT_EQ(server.handle(parse_message("[]").value()).at(0)["error"]["code"], -32600);
    EXPECT_EQ(server.handle(parse_message("{}").value()).at(0)["error"]["code"], -32600);
}

TEST(Session, a_malformed_position_is_refused_also_without_a_document) {
    Client client;
    client.open(kOrder);
    for (const char* uri : {"file:///order.ebb.yaml", "file:///closed.ebb.yaml"}) {
        for (const char* position :
             {"5",
              "null",
              "{}",
              R"({"line": -1, "character": 0})",
              R"({"line": 0, "character": "0"})"}) {
            const Json params = {
                {"textDocument", {{"uri", uri}}}, {"position", Json::parse(position)}
            };
            const Json answer = client.send(request(90, "textDocument/hover", params)).at(0);
            EXPECT_EQ(answer["error"]["code"], -32602) << uri << position;
        }
    }
}

TEST(Session, goes_from_initialize_to_exit) {
    Server server;
    EXPECT_EQ(server.handle(request(1, "textDocument/hover", {}))[0]["error"]["code"], -32002);
    const Json initialized = server.handle(request(2, "initialize", Json::object()))[0];
    EXPECT_EQ(initialized["result"]["capabilities"]["positionEncoding"], "utf-16");
    EXPECT_EQ(server.handle(request(3, "initialize", {}))[0]["error"]["code"], -32600);
    EXPECT_EQ(server.handle(request(4, "nothing", {}))[0]["error"]["code"], -32601);
    EXPECT_TRUE(server.handle(notification("$/nothing", {})).empty());
    EXPECT_EQ(server.handle(request(5, "textDocument/codeAction", {}))[0]["result"], Json::array());
    EXPECT_TRUE(server.handle(request(6, "shutdown", {}))[0]["result"].is_null());
    EXPECT_EQ(server.handle(request(7, "shutdown", {}))[0]["error"]["code"], -32600);
    EXPECT_FALSE(server.is_over());
    server.handle(notification("exit", {}));
    EXPECT_TRUE(server.is_over());
    EXPECT_EQ(server.exit_code(), 0);
    Server rude;
    rude.handle(notification("exit", {}));
    EXPECT_EQ(rude.exit_code(), 1);
}

TEST(Session, a_batch_drops_what_was_cancelled_or_is_about_an_older_text) {
    Client client;
    client.open(kOrder);
    const std::string uri = "file:///order.ebb.yaml";
    const Json place = {{"line", 0}, {"character", 0}};
    const Json ask = {{"textDocument", {{"uri", uri}}}, {"position", place}};
    const std::vector<Json> batch = {
        request(11, "textDocument/hover", ask),
        request(12, "textDocument/hover", ask),
        notification("$/cancelRequest", {{"id", 11}}),
        notification(
            "textDocument/didChange",
            {{"textDocument", {{"uri", uri}, {"version", 9}}}, {"contentChanges", Json::array()}}
        ),
        request(13, "textDocument/hover", ask),
    };
    const std::vector<Json> answers = client.server().handle_all(batch);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[0]["error"]["code"], -32800);
    EXPECT_EQ(answers[1]["error"]["code"], -32801);
    EXPECT_TRUE(answers[2].contains("result"));
}

TEST(Session, malformed_parameters_are_an_error_and_not_an_end) {
    Client client;
    client.open(kOrder);
    for (const char* method : {"textDocument/completion", "textDocument/rename"}) {
        const Json answer = client.ask(method, {{"position", {{"line", -1}, {"character", "x"}}}});
        EXPECT_TRUE(answer.contains("code")) << method << answer;
    }
    client.send(Json(nullptr));
    client.send(notification("textDocument/didChange", nullptr));
    client.send(notification("textDocument/didOpen", {{"textDocument", 3}}));
    EXPECT_FALSE(client.ask("textDocument/hover").contains("code"));
}

TEST(Diagnostics, have_ends_related_places_and_fixes) {
    Client client;
    client.open("workflow: a\nsteps:\n  - step: one\n    timout: 5s\n  - step: one\n");
    const Json& list = client.diagnostics();
    ASSERT_EQ(list.size(), 2U) << list;
    EXPECT_EQ(client.text_at(list[0]["range"]), "timout");
    EXPECT_EQ(list[0]["code"], "unknown_key");
    EXPECT_EQ(list[1]["code"], "duplicate_name");
    EXPECT_EQ(client.text_at(list[1]["relatedInformation"][0]["location"]["range"]), "one");
    const Json all = client.ask(
        "textDocument/codeAction",
        {{"range", list[0]["range"]}, {"context", {{"diagnostics", Json::array()}}}}
    );
    ASSERT_GE(all.size(), 1U);
    EXPECT_EQ(all[0]["kind"], "quickfix");
    EXPECT_THAT(client.after(all[0]["edit"]), HasSubstr("    timeout: 5s\n"));
}

TEST(Diagnostics, mark_the_name_in_an_expression_whatever_surrounds_it) {
    for (const std::string encoding : {"utf-8", "utf-16"}) {
        Client client(encoding);
        client.open(
            "workflow: a\nsteps:\n  - step: one\n  - step: two\n"
            "    input: {a: \"é\\u00e9😀\\n ${inptu.x}\", b: \"${steps.oen.output}\"}\n"
        );
        const Json& list = client.diagnostics();
        ASSERT_EQ(list.size(), 2U) << list;
        EXPECT_EQ(client.text_at(list[0]["range"]), "inptu");
        EXPECT_EQ(client.text_at(list[1]["range"]), "oen");
        const Json fixed = client.ask(
            "textDocument/codeAction",
            {{"range", list[0]["range"]}, {"context", {{"only", {"source.fixAll"}}}}}
        );
        ASSERT_EQ(fixed.size(), 1U) << fixed;
        client.open(client.after(fixed[0]["edit"]));
        EXPECT_EQ(client.diagnostics(), Json::array());
    }
}

TEST(Diagnostics, of_a_broken_text_are_those_of_its_other_parts_too) {
    Client client;
    client.open(
        "workflow: a\ndeadline: 1h\nsteps:\n  - step: one\n    input: {a: [1}\n  - step: two\n    "
        "timout: 5s\n"
    );
    std::vector<std::string> codes;
    for (const Json& problem : client.diagnostics()) {
        codes.push_back(problem["code"].get<std::string>());
    }
    EXPECT_THAT(codes, ElementsAre("yaml_syntax", "unknown_key"));
}

TEST(Diagnostics, other_files_have_none) {
    Client client;
    client.open("on: push\njobs: {a: 1}\n", "file:///ci.yml");
    EXPECT_EQ(client.ask("ebb/kindOf"), "other");
    EXPECT_EQ(client.diagnostics(), Json::array());
    client.open("workflow: a\nsteps: [b]\n", "file:///ci.yml");
    EXPECT_EQ(client.ask("ebb/kindOf"), "workflow");
    client.open("types: {}\n", "file:///t.yml");
    EXPECT_EQ(client.ask("ebb/kindOf"), "types");
}

std::string read_file(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// The fixes of every wrong file of the model's tests: each removes its problem and adds none.
TEST(Fixes, remove_the_problem) {
    int applied = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(EBB_SOURCE_DIR "/tests/unit/model/golden")) {
        if (entry.path().extension() != ".yaml") continue;
        const std::string text = read_file(entry.path());
        Client client;
        client.open(text, "file:///" + entry.path().filename().string());
        const Json before = client.diagnostics();
        const Json actions = client.ask(
            "textDocument/codeAction",
            {{"range",
              {{"start", {{"line", 0}, {"character", 0}}},
               {"end", {{"line", 100'000}, {"character", 0}}}}},
             {"context", {{"only", {"quickfix"}}}}}
        );
        for (const Json& action : actions) {
            const auto title = action["title"].get<std::string>();
            if (title.starts_with("Add the key")) continue;  // its value is for a person
            Client fixed;
            fixed.open(client.after(action["edit"]), "file:///fixed.ebb.yaml");
            // The same problem is gone. What it had hidden may show now.
            const Json& removed = action["diagnostics"][0];
            for (const Json& left : fixed.diagnostics()) {
                const bool is_same = left["range"]["start"] == removed["range"]["start"] &&
                                     left["message"] == removed["message"];
                EXPECT_FALSE(is_same) << entry.path() << title << fixed.text();
            }
            EXPECT_LE(fixed.diagnostics().size(), before.size()) << entry.path() << title;
            ++applied;
        }
    }
    EXPECT_GT(applied, 10);
}

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

TEST(Navigation, finds_definitions_and_references) {
    Client client;
    std::string text(kOrder);
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
    std::string text(kOrder);
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
    std::string text(kOrder);
    const std::size_t at = text.find("step: reserve") + 8;
    client.open(text.substr(0, at) + "|" + text.substr(at));
    for (const char* name : {"charge", "a b", "", "with-dash"}) {
        const Json answer = client.ask("textDocument/rename", {{"newName", name}});
        EXPECT_EQ(answer["code"], -32803) << name << answer;
    }
}

TEST(Outline, has_the_nodes_of_a_broken_text_too) {
    Client client;
    client.open(std::string(kOrder) + "  - step: \"last\n");
    const Json symbols = client.ask("textDocument/documentSymbol");
    ASSERT_EQ(symbols.size(), 1U);
    EXPECT_EQ(symbols[0]["name"], "order");
    std::vector<std::string> names;
    for (const Json& child : symbols[0]["children"]) {
        names.push_back(child["name"].get<std::string>());
    }
    EXPECT_THAT(names, ElementsAre("charge", "reserve", "large", "charge", "last"));
    EXPECT_EQ(symbols[0]["children"][2]["children"][0]["name"], "approve");
    const Json folds = client.ask("textDocument/foldingRange");
    EXPECT_GT(folds.size(), 3U);
    for (const Json& fold : folds) EXPECT_LT(fold["startLine"], fold["endLine"]);
}

TEST(Tokens, are_in_order_and_do_not_overlap) {
    Client client;
    client.open(kOrder);
    const Json data = client.ask("textDocument/semanticTokens/full")["data"];
    ASSERT_EQ(data.size() % 5, 0U);
    EXPECT_GE(data.size() / 5, 12U);
    for (std::size_t i = 0; i < data.size(); i += 5) EXPECT_GT(data[i + 2], 0);
}

TEST(Diagram, draws_an_invalid_text_and_leads_back_to_it) {
    Client client;
    client.open(std::string(kOrder) + "  - step: extra\n    timout: 5s\n");
    const Json picture = client.ask("ebb/diagram");
    EXPECT_THAT(picture["svg"].get<std::string>(), HasSubstr("extra"));
    EXPECT_EQ(picture["nodes"].size(), 5U);
    EXPECT_THAT(client.text_at(picture["nodes"][0]["range"]), HasSubstr("step: reserve"));
    EXPECT_EQ(picture["problems"], 1);
}

TEST(Diagram, says_which_node_was_clicked) {
    Client client;
    client.open(kOrder);
    const Json picture = client.ask("ebb/diagram");
    const auto svg = picture["svg"].get<std::string>();
    for (const Json& node : picture["nodes"]) {
        const auto name = node["name"].get<std::string>();
        EXPECT_THAT(svg, HasSubstr(" data-node=\"" + name + "\">"));
    }
    client.open("workflow: w\nsteps:\n  - parallel: p\n    branches: {a: [left], b: [right]}\n");
    const Json branches = client.ask("ebb/diagram")["nodes"];
    ASSERT_EQ(branches.size(), 3U);
    EXPECT_EQ(branches[2]["name"], "right");
    EXPECT_EQ(branches[2]["path"], "/steps/0/branches/b/0");
    client.open("workflow: w\nsteps:\n  - step: \"a\\\" onload=\\\"<script>\"\n    handler: h\n");
    const auto hostile = client.ask("ebb/diagram")["svg"].get<std::string>();
    EXPECT_THAT(hostile, HasSubstr("data-node=\"a&quot; onload=&quot;&lt;script&gt;\""));
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

TEST(Edits, any_sequence_equals_a_fresh_open) {
    std::mt19937 random(3);
    const std::string pieces[] = {
        "a", ":", " ", "\n", "  - step: x\n", "${input.y}", "\"", "é😀", "{", "\r\n"
    };
    for (const std::string encoding : {"utf-8", "utf-16"}) {
        Client client(encoding);
        client.open(kOrder);
        std::string text(kOrder);
        for (int version = 2; version < 150; ++version) {
            const LineIndex lines(text, encoding == "utf-8" ? Encoding::Utf8 : Encoding::Utf16);
            const std::size_t from = lines.offset(lines.position(random() % (text.size() + 1)));
            const std::size_t to =
                lines.offset(lines.position(std::min(from + random() % 6, text.size())));
            const std::string& piece = pieces[random() % std::size(pieces)];
            client.send(notification(
                "textDocument/didChange",
                {{"textDocument", {{"uri", "file:///order.ebb.yaml"}, {"version", version}}},
                 {"contentChanges", {{{"range", range_json(lines, from, to)}, {"text", piece}}}}}
            ));
            text.replace(from, std::max(from, to) - from, piece);
            if (version % 7 != 0) continue;
            Client fresh(encoding);
            fresh.open(text);
            ASSERT_EQ(client.diagnostics(), fresh.diagnostics()) << text;
            ASSERT_EQ(
                client.ask(
                    "textDocument/documentSymbol", {{"position", {{"line", 0}, {"character", 0}}}}
                ),
                fresh.ask("textDocument/documentSymbol")
            ) << text;
        }
    }
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
