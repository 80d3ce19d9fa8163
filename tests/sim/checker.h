#pragma once

#include <string>
#include <vector>

#include "sim/run.h"

namespace ebb::sim {

/// What is wrong with what an instance did; empty = nothing. A second, simple reading of the
/// semantics (DESIGN §4, docs/semantics.md): it follows the history event by event through the
/// definition's JSON and shares no code with the kernel.
std::vector<std::string> check(const Evidence& evidence);

/// The first thing that is wrong with a run; empty = nothing.
std::string broken(const RunResult& result);

}  // namespace ebb::sim
