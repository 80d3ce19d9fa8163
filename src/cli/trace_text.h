#pragma once

#include <string>
#include <vector>

#include <ebb/engine.h>

#include "cli/options.h"
#include "cli/session.h"

namespace ebb::cli {

/// Each write: what it changed, which conditions became true or false, what it fired. A table with
/// one line for each, or, if that is wider than the terminal, several lines for each. `start` is
/// what relative times count from.
std::string trace_table(
    Session& session, const std::vector<TraceEntry>& entries, Times times, TimePoint start
);

}  // namespace ebb::cli
