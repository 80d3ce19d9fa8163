#pragma once

#include <string>

#include "sim/plan.h"
#include "sim/run.h"

namespace ebb::sim {

/// A run as text, to be read by people: the definition as YAML, who works, what goes wrong when,
/// the histories of its instances, and the broken rule.
std::string explain(const Plan& plan, const RunResult& result, const std::string& what);

/// Its events, one a line.
std::string history_text(const Evidence& evidence);

/// The last evidence of each instance: how it ended.
std::vector<Evidence> endings(const RunResult& result);

}  // namespace ebb::sim
