#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/diagram/layout.h"

// The layout while it is made: x is across the flow and y along it, whichever way the picture is
// turned afterwards.

namespace ebb::diagram {

struct Span {
    double across = 0;
    double along = 0;
};

/// Where the edges of a loop run beside its body.
struct Gutters {
    double before = 0;
    double after = 0;
    double turn = 0;  ///< where the way back of a `while` loop turns, along the flow
};

struct Plan {
    explicit Plan(const Graph& graph)
        : sizes(graph.nodes.size()),
          labels(graph.edges.size()),
          places(graph.nodes.size()),
          lines(graph.nodes.size()),
          lane_axes(graph.blocks.size()),
          gutters(graph.blocks.size()),
          slots(graph.blocks.size()),
          frames(graph.blocks.size()) {}

    std::vector<Span> sizes;   ///< of nodes
    std::vector<Span> labels;  ///< of edges, with the space around them
    std::vector<Box> places;   ///< of nodes
    std::vector<std::optional<std::pair<Point, Point>>> lines;
    std::vector<double> lane_axes;           ///< by block
    std::vector<Gutters> gutters;            ///< by the block that is the loop's body
    std::vector<std::vector<double>> slots;  ///< by the block that is a graph's body: its jumps
    std::vector<std::optional<Box>> frames;  ///< by block
    Span whole;
};

inline constexpr double kGap = 30;        ///< between two items of a sequence
inline constexpr double kArrow = 26;      ///< in front of a lane's first node
inline constexpr double kBus = 14;        ///< from a head to where the lanes part
inline constexpr double kMergeRise = 12;  ///< from where the lanes meet to the merge point
inline constexpr double kLaneGap = 28;
inline constexpr double kLaneHalfMin = 22;
inline constexpr double kBarOverhang = 24;
inline constexpr double kFrame = 12;
inline constexpr double kGutter = 26;
inline constexpr double kEdgeLabelHeight = 16;

/// Fills in sizes of bars, places, lines, axes of lanes, gutters, frames and the whole; `sizes` and
/// `labels` are given.
void place_all(const Graph& graph, Plan& plan);

/// The way of an edge and the middle of its label, once everything is placed.
struct RoutedEdge {
    std::vector<Point> points;
    Point label;
};

RoutedEdge route(const Graph& graph, const Plan& plan, const GraphEdge& edge);

}  // namespace ebb::diagram
