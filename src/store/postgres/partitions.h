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

// Instances and histories divided by the time of their start, which their ids begin with: so a
// statement that knows an id goes to one partition, and what nobody needs any more is dropped with
// its whole partition instead of row by row.

namespace ebb::postgres {

/// One partition of the instances, and the one of the history that goes with it.
struct Partition {
    std::string name;   ///< behind `instances_` and `history_`
    InstanceId from{};  ///< zero: whatever is older
    InstanceId to{};    ///< not included
};

/// When the period ends (in UTC; a week begins on Monday) in which `time` lies.
TimePoint period_end(PartitionPeriod period, TimePoint time);
TimePoint period_start(PartitionPeriod period, TimePoint time);

/// How far ahead partitions are made.
Duration made_ahead(PartitionPeriod period);

/// By time. Without the default one, which takes what no other does.
std::vector<Partition> list_partitions(Connection& connection);

/// Divides the tables from now on, or changes the period of the partitions to come; false when
/// there was nothing to do. What is there becomes the first partition, without being rewritten;
/// others are kept waiting only for an instant. `now`: the test's clock, or none for the server's.
bool partition(Connection& connection, PartitionPeriod period, std::optional<TimePoint> now);

/// Takes away what a session that has died while it divided the tables has left: a bound beyond
/// which nothing can be started. Leaves what this user may not change.
void remove_broken_promises(Connection& connection);

/// Store::partitions.
std::optional<PartitionView> view_partitions(Connection& connection, std::optional<TimePoint> now);

/// Store::housekeep.
HousekeepingResult housekeep(
    Connection& connection, std::span<const RetentionRule> rules, std::optional<TimePoint> now
);

}  // namespace ebb::postgres
