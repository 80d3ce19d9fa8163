#include "sim/planted.h"

#include <utility>

#include "sim/checker.h"
#include "sim/flow.h"

namespace ebb::sim {

namespace {

bool change_nodes(Json& nodes, const std::function<bool(Json&)>& change) {
    bool has_changed = false;
    for (Json& node : nodes) {
        for (const char* block : {"then", "else", "default", "on_reject", "do", "nodes"}) {
            if (node.contains(block)) has_changed |= change_nodes(node.at(block), change);
        }
        for (const char* blocks : {"branches", "cases"}) {
            if (!node.contains(blocks)) continue;
            for (Json& each : node.at(blocks)) {
                if (each.contains("do")) has_changed |= change_nodes(each.at("do"), change);
            }
        }
        has_changed |= change(node);
    }
    return has_changed;
}

/// False: the bug does not show in such a workflow.
bool change_definition(const PlantedBug& bug, Plan& plan) {
    Json definition = definition_to_json(plan.definition);
    bool has_changed = false;
    if (bug.node) has_changed |= change_nodes(definition.at("steps"), bug.node);
    if (bug.definition) has_changed |= bug.definition(definition);
    if (!has_changed) return !bug.node && !bug.definition;
    try {
        plan.definition = definition_from_json(definition);
    } catch (const Error&) {
        return false;
    }
    return true;
}

bool changes_store(const PlantedStoreBug& bug) {
    return bug.commit || bug.claim || bug.history || bug.ignores_conflicts || bug.limits ||
           bug.forgets_limits || bug.purges_at_once || bug.displaces_nobody ||
           bug.confuses_processes;
}

}  // namespace

const std::vector<PlantedBug>& planted_bugs() {
    static const std::vector<PlantedBug> bugs = [] {
        std::vector<PlantedBug> all;
        for (auto& some : {planted_store_bugs(), planted_flow_bugs(), planted_history_bugs()}) {
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }();
    return bugs;
}

std::string find_planted(const PlantedBug& bug, const Plan& plan, RunResult* kept) {
    Plan run_plan = plan;
    if (!change_definition(bug, run_plan)) return {};
    RunOptions options;
    if (changes_store(bug.store)) {
        options.decorate = [&](Store& inner) { return plant_in_store(inner, bug.store); };
    }
    RunResult result;
    try {
        result = run(run_plan, options);
    } catch (const std::exception& error) {
        return std::string("the cluster broke down: ") + error.what();
    }
    const std::string definition = definition_to_json(plan.definition).dump();
    bool has_changed = !bug.evidence;
    for (Evidence& evidence : result.evidence) {
        evidence.definition = definition;
        if (bug.evidence) has_changed |= bug.evidence(evidence);
    }
    const std::string what = has_changed ? broken(result) : std::string();
    if (kept != nullptr) *kept = std::move(result);
    return what;
}

}  // namespace ebb::sim
