#include "cli/json_views.h"

#include "support/clock.h"

namespace ebb::cli {

namespace {

using nlohmann::ordered_json;

ordered_json text_json(const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json step_json(const StepView& step) {
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
        {"worker", text_json(step.worker)},
        {"started_at", time_json(step.started_at)},
        {"finished_at", time_json(step.finished_at)},
    };
}

ordered_json waiting_json(const WaitingFor& wait) {
    return {
        {"kind", wait.kind},
        {"node", text_json(wait.node)},
        {"what", text_json(wait.what)},
        {"until", time_json(wait.until)},
        {"sentence", wait.sentence},
    };
}

}  // namespace

ordered_json payload_json(const Payload& payload) {
    if (payload.empty()) return nullptr;
    ordered_json json = ordered_json::parse(payload, nullptr, false);
    return json.is_discarded() ? ordered_json(payload) : json;
}

ordered_json time_json(TimePoint time) {
    if (time == TimePoint{} || time == kNever) return nullptr;
    return format_time(time);
}

ordered_json summary_json(const InstanceSummary& summary) {
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

ordered_json view_json(const InstanceView& view) {
    ordered_json json = summary_json(view.summary);
    json["input"] = payload_json(view.input);
    json["output"] = payload_json(view.output);
    json["error"] = payload_json(view.error);
    json["steps"] = ordered_json::array();
    for (const StepView& step : view.steps) json["steps"].push_back(step_json(step));
    json["waiting_for"] = ordered_json::array();
    for (const WaitingFor& wait : view.waiting_for) {
        json["waiting_for"].push_back(waiting_json(wait));
    }
    return json;
}

ordered_json entry_json(const HistoryEntry& entry) {
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

ordered_json diagnostics_json(std::span<const Diagnostic> diagnostics) {
    ordered_json json = ordered_json::array();
    for (const Diagnostic& diagnostic : diagnostics) {
        json.push_back({
            {"code", diagnostic.code},
            {"path", diagnostic.path},
            {"message", diagnostic.message},
            {"line", diagnostic.line == 0 ? ordered_json(nullptr) : ordered_json(diagnostic.line)},
            {"column",
             diagnostic.column == 0 ? ordered_json(nullptr) : ordered_json(diagnostic.column)},
        });
    }
    return json;
}

}  // namespace ebb::cli
