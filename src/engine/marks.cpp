#include <map>

#include <fmt/format.h>

#include "core/diagram/mark_style.h"
#include "engine/view.h"

namespace ebb {

StepMarks marks_of(const InstanceView& view) {
    StepMarks marks;
    std::map<std::string_view, int> turns;
    for (const StepView& step : view.steps) {
        const bool has_failed = step.output.empty() && !step.error.empty();
        ++turns[step.node];
        marks[step.node] = {
            .state = step.status,
            .attempts = step.attempts,
            .note = has_failed ? engine::describe_failure(step.error) : std::string(),
        };
    }
    for (const WaitingFor& wait : view.waiting_for) {
        const auto mark = marks.find(wait.node);
        const bool is_waiting = mark != marks.end() && mark->second.state == StepStatus::Waiting;
        if (is_waiting && mark->second.note.empty()) mark->second.note = wait.sentence;
    }
    for (auto& [node, mark] : marks) {
        const bool is_undone =
            mark.state == StepStatus::Compensated || mark.state == StepStatus::Compensating;
        if (is_undone && !mark.note.empty()) mark.note.insert(0, diagram::kFailedNote);
    }
    // A node of a loop: which turn the mark is about. Of an undone step it does not matter.
    for (auto& [node, mark] : marks) {
        const bool is_undone = mark.state == StepStatus::Compensated ||
                               mark.state == StepStatus::Compensating ||
                               mark.state == StepStatus::CompensationFailed;
        if (turns[node] < 2 || is_undone) continue;
        const std::string turn = fmt::format("turn {}", turns[node]);
        mark.note = mark.note.empty() ? turn : turn + ": " + mark.note;
    }
    return marks;
}

}  // namespace ebb
