#include "cli/progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/failure_text.h"
#include "cli/text.h"
#include "support/clock.h"

namespace ebb::cli {

namespace {

using Mark = ProgressLine::Mark;
using Kind = LiveLine::Kind;

std::string attempts_text(int attempts) {
    return attempts > 1 ? fmt::format("attempt {}", attempts) : std::string();
}

/// The events that end a wait, or a step, at a node.
bool ends_node(std::string_view type) {
    return type == "step_completed" || type == "step_failed" || type == "step_stopped" ||
           type == "step_skipped" || type == "timer_fired" || type == "decision_completed" ||
           type == "signal_completed";
}

}  // namespace

const NodeFacts& Progress::facts(const std::string& node) const {
    static const NodeFacts unknown;
    const auto found = nodes_.find(node);
    return found == nodes_.end() ? unknown : found->second;
}

/// A compensation is named after its handler if that name says more than the step's name.
std::string Progress::undo_text(const std::string& node) const {
    const std::string& handler = facts(node).compensation;
    return handler.empty() ? node : handler;
}

ProgressLine Progress::line(Mark mark, const HistoryEntry& event, std::string text) const {
    const bool has_run = event.started_at != TimePoint{};
    return {
        .mark = mark,
        .name = event.node,
        .text = std::move(text),
        .took = has_run ? event.at - event.started_at : Duration::zero(),
        .depth = facts(event.node).depth,
    };
}

/// A message that is already on the screen is not repeated: the attempts of a step mostly fail
/// alike.
std::string Progress::say_failure(const HistoryEntry& event, bool is_compensation) {
    std::string text = failure_text(event.payload);
    std::string& said = said_[{event.node, is_compensation}];
    if (said == text) {
        const std::string code = member_text(event.payload, "code");
        text = code.empty() ? "failed again" : code + " again";
    } else {
        said = text;
    }
    const bool has_attempts = event.attempt > 1 || event.type.ends_with("_retried");
    return has_attempts ? fmt::format("{} (attempt {})", text, event.attempt) : text;
}

bool Progress::has_said(const Payload& failure) const {
    const std::string text = failure_text(failure);
    return std::any_of(said_.begin(), said_.end(), [&](const auto& said) {
        return said.second == text;
    });
}

void Progress::end_live(const HistoryEntry& event, bool is_compensation) {
    const auto found = live_.find({event.node, is_compensation});
    // The next visit's call may have begun before this visit's end was read.
    if (found != live_.end() && found->second.at <= event.at) live_.erase(found);
}

void Progress::add_live(const HistoryEntry& event, bool is_compensation, LiveLine line) {
    Live& live = live_[{event.node, is_compensation}];
    if (live.at > event.at) return;
    line.since = event.at;
    line.depth = facts(event.node).depth;
    live = {std::move(line), event.at};
}

void Progress::read(const CallStarted& call) {
    Live& live = live_[{call.node, call.is_compensation}];
    LiveLine line{
        .kind = call.is_compensation ? Kind::Undoing : Kind::Running,
        .name = call.is_compensation ? call.handler : call.node,
        .text = call.is_compensation ? fmt::format("undoes {}", call.node) : "",
        .since = call.at,
        .depth = facts(call.node).depth,
    };
    if (call.attempt > 1) {
        if (!line.text.empty()) line.text += ", ";
        line.text += fmt::format("attempt {} of {}", call.attempt, call.max_attempts);
    }
    live = {std::move(line), call.at};
}

std::optional<ProgressLine> Progress::read(const HistoryEntry& event) {
    if (event.seq <= last_seq_) return std::nullopt;
    last_seq_ = event.seq;
    if (!event.node.empty() && ends_node(event.type)) end_live(event, false);
    if (auto line = read_step(event)) return line;
    if (auto line = read_compensation(event)) return line;
    if (auto line = read_wait(event)) return line;
    return read_instance(event);
}

std::optional<ProgressLine> Progress::read_step(const HistoryEntry& event) {
    if (event.type == "step_completed") {
        return line(Mark::Done, event, attempts_text(event.attempt));
    }
    if (event.type == "step_retried") {
        add_live(event, false, {.kind = Kind::Retrying, .name = event.node, .text = "tries again"});
        return line(Mark::Retry, event, say_failure(event, false));
    }
    if (event.type == "step_failed") return line(Mark::Failed, event, say_failure(event, false));
    if (event.type == "step_stopped") return line(Mark::Skipped, event, "was stopped");
    if (event.type == "lease_lost") {
        end_live(event, false);
        end_live(event, true);
        return line(Mark::Retry, event, "its worker stopped; another one takes over");
    }
    return std::nullopt;
}

std::optional<ProgressLine> Progress::read_compensation(const HistoryEntry& event) {
    const auto undo = [&](Mark mark, const std::string& text) {
        ProgressLine result = line(mark, event, fmt::format("undoes {}", event.node));
        const bool has_failed = mark == Mark::UndoFailed || mark == Mark::Retry;
        if (!text.empty()) result.text += (has_failed ? ": " : ", ") + text;
        result.name = undo_text(event.node);
        return result;
    };
    if (event.type == "step_compensated") {
        end_live(event, true);
        return undo(Mark::Undone, attempts_text(event.attempt));
    }
    if (event.type == "compensation_retried") {
        add_live(
            event,
            true,
            {.kind = Kind::Retrying,
             .name = undo_text(event.node),
             .text = fmt::format("undoes {}, tries again", event.node)}
        );
        return undo(Mark::Retry, say_failure(event, true));
    }
    if (event.type == "compensation_failed") {
        end_live(event, true);
        return undo(Mark::UndoFailed, say_failure(event, true));
    }
    if (event.type == "compensation_skipped") {
        end_live(event, true);
        return undo(Mark::Skipped, "was skipped by an operator");
    }
    if (event.type == "compensation_stopped") {
        end_live(event, true);
        return undo(Mark::Skipped, "was stopped");
    }
    return std::nullopt;
}

std::optional<ProgressLine> Progress::read_wait(const HistoryEntry& event) {
    const auto wait = [&](const std::string& text) {
        add_live(
            event,
            false,
            {.kind = Kind::Waiting,
             .name = event.node,
             .text = text,
             .until = parse_time(member_text(event.payload, "due")).value_or(kNever)}
        );
        return line(Mark::Waiting, event, text);
    };
    if (event.type == "timer_started")
        return wait("waits until " + member_text(event.payload, "due"));
    if (event.type == "signal_awaited") {
        return wait(fmt::format("waits for the signal \"{}\"", facts(event.node).signal));
    }
    if (event.type == "decision_awaited") {
        const auto& roles = facts(event.node).roles;
        return wait(
            roles.empty() ? std::string("waits for a decision")
                          : fmt::format("waits for a decision of {}", fmt::join(roles, " or "))
        );
    }
    if (event.type == "decision_made") {
        const std::string by = member_text(event.payload, "by");
        return line(
            Mark::Notice,
            event,
            fmt::format(
                "{}{}", member_text(event.payload, "verdict"), by.empty() ? "" : " by " + by
            )
        );
    }
    if (event.type == "timer_fired" || event.type == "signal_completed" ||
        event.type == "decision_completed") {
        return line(Mark::Done, event, "");
    }
    return std::nullopt;
}

std::optional<ProgressLine> Progress::read_instance(const HistoryEntry& event) {
    const auto notice = [&](std::string text) {
        return line(Mark::Notice, event, std::move(text));
    };
    if (event.type == "rollback_started") {
        // Waits and retries stop here. Running steps report their own end.
        if (event.node.empty()) {
            std::erase_if(live_, [](const auto& entry) {
                return entry.second.line.kind == Kind::Waiting ||
                       entry.second.line.kind == Kind::Retrying;
            });
        }
        const std::string savepoint = member_text(event.payload, "savepoint");
        return notice(
            savepoint.empty() ? "rolls back" : "rolls back to the savepoint " + savepoint
        );
    }
    if (event.type == "resumed") return notice("continues from the savepoint " + event.node);
    if (event.type == "cancel_requested") return notice("cancelled" + request_text(event.payload));
    if (event.type == "abort_requested") return notice("aborted" + request_text(event.payload));
    if (event.type == "paused") return notice("paused" + request_text(event.payload));
    if (event.type == "unpaused") return notice("resumed" + request_text(event.payload));
    if (event.type == "moved") return notice("moved: it continues elsewhere, from its snapshot");
    if (event.type == "arrived") return notice("arrived from a snapshot");
    if (event.type == "dead_lettered") return notice("dead-lettered: waits for an operator");
    if (event.type == "requeued") return notice("requeued" + request_text(event.payload));
    if (event.type == "completed" || event.type == "failed" || event.type == "cancelled" ||
        event.type == "aborted") {
        is_finished_ = true;
        live_.clear();
    }
    return std::nullopt;
}

std::vector<LiveLine> Progress::live() const {
    std::vector<LiveLine> lines;
    for (const auto& [key, live] : live_) lines.push_back(live.line);
    std::stable_sort(lines.begin(), lines.end(), [](const LiveLine& left, const LiveLine& right) {
        return left.since < right.since;
    });
    return lines;
}

}  // namespace ebb::cli
