#include <string_view>

#include <ebb/definition.h>

#include "core/model/node_kinds.h"

namespace ebb {

// Node is incomplete where the structs that hold blocks are declared, so their comparisons are
// here.
bool Node::operator==(const Node&) const = default;
bool Definition::operator==(const Definition&) const = default;
bool Step::operator==(const Step&) const = default;
bool Condition::operator==(const Condition&) const = default;
bool Switch::Case::operator==(const Case&) const = default;
bool Switch::operator==(const Switch&) const = default;
bool Parallel::Branch::operator==(const Branch&) const = default;
bool Parallel::operator==(const Parallel&) const = default;
bool Loop::operator==(const Loop&) const = default;
bool NodeGraph::operator==(const NodeGraph&) const = default;
bool Sequence::operator==(const Sequence&) const = default;
bool HumanDecision::operator==(const HumanDecision&) const = default;

std::string_view kind_name(const Node& node) {
    const std::size_t kind = node.kind.index();
    return kind < model::kNodeKinds.size() ? model::kNodeKinds[kind] : "sequence";
}

}  // namespace ebb
