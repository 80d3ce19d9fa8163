#include "view/instance_json.h"

#include "core/model/label_values.h"

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
    Json json = {
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
    if (!summary.labels.empty()) json["labels"] = labels_json(summary.labels);
    return json;
}

Json labels_json(const Labels& labels) {
    Json json = Json::object();
    for (const auto& [name, value] : labels) json[name] = Json::parse(label_to_json(value).dump());
    return json;
}

Json instance_json(const InstanceView& view) {
    Json json = summary_json(view.summary);
    json["input"] = payload_json(view.input);
    json["output"] = payload_json(view.output);
    json["error"] = payload_json(view.error);
    if (!view.attributes.empty()) json["attributes"] = payload_json(view.attributes);
    json["steps"] = Json::array();
    for (const StepView& step : view.steps) json["steps"].push_back(step_json(step));
    json["waiting_for"] = Json::array();
    for (const WaitingFor& wait : view.waiting_for) {
        json["waiting_for"].push_back(waiting_json(wait));
    }
    return json;
}

Json trace_json(const TraceEntry& entry) {
    Json changes = Json::object();
    for (const TraceEntry::Change& change : entry.changes) {
        Json& each = changes[change.attribute];
        each = {{"before", payload_json(change.before)}, {"after", payload_json(change.after)}};
        if (change.has_overwritten) each["overwrote"] = true;
    }
    Json became_true = Json::array();
    Json became_false = Json::array();
    for (const TraceEntry::Turn& turn : entry.turns) {
        (turn.is_true ? became_true : became_false)
            .push_back({{"kind", turn.kind}, {"name", turn.name}});
    }
    return {
        {"seq", entry.seq},
        {"at", time_json(entry.at)},
        {"kind", to_string(entry.kind)},
        {"transition", text_json(entry.transition)},
        {"by", text_json(entry.by)},
        {"changes", std::move(changes)},
        {"became_true", std::move(became_true)},
        {"became_false", std::move(became_false)},
        {"fired", entry.fired},
        {"armed", entry.armed},
        {"final", text_json(entry.final_condition)},
        {"exception", text_json(entry.exception)},
        {"attributes", payload_json(entry.attributes)},
    };
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
