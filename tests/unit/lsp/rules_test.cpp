// Rules in the language server: conditions are SQL over attributes, and attributes are names that
// can be looked up and changed. And what entries of `handlers:` may have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/error.h>

#include "client.h"
#include "core/predicate/predicate.h"

namespace ebb::lsp::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string hover(Client& client, const std::string& text) {
    client.open(text);
    const Json answer = client.ask("textDocument/hover");
    return answer.is_null() ? "null" : answer["contents"]["value"].get<std::string>();
}

std::vector<std::string> offered(Client& client, const std::string& text) {
    client.open(text);
    return client.labels();
}

/// The rules of an order; `rest` is what follows the attributes.
std::string rules(const std::string& rest) {
    return "workflow: order\nrules:\n  attributes:\n    paid: boolean\n"
           "    total: {type: integer, default: 3, external: true}\n" +
           rest;
}

TEST(HandlerEntries, offer_and_explain_their_keys) {
    Client client;
    const std::string begin = "workflow: w\nsteps: [a]\nhandlers:\n";
    EXPECT_THAT(
        offered(client, begin + "  a:\n    exec: [x]\n    |\n"),
        AllOf(IsSupersetOf({"timeout", "output", "env"}), Not(Contains("exec")))
    );
    EXPECT_THAT(
        offered(client, begin + "  a: {exec: [x], t|}\n"), IsSupersetOf({"timeout", "output"})
    );
    EXPECT_THAT(
        offered(client, begin + "  a:\n    http:\n      |\n"),
        AllOf(IsSupersetOf({"url", "method", "allow_hosts"}), Not(Contains("exec")))
    );
    EXPECT_THAT(
        offered(client, begin + "  a:\n    exec: [x]\n    output: |\n"),
        ElementsAre("json", "text", "none")
    );
    EXPECT_THAT(offered(client, begin + "  a:\n    exec: [x]\n    timeout: |\n"), Contains("30s"));
    EXPECT_THAT(hover(client, begin + "  a:\n    ex|ec: [x]\n"), HasSubstr("The program to run"));
    EXPECT_THAT(hover(client, begin + "  a: {exec: [x], time|out: 5s}\n"), HasSubstr("Of one run"));
    EXPECT_THAT(hover(client, begin + "  a:\n    ht|tp: {url: x}\n"), HasSubstr("**http**: map"));
    EXPECT_THAT(hover(client, begin + "  a:\n    http: {u|rl: x}\n"), HasSubstr("allow_hosts"));
    EXPECT_THAT(
        hover(client, begin + "  a:\n    http: {url: x, timeout: 9|0s}\n"), HasSubstr("1m30s")
    );
}

TEST(HandlerEntries, leave_what_a_handler_is_given_alone) {
    Client client;
    const std::string begin = "workflow: w\nsteps: [a]\nhandlers:\n  a:\n";
    EXPECT_EQ(hover(client, begin + "    http: {url: x, headers: {time|out: 5s}}\n"), "null");
    EXPECT_EQ(hover(client, begin + "    http: {url: x, body: {timeout: 5|s}}\n"), "null");
    EXPECT_EQ(hover(client, begin + "    input_schema: {ex|ec: 1}\n"), "null");
    EXPECT_EQ(
        hover(client, "workflow: w\nsteps:\n  - step: a\n    input: {handlers: {a: {ex|ec: 1}}}\n"),
        "null"
    );
}

TEST(Conditions, complete_attributes_words_of_sql_and_functions) {
    Client client;
    const auto expects_value = [&](const std::string& rest) {
        const std::vector<std::string> labels = offered(client, rules(rest));
        EXPECT_THAT(
            labels, IsSupersetOf({"paid", "total", "not", "case", "null", "lower", "coalesce"})
        ) << rest;
        for (const char* other : {"input", "workflow", "steps", "size", "dyn", "has"}) {
            EXPECT_THAT(labels, Not(Contains(other))) << rest;
        }
    };
    expects_value("  triggers:\n    ship:\n      when: t|\n");
    expects_value("  triggers:\n    ship: {when: paid and |}\n");
    expects_value("  triggers:\n    - trigger: ship\n      when: total > |\n");
    expects_value("  triggers: {}\n  final: {done: |\n");
    expects_value("  triggers: {}\n  final:\n    done: |\n");
    expects_value("  triggers: {}\n  exceptions: {bad: p|\n");
    expects_value(
        "  triggers: {}\n  invariants:\n    - invariant: a\n      when: 'total > 0 or |'\n"
    );
    EXPECT_THAT(
        offered(client, rules("  final:\n    done: paid |\n")),
        AllOf(
            IsSupersetOf({"and", "or", "is null", "in", "between", "like"}), Not(Contains("total"))
        )
    );
    EXPECT_THAT(
        offered(client, rules("  final:\n    done: paid is |\n")),
        AllOf(Contains("not null"), Not(Contains("and")))
    );
    EXPECT_THAT(offered(client, rules("  final:\n    done: case when paid |\n")), Contains("then"));
    EXPECT_THAT(offered(client, rules("  final:\n    done: total = 'a|\n")), IsEmpty());
}

TEST(Conditions, leave_expressions_of_nodes_in_a_transition_alone) {
    Client client;
    EXPECT_THAT(
        offered(
            client,
            rules("  triggers:\n    t:\n      when: paid\n      steps:\n        - condition: c\n"
                  "          when: |\n")
        ),
        AllOf(Contains("input"), Not(Contains("paid")))
    );
}

TEST(Conditions, know_the_functions_that_the_language_has) {
    std::string message;
    try {
        Predicate::compile("no_function(1) = 1", {});
    } catch (const Error& error) {
        message = error.what();
    }
    message.resize(message.find(". (Line"));
    Client client;
    std::size_t functions = 0;
    client.open(rules("  final:\n    done: |\n"));
    const Json answer = client.ask("textDocument/completion");
    for (const Json& item : answer["items"]) {
        if (item["kind"] != 3) continue;
        ++functions;
        EXPECT_THAT(message, HasSubstr(item["label"].get<std::string>()));
    }
    EXPECT_EQ(functions, 22U);
    EXPECT_EQ(std::count(message.begin(), message.end(), ',') + 1, 22) << message;
}

TEST(Writes, complete_the_attributes_that_they_do_not_name_yet) {
    Client client;
    const std::string begin = "  triggers:\n    ship:\n      when: paid\n      ";
    EXPECT_THAT(offered(client, rules(begin + "writes: [|\n")), ElementsAre("paid", "total"));
    EXPECT_THAT(offered(client, rules(begin + "writes: [paid, |]\n")), ElementsAre("total"));
    EXPECT_THAT(
        offered(client, rules(begin + "writes:\n        - |\n")), ElementsAre("paid", "total")
    );
    EXPECT_THAT(offered(client, rules(begin + "writes: {|}\n")), ElementsAre("paid", "total"));
    EXPECT_THAT(
        offered(client, rules(begin + "writes:\n        - attribute: |\n")),
        ElementsAre("paid", "total")
    );
}

constexpr const char* kUses =
    "  triggers:\n    ship:\n      when: \"lower(total::text) = 'total' and Total > 1\"\n"
    "      writes: [paid, total]\n    pack:\n      when: paid\n      writes: {total: [1]}\n"
    "      set: {total: \"${ output.total }\", paid: {$expr: 'state.total > 1'}}\n"
    "  final:\n    done: not paid and \"total\" = 2\n";

TEST(Attributes, are_explained_and_found_where_they_are_named) {
    Client client;
    for (const char* use :
         {"tot|al > 1", "paid, tot|al]", "{to|tal: [1]", "\"t|otal\" = 2", "state.t|otal"}) {
        std::string plain = use;
        const std::size_t mark = plain.find('|');
        plain.erase(mark, 1);
        std::string text = rules(kUses);
        std::size_t at = text.find(plain);
        if (at == std::string::npos) {
            plain[0] = 'T';
            at = text.find(plain);
        }
        ASSERT_NE(at, std::string::npos) << use;
        text.insert(at + mark, "|");
        EXPECT_THAT(hover(client, text), HasSubstr("total: integer, default 3, external")) << use;
        const Json found = client.ask("textDocument/definition");
        ASSERT_TRUE(found.is_object()) << use;
        EXPECT_EQ(client.text_at(found["range"]), "total");
        EXPECT_EQ(found["range"]["start"]["line"], 4) << use;
        EXPECT_EQ(client.ask("textDocument/references").size(), 8U) << use;
    }
}

TEST(Attributes, are_renamed_in_conditions_expressions_and_writes) {
    Client client;
    std::string text = rules(kUses);
    text.insert(text.find("Total > 1") + 2, "|");
    client.open(text);
    const std::string after =
        client.after(client.ask("textDocument/rename", {{"newName", "amount"}}));
    EXPECT_THAT(after, HasSubstr("    amount: {type: integer"));
    EXPECT_THAT(after, HasSubstr("\"lower(amount::text) = 'total' and amount > 1\""));
    EXPECT_THAT(after, HasSubstr("writes: [paid, amount]"));
    EXPECT_THAT(after, HasSubstr("writes: {amount: [1]}"));
    EXPECT_THAT(after, HasSubstr("set: {amount: \"${ output.total }\", paid:"));
    EXPECT_THAT(after, HasSubstr("{$expr: 'state.amount > 1'}"));
    EXPECT_THAT(after, HasSubstr("not paid and \"amount\" = 2"));
    const auto refusal = [&](const char* name) {
        return client.ask("textDocument/rename", {{"newName", name}})["message"].get<std::string>();
    };
    EXPECT_THAT(refusal("Amount"), HasSubstr("lower-case"));
    EXPECT_THAT(refusal("order"), HasSubstr("a word of conditions"));
    EXPECT_THAT(refusal("paid"), HasSubstr("already taken"));
}

TEST(Rename, of_a_copied_node_leaves_the_first_and_what_reads_it) {
    Client client;
    const std::string begin = "workflow: w\nsteps:\n";
    const auto renamed = [&](const std::string& steps) {
        client.open(begin + steps);
        return client.after(client.ask("textDocument/rename", {{"newName", "b"}}))
            .substr(begin.size());
    };
    const std::string read = "  - step: c\n    input: ${ steps.a.output }\n";
    EXPECT_EQ(
        renamed("  - step: a\n    handler: h\n  - step: |a\n    handler: h\n" + read),
        "  - step: a\n    handler: h\n  - step: b\n    handler: h\n" + read
    );
    EXPECT_EQ(
        renamed("  - step: |a\n    handler: h\n  - step: a\n    handler: h\n" + read),
        "  - step: b\n    handler: h\n  - step: a\n    handler: h\n"
        "  - step: c\n    input: ${ steps.b.output }\n"
    );
    EXPECT_EQ(
        renamed("  - step: a\n    handler: h\n  - step: a\n    handler: h\n"
                "  - step: c\n    input: ${ steps.|a.output }\n"),
        "  - step: b\n    handler: h\n  - step: a\n    handler: h\n"
        "  - step: c\n    input: ${ steps.b.output }\n"
    );
}

}  // namespace
}  // namespace ebb::lsp::test
