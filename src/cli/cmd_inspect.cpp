#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::cli {

namespace {

Color status_color(std::string_view status) {
    if (status == "completed" || status == "compensated") return Color::Green;
    if (status == "failed" || status == "aborted" || status == "dead_letter" ||
        status == "compensation_failed") {
        return Color::Red;
    }
    if (status == "cancelled" || status == "compensating" || status == "paused")
        return Color::Yellow;
    return Color::Cyan;
}

Json parsed(const Payload& payload) {
    return payload.empty() ? Json(nullptr) : Json::parse(payload);
}

Json summary_json(const InstanceSummary& instance) {
    Json json = {
        {"id", instance.id.to_string()},
        {"workflow", instance.workflow},
        {"version", instance.version},
        {"status", instance.status},
        {"priority", instance.priority},
        {"revision", instance.revision},
        {"created_at", format_time(instance.created_at)},
        {"updated_at", format_time(instance.updated_at)}
    };
    if (!instance.key.empty()) json["key"] = instance.key;
    if (instance.finished_at != TimePoint{})
        json["finished_at"] = format_time(instance.finished_at);
    return json;
}

Json step_json(const StepView& step) {
    Json json = {
        {"node", step.node},
        {"kind", step.kind},
        {"visit", step.visit},
        {"status", to_string(step.status)},
        {"attempts", step.attempts},
        {"input", parsed(step.input)},
        {"output", parsed(step.output)}
    };
    if (!step.path.empty()) json["path"] = step.path;
    if (!step.error.empty()) json["error"] = parsed(step.error);
    if (!step.worker.empty()) json["worker"] = step.worker;
    if (step.started_at != TimePoint{}) json["started_at"] = format_time(step.started_at);
    if (step.finished_at != TimePoint{}) json["finished_at"] = format_time(step.finished_at);
    return json;
}

Json waiting_json(const WaitingFor& waiting) {
    Json json = {
        {"kind", waiting.kind},
        {"node", waiting.node},
        {"what", waiting.what},
        {"sentence", waiting.sentence}
    };
    if (waiting.until != kNever) json["until"] = format_time(waiting.until);
    return json;
}

std::string_view step_glyph(const Terminal& terminal, StepStatus status) {
    switch (status) {
        case StepStatus::Completed:
            return terminal.glyph("✓", "+");
        case StepStatus::Failed:
        case StepStatus::CompensationFailed:
            return terminal.glyph("✗", "x");
        case StepStatus::Compensated:
            return terminal.glyph("↩", "<");
        case StepStatus::Compensating:
            return terminal.glyph("↩", "<");
        case StepStatus::Retrying:
            return terminal.glyph("⟳", "~");
        case StepStatus::Waiting:
            return terminal.glyph("◷", "?");
        case StepStatus::Running:
            return terminal.glyph("▶", ">");
        case StepStatus::Skipped:
            return terminal.glyph("⊘", "/");
        case StepStatus::Pending:
            return terminal.glyph("·", ".");
    }
    return " ";
}

std::string error_text(const Payload& error) {
    const Json json = Json::parse(error, nullptr, false);
    if (!json.is_object()) return error;
    return fmt::format("{}: {}", json.value("code", "error"), json.value("message", ""));
}

std::string step_detail(const StepView& step) {
    std::string detail;
    if (step.attempts > 1) detail += fmt::format("{} attempts  ", step.attempts);
    if (!step.error.empty()) return detail + shorten(error_text(step.error), 90);
    if (!step.output.empty()) return detail + shorten(step.output, 70);
    return detail;
}

}  // namespace

int list(Context& context, const ListCommandOptions& options) {
    HandlerRegistry handlers;
    const StorePtr store = open_kept_store(context, "list");
    Engine engine(*store, handlers);
    const auto instances = engine.list(
        {.statuses = options.statuses,
         .workflow = options.workflow,
         .key = options.key,
         .limit = options.limit}
    );
    Terminal& terminal = context.terminal;
    if (context.options.json) {
        Json array = Json::array();
        for (const InstanceSummary& instance : instances) array.push_back(summary_json(instance));
        terminal.out(to_text(array) + "\n");
        return kOk;
    }
    if (options.ids_only) {
        for (const InstanceSummary& instance : instances)
            terminal.out(instance.id.to_string() + "\n");
        return kOk;
    }
    if (instances.empty()) {
        terminal.err("No instance fits.\n");
        return kOk;
    }
    std::vector<std::vector<std::string>> rows{
        {terminal.paint(Color::Bold, "INSTANCE"),
         terminal.paint(Color::Bold, "WORKFLOW"),
         terminal.paint(Color::Bold, "STATUS"),
         terminal.paint(Color::Bold, "KEY"),
         terminal.paint(Color::Bold, "STARTED"),
         terminal.paint(Color::Bold, "TOOK")}
    };
    for (const InstanceSummary& instance : instances) {
        const bool is_finished = instance.finished_at != TimePoint{};
        rows.push_back(
            {instance.id.to_string(),
             fmt::format("{} v{}", instance.workflow, instance.version),
             terminal.paint(status_color(instance.status), instance.status),
             instance.key.empty() ? "-" : instance.key,
             human_time(instance.created_at),
             is_finished ? human_duration(instance.finished_at - instance.created_at) : "-"}
        );
    }
    terminal.out(table(rows));
    return kOk;
}

namespace {

std::string headline(const Terminal& terminal, const InstanceSummary& summary) {
    std::string text = fmt::format(
        "{}  {} v{}  {}\n",
        summary.id.to_string(),
        terminal.paint(Color::Bold, summary.workflow),
        summary.version,
        terminal.paint(status_color(summary.status), summary.status)
    );
    text += fmt::format("started {}", human_time(summary.created_at));
    if (summary.finished_at != TimePoint{}) {
        text += fmt::format(
            ", ended after {}", human_duration(summary.finished_at - summary.created_at)
        );
    }
    if (!summary.key.empty()) text += fmt::format(", key {}", summary.key);
    return text + "\n";
}

std::vector<std::string> step_row(const Terminal& terminal, const StepView& step, TimePoint start) {
    const std::string status(to_string(step.status));
    const TimePoint at = step.started_at != TimePoint{} ? step.started_at : step.finished_at;
    std::string took;
    if (step.started_at != TimePoint{} && step.finished_at != TimePoint{}) {
        took = human_duration(step.finished_at - step.started_at);
    }
    const std::string name =
        step.path.empty() ? step.node : fmt::format("{} ({})", step.node, step.path);
    return {
        at == TimePoint{} ? std::string()
                          : fmt::format("+{}", human_duration(std::max(at - start, Duration(0)))),
        terminal.paint(
            status_color(status), fmt::format("{} {}", step_glyph(terminal, step.status), name)
        ),
        status,
        took,
        step_detail(step)
    };
}

}  // namespace

int show(Context& context, const std::string& instance) {
    HandlerRegistry handlers;
    const StorePtr store = open_kept_store(context, "show");
    Engine engine(*store, handlers);
    const InstanceView view = engine.show(resolve_instance(engine, instance));
    Terminal& terminal = context.terminal;
    if (context.options.json) {
        Json json = summary_json(view.summary);
        json["input"] = parsed(view.input);
        json["output"] = parsed(view.output);
        if (!view.error.empty()) json["error"] = parsed(view.error);
        json["steps"] = Json::array();
        for (const StepView& step : view.steps) json["steps"].push_back(step_json(step));
        json["waiting_for"] = Json::array();
        for (const WaitingFor& waiting : view.waiting_for)
            json["waiting_for"].push_back(waiting_json(waiting));
        terminal.out(to_text(json) + "\n");
        return kOk;
    }
    std::string text = headline(terminal, view.summary);
    text += fmt::format("input   {}\n", shorten(view.input, 100));
    if (!view.output.empty()) text += fmt::format("output  {}\n", shorten(view.output, 100));
    if (!view.error.empty())
        text += terminal.paint(
            Color::Red, fmt::format("error   {}\n", shorten(error_text(view.error), 200))
        );
    text += "\n";
    std::vector<std::vector<std::string>> rows;
    for (const StepView& step : view.steps)
        rows.push_back(step_row(terminal, step, view.summary.created_at));
    text += table(rows, 2);
    for (const WaitingFor& waiting : view.waiting_for)
        text += fmt::format("\n{}\n", waiting.sentence);
    terminal.out(text);
    return kOk;
}

int why(Context& context, const std::string& instance) {
    HandlerRegistry handlers;
    const StorePtr store = open_kept_store(context, "why");
    Engine engine(*store, handlers);
    const InstanceId id = resolve_instance(engine, instance);
    const std::string reason = engine.why(id);
    if (context.options.json) {
        context.terminal.out(to_text({{"id", id.to_string()}, {"why", reason}}) + "\n");
    } else {
        context.terminal.out(reason + "\n");
    }
    return kOk;
}

int history(Context& context, const HistoryCommandOptions& options) {
    HandlerRegistry handlers;
    const StorePtr store = open_kept_store(context, "history");
    Engine engine(*store, handlers);
    const InstanceId id = resolve_instance(engine, options.instance);
    const auto entries = engine.history(id, options.after, options.limit);
    Terminal& terminal = context.terminal;
    if (context.options.json) {
        for (const HistoryEntry& entry : entries) {
            Json json = {{"seq", entry.seq}, {"type", entry.type}, {"at", format_time(entry.at)}};
            if (!entry.node.empty()) json["node"] = entry.node;
            if (!entry.path.empty()) json["path"] = entry.path;
            if (entry.visit != 0) json["visit"] = entry.visit;
            if (entry.attempt != 0) json["attempt"] = entry.attempt;
            if (entry.ref != 0) json["ref"] = entry.ref;
            if (!entry.payload.empty()) json["payload"] = parsed(entry.payload);
            if (!entry.worker.empty()) json["worker"] = entry.worker;
            if (entry.started_at != TimePoint{}) json["started_at"] = format_time(entry.started_at);
            terminal.out(to_text(json) + "\n");
        }
        return kOk;
    }
    std::vector<std::vector<std::string>> rows{{"SEQ", "AT", "EVENT", "NODE", "REF", "PAYLOAD"}};
    for (std::string& cell : rows.front()) cell = terminal.paint(Color::Bold, cell);
    for (const HistoryEntry& entry : entries) {
        rows.push_back(
            {std::to_string(entry.seq),
             format_time(entry.at),
             entry.type,
             entry.path.empty() ? entry.node : fmt::format("{} ({})", entry.node, entry.path),
             entry.ref == 0 ? "" : std::to_string(entry.ref),
             shorten(entry.payload, 80)}
        );
    }
    terminal.out(table(rows));
    return kOk;
}

int workflows(Context& context) {
    const StorePtr store = open_kept_store(context, "workflows");
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    for (const StatusCount& count : store->count()) {
        counts[{count.workflow, std::string(to_string(count.status))}] = count.count;
    }
    Terminal& terminal = context.terminal;
    const auto rows_of = store->list_workflows();
    if (context.options.json) {
        Json array = Json::array();
        for (const WorkflowRow& row : rows_of) {
            Json instances = Json::object();
            for (const auto& [key, count] : counts) {
                if (key.first == row.name) instances[key.second] = count;
            }
            array.push_back(
                {{"name", row.name},
                 {"version", row.version},
                 {"checksum", row.checksum},
                 {"created_at", format_time(row.created_at)},
                 {"instances_of_all_versions", instances}}
            );
        }
        terminal.out(to_text(array) + "\n");
        return kOk;
    }
    std::vector<std::vector<std::string>> rows{
        {"WORKFLOW", "VERSION", "REGISTERED", "INSTANCES OF ALL VERSIONS"}
    };
    for (std::string& cell : rows.front()) cell = terminal.paint(Color::Bold, cell);
    for (const WorkflowRow& row : rows_of) {
        std::string instances;
        for (const auto& [key, count] : counts) {
            if (key.first == row.name)
                instances +=
                    fmt::format("{}{} {}", instances.empty() ? "" : ", ", count, key.second);
        }
        rows.push_back(
            {row.name,
             std::to_string(row.version),
             human_time(row.created_at),
             instances.empty() ? "none" : instances}
        );
    }
    terminal.out(table(rows));
    return kOk;
}

}  // namespace ebb::cli
