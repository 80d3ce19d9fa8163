#include "view/activity_counts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/error.h>

#include "support/clock.h"

namespace ebb::view {

namespace {

constexpr double kBucketsPerOctave = 4;
/// Of everything below a microsecond, which is as good as nothing.
constexpr int kShortest = -1;

int bucket_of(Duration duration) {
    if (duration < Duration(1)) return kShortest;
    return static_cast<int>(
        std::floor(std::log2(static_cast<double>(duration.count())) * kBucketsPerOctave)
    );
}

/// The geometric middle of the bucket, whose ends are 9 % away.
Duration middle_of(int bucket) {
    if (bucket == kShortest) return Duration::zero();
    const double middle = std::exp2((bucket + 0.5) / kBucketsPerOctave);
    return Duration(std::max<std::int64_t>(1, std::llround(middle)));
}

std::string steps_text() {
    std::vector<std::string> steps;
    for (const ActivityLevel& level : kActivityLevels) {
        steps.push_back(format_duration(level.step));
    }
    return fmt::format("{}", fmt::join(steps, ", "));
}

[[noreturn]] void refuse(std::string message) {
    throw Error(ErrorCode::InvalidArgument, std::move(message));
}

/// The narrowest level that still has what the window begins with.
const ActivityLevel& level_for(const ActivityQuery& query, TimePoint from, TimePoint now) {
    for (const ActivityLevel& level : kActivityLevels) {
        const bool is_wanted = query.step ? level.step == *query.step : query.window >= level.step;
        if (!is_wanted || from + level.kept < now) continue;
        return level;
    }
    if (!query.step) {
        refuse(fmt::format(
            "The activity of that time is not kept: a window begins at most {} ago.",
            format_duration(ActivityQuery::kWindowMax)
        ));
    }
    const auto level = std::find_if(
        kActivityLevels.begin(),
        kActivityLevels.end(),
        [&](const ActivityLevel& each) { return each.step == *query.step; }
    );
    if (level == kActivityLevels.end()) {
        refuse(fmt::format(
            "\"{}\" is not a step of the activity; the steps are {}.",
            format_duration(*query.step),
            steps_text()
        ));
    }
    refuse(fmt::format(
        "A step of {} is kept for {}. Ask for a shorter or later window, or for a longer step.",
        format_duration(level->step),
        format_duration(level->kept)
    ));
}

Duration slot_of(std::size_t level) {
    return kActivityLevels.at(level).step / ActivitySamples::kSamples;
}

}  // namespace

void DurationHistogram::add(Duration duration) {
    counts_[bucket_of(duration)] += 1;
    count_ += 1;
}

void DurationHistogram::add(const DurationHistogram& other) {
    for (const auto& [bucket, count] : other.counts_) counts_[bucket] += count;
    count_ += other.count_;
}

std::optional<Duration> DurationHistogram::quantile(double share) const {
    if (count_ == 0) return std::nullopt;
    const auto rank = std::max(
        std::int64_t{1}, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)))
    );
    std::int64_t seen = 0;
    for (const auto& [bucket, count] : counts_) {
        seen += count;
        if (seen >= rank) return middle_of(bucket);
    }
    return middle_of(counts_.rbegin()->first);
}

void ActivityCell::add(const ActivityCell& other) {
    started += other.started;
    completed += other.completed;
    failed += other.failed;
    cancelled += other.cancelled;
    aborted += other.aborted;
    dead_letters += other.dead_letters;
    compensated += other.compensated;
    steps += other.steps;
    durations.add(other.durations);
    delays.add(other.delays);
}

ActivityLevels ActivitySamples::missing(TimePoint at, TimePoint now) const {
    ActivityLevels levels{};
    for (std::size_t level = 0; level < kActivityLevels.size(); ++level) {
        const bool is_taken = taken_.at(level).contains(at.time_since_epoch() / slot_of(level));
        levels.at(level) = !is_taken && WorkflowActivity::keeps(level, at, now);
    }
    return levels;
}

void ActivitySamples::take(TimePoint at, const ActivityLevels& levels) {
    for (std::size_t level = 0; level < kActivityLevels.size(); ++level) {
        if (levels.at(level)) taken_.at(level).insert(at.time_since_epoch() / slot_of(level));
    }
}

void ActivitySamples::forget_before(TimePoint now) {
    for (std::size_t level = 0; level < kActivityLevels.size(); ++level) {
        const auto& [step, kept] = kActivityLevels.at(level);
        const std::int64_t first = (now - kept - 3 * step).time_since_epoch() / slot_of(level);
        taken_.at(level).erase(taken_.at(level).begin(), taken_.at(level).lower_bound(first));
    }
}

ActivitySpan activity_span(const ActivityQuery& query, TimePoint now) {
    const Duration shortest = kActivityLevels.front().step;
    if (query.window < shortest || query.window > ActivityQuery::kWindowMax) {
        refuse(fmt::format(
            "The window of the activity is {} to {}.",
            format_duration(shortest),
            format_duration(ActivityQuery::kWindowMax)
        ));
    }
    const TimePoint until = query.until.value_or(now);
    if (until > now + shortest) refuse("The window of the activity ends in the future.");
    const Duration step = level_for(query, until - query.window, now).step;
    if (query.window < step || query.window > ActivityQuery::kBucketsMax * step) {
        refuse(fmt::format(
            "A window of {} does not have 1 to {} steps of {}.",
            format_duration(query.window),
            ActivityQuery::kBucketsMax,
            format_duration(step)
        ));
    }
    // The last bucket is the one in which the window ends. What happens now is in it; what happens
    // at an end that was asked for is not.
    const auto last = (query.until ? until - Duration(1) : now).time_since_epoch() / step;
    const auto count = (query.window + step - Duration(1)) / step;
    return {
        .from = TimePoint((last + 1 - count) * step),
        .until = TimePoint((last + 1) * step),
        .step = step,
    };
}

std::vector<ActivityCell> WorkflowActivity::cells(const ActivitySpan& span) const {
    std::vector<ActivityCell> cells(static_cast<std::size_t>(span.buckets()));
    const auto level = std::find_if(
        kActivityLevels.begin(),
        kActivityLevels.end(),
        [&](const ActivityLevel& each) { return each.step == span.step; }
    );
    const auto& counted = cells_.at(static_cast<std::size_t>(level - kActivityLevels.begin()));
    const std::int64_t first = span.from.time_since_epoch() / span.step;
    for (auto at = counted.lower_bound(first); at != counted.end(); ++at) {
        const auto place = static_cast<std::size_t>(at->first - first);
        if (place >= cells.size()) break;
        cells[place] = at->second;
    }
    return cells;
}

bool WorkflowActivity::forget_before(TimePoint now) {
    bool has_any = false;
    for (std::size_t level = 0; level < kActivityLevels.size(); ++level) {
        const auto& [step, kept] = kActivityLevels.at(level);
        auto& cells = cells_.at(level);
        const std::int64_t first = (now - kept - 2 * step).time_since_epoch() / step;
        cells.erase(cells.begin(), cells.lower_bound(first));
        has_any = has_any || !cells.empty();
    }
    return has_any;
}

}  // namespace ebb::view
