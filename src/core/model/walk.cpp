#include "core/model/walk.h"

#include <algorithm>

namespace ebb::model {

Walk::Walk(const Definition& definition) {
    add(definition.steps, "/steps", {});
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        by_name_.emplace(nodes_[i].node->name, static_cast<int>(i));
    }
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
