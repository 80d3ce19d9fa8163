#pragma once

#include <functional>
#include <string>

#include "sim/plan.h"

namespace ebb::sim {

/// Runs a plan and says what is wrong with it; empty = nothing.
using Judge = std::function<std::string(const Plan&)>;

struct Shrunk {
    Plan plan;
    std::string what;  ///< the rule that it breaks, perhaps another than at first
    int runs = 0;      ///< that it took
};

inline constexpr int kShrinkRunsMax = 3'000;

/// Makes a plan that breaks a rule smaller (nodes and their options, instances, workers, scripted
/// failures, disturbances, time) as long as it still breaks one. The same plan gives the same.
Shrunk shrink(const Plan& plan, const Judge& judge, int runs_max = kShrinkRunsMax);

/// How many nodes the definition has.
int count_nodes(const Plan& plan);

}  // namespace ebb::sim
