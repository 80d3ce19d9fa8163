#include "server/api/layout.h"

#include "core/diagram/layout.h"

namespace ebb::server {

namespace {

using diagram::Box;
using diagram::GraphBlock;
using diagram::GraphEdge;
using diagram::GraphNode;
using diagram::Point;
using diagram::Shape;
using view::Json;

std::string_view shape_word(Shape shape) {
    static constexpr std::string_view kWords[] = {
        "start",
        "end",
        "step",
        "condition",
        "switch",
        "fork",
        "join",
        "merge",
        "repeat",
        "loop",
        "delay",
        "decision",
        "signal",
        "savepoint",
        "fail",
        "graph",
    };
    return kWords[static_cast<std::size_t>(shape)];
}

std::string_view edge_word(GraphEdge::Kind kind) {
    static constexpr std::string_view kWords[] = {
        "next", "enter", "leave", "bypass", "exit", "back", "jump"
    };
    return kWords[static_cast<std::size_t>(kind)];
}

std::string_view block_word(GraphBlock::Kind kind) {
    static constexpr std::string_view kWords[] = {
        "sequence", "choice", "parallel", "while", "until", "graph"
    };
    return kWords[static_cast<std::size_t>(kind)];
}

Json point_json(const Point& at) {
    return {at.x, at.y};
}

Json box_json(const Box& box) {
    return {{"x", box.x}, {"y", box.y}, {"width", box.width}, {"height", box.height}};
}

Json box_json(const std::optional<Box>& box) {
    return box ? box_json(*box) : Json(nullptr);
}

Json text_json(const diagram::FittedText& fitted, const std::string& whole) {
    return {{"text", fitted.text}, {"whole", whole}};
}

/// Only shapes that stand for a node of the definition carry its name.
bool is_named(Shape shape) {
    return shape != Shape::Start && shape != Shape::End && shape != Shape::Merge &&
           shape != Shape::Repeat && shape != Shape::Join;
}

/// The UI writes an instance's state into the second line of a node, so there must be room for the
/// longest one.
constexpr std::string_view kRoomForState = "↶ compensated ×3";

std::vector<std::string> make_room(diagram::Graph& graph) {
    std::vector<std::string> sublabels;
    for (GraphNode& node : graph.nodes) {
        sublabels.push_back(node.sublabel);
        const bool is_short = node.sublabel.size() < kRoomForState.size();
        if (is_named(node.shape) && is_short) node.sublabel = kRoomForState;
    }
    return sublabels;
}

Json sublabel_json(const diagram::FittedText& fitted, const std::string& whole) {
    return text_json(
        whole.size() < kRoomForState.size() ? diagram::FittedText{whole} : fitted, whole
    );
}

Json node_json(
    std::size_t id,
    const GraphNode& node,
    const std::string& sublabel,
    const diagram::NodeView& view
) {
    Json line = nullptr;
    if (view.line) line = {point_json(view.line->first), point_json(view.line->second)};
    return {
        {"id", id},
        {"node", is_named(node.shape) ? view::text_json(node.label) : Json(nullptr)},
        {"shape", shape_word(node.shape)},
        {"box", box_json(view.box)},
        {"body", box_json(view.body)},
        {"bar", box_json(view.bar)},
        {"line", std::move(line)},
        {"label", text_json(view.texts.label, node.label)},
        {"sublabel", sublabel_json(view.texts.sublabel, sublabel)},
        {"compensation", text_json(view.texts.compensation, node.compensation)},
        {"description", node.description},
    };
}

}  // namespace

Json layout_json(const Definition& definition, DiagramOptions::Direction direction) {
    const DiagramOptions options{.direction = direction};
    diagram::Graph graph = diagram::build_graph(definition, options);
    const std::vector<std::string> sublabels = make_room(graph);
    const diagram::Layout layout = diagram::lay_out(graph, options);
    Json nodes = Json::array();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        nodes.push_back(node_json(i, graph.nodes[i], sublabels[i], layout.nodes[i]));
    }
    Json edges = Json::array();
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        Json points = Json::array();
        for (const Point& at : layout.edges[i].points) points.push_back(point_json(at));
        edges.push_back({
            {"from", graph.edges[i].from},
            {"to", graph.edges[i].to},
            {"kind", edge_word(graph.edges[i].kind)},
            {"points", std::move(points)},
            {"label", text_json(layout.edges[i].label, graph.edges[i].label)},
            {"label_box", box_json(layout.edges[i].label_box)},
        });
    }
    Json frames = Json::array();
    for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
        if (!layout.frames[i]) continue;
        frames.push_back({
            {"kind", block_word(graph.blocks[i].kind)},
            {"label", graph.blocks[i].label},
            {"box", box_json(*layout.frames[i])},
        });
    }
    return {
        {"width", layout.width},
        {"height", layout.height},
        {"nodes", std::move(nodes)},
        {"edges", std::move(edges)},
        {"frames", std::move(frames)},
    };
}

}  // namespace ebb::server
