#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include <ebb/definition.h>

// The tree of a definition as one list, for what must be judged across blocks.

namespace ebb::model {

/// Calls `visit(block, path)` for each block inside `node`, which may be const; `path` is relative
/// to the node's.
template <typename AnyNode, typename Visit>
void visit_blocks(AnyNode& node, const Visit& visit) {
    if (auto* condition = std::get_if<Condition>(&node.kind)) {
        visit(condition->then, std::string("/then"));
        visit(condition->otherwise, std::string("/else"));
    } else if (auto* choice = std::get_if<Switch>(&node.kind)) {
        for (std::size_t i = 0; i < choice->cases.size(); ++i) {
            visit(choice->cases[i].steps, "/cases/" + std::to_string(i) + "/do");
        }
        visit(choice->otherwise, std::string("/default"));
    } else if (auto* parallel = std::get_if<Parallel>(&node.kind)) {
        for (std::size_t i = 0; i < parallel->branches.size(); ++i) {
            visit(parallel->branches[i].steps, "/branches/" + std::to_string(i) + "/do");
        }
    } else if (auto* loop = std::get_if<Loop>(&node.kind)) {
        visit(loop->steps, std::string("/do"));
    } else if (auto* decision = std::get_if<HumanDecision>(&node.kind)) {
        if (decision->on_reject) visit(*decision->on_reject, std::string("/on_reject"));
    } else if (auto* graph = std::get_if<NodeGraph>(&node.kind)) {
        visit(graph->nodes, std::string("/nodes"));
    } else if (auto* sequence = std::get_if<Sequence>(&node.kind)) {
        visit(sequence->steps, std::string("/steps"));
    }
}

/// A node and where it is.
struct Placed {
    const Node* node = nullptr;
    std::string path;
    int parent = -1;       ///< number of the node whose block it is in; -1 = the workflow's
    int block = 0;         ///< which of the parent's blocks
    int index = 0;         ///< its place in that block
    int depth = 0;         ///< nodes around it
    bool is_last = false;  ///< of its block
};

/// All nodes of a definition in document order. The definition must outlive it.
class Walk {
 public:
    /// Stops at the named limits and says so.
    explicit Walk(const Definition& definition);

    const std::vector<Placed>& nodes() const { return nodes_; }

    const Placed& at(int number) const { return nodes_[static_cast<std::size_t>(number)]; }

    /// -1 when there is none. Of several with this name the first.
    int find(std::string_view name) const;

    bool has_too_many() const { return has_too_many_; }

    /// The first node that is nested too deeply; -1 = none. What is inside it is not in the list.
    int too_deep() const { return too_deep_; }

    template <typename Kind>
    bool is_a(int number) const {
        return std::holds_alternative<Kind>(at(number).node->kind);
    }

    /// Of a node of a graph: where its edges lead within the graph.
    const std::vector<int>& successors(int number) const {
        return successors_[static_cast<std::size_t>(number)];
    }

    /// The nodes of the graph `graph`, in their order.
    std::vector<int> nodes_in(int graph) const;

    /// Do edges lead from one node of a graph to the other? To itself: is it on a cycle?
    bool leads_to(int from, int to) const;

    /// Can the node be visited again after it has completed?
    bool may_repeat(int number) const;

    /// Is one of the nodes around `number`, or itself, a Kind?
    template <typename Kind>
    bool is_in(int number) const {
        for (; number >= 0; number = at(number).parent) {
            if (is_a<Kind>(number)) return true;
        }
        return false;
    }

 private:
    std::vector<Placed> nodes_;
    std::vector<std::vector<int>> successors_;
    std::unordered_map<std::string_view, int> by_name_;
    bool has_too_many_ = false;
    int too_deep_ = -1;

    void add(const Block& block, const std::string& path, Placed inside);
    void join(int number, const NodeGraph& graph);
};

/// True when every way through `block` ends in a `fail`.
bool always_fails(const Block& block);
bool always_fails(const Node& node);

}  // namespace ebb::model
