#include "cli/worker_log.h"

#include <vector>

#include <nlohmann/json.hpp>

#include "cli/failure_text.h"
#include "cli/text.h"
#include "support/terminal.h"

namespace ebb::cli {

namespace {

/// Problems are warnings. Internal events are only for --verbose.
LogLevel level_of(std::string_view type) {
    if (type == "compensation_failed" || type == "dead_lettered") return LogLevel::Error;
    if (type == "step_failed" || type == "step_retried" || type == "lease_lost" ||
        type == "compensation_retried" || type == "failed") {
        return LogLevel::Warning;
    }
    if (type == "input_resolved" || type == "branch_taken" || type == "scope_opened" ||
        type == "branch_completed" || type == "scope_joined" || type == "loop_finished" ||
        type == "savepoint_reached" || type == "step_skipped") {
        return LogLevel::Debug;
    }
    return LogLevel::Info;
}

bool holds_failure(std::string_view type) {
    return type == "step_failed" || type == "step_retried" || type == "compensation_retried" ||
           type == "compensation_failed";
}

}  // namespace

void WorkerLog::write(
    LogLevel level, std::string_view event, std::span<const LogField> fields
) noexcept {
    try {
        const TimePoint now = session_.now();
        if (!session_.options().is_json) {
            session_.streams().err.write(format_logfmt(now, level, event, fields) + "\n");
            return;
        }
        nlohmann::ordered_json json = {
            {"time", format_time(now)}, {"level", to_string(level)}, {"event", event}
        };
        for (const LogField& field : fields) json[std::string(field.key)] = field.value;
        const auto replace = nlohmann::ordered_json::error_handler_t::replace;
        session_.streams().out.write(terminal_json(json.dump(-1, ' ', false, replace)) + "\n");
    } catch (...) {
        // A log without a reader is not a reason to stop working.
    }
}

void WorkerLog::write(const CallStarted& call) noexcept {
    if (!is_enabled(LogLevel::Debug)) return;
    const std::vector<LogField> fields{
        {"instance", call.instance.to_string()},
        {"node", call.node},
        {"handler", call.handler},
        {"attempt", call.attempt},
    };
    write(LogLevel::Debug, "call_started", fields);
}

void WorkerLog::write(
    const InstanceSummary& instance, std::span<const HistoryEntry> events
) noexcept {
    for (const HistoryEntry& entry : events) {
        const LogLevel level = level_of(entry.type);
        if (!is_enabled(level)) continue;
        std::vector<LogField> fields{
            {"instance", instance.id.to_string()}, {"workflow", instance.workflow}
        };
        fields.emplace_back("version", instance.version);
        if (!entry.node.empty()) fields.emplace_back("node", entry.node);
        if (entry.attempt > 1) fields.emplace_back("attempt", entry.attempt);
        if (entry.started_at != TimePoint{}) {
            fields.emplace_back("took", elapsed(entry.at - entry.started_at));
        }
        if (holds_failure(entry.type)) fields.emplace_back("error", failure_text(entry.payload));
        write(level, entry.type, fields);
    }
}

}  // namespace ebb::cli
