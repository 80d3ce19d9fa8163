#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/read_history.h"
#include "cli/table.h"
#include "cli/text.h"
#include "support/terminal.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

std::string node_text(const HistoryEntry& entry) {
    std::string text =
        entry.path.empty() ? entry.node : fmt::format("{}/{}", entry.path, entry.node);
    if (entry.attempt > 1) text += fmt::format(" #{}", entry.attempt);
    return text;
}

std::string detail_text(const HistoryEntry& entry, const Style& style, bool with_payloads) {
    if (entry.payload.empty()) {
        return entry.ref == 0 ? std::string() : style.dim(fmt::format("see {}", entry.ref));
    }
    const bool is_failure = entry.type == "step_failed" || entry.type == "step_retried" ||
                            entry.type == "compensation_failed" ||
                            entry.type == "compensation_retried";
    if (is_failure && !with_payloads) return failure_text(entry.payload);
    return with_payloads ? one_line(entry.payload)
                         : payload_text(entry.payload, 120, style.glyphs().ellipsis);
}

}  // namespace

int show_history(Session& session, const HistoryOptions& options) {
    Engine& engine = session.client("history");
    const InstanceId id = resolve_instance(engine, options.instance);
    const auto events = read_history(engine, id, options.after, options.limit.value_or(0));
    if (session.options().is_json) {
        const auto replace = nlohmann::ordered_json::error_handler_t::replace;
        for (const HistoryEntry& entry : events) {
            const std::string line = view::event_json(entry).dump(-1, ' ', false, replace);
            session.print(terminal_json(line) + "\n");
        }
        return kOk;
    }
    if (events.empty()) {
        session.note("No events.\n");
        return kOk;
    }
    const Style& style = session.out();
    const TimePoint start = engine.find(id)->created_at;
    Table table({
        style.dim("SEQ"),
        style.dim("AT"),
        style.dim("EVENT"),
        style.dim("NODE"),
        style.dim("TOOK"),
        style.dim("WORKER"),
        style.dim("DETAILS"),
    });
    const int columns = options.with_payloads ? 0 : session.columns();
    // The names of workers are long, and mostly the same.
    constexpr int kWorkerMin = 12;
    const int worker_max = columns == 0 ? 1'000 : std::max(columns / 5, kWorkerMin);
    for (const HistoryEntry& entry : events) {
        const bool has_run = entry.started_at != TimePoint{};
        table.add({
            std::to_string(entry.seq),
            "+" + elapsed(entry.at - start),
            entry.type,
            node_text(entry),
            has_run ? elapsed(entry.at - entry.started_at) : "",
            truncate(one_line(entry.worker), worker_max, style.glyphs().ellipsis),
            detail_text(entry, style, options.with_payloads),
        });
    }
    session.print(table.text(columns, style.glyphs().ellipsis));
    return kOk;
}

}  // namespace ebb::cli
