// Code actions that rewrite the text: what they make of it, and that it means the same.

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "ebb_test_dirs.h"
#include "source/problem_page.h"
#include "source/workflow_text.h"

namespace ebb::lsp::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A client with the actions of what stands between two marks `|`, or at one.
class Actions {
 public:
    explicit Actions(std::string text, const std::string& uri = "file:///order.ebb.yaml") {
        const std::size_t begin = text.find('|');
        text.erase(begin, 1);
        std::size_t end = text.find('|');
        if (end == std::string::npos) {
            end = begin;
        } else {
            text.erase(end, 1);
        }
        client_.open(text, uri);
        const LineIndex lines(client_.text(), Encoding::Utf16);
        list_ = client_.ask(
            "textDocument/codeAction",
            {{"range", range_json(lines, begin, end)}, {"context", {{"diagnostics", Json::array()}}}
            }
        );
    }

    std::vector<std::string> titles() const {
        std::vector<std::string> titles;
        for (const Json& action : list_) titles.push_back(action["title"].get<std::string>());
        return titles;
    }

    /// The text after the action whose title begins so.
    std::string after(const std::string& title) const {
        for (const Json& action : list_) {
            if (action["title"].get<std::string>().starts_with(title)) {
                return client_.after(action["edit"]);
            }
        }
        return "no action \"" + title + "\" in " + list_.dump();
    }

    const std::string& text() const { return client_.text(); }

 private:
    Client client_;
    Json list_;
};

/// The action has this result, which means the same as the text before it.
void expect_same(const std::string& marked, const std::string& title, const std::string& result) {
    const Actions actions(marked);
    const std::string after = actions.after(title);
    EXPECT_EQ(after, result);
    const source::CheckedText before = source::check_text(actions.text());
    const source::CheckedText now = source::check_text(after);
    ASSERT_TRUE(before.is_valid()) << actions.text();
    ASSERT_TRUE(now.is_valid()) << after;
    EXPECT_TRUE(before.definition == now.definition) << after;
}

TEST(Rewrite, a_step_is_a_word_or_a_map) {
    expect_same(
        "workflow: a\nsteps:\n  - on|e  # first\n",
        "Write as",
        "workflow: a\nsteps:\n  - step: one  # first\n"
    );
    expect_same(
        "workflow: a\nsteps: [on|e, two]\n", "Write as", "workflow: a\nsteps: [{step: one}, two]\n"
    );
    expect_same(
        "workflow: a\nsteps:\n  - step: 'on|e'\n  - two\n",
        "Shorten",
        "workflow: a\nsteps:\n  - 'one'\n  - two\n"
    );
    expect_same("workflow: a\nsteps: [{step: on|e}]\n", "Shorten", "workflow: a\nsteps: [one]\n");
    EXPECT_THAT(
        Actions("workflow: a\nsteps:\n  - step: on|e\n    timeout: 5s\n").titles(),
        Not(Contains(StartsWith("Shorten")))
    );
}

TEST(Rewrite, a_node_has_one_line_or_several) {
    const std::string line =
        "workflow: a\nsteps:\n  - {step: one, timeout: 5s, input: {a: [1, 2]}}\n";
    const std::string lines =
        "workflow: a\nsteps:\n  - step: one\n    timeout: 5s\n    input: {a: [1, 2]}\n";
    std::string marked = line;
    expect_same(marked.insert(marked.find("timeout"), "|"), "Write on several lines", lines);
    marked = lines;
    expect_same(marked.insert(marked.find("timeout"), "|"), "Write on one line", line);
    // A comment has no place, and neither has a text that brackets would end.
    for (const std::string more : {"    # why\n    queue: b\n", "    input: a, b\n"}) {
        const Actions actions("workflow: a\nsteps:\n  - step: on|e\n" + more);
        EXPECT_THAT(actions.titles(), Not(Contains("Write on one line"))) << more;
    }
}

TEST(Rewrite, a_list_of_nodes_has_one_line_or_several) {
    const std::string flow =
        "workflow: a\nsteps:\n  - condition: b\n    when: input.x\n    then: [c, {step: d, "
        "timeout: 5s}]\n";
    const std::string block =
        "workflow: a\nsteps:\n  - condition: b\n    when: input.x\n    then:\n      - c\n"
        "      - {step: d, timeout: 5s}\n";
    std::string marked = flow;
    expect_same(
        marked.insert(marked.find("then") + 2, "|"), "Write the nodes of \"then\" on several", block
    );
    marked = block;
    expect_same(
        marked.insert(marked.find("then") + 2, "|"), "Write the nodes of \"then\" on one", flow
    );
}

TEST(Rewrite, selected_nodes_go_into_a_block) {
    const std::string text =
        "workflow: a\nsteps:\n  - one\n|  - step: two\n    description: |-\n      x\n\n      y\n"
        "  - thr|ee  # last\n  - four\n";
    // The mark of the block text is not one of ours.
    std::string marked = text;
    marked.replace(marked.find("|-"), 2, ">-");
    const Actions actions(marked);
    EXPECT_EQ(
        actions.after("Put into a condition"),
        "workflow: a\nsteps:\n  - one\n  - condition: check\n    when: workflow.input.enabled\n"
        "    then:\n      - step: two\n        description: >-\n          x\n\n          y\n"
        "      - three  # last\n  - four\n"
    );
    EXPECT_EQ(
        actions.after("Run at the same time"),
        "workflow: a\nsteps:\n  - one\n  - parallel: together\n    branches:\n      two:\n"
        "        - step: two\n          description: >-\n            x\n\n            y\n"
        "      three:\n        - three  # last\n  - four\n"
    );
    for (const std::string title : {"Put into a condition", "Put into a loop", "Run at the same"}) {
        const source::CheckedText checked = source::check_text(actions.after(title));
        EXPECT_TRUE(checked.is_valid()) << actions.after(title);
        EXPECT_EQ(checked.definition.steps.size(), 3U) << title;
    }
    EXPECT_THAT(
        Actions("workflow: a\nsteps:\n  - o|ne\n").titles(), Not(Contains("Put into a loop"))
    );
}

TEST(Rewrite, steps_in_a_row_are_a_graph_and_back) {
    const std::string row = "workflow: a\nsteps:\n  - one\n  - step: two\n    queue: q\n";
    const std::string graph =
        "workflow: a\nnodes:\n  - one\n  - step: two\n    queue: q\nedges:\n  - {from: one, to: "
        "two}\n";
    EXPECT_EQ(Actions("workflow: a\nst|eps:" + row.substr(18)).after("Join"), graph);
    EXPECT_TRUE(source::check_text(graph).is_valid());
    std::string marked = graph;
    EXPECT_EQ(Actions(marked.insert(14, "|")).after("Write the steps in a row"), row);
    for (const std::string edge : {"{from: two, to: one}", "{from: one, handle: x, to: two}"}) {
        const Actions actions("workflow: a\nno|des: [one, two]\nedges:\n  - " + edge + "\n");
        EXPECT_THAT(actions.titles(), Not(Contains(StartsWith("Write the steps")))) << edge;
    }
}

TEST(Extract, what_all_steps_say_goes_to_defaults) {
    const std::string steps =
        "steps:\n  - step: one\n    time|out: 30s\n  - step: two\n    timeout: 30s\n    queue: q\n"
        "  - step: three\n    timeout: 1m\n";
    const std::string rest =
        "steps:\n  - step: one\n  - step: two\n    queue: q\n  - step: three\n    timeout: 1m\n";
    expect_same("workflow: a\n" + steps, "Move", "workflow: a\ndefaults: {timeout: 30s}\n" + rest);
    expect_same(
        "workflow: a\ndefaults: {queue: p}\n" + steps,
        "Move",
        "workflow: a\ndefaults: {timeout: 30s, queue: p}\n" + rest
    );
    // A default would change a step or a compensation that does not say it.
    for (const std::string more :
         {"  - four\n", "  - step: four\n    timeout: 1s\n    compensate: five\n"}) {
        const Actions actions("workflow: a\n" + steps + more);
        EXPECT_THAT(actions.titles(), Not(Contains(StartsWith("Move")))) << more;
    }
}

TEST(QuickFix, repairs_what_needs_more_than_a_replacement) {
    EXPECT_EQ(
        Actions("workflow: a\nsteps:\n  - one\n  - o|ne\n").after("Rename this one"),
        "workflow: a\nsteps:\n  - one\n  - {step: one_2, handler: one}\n"
    );
    EXPECT_THAT(
        Actions("workflow: a\nsteps:\n  - {delay: one, for: \"|5\"}\n").titles(),
        Contains("Write \"5m\"")
    );
    EXPECT_THAT(
        Actions("workflow: a\nsteps:\n  - step: one\n    timeout: |5\n").titles(),
        AllOf(Contains("Replace \"5\" with \"5m\""), Not(Contains(StartsWith("Write \"5"))))
    );
    EXPECT_EQ(
        Actions("workflow: a\nsteps:\n  - step: one\n    input: &data {x: 1}\n  - step: two\n"
                "    input: *|dat\n")
            .after("Replace \"dat\" with"),
        "workflow: a\nsteps:\n  - step: one\n    input: &data {x: 1}\n  - step: two\n"
        "    input: *data\n"
    );
    const std::string quoted =
        Actions("workflow: a\nsteps:\n  - {step: b, input: {a: |${ workflow.input.x }|, c: 1}}\n")
            .after("Put the expression");
    EXPECT_THAT(quoted, HasSubstr("{a: \"${ workflow.input.x }\", c: 1}"));
    EXPECT_TRUE(source::check_text(quoted).is_valid()) << quoted;
}

TEST(MergeKey, is_written_out) {
    const std::string before =
        "workflow: a\nsteps:\n  - step: one\n    backoff: &slow {initial: 1m, max: 1h}\n"
        "  - step: two\n    backoff:\n      max: 2h\n      <|<: *slow\n";
    const std::string after = Actions(before).after("Write out what \"<<\" takes over");
    EXPECT_THAT(after, HasSubstr("      max: 2h\n      initial: 1m\n"));
    EXPECT_TRUE(source::check_text(after).is_valid()) << after;
    // In braces, of several anchors, the first of which wins.
    const std::string several =
        "workflow: a\nsteps:\n  - step: one\n    input: &a {x: 1, y: 2}\n  - step: two\n"
        "    input: &b {y: 3, z: 4}\n  - step: three\n    input: {|<<: [*a, *b], z: 5}\n";
    const std::string written = Actions(several).after("Write out");
    EXPECT_THAT(written, HasSubstr("input: {x: 1, y: 2, z: 5}\n"));
    EXPECT_TRUE(source::check_text(written).is_valid()) << written;
    // What has several lines stays, and so does what no anchor is for.
    for (const std::string anchor : {"&a\n      x:\n        - 1\n", "&other {x: 1}\n"}) {
        const Actions actions(
            "workflow: a\nsteps:\n  - step: one\n    input: " + anchor +
            "  - step: two\n    input: {|<<: *a}\n"
        );
        EXPECT_THAT(actions.titles(), Not(Contains(StartsWith("Write out")))) << anchor;
    }
}

TEST(MergeKey, that_all_steps_have_becomes_defaults) {
    const std::string steps =
        "steps:\n  - step: one\n    |<<: *common\n    queue: q\n  - {step: two, <<: *common}\n";
    const std::string rest = "steps:\n  - step: one\n    queue: q\n  - {step: two}\n";
    EXPECT_EQ(
        Actions("workflow: a\nshared: &common {timeout: 5s}\n" + steps).after("Rename \"shared\""),
        "workflow: a\ndefaults: {timeout: 5s}\n" + rest
    );
    EXPECT_EQ(
        Actions("workflow: a\ndefaults: &common\n  timeout: 5s\n" + steps).after("Remove \"<<\""),
        "workflow: a\ndefaults:\n  timeout: 5s\n" + rest
    );
    EXPECT_TRUE(source::check_text("workflow: a\ndefaults:\n  timeout: 5s\n" + rest).is_valid());
    for (const std::string shared :
         {"shared: &common {input: 5}\n", "defaults: {queue: p}\nshared: &common {timeout: 5s}\n"
         }) {
        const Actions actions("workflow: a\n" + shared + steps);
        EXPECT_THAT(actions.titles(), Not(Contains(StartsWith("Rename \"shared\"")))) << shared;
    }
}

TEST(SortKeys, gives_the_order_of_the_reference) {
    expect_same(
        "workflow: a\nsteps:\n  - step: one\n    queue: |q\n    # Long ones are rare.\n"
        "    timeout: 5s  # enough\n    input: {b: 1, a: 2}\n    description: >-\n      x\n",
        "Sort the keys of \"one\"",
        "workflow: a\nsteps:\n  - step: one\n    description: >-\n      x\n"
        "    input: {b: 1, a: 2}\n    # Long ones are rare.\n    timeout: 5s  # enough\n"
        "    queue: q\n"
    );
    expect_same(
        "workflow: a\nsteps:\n  - timeout: 5s\n    st|ep: one\n  - two\n",
        "Sort the keys of \"one\"",
        "workflow: a\nsteps:\n  - step: one\n    timeout: 5s\n  - two\n"
    );
    expect_same(
        "steps:\n  - one\n\n# First of all.\n|deadline: 1h\nworkflow: a\nversion: 2\n",
        "Sort the keys of the workflow",
        "workflow: a\nversion: 2\n\n# First of all.\ndeadline: 1h\nsteps:\n  - one\n"
    );
    expect_same(
        "workflow: a\nsteps:\n  - {timeout: 5s, st|ep: one, input: [1, 2]}\n",
        "Sort the keys of \"one\"",
        "workflow: a\nsteps:\n  - {step: one, input: [1, 2], timeout: 5s}\n"
    );
    expect_same(
        "workflow: a\nsteps:\n  - step: one\n    backoff: {m|ax: 1m, initial: 2s}\n",
        "Sort the keys of \"backoff\"",
        "workflow: a\nsteps:\n  - step: one\n    backoff: {initial: 2s, max: 1m}\n"
    );
}

TEST(SortKeys, is_not_offered_where_it_would_lose_something) {
    for (const char* text : {
             "workflow: a\nsteps:\n  - step: |one\n    timeout: 5s\n",          // sorted
             "workflow: a\nsteps:\n  - step: one\n    input: {b: |1, a: 2}\n",  // not ours
             "workflow: a\nsteps:\n  - timeout: |5s\n    # Why.\n    step: one\n",
             "workflow: a\nsteps:\n  - step: one\n    queue: |q\n    description: |+\n      x\n\n",
             "workflow: a\nsteps:\n  - timeout: |5s\n    input: &x 1\n    step: one\n",
         }) {
        std::string marked = text;
        // Of two marks the second one is YAML's.
        const std::size_t block = marked.find("|+");
        if (block != std::string::npos) marked.replace(block, 2, ">+");
        EXPECT_THAT(Actions(marked).titles(), Not(Contains(StartsWith("Sort")))) << text;
    }
}

/// A client that can create files gets the edit of several.
TEST(QuickFix, moves_a_second_document_to_a_file_of_its_own) {
    const std::string text = "workflow: one\nsteps: [a]\n---\nworkflow: two\nsteps: [b]\n";
    const auto ask = [&](const Json& workspace_edit) {
        Server server;
        server.handle(request(
            1,
            "initialize",
            {{"capabilities", {{"workspace", {{"workspaceEdit", workspace_edit}}}}}}
        ));
        const Json document = {{"uri", "file:///w/one.ebb.yaml"}, {"version", 4}, {"text", text}};
        server.handle(notification("textDocument/didOpen", {{"textDocument", document}}));
        const Json place = {{"line", 2}, {"character", 0}};
        return server
            .handle(request(
                2,
                "textDocument/codeAction",
                {{"textDocument", {{"uri", document["uri"]}}},
                 {"range", {{"start", place}, {"end", place}}},
                 {"context", {{"diagnostics", Json::array()}}}}
            ))
            .front()["result"];
    };
    const Json actions = ask({{"documentChanges", true}, {"resourceOperations", {"create"}}});
    ASSERT_EQ(actions.size(), 1U) << actions;
    EXPECT_EQ(actions[0]["title"], "Move to two.ebb.yaml");
    const Json& changes = actions[0]["edit"]["documentChanges"];
    ASSERT_EQ(changes.size(), 3U);
    EXPECT_EQ(changes[0], Json({{"kind", "create"}, {"uri", "file:///w/two.ebb.yaml"}}));
    EXPECT_EQ(changes[1]["edits"][0]["newText"], "workflow: two\nsteps: [b]\n");
    EXPECT_EQ(changes[2]["textDocument"]["version"], 4);
    EXPECT_EQ(changes[2]["edits"][0]["range"]["start"], Json({{"line", 2}, {"character", 0}}));
    EXPECT_TRUE(ask(Json::object()).empty());
}

TEST(QuickFix, describes_a_handler) {
    const std::string first = Actions("workflow: a\nsteps:\n  - pa|y\n").after("Describe \"pay\"");
    EXPECT_EQ(first, "workflow: a\nhandlers:\n  pay:\n    exec: [pay]\nsteps:\n  - pay\n");
    EXPECT_TRUE(source::check_text(first).is_valid());
    const std::string second =
        Actions("workflow: a\nhandlers:\n  pay:\n    exec: [pay]\nsteps:\n  - pay\n  - shi|p\n")
            .after("Describe \"ship\"");
    EXPECT_EQ(
        second,
        "workflow: a\nhandlers:\n  ship:\n    exec: [ship]\n  pay:\n    exec: [pay]\nsteps:\n"
        "  - pay\n  - ship\n"
    );
    EXPECT_TRUE(source::check_text(second).is_valid());
}

TEST(Actions, keep_the_line_breaks_of_the_text) {
    const std::string after =
        Actions("workflow: a\r\nsteps:\r\n|  - one\r\n  - two|\r\n  - three\r\n").after("Run at");
    EXPECT_EQ(after.find("\r\n  - three"), after.rfind("\r\n  - "));
    for (std::size_t at = after.find('\n'); at != std::string::npos;
         at = after.find('\n', at + 1)) {
        EXPECT_EQ(after[at - 1], '\r') << at;
    }
    EXPECT_TRUE(source::check_text(after).is_valid()) << after;
}

/// Whatever is selected in whatever text: each offered edit of a valid text gives a valid one.
TEST(Actions, never_break_a_valid_text) {
    const std::string text =
        "workflow: order\r\ndeadline: 1h\r\nsteps:\r\n  - 'one'\r\n  - step: \"two\"\r\n    "
        "description: é😀\r\n"
        "    timeout: 5s\r\n    input: {a: \"${ workflow.input.x }\"}\r\n  - condition: c\r\n"
        "    when: >-\r\n      workflow.input.x\r\n    then: [x1, {step: x2, timeout: 1s}]\r\n"
        "    else:\r\n      - fail: f # no\r\n  - {delay: d, for: 10m}\r\n  - signal: s\r\n"
        "    deadline: 1d";
    ASSERT_TRUE(source::check_text(text).is_valid());
    Client client;
    client.open(text);
    const LineIndex lines(text, Encoding::Utf16);
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < text.size(); begin += 3) {
        for (std::size_t end = begin; end < text.size(); end += 41) {
            const Json list = client.ask(
                "textDocument/codeAction",
                {{"range", range_json(lines, begin, end)},
                 {"context", {{"diagnostics", Json::array()}}}}
            );
            for (const Json& action : list) {
                const std::string after = client.after(action["edit"]);
                ++count;
                ASSERT_TRUE(source::check_text(after).is_valid()) << action["title"] << after;
            }
        }
    }
    EXPECT_GT(count, 500U);
}

TEST(Documentation, each_problem_names_its_page) {
    EXPECT_EQ(source::problem_page("unknown_key"), "reference/definition.md#unknown_key");
    EXPECT_EQ(source::problem_page("unbounded_wait"), "how-to/editors.md#warnings");
    EXPECT_EQ(
        source::problem_address("https://docs.example.com/ebb", "unknown_key"),
        "https://docs.example.com/ebb/reference/definition.html#unknown_key"
    );
    EXPECT_EQ(
        source::problem_address("file:///usr/share/doc/ebb/docs/", "dead_rule"),
        "file:///usr/share/doc/ebb/docs/reference/rules.md#check-rules-before-you-deploy-them"
    );
    EXPECT_EQ(source::problem_address("", "unknown_key"), "");
    // Each row of the table can be linked to.
    std::ifstream page(EBB_SOURCE_DIR "/docs/reference/definition.md");
    bool is_in_table = false;
    int rows = 0;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) is_in_table = line == "## Diagnostics";
        if (!is_in_table || !line.starts_with("| `")) continue;
        const std::string code = line.substr(3, line.find('`', 3) - 3);
        EXPECT_THAT(line, HasSubstr("<a id=\"" + code + "\"></a>"));
        ++rows;
    }
    EXPECT_GT(rows, 50);
    Client client;
    client.open("workflow: a\nsteps:\n  - step: one\n    timout: 5s\n");
    EXPECT_FALSE(client.diagnostics().at(0).contains("codeDescription"));
    client.send(notification(
        "workspace/didChangeConfiguration",
        {{"settings", {{"ebb", {{"docs", "https://docs.example.com"}}}}}}
    ));
    EXPECT_EQ(
        client.diagnostics().at(0)["codeDescription"]["href"],
        "https://docs.example.com/reference/definition.html#unknown_key"
    );
}

}  // namespace
}  // namespace ebb::lsp::test
