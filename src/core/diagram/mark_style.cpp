#include "core/diagram/mark_style.h"

#include <fmt/format.h>

namespace ebb::diagram {

namespace {

using enum StepMark::State;

constexpr std::array<MarkStyle, kStates> kStyles{{
    {Pending,
     "pending",
     "pending",
     "○",
     " ",
     "2",
     {"#ffffff", "#94a3b8", "#475569"},
     {"#1e293b", "#64748b", "#94a3b8"}},
    {Running,
     "running",
     "running",
     "▶",
     ">",
     "1;34",
     {"#dbeafe", "#2563eb", "#1e40af"},
     {"#172554", "#60a5fa", "#bfdbfe"}},
    {Retrying,
     "retrying",
     "retrying",
     "↻",
     "~",
     "1;33",
     {"#fef3c7", "#d97706", "#92400e"},
     {"#451a03", "#fbbf24", "#fde68a"}},
    {Waiting,
     "waiting",
     "waiting",
     "◷",
     "?",
     "35",
     {"#ede9fe", "#7c3aed", "#5b21b6"},
     {"#2e1065", "#a78bfa", "#ddd6fe"}},
    {Completed,
     "completed",
     "completed",
     "✓",
     "+",
     "32",
     {"#dcfce7", "#16a34a", "#166534"},
     {"#052e16", "#4ade80", "#bbf7d0"}},
    {Failed,
     "failed",
     "failed",
     "✗",
     "x",
     "1;31",
     {"#fee2e2", "#dc2626", "#991b1b"},
     {"#450a0a", "#f87171", "#fecaca"}},
    {Skipped,
     "skipped",
     "skipped",
     "⊘",
     "-",
     "2",
     {"#f1f5f9", "#94a3b8", "#64748b"},
     {"#0f172a", "#475569", "#94a3b8"}},
    {Compensating,
     "compensating",
     "compensating",
     "↩",
     "<",
     "1;33",
     {"#ffedd5", "#ea580c", "#9a3412"},
     {"#431407", "#fb923c", "#fed7aa"}},
    {Compensated,
     "compensated",
     "compensated",
     "↶",
     "u",
     "33",
     {"#fff7ed", "#c2410c", "#9a3412"},
     {"#2a1205", "#c2410c", "#fdba74"}},
    {CompensationFailed,
     "compensation_failed",
     "compensation failed",
     "‼",
     "!",
     "1;31",
     {"#fecdd3", "#be123c", "#881337"},
     {"#4c0519", "#fb7185", "#fecdd3"}},
}};

}  // namespace

const std::array<MarkStyle, kStates>& mark_styles() {
    return kStyles;
}

const MarkStyle& style_of(StepMark::State state) {
    return mark_styles().at(static_cast<std::size_t>(state));
}

std::string mark_words(const StepMark& mark) {
    std::string text(style_of(mark.state).words);
    const bool goes_on =
        mark.state == StepMark::State::Running || mark.state == StepMark::State::Retrying;
    if (mark.attempts > 1)
        text += goes_on ? fmt::format(", attempt {}", mark.attempts)
                        : fmt::format(", {} attempts", mark.attempts);
    if (!mark.note.empty()) text += ": " + mark.note;
    return text;
}

}  // namespace ebb::diagram

namespace ebb {

std::string_view to_string(StepMark::State state) {
    return diagram::style_of(state).name;
}

}  // namespace ebb
