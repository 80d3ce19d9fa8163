#include "core/model/walk.h"

#include <algorithm>
#include <unordered_set>

namespace ebb::model {

Walk::Walk(const Definition& definition) {
    add(definition.steps, definition.rules ? "/rules/triggers" : "/steps", {});
    const bool has_handler =
        definition.rules && definition.rules->on_exception == Rules::OnException::Handle;
    for (Placed& placed : nodes_) {
        const bool is_handler = has_handler && placed.node == &definition.steps.back();
        if (is_handler) placed.path = "/rules/on_exception";
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        by_name_.emplace(nodes_[i].node->name, static_cast<int>(i));
    }
    successors_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (const auto* graph = std::get_if<NodeGraph>(&nodes_[i].node->kind)) {
            join(static_cast<int>(i), *graph);
        }
    }
}

void Walk::join(int number, const NodeGraph& graph) {
    for (const NodeGraph::Edge& edge : graph.edges) {
        const int from = find(edge.from);
        const int to = edge.to.empty() ? -1 : find(edge.to);
        const bool is_inside =
            from >= 0 && to >= 0 && at(from).parent == number && at(to).parent == number;
        if (is_inside) successors_[static_cast<std::size_t>(from)].push_back(to);
    }
}

std::vector<int> Walk::nodes_in(int graph) const {
    std::vector<int> found;
    for (int i = graph + 1; i < static_cast<int>(nodes_.size()); ++i) {
        if (at(i).depth <= at(graph).depth) break;
        if (at(i).parent == graph) found.push_back(i);
    }
    return found;
}

bool Walk::leads_to(int from, int to) const {
    std::vector<int> waiting = successors(from);
    std::unordered_set<int> seen(waiting.begin(), waiting.end());
    while (!waiting.empty()) {
        const int number = waiting.back();
        waiting.pop_back();
        if (number == to) return true;
        for (const int next : successors(number)) {
            if (seen.insert(next).second) waiting.push_back(next);
        }
    }
    return false;
}

bool Walk::may_repeat(int number) const {
    for (; at(number).parent >= 0; number = at(number).parent) {
        const int around = at(number).parent;
        if (is_a<Loop>(around) || (is_a<NodeGraph>(around) && leads_to(number, number)))
            return true;
    }
    return false;
}

void Walk::add(const Block& block, const std::string& path, Placed inside) {
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (nodes_.size() == DefinitionLimits::kNodesMax) {
            has_too_many_ = true;
            return;
        }
        const int number = static_cast<int>(nodes_.size());
        inside.node = &block[i];
        inside.path = path + "/" + std::to_string(i);
        inside.index = static_cast<int>(i);
        inside.is_last = i + 1 == block.size();
        nodes_.push_back(inside);
        Placed deeper{.parent = number, .depth = inside.depth + 1};
        visit_blocks(block[i], [&](const Block& inner, const std::string& suffix) {
            const bool is_too_deep = deeper.depth > DefinitionLimits::kNestingMax;
            if (!is_too_deep) {
                add(inner, inside.path + suffix, deeper);
            } else if (!inner.empty() && too_deep_ < 0) {
                too_deep_ = number;
            }
            ++deeper.block;
        });
    }
}

int Walk::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? -1 : found->second;
}

bool always_fails(const Block& block) {
    return std::any_of(block.begin(), block.end(), [](const Node& node) {
        return always_fails(node);
    });
}

bool always_fails(const Node& node) {
    if (std::holds_alternative<Fail>(node.kind)) return true;
    if (const auto* condition = std::get_if<Condition>(&node.kind)) {
        return always_fails(condition->then) && always_fails(condition->otherwise);
    }
    if (const auto* choice = std::get_if<Switch>(&node.kind)) {
        return always_fails(choice->otherwise) &&
               std::all_of(choice->cases.begin(), choice->cases.end(), [](const auto& c) {
                   return always_fails(c.steps);
               });
    }
    if (const auto* parallel = std::get_if<Parallel>(&node.kind)) {
        return parallel->join == 0 &&
               std::any_of(
                   parallel->branches.begin(),
                   parallel->branches.end(),
                   [](const auto& branch) { return always_fails(branch.steps); }
               );
    }
    const auto* loop = std::get_if<Loop>(&node.kind);
    return loop != nullptr && !loop->until_expression.empty() && always_fails(loop->steps);
}

}  // namespace ebb::model
