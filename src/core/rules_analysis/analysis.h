#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "core/rules_analysis/search.h"

// What a workflow with rules cannot do, or can do that was probably not meant. Pure functions.

namespace ebb::rules_analysis {

struct AnalysisOptions {
    /// The inputs that instances start with; empty = any that the input_schema allows.
    std::vector<Payload> starts{};
    SearchLimits limits{};
    /// Only what is certain, and none of what depends on the values that handlers write.
    bool only_certain = false;
};

struct AnalysisReport {
    /// In the order of the definition. Without places in a text. Errors: a condition that can never
    /// be true, a trigger that never fires, a final condition that never ends an instance. All
    /// others are warnings.
    std::vector<Diagnostic> findings{};
    std::size_t states = 0;
    /// A sentence that says why the search stopped early and what to do. What was not reached may
    /// then still be reachable. Empty: all states were searched.
    std::string gap{};

    bool is_complete() const { return gap.empty(); }
};

/// Analyzes a valid definition with rules.
AnalysisReport analyze(const Definition& definition, const AnalysisOptions& options = {});

/// `start with order_status = 'paid'; the transition "pay" writes paid = true; ...`
std::string path_text(const Subject& subject, const Search& search, std::size_t state);

}  // namespace ebb::rules_analysis
