#include <algorithm>

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

/// Calls `visit` with every node of the block, however deep.
template <typename Visit>
void for_each_node(Graph& graph, BlockIndex block, const Visit& visit) {
    for (const Item& item : graph.blocks[block].items) {
        if (const auto* node = std::get_if<NodeRef>(&item)) {
            visit(graph.nodes[node->index]);
        } else {
            for_each_node(graph, std::get<BlockRef>(item).index, visit);
        }
    }
    const GraphBlock& whole = graph.blocks[block];
    if (whole.head) visit(graph.nodes[*whole.head]);
    if (whole.tail && whole.tail != whole.head) visit(graph.nodes[*whole.tail]);
}

bool is_entered(Graph& graph, BlockIndex lane) {
    bool is_entered = false;
    for_each_node(graph, lane, [&](const GraphNode& node) {
        is_entered = is_entered || (node.mark && !is_ahead(node));
    });
    return is_entered;
}

}  // namespace

void mark_ways_not_taken(Graph& graph) {
    if (!graph.has_marks) return;
    for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
        if (graph.blocks[i].kind != GraphBlock::Kind::Choice) continue;
        const std::vector<Item> lanes = graph.blocks[i].items;
        const auto is_taken = [&](const Item& lane) {
            return is_entered(graph, std::get<BlockRef>(lane).index);
        };
        if (std::none_of(lanes.begin(), lanes.end(), is_taken)) continue;
        for (const Item& lane : lanes) {
            if (is_taken(lane)) continue;
            for_each_node(graph, std::get<BlockRef>(lane).index, [](GraphNode& node) {
                node.is_off = true;
            });
        }
    }
}

std::vector<bool> unused_edges(const Graph& graph) {
    std::vector<bool> unused(graph.edges.size());
    if (!graph.has_marks) return unused;
    // The edges into a node without a mark come before the edges out of it.
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
