#include "cli/progress.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::cli {

namespace {

std::string failure_text(const Payload& payload) {
    const Json json = Json::parse(payload, nullptr, false);
    if (!json.is_object()) return payload;
    return shorten(
        fmt::format("{}: {}", json.value("code", "error"), json.value("message", "")), 120
    );
}

std::string took(const HistoryEntry& entry) {
    return entry.started_at == TimePoint{}
               ? std::string()
               : fmt::format("  {}", human_duration(entry.at - entry.started_at));
}

/// How an event is shown: its mark, colour and what follows the node's name.
struct Style {
    std::string_view type;
    std::string_view glyph;
    std::string_view plain;
    Color color;
    std::string_view text;
    bool shows_failure;
};

constexpr std::array kStyles = {
    Style{"step_completed", "✓", "+", Color::Green, "", false},
    Style{"step_retried", "⟳", "~", Color::Yellow, "will be tried again", true},
    Style{"step_failed", "✗", "x", Color::Red, "failed", true},
    Style{"step_stopped", "⊘", "/", Color::Yellow, "stopped", false},
    Style{"lease_lost", "⟳", "~", Color::Yellow, "lost its worker and is run again", false},
    Style{"timer_started", "◷", "?", Color::Cyan, "waits for its time", false},
    Style{"decision_awaited", "◷", "?", Color::Cyan, "waits for a decision", false},
    Style{"signal_awaited", "◷", "?", Color::Cyan, "waits for its signal", false},
    Style{"decision_made", "✎", "*", Color::Cyan, "was decided", false},
    Style{"signal_completed", "✓", "+", Color::Green, "got its signal", false},
    Style{"savepoint_reached", "⚑", "#", Color::Blue, "reached", false},
    Style{"rollback_started", "↩", "<", Color::Yellow, "ebbing back", false},
    Style{"step_compensated", "↩", "<", Color::Yellow, "compensated", false},
    Style{
        "compensation_retried",
        "⟳",
        "~",
        Color::Yellow,
        "its compensation will be tried again",
        true
    },
    Style{"compensation_failed", "✗", "x", Color::Red, "its compensation failed", true},
    Style{"compensation_skipped", "⊘", "/", Color::Yellow, "its compensation was skipped", false},
    Style{"resumed", "⚑", "#", Color::Blue, "tries again from the savepoint", false},
    Style{"dead_lettered", "✗", "x", Color::Red, "dead-lettered: an operator is needed", false},
    Style{"requeued", "⟳", "~", Color::Cyan, "requeued", false},
    Style{"cancel_requested", "⊘", "/", Color::Yellow, "cancel requested", false},
    Style{"paused", "‖", "|", Color::Yellow, "paused", false},
    Style{"unpaused", "▶", ">", Color::Cyan, "goes on", false},
};

}  // namespace

std::string progress_line(const Terminal& terminal, const HistoryEntry& entry) {
    const auto style = std::find_if(kStyles.begin(), kStyles.end(), [&](const Style& s) {
        return s.type == entry.type;
    });
    if (style == kStyles.end()) return {};
    std::string text = fmt::format("{} {}", terminal.glyph(style->glyph, style->plain), entry.node);
    if (!entry.path.empty()) text += fmt::format(" ({})", entry.path);
    text = terminal.paint_err(style->color, text);
    if (!style->text.empty()) text += fmt::format(" {}", style->text);
    if (style->shows_failure && !entry.payload.empty())
        text += fmt::format(": {}", failure_text(entry.payload));
    return text + took(entry);
}

void Progress::observe(const InstanceSummary& instance, std::span<const HistoryEntry> events) {
    if (format_ == Format::None) return;
    const std::lock_guard lock(mutex_);
    for (const HistoryEntry& entry : events) lines_.push_back({instance.id, entry});
}

void Progress::print(bool names_instance) {
    std::vector<Line> lines;
    {
        const std::lock_guard lock(mutex_);
        lines.swap(lines_);
    }
    for (const Line& line : lines) {
        if (format_ == Format::Json) {
            Json json = {
                {"instance", line.instance.to_string()},
                {"type", line.entry.type},
                {"at", format_time(line.entry.at)}
            };
            if (!line.entry.node.empty()) json["node"] = line.entry.node;
            terminal_.err(to_text(json) + "\n");
            continue;
        }
        const std::string text = progress_line(terminal_, line.entry);
        if (text.empty()) continue;
        terminal_.err(
            names_instance ? fmt::format("{}  {}\n", line.instance.to_string(), text) : text + "\n"
        );
    }
}

}  // namespace ebb::cli
