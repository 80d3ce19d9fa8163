// Goal: the graph shows what the kernel will do: where each edge leads, and which edges do not
// exist. Method: small definitions.

#include "core/diagram/graph.h"

#include <set>

#include <gtest/gtest.h>

#include <ebb/diagram.h>

#include "core/diagram/labels.h"
#include "core/diagram/mark_style.h"
#include "core/diagram/unicode.h"
#include "unit/diagram/samples.h"

namespace ebb::diagram_test {
namespace {

using namespace diagram;
using namespace std::chrono_literals;

std::string name_of(const GraphNode& node) {
    if (node.shape == Shape::Merge) return "merge";
    if (node.shape == Shape::Repeat) return "repeat";
    return node.label;
}

/// All edges as `from -label-> to`.
std::set<std::string> edges(Block steps) {
    const Graph graph = build_graph(workflow("w", std::move(steps)), {});
    std::set<std::string> found;
    for (const GraphEdge& edge : graph.edges)
        found.insert(
            name_of(graph.nodes[edge.from]) + " -" + edge.label + "-> " +
            name_of(graph.nodes[edge.to])
        );
    return found;
}

using Edges = std::set<std::string>;

TEST(DiagramGraph, rules_are_joined_by_what_they_write_and_read) {
    const Definition definition = parse_definition_json(R"({"workflow": "w", "rules": {
        "attributes": {"a": "text", "b": "text", "c": "text"},
        "triggers": {
            "s": {"when": "a = 'x'", "writes": ["b", "c"]},
            "t": {"when": "b = 'x'", "writes": ["a"]},
            "u": {"when": "b = 'y' and c = 'y'", "writes": []}
        },
        "final": {"done": "c = 'x'"}
    }})");
    const Graph graph = build_graph(definition, {});
    std::set<std::string> found;
    for (const GraphEdge& edge : graph.edges) {
        if (edge.label.empty()) continue;
        found.insert(
            name_of(graph.nodes[edge.from]) + " -" + edge.label + "-> " +
            name_of(graph.nodes[edge.to])
        );
    }
    EXPECT_EQ(
        to_text(definition),
        "w v1\n"
        "└─ ◇ rules  graph\n"
        "   ├─ ■ s  when a = 'x'  → b: t, b and c: u, done: end\n"
        "   ├─ ■ t  when b = 'x'  → a: s\n"
        "   └─ ■ u  when b = 'y' and c = 'y'\n"
    );
    EXPECT_NE(to_mermaid(definition).find("s<br/>when a = 'x'"), std::string::npos)
        << to_mermaid(definition);
    EXPECT_EQ(
        found, (std::set<std::string>{"s -b-> t", "s -b and c-> u", "s -done-> merge", "t -a-> s"})
    );
}

TEST(DiagramGraph, a_sequence_runs_from_start_to_end) {
    EXPECT_EQ(edges({step("a"), step("b")}), (Edges{"start --> a", "a --> b", "b --> end"}));
    EXPECT_EQ(edges({}), (Edges{"start --> end"}));
}

TEST(DiagramGraph, both_sides_of_a_condition_merge) {
    EXPECT_EQ(
        edges({condition("c", "x", {step("a")})}),
        (Edges{"start --> c", "c -yes-> a", "a --> merge", "c -no-> merge", "merge --> end"})
    );
}

TEST(DiagramGraph, nothing_follows_a_fail) {
    EXPECT_EQ(
        edges({condition("c", "x", {{"f", "", Fail{"no"}}}, {step("a")})}),
        (Edges{"start --> c", "c -yes-> f", "c -no-> a", "a --> merge", "merge --> end"})
    );
    EXPECT_EQ(edges({{"f", "", Fail{"no"}}, step("a")}), (Edges{"start --> f", "a --> end"}));
    EXPECT_EQ(edges({{"f", "", Fail{"no"}}}), (Edges{"start --> f"}));
}

TEST(DiagramGraph, a_while_loop_checks_first_and_an_until_loop_afterwards) {
    EXPECT_EQ(
        edges({while_loop("w", "x", {step("a")})}),
        (Edges{"start --> w", "w -yes-> a", "a --> w", "w -no-> merge", "merge --> end"})
    );
    EXPECT_EQ(
        edges({until_loop("u", "x", {step("a")})}),
        (Edges{"start --> repeat", "repeat --> a", "a --> u", "u -no-> repeat", "u -yes-> end"})
    );
}

TEST(DiagramGraph, a_join_says_how_many_branches_it_needs) {
    EXPECT_EQ(
        edges({parallel("p", {{"l", {step("a")}}, {"r", {}}}, 1)}),
        (Edges{"start --> p", "p -l-> a", "a --> any", "p -r-> any", "any --> end"})
    );
    Parallel three;
    three.branches.resize(3);
    EXPECT_EQ(join_words(three), "all");
    three.join = 1;
    EXPECT_EQ(join_words(three), "any");
    three.join = 2;
    EXPECT_EQ(join_words(three), "2 of 3");
}

TEST(DiagramGraph, a_rejected_decision_takes_its_own_edge) {
    HumanDecision decision;
    EXPECT_EQ(edges({{"d", "", decision}}), (Edges{"start --> d", "d --> end"}));
    decision.on_reject = Block{step("a")};
    EXPECT_EQ(
        edges({{"d", "", decision}}),
        (Edges{
            "start --> d", "d -rejected-> a", "d -confirmed-> merge", "a --> merge", "merge --> end"
        })
    );
}

TEST(DiagramGraph, a_node_without_a_mark_is_pending_and_unknown_marks_are_ignored) {
    DiagramOptions options;
    options.marks = StepMarks{
        {"a", {StepMark::State::Completed, 1, ""}}, {"x", {StepMark::State::Failed, 1, ""}}
    };
    const Graph graph = build_graph(workflow("w", {step("a"), step("b")}), options);
    EXPECT_EQ(graph.nodes[1].mark->state, StepMark::State::Completed);
    EXPECT_EQ(graph.nodes[2].mark->state, StepMark::State::Pending);
    EXPECT_FALSE(graph.nodes[0].mark.has_value());
    EXPECT_EQ(summary(graph), "Workflow w v1 with 2 nodes: 1 pending, 1 completed.");
}

TEST(DiagramGraph, the_edges_that_an_instance_has_not_taken_are_known) {
    using enum StepMark::State;
    DiagramOptions options;
    options.marks = StepMarks{
        {"c", {Completed, 1, ""}},
        {"a", {Skipped, 0, ""}},
        {"b", {Completed, 1, ""}},
        {"d", {Running, 1, ""}}
    };
    const Graph graph = build_graph(
        workflow("w", {condition("c", "x", {step("a")}, {step("b")}), step("d"), step("e")}),
        options
    );
    const std::vector<bool> unused = unused_edges(graph);
    Edges gone;
    for (std::size_t i = 0; i < unused.size(); ++i)
        if (!unused[i])
            gone.insert(
                name_of(graph.nodes[graph.edges[i].from]) + ">" +
                name_of(graph.nodes[graph.edges[i].to])
            );
    EXPECT_EQ(gone, (Edges{"start>c", "c>b", "b>merge", "merge>d"}));
}

TEST(DiagramLabels, durations_are_short) {
    EXPECT_EQ(short_duration(Duration{0}), "0s");
    EXPECT_EQ(short_duration(90s), "1m30s");
    EXPECT_EQ(short_duration(48h), "2d");
    EXPECT_EQ(short_duration(1500ms), "1s500ms");
    EXPECT_EQ(short_duration(Duration{7}), "7us");
    EXPECT_EQ(short_duration(-5s), "0s");
}

TEST(DiagramLabels, decisions_say_who_may_decide_and_until_when) {
    const auto words = [](const HumanDecision& decision) {
        return sublabel(Node{"d", "", decision});
    };
    HumanDecision decision;
    EXPECT_EQ(words(decision), "anyone");
    decision.roles = {"boss", "auditor"};
    EXPECT_EQ(words(decision), "boss, auditor");
    decision.quorum = 2;
    decision.deadline = 1h;
    EXPECT_EQ(words(decision), "2 people of boss, auditor; within 1h, else fail");
    decision.on_deadline = HumanDecision::OnDeadline::Confirm;
    decision.roles.clear();
    EXPECT_EQ(words(decision), "2 people; within 1h, else confirm");
}

TEST(StepMark, states_have_the_names_of_the_design) {
    using enum StepMark::State;
    EXPECT_EQ(to_string(Pending), "pending");
    EXPECT_EQ(to_string(CompensationFailed), "compensation_failed");
    std::set<std::string_view> names;
    std::set<std::string_view> signs;
    for (std::size_t i = 0; i < kStates; ++i) {
        const MarkStyle& style = mark_styles()[i];
        EXPECT_EQ(static_cast<std::size_t>(style.state), i);
        names.insert(to_string(style.state));
        signs.insert(style.sign);
        EXPECT_EQ(style.ascii_sign.size(), 1U);
    }
    EXPECT_EQ(names.size(), kStates);
    EXPECT_EQ(signs.size(), kStates);
}

TEST(StepMark, words_say_attempts_and_note) {
    EXPECT_EQ(mark_words({StepMark::State::Running, 1, ""}), "running");
    EXPECT_EQ(mark_words({StepMark::State::Running, 2, ""}), "running, attempt 2");
    EXPECT_EQ(mark_words({StepMark::State::Completed, 3, ""}), "completed, 3 attempts");
    EXPECT_EQ(mark_words({StepMark::State::Waiting, 0, "for ann"}), "waiting: for ann");
}

TEST(DiagramUnicode, unfit_characters_are_replaced) {
    EXPECT_EQ(clean_line("a\tb\nc"), "a b c");
    EXPECT_EQ(clean_line("\x1b[0m"), "\uFFFD[0m");
    EXPECT_EQ(clean_line("\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x9a\x80"), "é 漢 🚀");
    EXPECT_EQ(clean_line("\xc3"), "\uFFFD");
    EXPECT_EQ(clean_line("\xc0\xaf"), "\uFFFD\uFFFD");
    EXPECT_EQ(clean_line("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(clean_line("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(
        clean_line("\xe2\x80\xae"
                   "x"),
        "\uFFFDx"
    );
    EXPECT_EQ(clean_line(std::string("\0", 1)), "\uFFFD");
}

TEST(DiagramUnicode, texts_are_cut_when_they_no_longer_fit) {
    const std::u32string text = U"abcdefghij";
    const double width = text_width(text, 10);
    EXPECT_FALSE(fit_text("abcdefghij", 10, width).is_cut);
    const FittedText cut = fit_text("abcdefghij", 10, width - 1);
    EXPECT_TRUE(cut.is_cut);
    EXPECT_TRUE(cut.text.ends_with("…"));
    EXPECT_LE(cut.width, width - 1);
    EXPECT_LT(cut.text.size(), 10U + 3U);
}

TEST(DiagramUnicode, a_cut_keeps_combining_marks_with_their_letter) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "e\xcc\x81";
    const FittedText cut = fit_text(text, 10, 60);
    ASSERT_TRUE(cut.is_cut);
    EXPECT_TRUE(cut.text.ends_with("e\xcc\x81…")) << cut.text;
}

TEST(DiagramUnicode, nothing_fits_into_nothing) {
    EXPECT_EQ(fit_text("", 10, 100).text, "");
    EXPECT_EQ(fit_text("abc", 10, 0).text, "…");
}

}  // namespace
}  // namespace ebb::diagram_test
