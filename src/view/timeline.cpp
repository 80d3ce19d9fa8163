#include "view/timeline.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace ebb::view {

namespace {

/// A shorter wait for a worker is none.
constexpr Duration kQueueMin = std::chrono::milliseconds(1);

constexpr std::array<std::string_view, 3> kBegins{
    "decision_awaited", "timer_started", "signal_awaited"
};
constexpr std::array<std::string_view, 5> kEnds{
    "decision_completed", "decision_made", "timer_fired", "signal_completed", "branch_failed"
};

template <class Names>
bool is_among(const Names& names, std::string_view type) {
    return std::find(names.begin(), names.end(), type) != names.end();
}

std::string back_kind(std::string_view type) {
    if (type == "step_compensated") return "undo";
    return type == "compensation_skipped" ? "wait" : "undo_failed";
}

Json number_or_null(std::int64_t number) {
    return number == 0 ? Json() : Json(number);
}

Json row_json(const TimelineSpan& span) {
    return {
        {"kind", span.kind},
        {"node", span.node},
        {"path", text_json(span.path)},
        {"visit", number_or_null(span.visit)},
        {"is_compensation", span.is_compensation},
        {"attempt", number_or_null(span.attempt)},
        {"seq", number_or_null(span.seq)},
        {"worker", text_json(span.worker)},
        {"code", text_json(span.code)},
        {"from", time_json(span.from)},
        {"to", time_json(span.to)},
        {"is_open", span.is_open},
        {"spans", span.spans},
        {"seconds", std::chrono::duration<double>(span.total).count()},
    };
}

}  // namespace

std::vector<std::size_t>& Timeline::lane_of(const HistoryEntry& event, bool is_back) {
    return lanes_[{is_back, {event.node, event.visit}}];
}

void Timeline::push(
    std::vector<std::size_t>& lane,
    std::string kind,
    const HistoryEntry& event,
    std::pair<TimePoint, TimePoint> range,
    bool is_back
) {
    lane.push_back(spans_.size());
    spans_.push_back({
        .kind = std::move(kind),
        .node = event.node,
        .path = event.path,
        .visit = event.visit,
        .is_compensation = is_back,
        .attempt = event.attempt,
        .seq = event.seq,
        .worker = event.worker,
        .code = code_,
        .from = range.first,
        .to = std::max(range.first, range.second),
    });
}

void Timeline::add_attempt(const HistoryEntry& event, std::string kind, bool is_back) {
    auto& lane = lane_of(event, is_back);
    const TimePoint begin = event.started_at == TimePoint{} ? event.at : event.started_at;
    HistoryEntry pause = event;
    pause.worker.clear();
    if (!lane.empty() && begin > spans_[lane.back()].to) {
        const TimePoint end = spans_[lane.back()].to;
        push(lane, "retry", pause, {end, begin}, is_back);
        spans_.back().code.clear();
    } else if (lane.empty() && !is_back && event.attempt == 1) {
        // The event with its input is the time from which on a worker could have begun.
        const auto due = times_.find(event.ref);
        if (due != times_.end() && begin - due->second >= kQueueMin) {
            push(lane, "queue", pause, {due->second, begin}, is_back);
            spans_.back().code.clear();
        }
    }
    push(lane, std::move(kind), event, {begin, event.at}, is_back);
}

void Timeline::add(const HistoryEntry& event, const std::string& code) {
    code_ = code;
    times_.emplace(event.seq, event.at);
    from_ = std::min(from_, event.at);
    to_ = std::max(to_, event.at);
    if (event.node.empty()) return;
    const std::string_view type = event.type;
    if (type.starts_with("compensation_") || type == "step_compensated") {
        add_attempt(event, back_kind(type), true);
    } else if (event.started_at != TimePoint{}) {
        add_attempt(event, type == "step_completed" ? "attempt" : "failed", false);
    } else if (is_among(kBegins, type)) {
        push(lane_of(event, false), "wait", event, {event.at, event.at}, false);
        spans_.back().is_open = true;
    } else if (is_among(kEnds, type)) {
        for (const std::size_t at : lane_of(event, false)) {
            TimelineSpan& span = spans_[at];
            if (span.kind != "wait" || !span.is_open) continue;
            span.to = event.at;
            span.seq = event.seq;
            span.is_open = false;
        }
    }
}

void Timeline::finish(std::span<const StepView> steps, TimePoint now, bool is_over) {
    const TimePoint end = is_over ? to_ : std::max(to_, now);
    for (TimelineSpan& span : spans_) {
        if (!span.is_open) continue;
        span.to = std::max(span.from, end);
        span.is_open = !is_over;
    }
    code_.clear();
    for (const StepView& step : steps) {
        const bool is_running = step.status == StepStatus::Running;
        const bool is_live = is_running || step.status == StepStatus::Retrying;
        if (is_over || !is_live || step.started_at == TimePoint{}) continue;
        const HistoryEntry last{
            .node = step.node,
            .path = step.path,
            .visit = step.visit,
            .attempt = step.attempts,
            .worker = step.worker,
        };
        auto& lane = lane_of(last, false);
        const TimePoint begin = lane.empty() ? step.started_at : spans_[lane.back()].to;
        push(lane, is_running ? "running" : "retry", last, {begin, end}, false);
        spans_.back().is_open = true;
    }
    to_ = end;
    for (TimelineSpan& span : spans_) span.total = span.to - span.from;
}

std::vector<TimelineSpan> Timeline::rows() const {
    std::vector<TimelineSpan> rows;
    if (spans_.size() <= kRowsMax) {
        rows = spans_;
    } else {
        std::map<std::tuple<bool, std::string, std::string>, TimelineSpan> sums;
        for (const TimelineSpan& span : spans_) {
            TimelineSpan& sum = sums[{span.is_compensation, span.node, span.kind}];
            if (sum.node.empty()) {
                sum = {.kind = span.kind, .node = span.node, .from = span.from, .spans = 0};
                sum.is_compensation = span.is_compensation;
            }
            sum.from = std::min(sum.from, span.from);
            sum.to = std::max(sum.to, span.to);
            sum.is_open = sum.is_open || span.is_open;
            sum.total += span.total;
            ++sum.spans;
        }
        for (auto& [key, sum] : sums) rows.push_back(std::move(sum));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return a.from < b.from;
    });
    if (rows.size() > kRowsMax) rows.resize(kRowsMax);
    return rows;
}

Json Timeline::json() const {
    Json items = Json::array();
    for (const TimelineSpan& row : rows()) items.push_back(row_json(row));
    const bool has_events = !times_.empty();
    return {
        {"from", has_events ? time_json(from_) : Json()},
        {"to", has_events ? time_json(to_) : Json()},
        {"spans", spans_.size()},
        {"is_aggregated", spans_.size() > kRowsMax},
        {"items", std::move(items)},
    };
}

}  // namespace ebb::view
