#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/kernel/decision.h"
#include "sim/cluster.h"
#include "sim/run.h"
#include "store/store.h"

namespace ebb::sim {

/// One decision on its way to the store, as a bug may change it.
struct PlantedChange {
    InstanceStatus status = InstanceStatus::Running;
    InstanceState state;
    std::vector<HistoryEvent> history;
    std::vector<TaskChange> tasks;
    bool is_forgotten = false;  ///< answered as done, and never performed
};

/// What is wrong between the workers and the shared store; what is empty is right.
struct PlantedStoreBug {
    std::function<void(PlantedChange&)> commit{};
    std::function<void(Claim&)> claim{};
    std::function<void(const HistoryQuery&, std::vector<HistoryEvent>&)> history{};
    bool ignores_conflicts = false;
    std::function<void(QueueLimits&)> limits{};
    bool forgets_limits = false;      ///< heartbeats do not tell of them
    bool purges_at_once = false;      ///< whatever the retention
    bool displaces_nobody = false;    ///< who lost its name does not learn it
    bool confuses_processes = false;  ///< leases are given back by name alone
};

/// A bug as the engine could have it, made outside of the engine: in what stands between workers
/// and store, in the definition that is really run, or in the history that it leaves.
struct PlantedBug {
    std::string name;
    PlantedStoreBug store{};
    /// Changes each node of the definition that is run; the checker reads the true one. False: it
    /// has left the node as it was.
    std::function<bool(nlohmann::json& node)> node{};
    std::function<bool(nlohmann::json& definition)> definition{};
    /// Changes what an instance left behind; false: nothing in it can be made wrong like this.
    std::function<bool(Evidence&)> evidence{};
};

/// All of them.
const std::vector<PlantedBug>& planted_bugs();

/// The bugs of each kind.
std::vector<PlantedBug> planted_store_bugs();
std::vector<PlantedBug> planted_flow_bugs();
std::vector<PlantedBug> planted_history_bugs();
/// Those of workflows with rules, which are not among all: they need other plans.
std::vector<PlantedBug> planted_rules_bugs();

std::unique_ptr<Store> plant_in_store(Store& inner, const PlantedStoreBug& bug);

/// The rule that a run of the plan breaks with this bug in it; empty: nothing is seen, perhaps
/// because it cannot show in this plan. `result` gets the run with its histories.
std::string find_planted(const PlantedBug& bug, const Plan& plan, RunResult* result = nullptr);

}  // namespace ebb::sim
