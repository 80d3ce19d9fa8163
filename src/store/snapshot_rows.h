#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/snapshot_store.h>

// What the databases' snapshot stores share: the form of the table `workflow_executions`.

namespace ebb::stateless {

/// Throws CorruptState for a text that no store of snapshots has written.
SnapshotStatus parse_snapshot_status(std::string_view text);

/// kNever is NULL in the tables.
inline std::optional<std::int64_t> or_null(TimePoint time) {
    return time == kNever ? std::nullopt : std::optional(time.time_since_epoch().count());
}

/// Throws StoreVersion where `columns` are not those of the table; none at all: there is no table.
/// `place`: which database, for the message.
void check_snapshot_columns(const std::vector<std::string>& columns, std::string_view place);

/// True for the table of an earlier version of Ebb, which needs only that column.
bool lacks_only_run_id(const std::vector<std::string>& columns);

/// Does a row have what is not absent here?
bool is_expected(
    const SnapshotInfo& there,
    const std::optional<std::int64_t>& version,
    const std::optional<std::string>& run_id
);

/// What a write that changed no row means, given what is there instead.
SaveResult unwritten(const SnapshotInfo& wanted, std::optional<SnapshotInfo> there);

}  // namespace ebb::stateless
