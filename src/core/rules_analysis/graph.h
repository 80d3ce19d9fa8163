#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/rules_analysis/search.h"

// Questions about the graph of all states.

namespace ebb::rules_analysis {

/// By node: whether some path leads from it to a node of `goals`.
std::vector<bool> nodes_that_reach(const Search& search, const std::vector<bool>& goals);

/// The strongly connected parts that no edge leaves and that have an edge inside, each as a list of
/// nodes.
std::vector<std::vector<std::int32_t>> endless_parts(const Search& search);

}  // namespace ebb::rules_analysis
