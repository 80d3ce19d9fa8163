#include "support/random_graph.h"

#include <algorithm>

namespace ebb::test {

namespace {

/// By which handles a node can be left; a fail leads nowhere.
std::vector<std::string> handles_of(const Node& node) {
    if (std::holds_alternative<Step>(node.kind)) {
        return {"", "a", "b", "error", "error:permanent", "error:unmatched_handle"};
    }
    if (std::holds_alternative<Condition>(node.kind)) return {"", "then", "else", "error"};
    if (std::holds_alternative<Switch>(node.kind)) return {"", "case 1", "default", "error"};
    if (std::holds_alternative<HumanDecision>(node.kind)) {
        return {"", "confirmed", "rejected", "error", "error:timeout"};
    }
    if (std::holds_alternative<Signal>(node.kind)) return {"", "timeout", "error"};
    if (std::holds_alternative<Delay>(node.kind)) return {"", "error"};
    if (std::holds_alternative<Fail>(node.kind)) return {};
    return {""};
}

}  // namespace

void RandomEdges::add(const Node& node) {
    exits_.push_back({handles_of(node)});
}

std::string RandomEdges::take(std::size_t node, bool may_be_default) {
    std::vector<std::string>& free = exits_[node].free;
    const bool is_default = may_be_default && free.front().empty() && dice_.chance(50);
    const auto first = free.begin() + (!may_be_default && free.front().empty());
    const int count = static_cast<int>(free.end() - first);
    const auto taken = is_default ? free.begin() : first + dice_.below(count);
    std::string handle = *taken;
    free.erase(taken);
    return handle;
}

int RandomEdges::reach_next() {
    std::vector<std::size_t> able;
    for (std::size_t i = 0; i < exits_.size(); ++i) {
        if (!exits_[i].free.empty()) able.push_back(i);
    }
    if (able.empty()) return -1;
    // Mostly the one before it, so that graphs are long rather than broad.
    const std::size_t from = dice_.chance(60) ? able.back() : dice_.pick(able);
    ways_.push_back({.from = from, .handle = take(from, true), .to = exits_.size()});
    return static_cast<int>(from);
}

bool RandomEdges::add_more() {
    bool has_cycle = false;
    for (int i = dice_.below(4); i > 0; --i) {
        const auto from = static_cast<std::size_t>(dice_.next() % exits_.size());
        const auto to = static_cast<std::size_t>(dice_.next() % (exits_.size() + 1));
        const std::vector<std::string>& free = exits_[from].free;
        const bool is_back = to <= from;
        const bool has_named = std::any_of(free.begin(), free.end(), [](const auto& handle) {
            return !handle.empty();
        });
        // A default edge backwards would be taken forever, up to the step budget.
        if (free.empty() || (is_back && !has_named)) continue;
        ways_.push_back({.from = from, .handle = take(from, !is_back), .to = to});
        has_cycle |= is_back;
    }
    return has_cycle;
}

std::vector<NodeGraph::Edge> RandomEdges::edges(const Block& nodes) const {
    std::vector<NodeGraph::Edge> edges;
    for (const Way& way : ways_) {
        edges.push_back(
            {.from = nodes[way.from].name,
             .handle = way.handle,
             .to = way.to == nodes.size() ? "" : nodes[way.to].name}
        );
    }
    return edges;
}

}  // namespace ebb::test
