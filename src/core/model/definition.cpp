#include <array>
#include <string_view>
#include <variant>

#include <ebb/definition.h>

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
    static constexpr std::array<std::string_view, std::variant_size_v<Node::Kind>> kNames = {
        "step",
        "condition",
        "switch",
        "parallel",
        "loop",
        "delay",
        "decision",
        "signal",
        "savepoint",
        "fail",
        "graph",
        "sequence",
    };
    return kNames[node.kind.index()];
}

}  // namespace ebb
