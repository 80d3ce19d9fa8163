#include "cli/trace_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/failure_text.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/time_text.h"

namespace ebb::cli {

namespace {

constexpr int kValueMax = 40;

std::string writer_of(const TraceEntry& entry) {
    const std::string by = entry.by.empty() ? std::string() : " by " + one_line(entry.by);
    switch (entry.kind) {
        case TraceEntry::Kind::Transition:
            return entry.transition;
        case TraceEntry::Kind::Failed:
            return entry.transition + " failed";
        case TraceEntry::Kind::Restore:
            return "undo of " + entry.transition;
        case TraceEntry::Kind::Fired:
            return "time of " + entry.transition;
        case TraceEntry::Kind::Start:
        case TraceEntry::Kind::Migrated:
        case TraceEntry::Kind::ByHandler:
        case TraceEntry::Kind::Outside:
        case TraceEntry::Kind::Repair:
        case TraceEntry::Kind::Resume:
            return std::string(to_string(entry.kind)) + by;
    }
    return {};
}

/// `price 0 -> 120, note null -> "x"`.
std::string changes_of(const TraceEntry& entry, const Style& style) {
    std::vector<std::string> changes;
    for (const TraceEntry::Change& change : entry.changes) {
        changes.push_back(fmt::format(
            "{}{} {}{}",
            change.attribute,
            entry.kind == TraceEntry::Kind::Start
                ? std::string()
                : " " + payload_text(change.before, kValueMax, style.glyphs().ellipsis),
            entry.kind == TraceEntry::Kind::Start ? "= " : "-> ",
            payload_text(change.after, kValueMax, style.glyphs().ellipsis)
        ));
        if (change.has_overwritten) changes.back() += " (overwrote)";
    }
    return fmt::format("{}", fmt::join(changes, ", "));
}

/// `+hotel -validate`: the conditions that are true now, and those that no longer are.
std::string turns_of(const TraceEntry& entry) {
    std::vector<std::string> turns;
    for (const TraceEntry::Turn& turn : entry.turns) {
        turns.push_back((turn.is_true ? "+" : "-") + turn.name);
    }
    return fmt::format("{}", fmt::join(turns, " "));
}

std::string fired_of(const TraceEntry& entry) {
    std::string text = fmt::format("{}", fmt::join(entry.fired, ", "));
    const auto add = [&text](const std::string& more) {
        text += (text.empty() ? "" : "; ") + more;
    };
    if (!entry.armed.empty()) add(fmt::format("armed {}", fmt::join(entry.armed, ", ")));
    if (!entry.final_condition.empty()) add("final " + entry.final_condition);
    if (!entry.exception.empty()) add("exception " + entry.exception);
    return text;
}

}  // namespace

std::string trace_table(
    Session& session, const std::vector<TraceEntry>& entries, Times times, TimePoint start
) {
    const Style& style = session.out();
    std::vector<std::string> header{"SEQ", "AT", "WRITER", "CHANGED", "CONDITIONS", "FIRED"};
    for (std::string& title : header) title = style.dim(title);
    Table table(header);
    constexpr int kColumnMin = 12;
    table.may_shrink(3, kColumnMin);
    table.may_shrink(4, kColumnMin);
    for (const TraceEntry& entry : entries) {
        table.add({
            std::to_string(entry.seq),
            times == Times::Relative ? "+" + elapsed(entry.at - start)
                                     : absolute_time(entry.at, times),
            writer_of(entry),
            changes_of(entry, style),
            turns_of(entry),
            fired_of(entry),
        });
    }
    return table.text(session.columns(), style.glyphs().ellipsis);
}

}  // namespace ebb::cli
