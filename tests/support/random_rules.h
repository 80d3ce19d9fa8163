#pragma once

#include <ebb/definition.h>

#include "support/dice.h"

namespace ebb::test {

/// A valid workflow with rules, named `flow`: text attributes `a0`, `a1` ... of few values,
/// triggers `t0`, `t1` ... that call `s0`, `s1` ... and are undone by `~s0`, and every reaction to
/// failures, exceptions and final conditions. Conditions have only the forms that
/// tests/sim/reading_rules.h reads.
Definition random_rules(Dice& dice);

/// The same rules with what they may have besides: savepoints, time limits of calls, more limits of
/// firing.
Definition with_more(Dice& dice, const Definition& rules);

/// The same rules, whose instances mostly follow to a newer version.
Definition that_evolves(Dice& dice, const Definition& rules);

/// The next version of such rules: other conditions, triggers that are new, disabled or enabled.
Definition newer_version(Dice& dice, const Definition& rules);

/// What such a transition or an application writes: an object of few attributes, rarely one that is
/// refused.
Payload random_write(Dice& dice);

}  // namespace ebb::test
