#pragma once

#include "three_steps.h"

// The flows of the suite rules.

namespace ebb::bench {

/// Three transitions in a row, each of which makes the next one's condition true; and so many
/// triggers whose conditions never are.
Load three_transitions(int idle_triggers = 0);

/// Its transition `look` fires when an application has raised the attribute `n`, and writes it to
/// `seen`. It never ends.
Definition looking();

/// A counter that a transition raises until it is `end`.
Definition counting(std::int64_t end);

}  // namespace ebb::bench
