#include "cli/api_views.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "core/model/label_values.h"
#include "support/clock.h"

namespace ebb::cli {

namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& text) {
    throw Error(
        ErrorCode::StoreError,
        fmt::format("The server's answer has an unknown {}: \"{}\".", name, text)
    );
}

InstanceStatus status_of(const ApiObject& json) {
    const std::string text = json.text("status");
    if (const auto status = parse_status(text)) return *status;
    refuse("status", text);
}

StepStatus step_status_of(const ApiObject& json) {
    const std::string text = json.text("status");
    for (int i = 0; i <= static_cast<int>(StepStatus::CompensationFailed); ++i) {
        const auto status = static_cast<StepStatus>(i);
        if (to_string(status) == text) return status;
    }
    refuse("status of a step", text);
}

InstanceId id_of(const ApiObject& json, std::string_view member = "id") {
    const std::string text = json.text(member);
    if (const auto id = InstanceId::parse(text)) return *id;
    refuse(member, text);
}

/// A payload that is always there: null is the JSON value, not its absence.
Payload present(Payload payload) {
    return payload.empty() ? Payload("null") : payload;
}

Duration duration_of(const ApiObject& json, std::string_view name) {
    const std::string text = json.text(name);
    if (const auto duration = parse_duration(text)) return *duration;
    refuse(name, text);
}

Labels labels_of(const ApiObject& json) {
    const Payload labels = json.payload("labels");
    return labels.empty() ? Labels() : labels_from_json(Json::parse(labels));
}

}  // namespace

InstanceSummary summary_of(const ApiObject& json) {
    return {
        .id = id_of(json),
        .workflow = json.text("workflow"),
        .version = json.number("version").value_or(1),
        .key = json.text("key"),
        .status = status_of(json),
        .priority = json.number("priority").value_or(0),
        .revision = json.integer("revision"),
        .created_at = json.time("created_at"),
        .updated_at = json.time("updated_at"),
        .finished_at = json.time("finished_at"),
        .labels = labels_of(json),
    };
}

WaitingFor waiting_of(const ApiObject& json) {
    return {
        .kind = json.text("kind"),
        .node = json.text("node"),
        .what = json.text("what"),
        .until = json.time("until", kNever),
        .sentence = json.text("sentence"),
    };
}

std::vector<WaitingFor> waits_of(const ApiObject& json) {
    std::vector<WaitingFor> waits;
    for (const ApiObject& wait : json.objects("waiting_for")) waits.push_back(waiting_of(wait));
    return waits;
}

StepView step_of(const ApiObject& json) {
    StepView step{
        .node = json.text("node"),
        .kind = json.text("kind"),
        .path = json.text("path"),
        .visit = json.integer("visit"),
        .status = step_status_of(json),
        .attempts = json.number("attempts").value_or(0),
        .input = json.payload("input"),
        .output = json.payload("output"),
        .error = json.payload("error"),
        .worker = json.text("worker"),
        .started_at = json.time("started_at"),
        .finished_at = json.time("finished_at"),
        .progress = json.payload("progress"),
    };
    // JSON of the API has one null for the value and for its absence. A step that has run had one.
    const bool has_run = step.kind == "step" && step.attempts > 0;
    if (has_run) step.input = present(std::move(step.input));
    if (step.status == StepStatus::Completed) step.output = present(std::move(step.output));
    return step;
}

HistoryEntry event_of(const ApiObject& json) {
    HistoryEntry entry{
        .seq = json.integer("seq"),
        .type = json.text("type"),
        .node = json.text("node"),
        .path = json.text("path"),
        .visit = json.integer("visit"),
        .attempt = json.number("attempt").value_or(0),
        .ref = json.integer("ref"),
        .payload = json.payload("payload"),
        .worker = json.text("worker"),
        .started_at = json.time("started_at"),
        .at = json.time("at"),
    };
    // Null is their value; of other events it says that they have none.
    const bool has_value = entry.type == "started" || entry.type == "step_completed" ||
                           entry.type == "signal_received";
    if (has_value) entry.payload = present(std::move(entry.payload));
    return entry;
}

view::Outline outline_of(const ApiObject& json) {
    return {
        .summary = summary_of(json),
        .waiting_for = waits_of(json),
        .error = json.payload("error"),
        .handlers = json.texts("handlers"),
    };
}

InstanceView instance_of(const ApiObject& json) {
    InstanceView view{
        .summary = summary_of(json),
        .input = present(json.payload("input")),
        .output = json.payload("output"),
        .error = json.payload("error"),
        .attributes = json.payload("attributes"),
        .steps = {},
        .waiting_for = waits_of(json),
    };
    const bool has_output = view.summary.status == InstanceStatus::Completed;
    if (has_output) view.output = present(std::move(view.output));
    return view;
}

WorkerView worker_of(const ApiObject& json) {
    return {
        .id = json.text("id"),
        .host = json.text("host"),
        .pid = json.integer("pid"),
        .handlers = json.texts("handlers"),
        .queues = json.texts("queues"),
        .threads = json.number("threads").value_or(0),
        .started_at = json.time("started_at"),
        .expires_at = json.time("expires_at"),
        .is_alive = json.boolean("is_alive"),
        .is_draining = json.boolean("is_draining"),
        .tasks = json.integer("tasks"),
    };
}

QueueView queue_of(const ApiObject& json) {
    QueueView queue{
        .name = json.text("name"),
        .limits =
            {.concurrency = json.number("concurrency"),
             .concurrency_per_key = json.number("concurrency_per_key"),
             .rate = {}},
        .updated_at = json.time("updated_at"),
        .running = json.integer("running"),
        .waiting = json.integer("waiting"),
        .sleeping = json.integer("sleeping"),
        .slots = json.integer("slots"),
        .starts = json.integer("starts"),
        .next_start = json.time("next_start"),
    };
    if (const auto rate = json.object("rate")) {
        queue.limits.rate =
            QueueRate{rate->number("starts").value_or(0), duration_of(*rate, "period")};
    }
    return queue;
}

UnservedTasks unserved_of(const ApiObject& json) {
    return {
        .handler = json.text("handler"),
        .queue = json.text("queue"),
        .count = json.integer("tasks"),
    };
}

view::DelayedTasks delayed_of(const ApiObject& json) {
    return {
        .workflow = json.text("workflow"),
        .handler = json.text("handler"),
        .queue = json.text("queue"),
        .count = json.integer("tasks"),
        .since = json.time("since"),
        .instance = id_of(json, "instance"),
        .reason = json.text("reason"),
    };
}

AwaitedDecision decision_of(const ApiObject& json) {
    return {
        .instance = id_of(json, "instance"),
        .workflow = json.text("workflow"),
        .version = json.number("version").value_or(1),
        .key = json.text("key"),
        .node = json.text("node"),
        .visit = json.integer("visit"),
        .roles = json.texts("roles"),
        .since = json.time("since"),
        .deadline = json.time("deadline", kNever),
        .quorum = json.number("quorum").value_or(1),
        .confirmed = json.number("confirmed").value_or(0),
    };
}

FailureGroup failure_group_of(const ApiObject& json) {
    FailureGroup group{
        .newest =
            {.workflow = json.text("workflow"),
             .step = json.text("step"),
             .code = json.text("code"),
             .group = json.text("group"),
             .message = json.text("message"),
             .at = json.time("last_at")},
        .count = json.integer("count"),
        .is_counted = json.boolean("is_counted"),
        .first_at = json.time("first_at"),
    };
    if (const auto statuses = json.object("statuses")) {
        group.dead_letter = statuses->integer("dead_letter");
    }
    for (const auto& version : nlohmann::json::parse(std::string(json.payload("versions")))) {
        group.versions.push_back(version.get<int>());
    }
    for (const std::string& text : json.texts("sample_ids")) {
        if (const auto id = InstanceId::parse(text)) group.samples.push_back(*id);
    }
    return group;
}

FailedInstance failed_instance_of(const ApiObject& json) {
    return {
        .instance = id_of(json, "instance"),
        .key = json.text("key"),
        .note =
            {.workflow = json.text("workflow"),
             .version = json.number("version").value_or(1),
             .status = status_of(json),
             .step = json.text("step"),
             .code = json.text("code"),
             .group = json.text("group"),
             .message = json.text("message"),
             .event = json.integer("event"),
             .at = json.time("at")},
    };
}

}  // namespace ebb::cli
