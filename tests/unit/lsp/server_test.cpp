// The language server as an editor sees it: messages in, messages out.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "ebb_test_dirs.h"
#include "lsp/wire.h"

namespace ebb::lsp::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
    client.open(kOrderWorkflow);
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
    client.open(kOrderWorkflow);
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
    client.open(kOrderWorkflow);
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

TEST(Outline, has_the_nodes_of_a_broken_text_too) {
    Client client;
    client.open(std::string(kOrderWorkflow) + "  - step: \"last\n");
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
    client.open(kOrderWorkflow);
    const Json data = client.ask("textDocument/semanticTokens/full")["data"];
    ASSERT_EQ(data.size() % 5, 0U);
    EXPECT_GE(data.size() / 5, 12U);
    for (std::size_t i = 0; i < data.size(); i += 5) EXPECT_GT(data[i + 2], 0);
}

TEST(Diagram, draws_an_invalid_text_and_leads_back_to_it) {
    Client client;
    client.open(std::string(kOrderWorkflow) + "  - step: extra\n    timout: 5s\n");
    const Json picture = client.ask("ebb/diagram");
    EXPECT_THAT(picture["svg"].get<std::string>(), HasSubstr("extra"));
    EXPECT_EQ(picture["nodes"].size(), 5U);
    EXPECT_THAT(client.text_at(picture["nodes"][0]["range"]), HasSubstr("step: reserve"));
    EXPECT_EQ(picture["problems"], 1);
}

TEST(Diagram, says_which_node_was_clicked) {
    Client client;
    client.open(kOrderWorkflow);
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

TEST(Edits, any_sequence_equals_a_fresh_open) {
    std::mt19937 random(3);
    const std::string pieces[] = {
        "a", ":", " ", "\n", "  - step: x\n", "${input.y}", "\"", "é😀", "{", "\r\n"
    };
    for (const std::string encoding : {"utf-8", "utf-16"}) {
        Client client(encoding);
        client.open(kOrderWorkflow);
        std::string text(kOrderWorkflow);
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

}  // namespace
}  // namespace ebb::lsp::test
