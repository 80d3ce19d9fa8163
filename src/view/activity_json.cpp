#include <cmath>

#include "support/clock.h"
#include "view/activity.h"

namespace ebb::view {

namespace {

/// With three digits: the duration itself is not known better.
Json seconds_json(const std::optional<Duration>& duration) {
    if (!duration) return nullptr;
    const double seconds = std::chrono::duration<double>(*duration).count();
    if (seconds <= 0) return 0;
    constexpr double kDigits = 2;
    const double unit = std::pow(10.0, kDigits - std::floor(std::log10(seconds)));
    return std::round(seconds * unit) / unit;
}

constexpr double kHalf = 0.5;
constexpr double kMost = 0.95;

Json counts_json(const ActivityCell& cell) {
    return {
        {"started", cell.started},
        {"completed", cell.completed},
        {"failed", cell.failed},
        {"cancelled", cell.cancelled},
        {"aborted", cell.aborted},
        {"dead_letters", cell.dead_letters},
        {"compensated", cell.compensated},
        {"steps", cell.steps},
        {"p50_seconds", seconds_json(cell.durations.quantile(kHalf))},
        {"p95_seconds", seconds_json(cell.durations.quantile(kMost))},
        {"start_delay_p50_seconds", seconds_json(cell.delays.quantile(kHalf))},
        {"start_delay_p95_seconds", seconds_json(cell.delays.quantile(kMost))},
    };
}

/// The buckets by columns, which is a third as long as by rows.
Json series_json(const ActivitySeries& series) {
    Json json{{"total", counts_json(series.total)}, {"buckets", Json::object()}};
    const Json none = counts_json({});
    for (const auto& [name, value] : none.items()) json["buckets"][name] = Json::array();
    for (const ActivityCell& cell : series.buckets) {
        const Json counts = counts_json(cell);
        for (const auto& [name, value] : counts.items()) json["buckets"][name].push_back(value);
    }
    return json;
}

}  // namespace

Json activity_json(const ActivityReport& report) {
    Json json{
        {"from", time_json(report.span.from)},
        {"until", time_json(report.span.until)},
        {"step", format_duration(report.span.step)},
        {"complete", report.is_complete},
        {"counted_from", time_json(report.counted_from)},
        {"ends_left_out", report.has_left_ends_out},
        {"workflows_left_out", report.left_out},
        {"all", series_json(report.all)},
        {"workflows", Json::array()},
    };
    for (const ActivitySeries& series : report.workflows) {
        Json each{{"workflow", series.workflow}};
        each.update(series_json(series));
        json["workflows"].push_back(std::move(each));
    }
    return json;
}

}  // namespace ebb::view
