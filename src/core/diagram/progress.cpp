#include "core/diagram/graph.h"

namespace ebb::diagram {
namespace {

using State = StepMark::State;

bool is_ahead(const GraphNode& node) {
    return node.mark && (node.mark->state == State::Pending || node.mark->state == State::Skipped);
}

/// Whether the instance has not got past the node that the edge comes from.
bool is_held(const GraphNode& from, GraphEdge::Kind kind) {
    const bool into_lane = kind == GraphEdge::Kind::Enter || kind == GraphEdge::Kind::Bypass;
    if (into_lane || !from.mark) return false;
    switch (from.mark->state) {
        case State::Running:
        case State::Retrying:
        case State::Waiting:
        case State::Failed:
            return true;
        default:
            return false;
    }
}

}  // namespace

std::vector<bool> unused_edges(const Graph& graph) {
    std::vector<bool> unused(graph.edges.size());
    if (!graph.has_marks) return unused;
    // The edges into a node that has no mark stand before those out of it.
    std::vector<bool> reached(graph.nodes.size());
    reached.front() = true;
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        const GraphEdge& edge = graph.edges[i];
        const GraphNode& from = graph.nodes[edge.from];
        const bool unreached = !from.mark && !reached[edge.from];
        unused[i] = unreached || is_ahead(from) || is_ahead(graph.nodes[edge.to]) ||
                    is_held(from, edge.kind);
        if (!unused[i]) reached[edge.to] = true;
    }
    return unused;
}

}  // namespace ebb::diagram
