#include "cli/trace_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/failure_text.h"
#include "cli/fill.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/time_text.h"

namespace ebb::cli {

namespace {

/// Of a value in a table on a terminal, and of one that has lines of its own.
constexpr int kValueMax = 40;
constexpr int kWholeValueMax = 1'000;

std::string writer_of(const TraceEntry& entry) {
    const std::string by = entry.by.empty() ? std::string() : " by " + one_line(entry.by);
    switch (entry.kind) {
        case TraceEntry::Kind::Transition:
            return entry.transition;
        case TraceEntry::Kind::Failed:
            // An exception that no transition has led to: an operator has taken the instance back.
            return entry.transition.empty() ? "exception" : entry.transition + " failed";
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
std::string changes_of(const TraceEntry& entry, const Style& style, int value_max) {
    std::vector<std::string> changes;
    for (const TraceEntry::Change& change : entry.changes) {
        changes.push_back(fmt::format(
            "{}{} {}{}",
            change.attribute,
            entry.kind == TraceEntry::Kind::Start
                ? std::string()
                : " " + payload_text(change.before, value_max, style.glyphs().ellipsis),
            entry.kind == TraceEntry::Kind::Start ? "= " : "-> ",
            payload_text(change.after, value_max, style.glyphs().ellipsis)
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

std::string at_of(const TraceEntry& entry, Times times, TimePoint start) {
    return times == Times::Relative ? "+" + elapsed(entry.at - start)
                                    : absolute_time(entry.at, times);
}

/// Each write in lines of its own, for a terminal that is too narrow for the table.
std::string trace_blocks(
    Session& session, const std::vector<TraceEntry>& entries, Times times, TimePoint start
) {
    const Style& style = session.out();
    const int columns = session.columns();
    std::size_t seq_width = 0;
    for (const TraceEntry& entry : entries) {
        seq_width = std::max(seq_width, std::to_string(entry.seq).size());
    }
    const int margin = static_cast<int>(seq_width) + 2;
    constexpr int kTitleWidth = 12;
    std::string text;
    for (const TraceEntry& entry : entries) {
        const std::string head = fmt::format(
            "{}{}  {}",
            pad(std::to_string(entry.seq), margin),
            style.dim(at_of(entry, times, start)),
            style.bold(writer_of(entry))
        );
        text += fold(head, columns, margin) + "\n";
        const auto add = [&](std::string_view title, const std::string& what) {
            if (what.empty()) return;
            const std::string line = std::string(static_cast<std::size_t>(margin), ' ') +
                                     pad(style.dim(title), kTitleWidth) + what;
            text += fold(line, columns, margin + kTitleWidth) + "\n";
        };
        add("changed", changes_of(entry, style, kWholeValueMax));
        add("conditions", turns_of(entry));
        add("fired", fired_of(entry));
    }
    return text;
}

}  // namespace

std::string trace_table(
    Session& session, const std::vector<TraceEntry>& entries, Times times, TimePoint start
) {
    const Style& style = session.out();
    const int columns = session.columns();
    std::vector<std::string> header{"SEQ", "AT", "WRITER", "CHANGED", "CONDITIONS", "FIRED"};
    for (std::string& title : header) title = style.dim(title);
    Table table(header);
    for (const TraceEntry& entry : entries) {
        table.add({
            std::to_string(entry.seq),
            at_of(entry, times, start),
            writer_of(entry),
            changes_of(entry, style, columns == 0 ? kWholeValueMax : kValueMax),
            turns_of(entry),
            fired_of(entry),
        });
    }
    if (!table.fits(columns)) return trace_blocks(session, entries, times, start);
    return table.text(columns, style.glyphs().ellipsis);
}

}  // namespace ebb::cli
