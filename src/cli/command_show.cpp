// `ebb show`: an instance as a timeline.

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/read_history.h"
#include "cli/table.h"
#include "cli/text.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

using Color = Style::Color;

std::string_view glyph_of(StepStatus status, const Glyphs& glyphs) {
    switch (status) {
        case StepStatus::Pending:
            return glyphs.pending;
        case StepStatus::Running:
            return glyphs.running;
        case StepStatus::Retrying:
            return glyphs.retry;
        case StepStatus::Waiting:
            return glyphs.waiting;
        case StepStatus::Completed:
            return glyphs.done;
        case StepStatus::Failed:
        case StepStatus::CompensationFailed:
            return glyphs.failed;
        case StepStatus::Skipped:
            return glyphs.skipped;
        case StepStatus::Compensating:
        case StepStatus::Compensated:
            return glyphs.undone;
    }
    return glyphs.pending;
}

/// What of the history belongs below the line of a visit: attempts that failed, votes, the
/// compensation.
bool is_detail(std::string_view type) {
    return type == "step_retried" || type == "lease_lost" || type == "decision_made" ||
           type == "step_compensated" || type == "compensation_retried" ||
           type == "compensation_failed" || type == "compensation_skipped" ||
           type == "compensation_stopped";
}

class Timeline {
 public:
    Timeline(Session& session, const InstanceView& view, const std::vector<HistoryEntry>& history)
        : session_(session), style_(session.out()), view_(view) {
        std::map<std::int64_t, std::int64_t> visit_of;
        for (const HistoryEntry& entry : history) {
            visit_of[entry.seq] = entry.visit;
            if (!is_detail(entry.type)) continue;
            // A compensation is a visit of its own; it belongs to the step that it undoes.
            const bool undoes = entry.type.find("compensat") != std::string::npos;
            details_[undoes ? visit_of[entry.ref] : entry.visit].push_back(entry);
        }
    }

    std::string text(bool with_payloads) {
        Table table({"", "", "", "", ""});
        for (const StepView& step : view_.steps) {
            add_step(table, step);
            if (with_payloads) add_payloads(table, step);
            for (const HistoryEntry& entry : details_[step.visit]) add_detail(table, step, entry);
        }
        // Without the empty header.
        const std::string all = table.text(session_.columns(), style_.glyphs().ellipsis);
        return all.substr(all.find('\n') + 1);
    }

 private:
    static int depth_of(const StepView& step) {
        return step.path.empty()
                   ? 0
                   : 1 + static_cast<int>(std::count(step.path.begin(), step.path.end(), '/'));
    }

    static std::string indent(int depth) {
        return std::string(static_cast<std::size_t>(2 * depth + 2), ' ');
    }

    std::string since_start(TimePoint at) const {
        if (at == TimePoint{}) return {};
        const Duration since = at - view_.summary.created_at;
        return style_.dim("+" + elapsed(since));
    }

    std::string took(TimePoint from, TimePoint to) const {
        if (from == TimePoint{}) return {};
        if (to != TimePoint{}) return elapsed(to - from);
        return {};
    }

    std::string remark(const StepView& step) const {
        std::string text;
        if (step.attempts > 1) text = fmt::format("{} attempts", step.attempts);
        // A step that completed after all is no trouble any more; its failed attempts stand below.
        std::string more;
        if (step.output.empty() && !step.error.empty()) {
            more = style_.paint(Color::Red, failure_text(step.error));
        } else if (!step.output.empty()) {
            more = style_.dim(payload_text(step.output, 0, ""));
        }
        if (!step.path.empty() && more.empty()) more = style_.dim(step.path);
        if (!text.empty() && !more.empty()) text += "  ";
        return text + more;
    }

    void add_step(Table& table, const StepView& step) {
        const std::string_view status = to_string(step.status);
        const std::string mark =
            style_.paint(Style::color_of_status(status), glyph_of(step.status, style_.glyphs()));
        table.add({
            fmt::format("{}{} {}", indent(depth_of(step)), mark, step.node),
            style_.status(status),
            since_start(step.started_at == TimePoint{} ? step.finished_at : step.started_at),
            took(step.started_at, step.finished_at),
            remark(step),
        });
    }

    void add_payloads(Table& table, const StepView& step) const {
        const auto add = [&](std::string_view name, const Payload& payload) {
            if (payload.empty()) return;
            table.add(
                {indent(depth_of(step) + 1) + std::string(name), "", "", "", one_line(payload)}
            );
        };
        add("input", step.input);
        add("output", step.output);
    }

    void add_detail(Table& table, const StepView& step, const HistoryEntry& entry) const {
        const Glyphs& glyphs = style_.glyphs();
        std::string name = fmt::format("attempt {}", entry.attempt);
        std::string status = "failed";
        std::string text = failure_text(entry.payload);
        if (entry.type == "lease_lost") {
            status = "lost";
            text = "its worker stopped";
        } else if (entry.type == "decision_made") {
            name = member_text(entry.payload, "by");
            status = member_text(entry.payload, "verdict");
            text = member_text(entry.payload, "comment");
        } else if (entry.type == "step_compensated") {
            name = fmt::format("{} undo", glyphs.undone);
            status = "done";
            text.clear();
        } else if (entry.type == "compensation_skipped") {
            name = fmt::format("{} undo", glyphs.undone);
            status = "skipped";
            text = "by an operator";
        } else if (entry.type == "compensation_stopped") {
            name = fmt::format("{} undo, attempt {}", glyphs.undone, entry.attempt);
            status = "stopped";
            text = fmt::format("outcome {}", member_text(entry.payload, "outcome"));
        } else if (entry.type != "step_retried") {
            name = fmt::format("{} undo, attempt {}", glyphs.undone, entry.attempt);
        }
        table.add({
            indent(depth_of(step) + 1) + style_.dim(name),
            style_.dim(status),
            since_start(entry.started_at == TimePoint{} ? entry.at : entry.started_at),
            style_.dim(took(entry.started_at, entry.at)),
            text,
        });
    }

    Session& session_;
    const Style& style_;
    const InstanceView& view_;
    std::map<std::int64_t, std::vector<HistoryEntry>> details_;
};

std::string heading(Session& session, const InstanceView& view) {
    const InstanceSummary& summary = view.summary;
    const Style& style = session.out();
    std::string text = fmt::format(
        "{} v{}  {}\n", style.bold(summary.workflow), summary.version, style.status(summary.status)
    );
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) text += fmt::format("  {}  {}\n", style.dim(pad(name, 8)), value);
    };
    const int room = session.columns() == 0 ? 0 : std::max(session.columns() - 12, 20);
    const std::string_view ellipsis = style.glyphs().ellipsis;
    add("id", summary.id.to_string());
    add("key", one_line(summary.key));
    if (summary.priority != 0) add("priority", std::to_string(summary.priority));
    add("started",
        fmt::format(
            "{} UTC, {}", short_time(summary.created_at), ago(summary.created_at, session.now())
        ));
    if (summary.finished_at != TimePoint{}) {
        add("ended",
            fmt::format(
                "{} UTC, after {}",
                short_time(summary.finished_at),
                elapsed(summary.finished_at - summary.created_at)
            ));
    }
    add("input", payload_text(view.input, room, ellipsis));
    add("output", payload_text(view.output, room, ellipsis));
    if (!view.error.empty()) {
        const std::string step = member_text(view.error, "step");
        const std::string error =
            failure_text(view.error) + (step.empty() ? "" : fmt::format(" (at {})", step));
        std::string_view name = "error";
        for (const std::string& line : wrap(error, room == 0 ? 1'000'000 : room)) {
            add(std::exchange(name, ""), style.paint(Color::Red, line));
        }
    }
    return text;
}

}  // namespace

int show_instance(Session& session, const ShowOptions& options) {
    Engine& engine = session.client("show");
    const InstanceView view = engine.show(resolve_instance(engine, options.instance));
    if (session.options().is_json) {
        session.print_json(view::instance_json(view));
        return kOk;
    }
    std::string text = heading(session, view);
    if (!view.steps.empty()) {
        const auto history = read_history(engine, view.summary.id, 0);
        text += "\n" + Timeline(session, view, history).text(options.with_payloads);
    }
    const int room = session.columns() == 0 ? 1'000'000 : session.columns() - 2;
    bool is_first = true;
    for (const WaitingFor& wait : view.waiting_for) {
        if (wait.kind == "branches") continue;
        if (std::exchange(is_first, false)) text += "\n";
        for (const std::string& line : wrap(one_line(wait.sentence), room)) {
            text += "  " + line + "\n";
        }
    }
    session.print(text);
    return kOk;
}

}  // namespace ebb::cli
