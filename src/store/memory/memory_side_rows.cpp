#include <algorithm>
#include <map>
#include <set>

#include "store/memory/memory_store.h"
#include "store/names.h"

// The verbs about the rows beside the instances.

namespace ebb {

namespace {

bool is_for(const Wait& wait, const std::optional<std::vector<std::string>>& roles) {
    if (!roles || wait.roles.empty()) return true;
    return std::any_of(wait.roles.begin(), wait.roles.end(), [&](const std::string& role) {
        return std::find(roles->begin(), roles->end(), role) != roles->end();
    });
}

bool matches(const WaitQuery& query, const Wait& wait) {
    const DecisionQuery& which = query.which;
    return wait.kind == query.kind && is_for(wait, which.roles) &&
           passes_names(which.workflow, wait.workflow) &&
           (which.deadline_before == kNever || wait.deadline < which.deadline_before);
}

bool is_wanted(const std::vector<InstanceStatus>& statuses, InstanceStatus status) {
    return statuses.empty() ||
           std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

/// `rows`: the newest first.
FailureGroup group_of(std::span<const FailedInstance> rows) {
    FailureGroup group;
    group.newest = rows.front().note;
    std::set<int> versions;
    for (const FailedInstance& row : rows) {
        if (group.count == FailureGroup::kCountMax) {
            group.is_counted = false;
            break;
        }
        group.count += 1;
        group.dead_letter += row.note.status == InstanceStatus::DeadLetter ? 1 : 0;
        group.first_at = row.note.at;
        versions.insert(row.note.version);
        if (group.samples.size() < FailureGroup::kSamplesMax) group.samples.push_back(row.instance);
    }
    group.versions.assign(versions.begin(), versions.end());
    return group;
}

Effects effects_of(
    const std::map<TokenId, Wait>& waits, const std::optional<FailureNote>& failure
) {
    Effects effects;
    for (const auto& [token, wait] : waits) effects.waits.push_back({.token = token, .wait = wait});
    if (failure) effects.failures.push_back({.note = *failure});
    return effects;
}

}  // namespace

void MemoryStore::apply(Instance& instance, const Effects& effects) {
    for (const WaitChange& change : effects.waits) {
        const auto known = instance.waits.find(change.token);
        if (change.is_over) {
            if (known != instance.waits.end()) instance.waits.erase(known);
            continue;
        }
        Wait wait = change.wait;
        const bool is_same = known != instance.waits.end() && known->second.visit == wait.visit;
        if (is_same) wait.since = known->second.since;
        instance.waits.insert_or_assign(change.token, std::move(wait));
    }
    for (const FailureChange& change : effects.failures) {
        instance.failure = change.is_over ? std::nullopt : std::optional(change.note);
    }
    for (const auto& [name, value] : effects.labels) {
        instance.labels.insert_or_assign(name, value);
    }
}

std::vector<WaitRow> MemoryStore::list_waits(const WaitQuery& waits) {
    const DecisionQuery& query = waits.which;
    check_query(query);
    const Lock lock(mutex_);
    std::map<WaitPlace, WaitRow> found;
    for (const auto& [id, instance] : instances_) {
        for (const auto& [token, wait] : instance.waits) {
            const WaitPlace place{.since = wait.since, .instance = id, .token = token};
            if (!matches(waits, wait) || (query.after && place <= *query.after)) continue;
            found.emplace(
                place,
                WaitRow{
                    .instance = id,
                    .token = token,
                    .version = instance.row.version,
                    .key = instance.row.key,
                    .status = instance.row.status,
                    .wait = wait
                }
            );
        }
    }
    std::vector<WaitRow> rows;
    for (auto& [place, row] : found) {
        if (std::ssize(rows) == query.limit) break;
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<FailedInstance> MemoryStore::failures_of(
    std::string_view group, const std::vector<InstanceStatus>& statuses
) const {
    std::vector<FailedInstance> rows;
    for (const auto& [id, instance] : instances_) {
        const auto& failure = instance.failure;
        if (!failure || failure->group != group || !is_wanted(statuses, failure->status)) continue;
        rows.push_back({.instance = id, .key = instance.row.key, .note = *failure});
    }
    std::sort(
        rows.begin(),
        rows.end(),
        [](const FailedInstance& left, const FailedInstance& right) {
            return left.place() > right.place();
        }
    );
    return rows;
}

FailureGroups MemoryStore::failure_groups(const FailureGroupQuery& query) {
    check_query(query);
    const Lock lock(mutex_);
    std::set<std::string> names;
    for (const auto& [id, instance] : instances_) {
        if (instance.failure) names.insert(instance.failure->group);
    }
    FailureGroups result;
    int seen = 0;
    for (const std::string& name : names) {
        if (seen++ == query.limit) {
            result.is_complete = false;
            break;
        }
        const std::vector<FailedInstance> rows = failures_of(name, query.statuses);
        if (rows.empty()) continue;
        if (passes_names(query.workflow, rows.front().note.workflow))
            result.groups.push_back(group_of(rows));
    }
    return result;
}

std::vector<FailedInstance> MemoryStore::list_failures(const FailureQuery& query) {
    check_query(query);
    const Lock lock(mutex_);
    std::vector<FailedInstance> rows = failures_of(query.group, query.statuses);
    std::erase_if(rows, [&](const FailedInstance& row) {
        return query.after && row.place() >= *query.after;
    });
    if (std::ssize(rows) > query.limit) rows.resize(static_cast<std::size_t>(query.limit));
    return rows;
}

SideRowPage MemoryStore::check_side_rows(const InstanceId& after, int limit) {
    const Lock lock(mutex_);
    SideRowPage page;
    int seen = 0;
    for (auto it = instances_.upper_bound(after); it != instances_.end(); ++it) {
        if (seen++ == limit) {
            page.is_end = false;
            break;
        }
        page.last = it->first;
        const Instance& instance = it->second;
        page.suspects.push_back(
            {.instance = it->first,
             .workflow = instance.row.workflow,
             .version = instance.row.version,
             .state = instance.row.state,
             .rows = side_rows_text(effects_of(instance.waits, instance.failure))}
        );
    }
    if (page.is_end) page.last = {};
    return page;
}

void MemoryStore::put_side_rows(std::span<const SideRowRepair> repairs) {
    const Lock lock(mutex_);
    for (const SideRowRepair& repair : repairs) {
        const auto found = instances_.find(repair.instance);
        if (found == instances_.end() || found->second.row.revision != repair.revision) continue;
        found->second.waits.clear();
        found->second.failure.reset();
        apply(found->second, repair.effects);
    }
}

}  // namespace ebb
