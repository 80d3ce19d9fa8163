#include "cli/outline_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/failure_text.h"
#include "cli/text.h"
#include "cli/time_text.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

std::string due_text(const WaitingFor& wait, TimePoint now) {
    return wait.until == kNever ? std::string() : ", " + until_text(wait.until, now);
}

std::string wait_text(const WaitingFor& wait, TimePoint now, const Style& style) {
    const std::string node = one_line(wait.node);
    const std::string what = one_line(wait.what);
    if (wait.kind == "handler") return node;
    if (wait.kind == "decision") return fmt::format("decision {}{}", node, due_text(wait, now));
    if (wait.kind == "signal") return fmt::format("signal {}{}", what, due_text(wait, now));
    if (wait.kind == "timer") return fmt::format("timer {}{}", node, due_text(wait, now));
    if (wait.kind == "retry") return fmt::format("retry of {}{}", node, due_text(wait, now));
    if (wait.kind == "queue") return fmt::format("queue {} for {}", what, node);
    if (wait.kind == "worker" && what.empty()) return style.paint(Color::Red, "needs a worker");
    if (wait.kind == "worker") {
        return style.paint(Color::Red, fmt::format("no worker has {}", what));
    }
    if (wait.kind == "operator") return "operator: " + what;
    return wait.kind == "snapshot" ? "moved to a snapshot" : one_line(wait.sentence);
}

}  // namespace

std::string_view shown_status(const view::Outline& outline) {
    const InstanceStatus status = outline.summary.status;
    return status == InstanceStatus::Running && outline.is_waiting() ? "waiting"
                                                                     : to_string(status);
}

bool is_waiting(const InstanceView& view) {
    return view.summary.status == InstanceStatus::Running && !view.waiting_for.empty() &&
           std::none_of(view.waiting_for.begin(), view.waiting_for.end(), [](const auto& wait) {
               return wait.kind == "handler";
           });
}

std::string details_of(const view::Outline& outline, TimePoint now, const Style& style) {
    const InstanceSummary& summary = outline.summary;
    if (!outline.error.empty()) {
        const std::string text = cause_text(outline.error);
        const bool is_failure = summary.status != InstanceStatus::Cancelled &&
                                summary.status != InstanceStatus::Aborted;
        return is_failure ? style.paint(Color::Red, text) : style.dim(text);
    }
    if (summary.finished_at != TimePoint{}) {
        return style.dim("took " + elapsed(summary.finished_at - summary.created_at));
    }
    std::string text;
    int more = 0;
    for (const WaitingFor& wait : outline.waiting_for) {
        if (wait.kind == "branches") continue;
        if (text.empty()) {
            text = wait_text(wait, now, style);
        } else {
            ++more;
        }
    }
    if (more > 0) text += style.dim(fmt::format(" +{} more", more));
    return text;
}

}  // namespace ebb::cli
