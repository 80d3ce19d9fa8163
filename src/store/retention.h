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

// What the verbs about retention are given and answer.

namespace ebb {

/// How many instances one purge looks at, at most.
inline constexpr int kPurgeLimitMax = 10'000;
/// One purge deletes no further instance once those that it deletes have changed this often
/// together: their events are about as many, and no transaction is to be long.
inline constexpr std::int64_t kPurgeChangesMax = 20'000;

/// Instances are looked at by rising id, a page at a time.
struct PurgeRequest {
    std::vector<RetentionRule> rules;  ///< one of kOtherWorkflows is for those without their own
    InstanceId after{};                ///< only ids above this one
    int limit = 1'000;                 ///< looked at; 1 to kPurgeLimitMax
    bool only_counts = false;          ///< deletes nothing
    /// Leaves alone what may soon be dropped with a whole partition (Store::housekeep).
    bool by_partition = false;
};

/// How many instances of one workflow, in all versions, have a status.
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
    InstanceId last{};                ///< where to go on; zero at the end
    bool is_end = true;               ///< no higher id can have to go now

    bool operator==(const PurgeResult&) const = default;
};

/// What a store has done to its own tables.
struct HousekeepingResult {
    std::vector<std::string> made;     ///< partitions, by name
    std::vector<std::string> dropped;  ///< with all that was in them

    bool operator==(const HousekeepingResult&) const = default;
};

/// How a store has divided its tables by the time of the instances' start.
struct PartitionView {
    std::string period;        ///< `day`, `week` or `month`
    TimePoint current_ends{};  ///< when the period is over that is now
};

/// The right to purge by the retention that is kept, which one worker at a time has.
struct SweepTurn {
    std::int64_t number = 0;
    InstanceId after{};  ///< where the last one has stopped

    bool operator==(const SweepTurn&) const = default;
};

// What every store must answer alike.

/// The latest end of an instance that is to be deleted; none = it is kept. Never for
/// one that has not ended.
std::optional<TimePoint> latest_end(
    std::span<const RetentionRule> rules,
    std::string_view workflow,
    InstanceStatus status,
    TimePoint now
);

/// The lowest id that cannot have to go, because it was made too late for any rule; the lowest of
/// all where no rule deletes anything.
InstanceId purge_bound(std::span<const RetentionRule> rules, TimePoint now);

/// The shortest time of all rules; none if all keep forever.
std::optional<Duration> shortest(std::span<const RetentionRule> rules);

/// Throws InvalidArgument for a limit that is not allowed.
void check_purge(const PurgeRequest& request);

/// What a purge deletes, instance by instance in the order of their ids.
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
