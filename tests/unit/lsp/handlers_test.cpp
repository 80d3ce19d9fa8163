// Handlers across the files of a workspace: rename, what no code registers, lenses; and the samples
// of a workflow. The server has no file system here: the test gives it the files' texts.

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "lsp/uri.h"

namespace ebb::lsp::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kCodeText =
    "void add(ebb::HandlerRegistry& h) {\n"
    "    h.add(\"charge\", charge);\n"
    "    h.add(\"refund\", refund);\n"
    "}\n";
constexpr const char* kCodePath = "/shop/handlers.cpp";

/// The texts of the files after a WorkspaceEdit.
std::map<std::string, std::string> applied(
    const Json& edit, std::map<std::string, std::string> texts
) {
    for (const auto& [uri, edits] : edit.at("changes").items()) {
        std::string& text = texts.at(uri.substr(uri.rfind('/') + 1));
        // From behind, so that the earlier places stay.
        for (auto one = edits.rbegin(); one != edits.rend(); ++one) {
            const LineIndex lines(text, Encoding::Utf16);
            const auto offset = [&](const char* key) {
                return lines.offset(
                    {.line = (*one)["range"][key]["line"].get<std::size_t>(),
                     .character = (*one)["range"][key]["character"].get<std::size_t>()}
                );
            };
            const std::size_t from = offset("start");
            text.replace(from, offset("end") - from, (*one)["newText"].get<std::string>());
        }
    }
    return texts;
}

struct Shop {
    Client client;
    std::map<std::string, std::string> texts{
        {"handlers.cpp", kCodeText},
        {"other.yaml", "workflow: other\nsteps:\n  - {step: pay, handler: charge}\n  - charge\n"},
        {"own.yaml",
         "workflow: own\nhandlers:\n  charge: {exec: [jq, .]}\nsteps:\n  - step: charge\n"},
    };

    Shop() {
        for (const auto& [name, text] : texts) client.server().take_file("/shop/" + name, text);
    }

    std::map<std::string, std::string> rename(const std::string& name) {
        texts["order.ebb.yaml"] = client.text();
        const Json answer = client.ask("textDocument/rename", {{"newName", name}});
        EXPECT_FALSE(answer.contains("code")) << answer;
        return applied(answer, texts);
    }
};

TEST(HandlerRename, changes_the_code_and_all_workflows_and_keeps_the_names_of_steps) {
    Shop shop;
    shop.client.open(
        "workflow: order\nsteps:\n  - step: pay\n    handler: char|ge\n"
        "  - step: charge\n  - step: 'charge again'\n    handler: \"charge\"\n"
        "    input: \"${ steps.charge.output }\"\n",
        "file:///shop/order.ebb.yaml"
    );
    auto texts = shop.rename("take_money");
    EXPECT_THAT(texts["handlers.cpp"], HasSubstr("h.add(\"take_money\", charge);"));
    EXPECT_THAT(texts["handlers.cpp"], HasSubstr("h.add(\"refund\", refund);"));
    EXPECT_EQ(
        texts["order.ebb.yaml"],
        "workflow: order\nsteps:\n  - step: pay\n    handler: take_money\n"
        "  - step: charge\n    handler: take_money\n"
        "  - step: 'charge again'\n    handler: \"take_money\"\n"
        "    input: \"${ steps.charge.output }\"\n"
    );
    EXPECT_EQ(
        texts["other.yaml"],
        "workflow: other\nsteps:\n  - {step: pay, handler: take_money}\n"
        "  - {step: charge, handler: take_money}\n"
    );
    // Its entry is its own.
    EXPECT_EQ(texts["own.yaml"], shop.texts["own.yaml"]);
}

TEST(HandlerRename, of_an_entry_stays_in_its_file) {
    Shop shop;
    shop.client.open(
        "workflow: order\nhandlers:\n  ch|arge: {exec: [jq, .]}\nsteps:\n  - charge\n",
        "file:///shop/order.ebb.yaml"
    );
    auto texts = shop.rename("take");
    EXPECT_EQ(
        texts["order.ebb.yaml"],
        "workflow: order\nhandlers:\n  take: {exec: [jq, .]}\nsteps:\n"
        "  - {step: charge, handler: take}\n"
    );
    EXPECT_EQ(texts["handlers.cpp"], kCodeText);
    EXPECT_EQ(texts["other.yaml"], shop.texts["other.yaml"]);
}

TEST(HandlerRename, begins_in_code_too) {
    Shop shop;
    shop.client.open(
        "void add(ebb::HandlerRegistry& h) { h.add(\"cha|rge\", charge); }\n",
        "file:///shop/handlers.cpp"
    );
    shop.texts["handlers.cpp"] = shop.client.text();
    EXPECT_EQ(shop.client.ask("textDocument/prepareRename")["placeholder"], "charge");
    const auto texts =
        applied(shop.client.ask("textDocument/rename", {{"newName", "take"}}), shop.texts);
    EXPECT_THAT(texts.at("handlers.cpp"), HasSubstr("h.add(\"take\", charge)"));
    EXPECT_THAT(texts.at("other.yaml"), HasSubstr("handler: take"));
}

TEST(HandlerRename, refuses_what_it_cannot_change_everywhere) {
    const auto refusal = [](Shop& shop, const std::string& name) {
        return shop.client.ask("textDocument/rename", {{"newName", name}}).dump();
    };
    Shop shop;
    shop.client.open("workflow: w\nsteps:\n  - step: a\n    handler: cha|rge\n");
    EXPECT_THAT(refusal(shop, "refund"), HasSubstr("already taken"));
    EXPECT_THAT(refusal(shop, "a:b"), HasSubstr("letters, digits"));
    EXPECT_THAT(refusal(shop, ""), HasSubstr("code"));
    // A constant has a name of its own.
    shop.client.server().take_file(
        "/shop/more.cpp",
        "constexpr const char* kCharge = \"charge\";\n"
        "void more(ebb::HandlerRegistry& h) { h.add(kCharge, charge); }\n"
    );
    EXPECT_THAT(refusal(shop, "take"), HasSubstr("more.cpp:2 names the handler in a way"));
    // A step in quotes cannot get a second key.
    shop.client.server().drop_file("/shop/more.cpp");
    shop.client.server().take_file("/shop/more.yaml", "workflow: m\nsteps:\n  - \"charge\"\n");
    EXPECT_THAT(refusal(shop, "take"), HasSubstr("more.yaml:3"));
}

std::vector<std::string> warnings(const Json& diagnostics) {
    std::vector<std::string> found;
    for (const Json& each : diagnostics) {
        if (each["code"] == "missing_handler") found.push_back(each["message"].get<std::string>());
    }
    return found;
}

Json published(std::vector<Json> messages) {
    for (const Json& message : messages) {
        if (message.value("method", "") == "textDocument/publishDiagnostics") {
            return message["params"]["diagnostics"];
        }
    }
    return nullptr;
}

TEST(MissingHandler, is_reported_when_all_files_were_read) {
    Shop shop;
    shop.client.open(
        "workflow: order\nsteps:\n  - step: pay\n    handler: chagre\n    compensate: refund\n"
        "  - step: pay2\n    handler: chagre\n"
    );
    EXPECT_THAT(warnings(shop.client.diagnostics()), IsEmpty());
    Server& server = shop.client.server();
    server.set_files_read(true);
    const Json found = published(server.idle());
    EXPECT_THAT(
        warnings(found),
        ElementsAre("No code of the workspace registers the handler \"chagre\", and `handlers:` "
                    "does not have it. Did you mean \"charge\"?")
    );
    EXPECT_EQ(shop.client.text_at(found[0]["range"]), "chagre");
    EXPECT_EQ(found[0]["severity"], 2);
    // Nothing new, nothing said.
    EXPECT_THAT(server.idle(), IsEmpty());
    server.take_file("/shop/more.cpp", "void f(R& h) { h.add(\"chagre\", g); }");
    EXPECT_THAT(warnings(published(server.idle())), IsEmpty());
    server.drop_file("/shop/more.cpp");
    EXPECT_EQ(warnings(published(server.idle())).size(), 1U);
}

TEST(MissingHandler, has_a_fix_only_where_one_name_changes) {
    Shop shop;
    shop.client.server().set_files_read(true);
    shop.client.open("workflow: w\nsteps:\n  - step: pay\n    handler: cha|gre\n  - refunt\n");
    EXPECT_EQ(warnings(shop.client.diagnostics()).size(), 2U);
    const auto actions = [&shop](std::size_t line) {
        const Json place = {{"line", line}, {"character", 14U}};
        const Json all = shop.client.ask(
            "textDocument/codeAction", {{"range", {{"start", place}, {"end", place}}}}
        );
        // Besides those that describe the handler or write the node another way.
        Json replacements = Json::array();
        for (const Json& action : all) {
            if (action.value("isPreferred", false)) replacements.push_back(action);
        }
        return replacements;
    };
    const Json fixes = actions(3);
    ASSERT_EQ(fixes.size(), 1U);
    EXPECT_THAT(shop.client.after(fixes[0]["edit"]), HasSubstr("handler: charge\n"));
    EXPECT_THAT(actions(4), IsEmpty());
}

TEST(MissingHandler, is_not_judged_without_code_and_can_be_turned_off) {
    constexpr const char* kText = "workflow: w\nsteps:\n  - step: pay\n    handler: no_one\n";
    Client alone;
    alone.server().set_files_read(true);
    alone.open(kText);
    EXPECT_THAT(warnings(alone.diagnostics()), IsEmpty());
    Shop shop;
    shop.client.server().set_files_read(true);
    shop.client.open(kText);
    EXPECT_EQ(warnings(shop.client.diagnostics()).size(), 1U);
    shop.client.open(std::string("# ebb: allow missing_handler\n") + kText);
    EXPECT_THAT(warnings(shop.client.diagnostics()), IsEmpty());
    shop.client.open("workflow: w\nhandlers:\n  no_one: {exec: [jq, .]}\nsteps:\n  - step: no_one\n"
    );
    EXPECT_THAT(warnings(shop.client.diagnostics()), IsEmpty());
}

/// The titles and commands of the lenses of a text, of a client with these commands.
std::vector<std::string> lenses(const Json& commands, const std::string& text) {
    Server server;
    const Json options = {{"initializationOptions", {{"commands", commands}}}};
    const Json answer = server.handle(request(1, "initialize", options)).front();
    EXPECT_EQ(answer["result"]["capabilities"].contains("codeLensProvider"), !commands.empty());
    server.take_file(kCodePath, kCodeText);
    server.set_files_read(true);
    const Json document = {{"uri", "file:///shop/order.ebb.yaml"}, {"version", 1}, {"text", text}};
    server.handle(notification("textDocument/didOpen", {{"textDocument", document}}));
    const Json found = server.handle(
        request(2, "textDocument/codeLens", {{"textDocument", {{"uri", document["uri"]}}}})
    );
    std::vector<std::string> said;
    for (const Json& lens : found.front()["result"]) {
        said.push_back(
            std::to_string(lens["range"]["start"]["line"].get<int>()) + " " +
            lens["command"]["title"].get<std::string>() + " " +
            lens["command"]["command"].get<std::string>()
        );
    }
    return said;
}

TEST(Lenses, say_what_can_be_done_and_who_serves_a_handler) {
    const std::string text =
        "# A comment.\nworkflow: order\nhandlers: {own: {exec: [jq, .]}}\nsteps:\n"
        "  - step: a\n    handler: charge\n  - no_one\n  - own\n  - charge\n";
    EXPECT_THAT(
        lenses({"ebb.run", "ebb.showDiagram", "ebb.goTo", "rm -rf"}, text),
        ElementsAre(
            "1 Run ebb.run",
            "1 Show diagram ebb.showDiagram",
            "5 charge in handlers.cpp ebb.goTo",
            "6 no_one: unserved "
        )
    );
    EXPECT_THAT(lenses({"ebb.run"}, text), ElementsAre("1 Run ebb.run"));
    // The program of `own` has no limit.
    EXPECT_THAT(
        lenses({"ebb.validate", "ebb.showProblems", 7}, text),
        ElementsAre("1 Validate ebb.validate", "1 1 problem ebb.showProblems")
    );
    EXPECT_THAT(lenses({"ebb.showProblems"}, "deadline: 1h\n" + text), IsEmpty());
    EXPECT_THAT(lenses(Json::array(), text), IsEmpty());
}

TEST(Samples, are_named_inputs_that_are_checked) {
    Client client;
    client.open(
        "|workflow: w\ninput_schema: {type: object, required: [n]}\nsamples:\n  small: {n: 1}\n"
        "  large: {n: 2, text: \"${ not an expression }\"}\nsteps:\n  - a\n"
    );
    EXPECT_THAT(client.diagnostics(), IsEmpty());
    EXPECT_EQ(client.ask("ebb/samples"), Json::parse(R"([{"name": "small", "input": {"n": 1}},
                        {"name": "large", "input": {"n": 2, "text": "${ not an expression }"}}])"));
    client.open("workflow: w\ninput_schema: {required: [n]}\nsamples:\n  bad: {m: 1}\nsteps: [a]\n"
    );
    ASSERT_EQ(client.diagnostics().size(), 1U);
    EXPECT_EQ(client.diagnostics()[0]["code"], "invalid_sample");
    EXPECT_EQ(client.text_at(client.diagnostics()[0]["range"]), "{m: 1}");
    client.open("workflow: w\nsamples: [1]\nsteps: [a]\n");
    ASSERT_EQ(client.diagnostics().size(), 1U);
    EXPECT_EQ(client.diagnostics()[0]["code"], "wrong_type");
    client.open("workflow: w\nsamples: {a: [\nsteps: |");
    EXPECT_THAT(client.ask("ebb/samples"), IsEmpty());
}

}  // namespace
}  // namespace ebb::lsp::test
