#pragma once

#include <ebb/definition.h>

#include "support/dice.h"

namespace ebb::test {

/// A valid definition that can be run: nodes of all kinds in each other (at most `nodes`), short
/// waits, conditions and loops over `input.n`, every failure policy. Step `s7` calls the handler
/// `s7` and is undone by `~s7`.
Definition random_flow(Dice& dice, int nodes);

}  // namespace ebb::test
