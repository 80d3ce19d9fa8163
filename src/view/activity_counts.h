#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <ebb/status.h>
#include <ebb/time.h>

// What happened per span of time and workflow, and how long instances took.

namespace ebb::view {

/// Durations in buckets that grow by a quarter of a power of two, so that a quantile is within 10 %
/// of the true one, whatever the scale.
class DurationHistogram {
 public:
    void add(Duration duration);
    void add(const DurationHistogram& other);
    /// The duration below which this share of them is; none if there are none.
    std::optional<Duration> quantile(double share) const;

    std::int64_t count() const { return count_; }

 private:
    std::map<int, std::int64_t> counts_;
    std::int64_t count_ = 0;
};

/// What happened in one span of time. An instance counts once for its start and once for its end.
struct ActivityCell {
    std::int64_t started = 0;
    std::int64_t completed = 0;
    std::int64_t failed = 0;
    std::int64_t cancelled = 0;
    std::int64_t aborted = 0;
    std::int64_t dead_letters = 0;  ///< that became dead letters
    /// Of those that failed or were cancelled: at least one step was compensated.
    std::int64_t compensated = 0;
    std::int64_t steps = 0;         ///< visits of nodes by the instances that ended
    DurationHistogram durations{};  ///< from start to end, of those that completed
    /// How long due tasks waited for a worker, in a sample of the instances that ended.
    DurationHistogram delays{};

    void add(const ActivityCell& other);

    std::int64_t events() const {
        return started + completed + failed + cancelled + aborted + dead_letters;
    }
};

/// What an answer is asked for.
struct ActivityQuery {
    static constexpr Duration kWindowMax = std::chrono::hours(24 * 30);
    static constexpr int kBucketsMax = 120;

    Duration window = std::chrono::hours(24);
    std::optional<Duration> step{};    ///< the width of a bucket; empty = the narrowest that fits
    std::optional<TimePoint> until{};  ///< the end; empty = now
    std::string workflow{};            ///< empty = all
};

/// The buckets that an answer has.
struct ActivitySpan {
    TimePoint from{};
    TimePoint until{};  ///< the end of the last bucket, which may be in the future
    Duration step{};

    int buckets() const { return static_cast<int>((until - from) / step); }
};

/// The widths of buckets that are counted, the narrowest first, and for how long: each window that
/// people look at has about 60 of them.
struct ActivityLevel {
    Duration step;
    Duration kept;
};

inline constexpr std::array<ActivityLevel, 5> kActivityLevels{{
    {std::chrono::minutes(1), std::chrono::hours(2)},
    {std::chrono::minutes(5), std::chrono::hours(6)},
    {std::chrono::minutes(30), std::chrono::hours(24)},
    {std::chrono::hours(3), std::chrono::hours(24 * 7)},
    {std::chrono::hours(12), ActivityQuery::kWindowMax},
}};

/// One value for each width.
using ActivityLevels = std::array<bool, kActivityLevels.size()>;

/// Which instances are in a sample: for each width at most kSamples in a bucket, evenly over its
/// time. So a sample costs the same however much happens.
class ActivitySamples {
 public:
    static constexpr int kSamples = 12;

    /// The widths that keep `at` and have nothing of that part of a bucket in their sample.
    ActivityLevels missing(TimePoint at, TimePoint now) const;
    void take(TimePoint at, const ActivityLevels& levels);
    void forget_before(TimePoint now);

 private:
    std::array<std::set<std::int64_t>, kActivityLevels.size()> taken_;
};

/// The buckets of `query`. Throws Error with InvalidArgument for a window, a step or an end that
/// cannot be answered, and says what can.
ActivitySpan activity_span(const ActivityQuery& query, TimePoint now);

/// The counts of one workflow at all widths. Every event is added to each width that still keeps
/// its time, so no width is computed from another.
class WorkflowActivity {
 public:
    /// Changes with `change` the cells of `at`.
    template <typename Change>
    void note(TimePoint at, TimePoint now, const Change& change) {
        for (std::size_t level = 0; level < kActivityLevels.size(); ++level) {
            if (!keeps(level, at, now)) continue;
            change(cells_.at(level)[at.time_since_epoch() / kActivityLevels.at(level).step]);
        }
    }

    /// Of the widths for which `levels` is true.
    template <typename Change>
    void note_sample(TimePoint at, const ActivityLevels& levels, const Change& change) {
        for (std::size_t level = 0; level < kActivityLevels.size(); ++level) {
            if (!levels.at(level)) continue;
            change(cells_.at(level)[at.time_since_epoch() / kActivityLevels.at(level).step]);
        }
    }

    static bool keeps(std::size_t level, TimePoint at, TimePoint now) {
        const auto& [step, kept] = kActivityLevels.at(level);
        // Two more than the window: it may begin in the middle of a bucket, and so may `now`.
        return at + kept + 2 * step >= now && at <= now + step;
    }

    /// One cell for each bucket of the span, whose step is one of the levels'.
    std::vector<ActivityCell> cells(const ActivitySpan& span) const;
    /// Forgets what no window reaches any more. Returns whether anything is left.
    bool forget_before(TimePoint now);

 private:
    std::array<std::map<std::int64_t, ActivityCell>, kActivityLevels.size()> cells_;
};

}  // namespace ebb::view
