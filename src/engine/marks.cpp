#include "engine/view.h"

namespace ebb {

StepMarks marks_of(const InstanceView& view) {
    StepMarks marks;
    for (const StepView& step : view.steps) {
        const bool has_failed = step.output.empty() && !step.error.empty();
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
    return marks;
}

}  // namespace ebb
