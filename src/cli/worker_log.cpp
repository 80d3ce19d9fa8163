#include "cli/worker_log.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/text.h"
#include "cli/time_text.h"
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

Style::Color color_of(LogLevel level) {
    switch (level) {
        case LogLevel::Debug:
            return Style::Color::Dim;
        case LogLevel::Info:
            return Style::Color::None;
        case LogLevel::Warning:
            return Style::Color::Yellow;
        case LogLevel::Error:
            return Style::Color::Red;
    }
    return Style::Color::None;
}

/// A field as people read it: the short id of an instance, `order v1`, or else `key=value`.
std::string field_text(const LogField& field) {
    if (field.key == "instance") {
        if (const auto id = InstanceId::parse(field.value)) return short_id(*id);
    }
    if (field.key == "workflow") return one_line(field.value);
    if (field.key == "version") return "v" + one_line(field.value);
    return fmt::format("{}={}", field.key, logfmt_value(field.value));
}

/// The line on a terminal: the local time, the event in the color of its level, and the fields.
/// What does not fit continues on indented lines.
std::string terminal_entry(
    TimePoint now,
    LogLevel level,
    std::string_view event,
    std::span<const LogField> fields,
    const Style& style,
    int columns
) {
    constexpr std::size_t kDateLength = std::string_view("2026-11-21 ").size();
    constexpr int kIndent = 4;
    constexpr int kRoomMin = 20;
    const std::string time = absolute_time(now, Times::Local).substr(kDateLength) + " ";
    const std::string prefix =
        level >= LogLevel::Warning ? fmt::format("{}: ", to_string(level)) : std::string();
    const std::string head = prefix + one_line(event);
    std::string text = time + head;
    for (const LogField& field : fields) text += " " + field_text(field);
    std::string entry;
    const int room = std::max(columns - kIndent, kRoomMin);
    for (std::string line : wrap(text, columns > 0 ? room : display_width(text))) {
        if (!entry.empty()) entry += std::string(kIndent, ' ');
        // A word that is wider than the terminal, such as a list of many handlers.
        while (columns > 0 && display_width(line) > room) {
            const std::string part = truncate(line, room, "");
            entry += part + "\n" + std::string(kIndent, ' ');
            line.erase(0, part.size());
        }
        entry += line + "\n";
    }
    const std::size_t begin = time.size();
    const std::size_t end = std::min(entry.find('\n'), begin + head.size());
    return style.dim(time) + style.paint(color_of(level), entry.substr(begin, end - begin)) +
           entry.substr(end);
}

}  // namespace

void WorkerLog::write(
    LogLevel level, std::string_view event, std::span<const LogField> fields
) noexcept {
    try {
        const TimePoint now = session_.now();
        const Output& err = session_.streams().err;
        if (!session_.options().is_json) {
            err.write(
                err.is_terminal
                    ? terminal_entry(now, level, event, fields, session_.err(), err.columns())
                    : format_logfmt(now, level, event, fields) + "\n"
            );
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
