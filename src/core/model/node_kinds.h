#pragma once

#include <array>
#include <string_view>
#include <variant>

#include <ebb/definition.h>

namespace ebb::model {

/// What the kinds of nodes are called, in the order of `Node::Kind`. Its last kind is missing: a
/// Sequence, which has no key of its own, because it is the `steps` of a transition.
inline constexpr std::array<std::string_view, std::variant_size_v<Node::Kind> - 1> kNodeKinds = {
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
};

}  // namespace ebb::model
