#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

// How long instances are kept after they have ended. Instances that have not ended are never
// deleted, no matter how old they are.

namespace ebb {

/// How long instances are kept after their end; absent = forever.
struct Retention {
    static constexpr Duration kMin =
        std::chrono::seconds(10);  ///< processes that wait for the end must be able to see it
    static constexpr Duration kMax = std::chrono::hours(24) * 36'525;

    std::optional<Duration> completed{};
    std::optional<Duration> failed{};  ///< also applies to cancelled and aborted instances

    bool operator==(const Retention&) const = default;
};

/// The name of the rule for all workflows without a rule of their own.
inline constexpr std::string_view kOtherWorkflows = "*";

/// The rule of one workflow, or of all others.
struct RetentionRule {
    std::string workflow;
    Retention keep{};
    TimePoint updated_at{};

    bool operator==(const RetentionRule&) const = default;
};

/// The number of instances of one workflow and status.
struct PurgeCount {
    std::string workflow;
    std::string status;
    std::int64_t instances = 0;

    bool operator==(const PurgeCount&) const = default;
};

struct PurgeReport {
    std::int64_t instances = 0;        ///< deleted, or to be deleted
    std::vector<PurgeCount> counts{};  ///< the same by workflow and status
    bool is_finished = true;           ///< false: it was stopped before the end
};

struct PurgeOptions {
    std::string workflow{};  ///< empty = all
    /// All instances that ended at least this long ago, regardless of the retention. Absent = by
    /// the retention.
    std::optional<Duration> older_than{};
    bool only_counts = false;  ///< deletes nothing
    /// Called from time to time with the progress so far; returning false stops the purge.
    std::function<bool(const PurgeReport&)> on_progress{};
};

}  // namespace ebb
