#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ebb/id.h>
#include <ebb/time.h>

#include "store/migrations.h"
#include "store/postgres/connection.h"
#include "store/retention.h"

// Instances and histories partitioned by start time. Ids begin with the start time, so a statement
// that knows an id uses one partition, and expired data is dropped with its whole partition instead
// of row by row.

namespace ebb::postgres {

/// One partition of the instances, and the matching partition of the history.
struct Partition {
    std::string name;   ///< the part after `instances_` and `history_`
    InstanceId from{};  ///< zero: all older instances
    InstanceId to{};    ///< not included
};

/// The end of the period that contains `time` (in UTC; a week begins on Monday).
TimePoint period_end(PartitionPeriod period, TimePoint time);
TimePoint period_start(PartitionPeriod period, TimePoint time);

/// How far ahead partitions are created.
Duration made_ahead(PartitionPeriod period);

/// Ordered by time. Without the default partition, which takes all other rows.
std::vector<Partition> list_partitions(Connection& connection);

/// Partitions the tables from now on, or changes the period of future partitions. False if there
/// was nothing to do. The existing rows become the first partition without being rewritten, and
/// other sessions wait only briefly. `now`: the time of a test, or none for the server's time.
bool partition(Connection& connection, PartitionPeriod period, std::optional<TimePoint> now);

/// Removes what a session left if it died while it partitioned the tables: a bound that prevents
/// all new starts. Skips tables that this user may not change.
void remove_broken_promises(Connection& connection);

/// Store::partitions.
std::optional<PartitionView> view_partitions(Connection& connection, std::optional<TimePoint> now);

/// Store::housekeep.
HousekeepingResult housekeep(
    Connection& connection, std::span<const RetentionRule> rules, std::optional<TimePoint> now
);

}  // namespace ebb::postgres
