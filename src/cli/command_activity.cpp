// `ebb stats --activity`: what started and ended, and how long it took.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/activity_source.h"
#include "cli/client.h"
#include "cli/table.h"
#include "cli/text.h"
#include "support/clock.h"

namespace ebb::cli {

namespace {

using view::Json;

constexpr std::size_t kBarsMax = 24;

/// The numbers as bars of eighths, several buckets in one bar if there are many.
std::string bars(const Style& style, const Json& numbers) {
    static constexpr std::string_view kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static constexpr std::string_view kSigns[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};
    const std::size_t width = (numbers.size() + kBarsMax - 1) / kBarsMax;
    std::vector<std::int64_t> sums;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i % width == 0) sums.push_back(0);
        sums.back() += numbers.at(i).get<std::int64_t>();
    }
    const std::int64_t most = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
    constexpr std::int64_t kEighths = 8;
    std::string text;
    for (const std::int64_t sum : sums) {
        // Whatever is not zero is seen.
        const std::int64_t height = sum == 0 ? 0 : std::max(std::int64_t{1}, sum * kEighths / most);
        const auto at = static_cast<std::size_t>(height);
        text += style.has_unicode() ? kBlocks[at] : kSigns[at];
    }
    return text;
}

std::string duration_text(const Json& seconds) {
    if (seconds.is_null()) return "-";
    return elapsed(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds.get<double>()))
    );
}

std::vector<std::string> row_of(const Style& style, const std::string& name, const Json& series) {
    const Json& total = series.at("total");
    std::vector<std::string> row{name};
    for (const char* count :
         {"started", "completed", "failed", "dead_letters", "compensated", "steps"}) {
        const auto number = total.at(count).get<std::int64_t>();
        row.push_back(number == 0 ? style.dim("-") : std::to_string(number));
    }
    row.push_back(duration_text(total.at("p50_seconds")));
    row.push_back(duration_text(total.at("p95_seconds")));
    row.push_back(bars(style, series.at("buckets").at("started")));
    return row;
}

std::string activity_table(Session& session, const Json& activity) {
    const Style& style = session.out();
    std::vector<std::string> header;
    for (const char* name :
         {"WORKFLOW",
          "STARTED",
          "COMPLETED",
          "FAILED",
          "DEAD",
          "UNDONE",
          "STEPS",
          "P50",
          "P95",
          "STARTS"}) {
        header.push_back(style.dim(name));
    }
    Table table(header);
    constexpr int kNameMin = 12;
    table.may_shrink(0, kNameMin);
    for (const Json& series : activity.at("workflows")) {
        table.add(row_of(style, one_line(series.at("workflow").get<std::string>()), series));
    }
    if (activity.at("workflows").size() > 1) {
        table.add(row_of(style, style.bold("all"), activity.at("all")));
    }
    return table.text(session.columns(), style.glyphs().ellipsis);
}

}  // namespace

int print_activity(Session& session, const ActivityOptions& options) {
    view::ActivityQuery query = options.query;
    if (options.step > Duration::zero()) query.step = options.step;
    Client& client = session.connect("stats");
    const Json activity = dynamic_cast<ActivitySource&>(client).activity(query);
    if (session.options().is_json) {
        session.print_json(activity);
        return kOk;
    }
    const Style& style = session.out();
    session.print(
        style.dim(fmt::format(
            "The last {}, in steps of {}",
            format_duration(query.window),
            activity.at("step").get<std::string>()
        )) +
        "\n"
    );
    if (activity.at("workflows").empty()) {
        session.print(style.dim("Nothing has started or ended in this time.") + "\n");
    } else {
        session.print("\n" + activity_table(session, activity));
    }
    if (const Json& from = activity.at("counted_from"); !from.is_null()) {
        session.print(
            style.dim(fmt::format(
                "Of the instances started before {}, not all are counted yet: ask again.",
                from.get<std::string>()
            )) +
            "\n"
        );
    }
    return kOk;
}

}  // namespace ebb::cli
