#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diagram/graph.h"
#include "core/diagram/unicode.h"

// Where everything of a picture is, in pixels. Workflows are made of nested blocks, so no general
// graph layout is needed: a sequence is a stack on one axis, lanes stand side by side, loops have
// gutters for their edges. Everything is laid out downwards; a picture to the right is the same
// with the two axes exchanged.

namespace ebb::diagram {

struct Point {
    double x = 0;
    double y = 0;

    bool operator==(const Point&) const = default;
};

struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;

    double right() const { return x + width; }

    double bottom() const { return y + height; }

    Point center() const { return {x + width / 2, y + height / 2}; }
};

/// The texts of a node as they fit.
struct NodeTexts {
    FittedText label;
    FittedText sublabel;
    FittedText status;
    FittedText compensation;
};

struct NodeView {
    Box box;                 ///< all of it: nothing else is drawn here
    Box body;                ///< what holds the texts: of a fork or join the plate beside its bar
    std::optional<Box> bar;  ///< of a fork or join, across its lanes
    NodeTexts texts;
    std::optional<std::pair<Point, Point>> line;  ///< of a savepoint, across its sequence
};

struct EdgeView {
    std::vector<Point> points;  ///< only horizontal and vertical pieces
    FittedText label;
    std::optional<Box> label_box;
};

struct LegendEntry {
    StepMark::State state;
    Box box;
};

struct Layout {
    double width = 0;
    double height = 0;
    FittedText title;
    FittedText description;
    std::vector<NodeView> nodes;             ///< as in the graph
    std::vector<EdgeView> edges;             ///< as in the graph
    std::vector<std::optional<Box>> frames;  ///< by block: of parallel blocks and loops
    std::vector<LegendEntry> legend;
};

inline constexpr double kLabelFont = 13;
inline constexpr double kSmallFont = 11;
inline constexpr double kTitleFont = 15;
inline constexpr double kLabelLine = 18;
inline constexpr double kSmallLine = 15;
inline constexpr double kPadding = 8;
inline constexpr double kIcon = 16;  ///< with the space behind it: kIconSpace
inline constexpr double kIconSpace = 21;
inline constexpr double kUndoStrip = 20;  ///< the lower part of a step that has a compensation
inline constexpr double kBar = 6;
inline constexpr double kMargin = 16;

bool has_icon(Shape shape);

/// The texts of `node` and the size of its body.
NodeView measure_node(const GraphNode& node);

Layout lay_out(const Graph& graph, const DiagramOptions& options);

}  // namespace ebb::diagram
