#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/id.h>
#include <ebb/retention.h>
#include <ebb/time.h>

#include "core/kernel/state.h"

// Arguments and results of the verbs for retention.

namespace ebb {

/// The maximum number of instances that one purge looks at.
inline constexpr int kPurgeLimitMax = 10'000;
/// One purge stops deleting once the deleted instances have this many changes in total. They have
/// about as many events, and a transaction must not take long.
inline constexpr std::int64_t kPurgeChangesMax = 20'000;

/// A purge looks at instances by ascending id, one page at a time.
struct PurgeRequest {
    std::vector<RetentionRule> rules;  ///< kOtherWorkflows: for workflows without a rule
    InstanceId after{};                ///< only ids above this one
    int limit = 1'000;                 ///< instances to look at; 1 to kPurgeLimitMax
    bool only_counts = false;          ///< deletes nothing
    /// Skips instances that may soon be dropped with a whole partition (Store::housekeep).
    bool by_partition = false;
};

/// The number of instances of one workflow, in all versions, that have a status.
struct StatusCount {
    std::string workflow;
    InstanceStatus status = InstanceStatus::Running;
    std::int64_t count = 0;

    bool operator==(const StatusCount&) const = default;
};

struct VersionCount {
    std::string workflow;
    int version = 1;
    InstanceStatus status = InstanceStatus::Running;
    std::int64_t count = 0;

    bool operator==(const VersionCount&) const = default;
};

struct PurgeResult {
    std::vector<StatusCount> purged;  ///< by workflow and status
    InstanceId last{};                ///< where to continue; zero at the end
    bool is_end = true;               ///< no instance with a higher id can be due for deletion

    bool operator==(const PurgeResult&) const = default;
};

/// What a store has done to its own tables.
struct HousekeepingResult {
    std::vector<std::string> made;     ///< partitions, by name
    std::vector<std::string> dropped;  ///< with all their rows

    bool operator==(const HousekeepingResult&) const = default;
};

/// How a store has partitioned its tables by the start time of instances.
struct PartitionView {
    std::string period;        ///< `day`, `week` or `month`
    TimePoint current_ends{};  ///< when the current period ends
};

/// The right to purge by the stored rules. One worker at a time has it.
struct SweepTurn {
    std::int64_t number = 0;
    InstanceId after{};  ///< where the last sweep stopped

    bool operator==(const SweepTurn&) const = default;
};

// Rules that all stores share.

/// Instances that ended by this time must be deleted; none = instances of this status are kept.
/// Never set for an instance that has not ended.
std::optional<TimePoint> latest_end(
    std::span<const RetentionRule> rules,
    std::string_view workflow,
    InstanceStatus status,
    TimePoint now
);

/// The lowest id that cannot be due for deletion, because its instance is too young for every rule.
/// The lowest id of all if no rule deletes anything.
InstanceId purge_bound(std::span<const RetentionRule> rules, TimePoint now);

/// The shortest time of all rules; none if all keep forever.
std::optional<Duration> shortest(std::span<const RetentionRule> rules);

/// Throws InvalidArgument for a limit that is not allowed.
void check_purge(const PurgeRequest& request);

/// Computes what a purge deletes, instance by instance in the order of their ids.
class PurgeBatch {
 public:
    bool has_room() const { return changes_ < kPurgeChangesMax; }

    void add(const std::string& workflow, InstanceStatus status, std::int64_t revision);

    std::vector<StatusCount> counts() const;

 private:
    std::int64_t changes_ = 0;
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts_;
};

}  // namespace ebb
