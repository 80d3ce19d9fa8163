#include "core/diagram/mark_style.h"

#include <fmt/format.h>

namespace ebb::diagram {

namespace {

using State = StepMark::State;

constexpr std::array<MarkStyle, kStates> kMarkStyles{{
    {State::Pending,
     "pending",
     "○",
     " ",
     "2",
     {"#ffffff", "#94a3b8", "#475569"},
     {"#1e293b", "#64748b", "#94a3b8"}},
    {State::Running,
     "running",
     "▶",
     ">",
     "1;34",
     {"#dbeafe", "#2563eb", "#1e40af"},
     {"#172554", "#60a5fa", "#bfdbfe"}},
    {State::Retrying,
     "retrying",
     "↻",
     "~",
     "1;33",
     {"#fef3c7", "#d97706", "#92400e"},
     {"#451a03", "#fbbf24", "#fde68a"}},
    {State::Waiting,
     "waiting",
     "◷",
     "?",
     "35",
     {"#ede9fe", "#7c3aed", "#5b21b6"},
     {"#2e1065", "#a78bfa", "#ddd6fe"}},
    {State::Completed,
     "completed",
     "✓",
     "+",
     "32",
     {"#dcfce7", "#16a34a", "#166534"},
     {"#052e16", "#4ade80", "#bbf7d0"}},
    {State::Failed,
     "failed",
     "✗",
     "x",
     "1;31",
     {"#fee2e2", "#dc2626", "#991b1b"},
     {"#450a0a", "#f87171", "#fecaca"}},
    {State::Skipped,
     "skipped",
     "⊘",
     "-",
     "2",
     {"#f1f5f9", "#94a3b8", "#64748b"},
     {"#0f172a", "#475569", "#94a3b8"}},
    {State::Compensating,
     "compensating",
     "↩",
     "<",
     "1;33",
     {"#ffedd5", "#ea580c", "#9a3412"},
     {"#431407", "#fb923c", "#fed7aa"}},
    {State::Compensated,
     "compensated",
     "↶",
     "u",
     "33",
     {"#fff7ed", "#c2410c", "#9a3412"},
     {"#2a1205", "#c2410c", "#fdba74"}},
    {State::CompensationFailed,
     "compensation failed",
     "‼",
     "!",
     "1;31",
     {"#fecdd3", "#be123c", "#881337"},
     {"#4c0519", "#fb7185", "#fecdd3"}},
}};

}  // namespace

const std::array<MarkStyle, kStates>& mark_styles() {
    return kMarkStyles;
}

const MarkStyle& style_of(StepMark::State state) {
    return mark_styles().at(static_cast<std::size_t>(state));
}

bool has_failed(const StepMark& mark) {
    const bool is_undone = mark.state == State::Compensated || mark.state == State::Compensating;
    return mark.state == State::Failed || (is_undone && mark.note.starts_with(kFailedNote));
}

StepMark::State shown_state(const StepMark& mark) {
    return has_failed(mark) ? State::Failed : mark.state;
}

std::string sign_of(const StepMark& mark) {
    std::string sign(style_of(shown_state(mark)).sign);
    if (has_failed(mark) && mark.state != State::Failed) sign += style_of(mark.state).sign;
    return sign;
}

std::string mark_words(const StepMark& mark) {
    std::string text(style_of(mark.state).words);
    if (has_failed(mark) && mark.state == State::Compensated) text = "failed, then undone";
    if (has_failed(mark) && mark.state == State::Compensating) text = "failed, is being undone";
    const bool goes_on = mark.state == State::Running || mark.state == State::Retrying;
    if (mark.attempts > 1)
        text += goes_on ? fmt::format(", attempt {}", mark.attempts)
                        : fmt::format(", {} attempts", mark.attempts);
    std::string_view note = mark.note;
    if (mark.state != State::Failed && has_failed(mark)) note.remove_prefix(kFailedNote.size());
    if (!note.empty()) text.append(": ").append(note);
    return text;
}

}  // namespace ebb::diagram
