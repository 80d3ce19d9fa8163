#pragma once

#include <ebb/definition.h>

#include "support/dice.h"

namespace ebb::test {

struct FlowShape {
    int nodes = 14;  ///< at most
    /// How often the flow gets parts that fail by themselves: tight deadlines and timeouts, `fail`,
    /// missing data, budgets. 0 = never.
    int percent_trouble = 50;
    /// Of the nodes: so many more are decisions, of up to three votes and mostly of one role.
    int percent_people = 0;
};

/// A valid definition that can be run: nodes of all kinds in each other, short waits, conditions
/// and loops over the data that steps and people bring (`n`), graphs with handles, cycles and error
/// edges, every failure policy. Step `s7` calls the handler `s7` and is undone by `~s7`.
Definition random_flow(Dice& dice, const FlowShape& shape);

}  // namespace ebb::test
