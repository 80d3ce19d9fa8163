#include "store/snapshot_rows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/error.h>

namespace ebb::stateless {

namespace {

constexpr std::string_view kColumns[] = {
    "id",
    "snapshot",
    "status",
    "version",
    "workflow",
    "next_retry_at",
    "next_due_at",
    "saved_by",
    "save_id",
    "created_at",
    "updated_at",
    "expires_at",
    "run_id",
};

std::vector<std::string_view> missing_of(const std::vector<std::string>& columns) {
    std::vector<std::string_view> missing;
    for (const std::string_view column : kColumns) {
        const bool is_there = std::find(columns.begin(), columns.end(), column) != columns.end();
        if (!is_there) missing.push_back(column);
    }
    return missing;
}

}  // namespace

bool lacks_only_run_id(const std::vector<std::string>& columns) {
    return missing_of(columns) == std::vector<std::string_view>{"run_id"};
}

bool is_expected(
    const SnapshotInfo& there,
    const std::optional<std::int64_t>& version,
    const std::optional<std::string>& run_id
) {
    return version.value_or(there.version) == there.version && (!run_id || *run_id == there.run_id);
}

SnapshotStatus parse_snapshot_status(std::string_view text) {
    for (const SnapshotStatus status :
         {SnapshotStatus::Active,
          SnapshotStatus::Paused,
          SnapshotStatus::Error,
          SnapshotStatus::Completed,
          SnapshotStatus::Failed}) {
        if (to_string(status) == text) return status;
    }
    throw Error(
        ErrorCode::CorruptState,
        fmt::format(
            "The table workflow_executions has the status \"{}\", which is not the status of a "
            "snapshot.",
            text
        )
    );
}

void check_snapshot_columns(const std::vector<std::string>& columns, std::string_view place) {
    if (columns.empty()) {
        throw Error(
            ErrorCode::StoreVersion,
            fmt::format(
                "There is no table workflow_executions in {}. Open the store once with migrations "
                "on.",
                place
            )
        );
    }
    const std::vector<std::string_view> missing = missing_of(columns);
    if (missing.empty()) return;
    throw Error(
        ErrorCode::StoreVersion,
        fmt::format(
            "The table workflow_executions in {} has another form: it lacks {}. Add the columns "
            "(docs/how-to/state-management.md says how), or use another schema or file.",
            place,
            fmt::join(missing, ", ")
        )
    );
}

SaveResult unwritten(const SnapshotInfo& wanted, std::optional<SnapshotInfo> there) {
    if (!there) return {.kind = SaveResult::Kind::NotFound, .current = {}};
    const bool is_same = there->save_id == wanted.save_id && there->run_id == wanted.run_id;
    return {
        .kind = is_same ? SaveResult::Kind::Saved : SaveResult::Kind::Conflict,
        .current = std::move(*there)
    };
}

}  // namespace ebb::stateless
