// Goal: nothing of a picture lies over anything else or outside of it, and drawing stays fast.
// Method: check the rectangles and lines of the layout itself, for all samples, both directions and
// generated workflows.

#include "core/diagram/layout.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "unit/diagram/samples.h"

namespace ebb::diagram_test {
namespace {

using namespace diagram;

Box around(Point a, Point b) {
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
}

/// Whether two boxes share more than a border; a line counts as a box without width.
bool overlap(const Box& a, const Box& b) {
    constexpr double kTouch = 0.01;
    return a.x < b.right() - kTouch && b.x < a.right() - kTouch && a.y < b.bottom() - kTouch &&
           b.y < a.bottom() - kTouch;
}

std::string show(const Box& box) {
    return testing::PrintToString(std::vector<double>{box.x, box.y, box.width, box.height});
}

void expect_inside(const Box& box, const Layout& layout) {
    EXPECT_GE(box.x, 0) << show(box);
    EXPECT_GE(box.y, 0) << show(box);
    EXPECT_LE(box.right(), layout.width) << show(box);
    EXPECT_LE(box.bottom(), layout.height) << show(box);
}

void expect_no_overlaps(const Graph& graph, const Layout& layout) {
    std::vector<std::pair<Box, std::string>> boxes;
    for (std::size_t i = 0; i < layout.nodes.size(); ++i)
        boxes.emplace_back(layout.nodes[i].box, "node " + graph.nodes[i].label);
    for (std::size_t i = 0; i < layout.edges.size(); ++i)
        if (layout.edges[i].label_box)
            boxes.emplace_back(*layout.edges[i].label_box, "label " + graph.edges[i].label);
    for (const LegendEntry& entry : layout.legend) boxes.emplace_back(entry.box, "legend");
    for (std::size_t a = 0; a < boxes.size(); ++a) {
        expect_inside(boxes[a].first, layout);
        for (std::size_t b = 0; b < a; ++b)
            EXPECT_FALSE(overlap(boxes[a].first, boxes[b].first))
                << boxes[a].second << show(boxes[a].first) << " lies over " << boxes[b].second
                << show(boxes[b].first);
    }
}

void expect_texts_fit(const Layout& layout) {
    for (const NodeView& view : layout.nodes) {
        expect_inside(view.body, layout);
        for (const FittedText* text :
             {&view.texts.label, &view.texts.sublabel, &view.texts.status, &view.texts.compensation
             })
            EXPECT_LE(text->width, view.body.width) << text->text;
    }
}

/// Edges start and end at the border of their nodes, turn at right angles and cross no node.
void expect_clean_edges(const Graph& graph, const Layout& layout) {
    for (std::size_t i = 0; i < layout.edges.size(); ++i) {
        const std::vector<Point>& points = layout.edges[i].points;
        const GraphEdge& edge = graph.edges[i];
        SCOPED_TRACE(graph.nodes[edge.from].label + " -> " + graph.nodes[edge.to].label);
        ASSERT_GE(points.size(), 2U);
        const auto on_border = [&](Point p, NodeIndex node) {
            const Box& box = layout.nodes[node].box;
            const bool in =
                p.x >= box.x && p.x <= box.right() && p.y >= box.y && p.y <= box.bottom();
            return in &&
                   (p.x == box.x || p.x == box.right() || p.y == box.y || p.y == box.bottom());
        };
        EXPECT_TRUE(on_border(points.front(), edge.from));
        EXPECT_TRUE(on_border(points.back(), edge.to));
        for (std::size_t p = 1; p < points.size(); ++p) {
            EXPECT_TRUE(points[p - 1].x == points[p].x || points[p - 1].y == points[p].y);
            Box piece = around(points[p - 1], points[p]);
            expect_inside(piece, layout);
            piece = {piece.x - 0.5, piece.y - 0.5, piece.width + 1, piece.height + 1};
            for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
                if (node == edge.from || node == edge.to) continue;
                EXPECT_FALSE(overlap(piece, layout.nodes[node].box))
                    << "crosses " << graph.nodes[node].label;
            }
        }
    }
}

void expect_frames_hold(const Graph& graph, const Layout& layout) {
    for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
        const GraphBlock& block = graph.blocks[i];
        const bool framed =
            block.kind != GraphBlock::Kind::Sequence && block.kind != GraphBlock::Kind::Choice;
        ASSERT_EQ(layout.frames[i].has_value(), framed);
        if (!framed) continue;
        const Box& frame = *layout.frames[i];
        expect_inside(frame, layout);
        const Box& head = layout.nodes[*block.head].box;
        EXPECT_TRUE(head.x >= frame.x && head.right() <= frame.right() && head.y >= frame.y);
    }
}

void expect_good(const Definition& definition, const DiagramOptions& options) {
    const Graph graph = build_graph(definition, options);
    const Layout layout = lay_out(graph, options);
    expect_no_overlaps(graph, layout);
    expect_texts_fit(layout);
    expect_clean_edges(graph, layout);
    expect_frames_hold(graph, layout);
}

/// A block of random nodes; `nodes` counts down to nothing.
Block random_block(std::mt19937& random, int depth, int& nodes) {
    Block block;
    const std::size_t length = 1 + random() % 3;
    for (std::size_t i = 0; i < length && nodes > 0; ++i) {
        const std::string name = "node_" + std::to_string(nodes--);
        const auto inner = [&] { return random_block(random, depth - 1, nodes); };
        switch (depth == 0 ? 9 : random() % 8) {
            case 0: {
                Block then = inner();
                block.push_back(condition(name, "input.x > 1", std::move(then), inner()));
                break;
            }
            case 1:
                block.push_back(condition(name, "long_expression(input)", inner()));
                break;
            case 2:
                block.push_back(parallel(name, {{"a", inner()}, {"b", {}}, {"c", inner()}}, 1));
                break;
            case 3:
                block.push_back(while_loop(name, "input.more", inner()));
                break;
            case 4:
                block.push_back(until_loop(name, "input.done", inner()));
                break;
            case 5:
                block.push_back({name, "", Savepoint{}});
                break;
            case 6:
                block.push_back({name, "", Fail{"no"}});
                break;
            default:
                block.push_back(step(name, "some.handler", i == 0 ? "some.undo" : ""));
        }
    }
    return block;
}

TEST(DiagramLayout, keeps_everything_apart_and_inside_for_every_sample) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        expect_good(sample.definition, sample.options);
    }
}

TEST(DiagramLayout, keeps_everything_apart_and_inside_to_the_right) {
    for (Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        sample.options.direction = DiagramOptions::Direction::Right;
        expect_good(sample.definition, sample.options);
    }
}

TEST(DiagramLayout, keeps_everything_apart_and_inside_for_random_workflows) {
    for (unsigned seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        int nodes = 40;
        DiagramOptions options;
        if (seed % 2 == 0) options.direction = DiagramOptions::Direction::Right;
        if (seed % 3 == 0)
            options.marks = StepMarks{{"node_40", {StepMark::State::Retrying, 7, "a note"}}};
        expect_good(workflow("random", random_block(random, 5, nodes)), options);
        if (HasFailure()) return;
    }
}

TEST(DiagramLayout, draws_blocks_as_deep_as_they_may_be) {
    expect_good(nested(DefinitionLimits::kNestingMax), {});
}

TEST(DiagramLayout, the_whole_width_of_a_sequence_is_crossed_by_its_savepoint) {
    const Definition definition = workflow(
        "w",
        {{"here", "", Savepoint{}},
         parallel("wide", {{"a", {step("a1")}}, {"b", {step("b1")}}, {"c", {step("c1")}}})}
    );
    const Layout layout = lay_out(build_graph(definition, {}), {});
    const auto& line = layout.nodes[1].line;
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->first.y, line->second.y);
    EXPECT_LE(line->first.x, layout.nodes[2].box.x);
    EXPECT_GE(line->second.x, layout.nodes[2].box.right());
}

TEST(DiagramScale, the_largest_definition_takes_time_that_grows_with_its_size_only) {
    const auto best_of = [](int runs, const Definition& definition) {
        auto best = std::chrono::nanoseconds::max();
        for (int i = 0; i < runs; ++i) {
            const auto start = std::chrono::steady_clock::now();
            const std::string all = to_svg(definition) + to_mermaid(definition) +
                                    to_dot(definition) + to_text(definition);
            EXPECT_FALSE(all.empty());
            best =
                std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
        }
        return best;
    };
    const auto thousand = best_of(3, large(1'000));
    const auto ten_thousand = best_of(1, large(static_cast<int>(DefinitionLimits::kNodesMax)));
    // Ten times as much work; what grows with the square takes a hundred times as long.
    EXPECT_LT(ten_thousand, 40 * thousand);
}

}  // namespace
}  // namespace ebb::diagram_test
