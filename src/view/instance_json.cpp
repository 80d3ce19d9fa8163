#include "view/instance_json.h"

namespace ebb::view {

Json step_json(const StepView& step) {
    return {
        {"node", step.node},
        {"kind", step.kind},
        {"path", text_json(step.path)},
        {"visit", step.visit},
        {"status", to_string(step.status)},
        {"attempts", step.attempts},
        {"input", payload_json(step.input)},
        {"output", payload_json(step.output)},
        {"error", payload_json(step.error)},
        {"progress", payload_json(step.progress)},
        {"worker", text_json(step.worker)},
        {"started_at", time_json(step.started_at)},
        {"finished_at", time_json(step.finished_at)},
    };
}

Json waiting_json(const WaitingFor& wait) {
    return {
        {"kind", wait.kind},
        {"node", text_json(wait.node)},
        {"what", text_json(wait.what)},
        {"until", time_json(wait.until)},
        {"sentence", wait.sentence},
    };
}

Json summary_json(const InstanceSummary& summary) {
    return {
        {"id", summary.id.to_string()},
        {"workflow", summary.workflow},
        {"version", summary.version},
        {"key", text_json(summary.key)},
        {"status", summary.status},
        {"priority", summary.priority},
        {"revision", summary.revision},
        {"created_at", time_json(summary.created_at)},
        {"updated_at", time_json(summary.updated_at)},
        {"finished_at", time_json(summary.finished_at)},
    };
}

Json instance_json(const InstanceView& view) {
    Json json = summary_json(view.summary);
    json["input"] = payload_json(view.input);
    json["output"] = payload_json(view.output);
    json["error"] = payload_json(view.error);
    json["steps"] = Json::array();
    for (const StepView& step : view.steps) json["steps"].push_back(step_json(step));
    json["waiting_for"] = Json::array();
    for (const WaitingFor& wait : view.waiting_for) {
        json["waiting_for"].push_back(waiting_json(wait));
    }
    return json;
}

Json event_json(const HistoryEntry& entry) {
    return {
        {"seq", entry.seq},
        {"at", time_json(entry.at)},
        {"type", entry.type},
        {"node", text_json(entry.node)},
        {"path", text_json(entry.path)},
        {"visit", entry.visit},
        {"attempt", entry.attempt},
        {"ref", entry.ref},
        {"payload", payload_json(entry.payload)},
        {"worker", text_json(entry.worker)},
        {"started_at", time_json(entry.started_at)},
    };
}

}  // namespace ebb::view
