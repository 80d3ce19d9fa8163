#include "view/triage_json.h"

namespace ebb::view {

Json decision_json(const AwaitedDecision& decision) {
    return {
        {"instance", decision.instance.to_string()},
        {"workflow", decision.workflow},
        {"version", decision.version},
        {"key", text_json(decision.key)},
        {"node", decision.node},
        {"visit", decision.visit},
        {"roles", decision.roles},
        {"quorum", decision.quorum},
        {"confirmed", decision.confirmed},
        {"since", time_json(decision.since)},
        {"deadline", time_json(decision.deadline)},
    };
}

Json failure_group_json(const FailureGroup& group) {
    Json statuses = Json::object();
    if (group.dead_letter > 0) statuses["dead_letter"] = group.dead_letter;
    if (group.count > group.dead_letter) statuses["failed"] = group.count - group.dead_letter;
    Json samples = Json::array();
    for (const InstanceId& id : group.samples) samples.push_back(id.to_string());
    const FailureNote& newest = group.newest;
    return {
        {"group", newest.group},
        {"workflow", newest.workflow},
        {"step", text_json(newest.step)},
        {"code", newest.code},
        {"message", newest.message},
        {"count", group.count},
        {"is_counted", group.is_counted},
        {"first_at", time_json(group.first_at)},
        {"last_at", time_json(newest.at)},
        {"versions", group.versions},
        {"statuses", std::move(statuses)},
        {"sample_ids", std::move(samples)},
    };
}

Json failed_instance_json(const FailedInstance& failed) {
    const FailureNote& note = failed.note;
    return {
        {"instance", failed.instance.to_string()},
        {"workflow", note.workflow},
        {"version", note.version},
        {"key", text_json(failed.key)},
        {"status", to_string(note.status)},
        {"step", text_json(note.step)},
        {"code", note.code},
        {"message", note.message},
        {"group", note.group},
        {"event", note.event},
        {"at", time_json(note.at)},
    };
}

}  // namespace ebb::view
