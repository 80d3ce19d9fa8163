#pragma once

#include <string>
#include <vector>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "store/wed_flow.h"

// What a flow of WED-SQL is as a workflow with rules.

namespace ebb::cli {

/// A flow as a definition with the semantics of WED-SQL. `definition` is meaningful if there are no
/// problems.
struct WedDefinition {
    Definition definition{};
    /// The same as people write it.
    std::string yaml{};
    /// What cannot be taken over: each names the row, or has its line.
    std::vector<Diagnostic> problems{};
};

/// Transitions that several triggers fire are called by each of them; the first has the name of the
/// transition, as in the database.
WedDefinition define_wed_flow(const WedFlow& flow, const std::string& name);

}  // namespace ebb::cli
