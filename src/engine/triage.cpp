// What needs a person: awaited decisions and failures.

#include <algorithm>
#include <utility>

#include "engine/core.h"

namespace ebb {

std::vector<AwaitedDecision> Engine::decisions(const DecisionQuery& query) {
    std::vector<AwaitedDecision> decisions;
    for (WaitRow& row : core_->environment.store.list_waits({.which = query})) {
        decisions.push_back(
            {.instance = row.instance,
             .token = row.token,
             .workflow = std::move(row.wait.workflow),
             .version = row.version,
             .key = std::move(row.key),
             .status = row.status,
             .node = std::move(row.wait.node),
             .visit = row.wait.visit,
             .roles = std::move(row.wait.roles),
             .since = row.wait.since,
             .deadline = row.wait.deadline,
             .quorum = row.wait.quorum,
             .confirmed = row.wait.confirmed}
        );
    }
    return decisions;
}

FailureGroups Engine::failures(const FailureGroupQuery& query) {
    FailureGroups groups = core_->environment.store.failure_groups(query);
    std::stable_sort(
        groups.groups.begin(),
        groups.groups.end(),
        [](const FailureGroup& left, const FailureGroup& right) { return left.count > right.count; }
    );
    return groups;
}

std::vector<FailedInstance> Engine::failed_instances(const FailureQuery& query) {
    return core_->environment.store.list_failures(query);
}

}  // namespace ebb
