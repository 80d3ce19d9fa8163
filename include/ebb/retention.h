#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

// How long instances are kept after they have ended. What has not ended is never deleted, however
// old it is.

namespace ebb {

/// How long instances are kept after their end; none = for ever.
struct Retention {
    static constexpr Duration kMin =
        std::chrono::seconds(10);  ///< who waits for the end must be able to see it
    static constexpr Duration kMax = std::chrono::hours(24) * 36'525;

    std::optional<Duration> completed{};
    std::optional<Duration> failed{};  ///< also of those that were cancelled or aborted

    bool operator==(const Retention&) const = default;
};

/// The name under which the retention of all workflows is kept that have none of their own.
inline constexpr std::string_view kOtherWorkflows = "*";

/// What was set for one workflow, or for all others.
struct RetentionRule {
    std::string workflow;
    Retention keep{};
    TimePoint updated_at{};

    bool operator==(const RetentionRule&) const = default;
};

/// How many instances of one workflow and status.
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
    /// All that has ended this long ago or longer, whatever the retention says. None = by the
    /// retention.
    std::optional<Duration> older_than{};
    bool only_counts = false;  ///< deletes nothing
    /// Called now and then with what was done so far; false stops it.
    std::function<bool(const PurgeReport&)> on_progress{};
};

}  // namespace ebb
