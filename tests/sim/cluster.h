#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/run.h"
#include "sim/worker.h"
#include "store/store.h"
#include "support/dice.h"

namespace ebb::sim {

struct RunOptions {
    /// Receives what happens, line by line, at once; null = no trace.
    std::function<void(const std::string&)> trace{};
    /// What stands between the workers and the shared store; null = nothing. For planted bugs.
    std::function<std::unique_ptr<Store>(Store&)> decorate{};
    /// Whether an observer looks at the instances all the time, and `RunResult::seen` is filled.
    bool watches = false;
    /// Makes the empty shared store, with the run's time; null = in memory.
    std::function<StorePtr(const Clock&)> open{};
};

/// Runs a plan: first chance rules, then faults stop, and the cluster comes to rest.
RunResult run(const Plan& plan, const RunOptions& options = {});

}  // namespace ebb::sim
