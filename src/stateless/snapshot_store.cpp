#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/snapshot_store.h>

#include "support/clock.h"
#include "support/json.h"
#include "support/uuid.h"

namespace ebb::stateless {

namespace {

void check_text(std::string_view text, std::string_view what, std::size_t bytes_max) {
    if (text.size() > bytes_max) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("{} has {} bytes; {} are allowed.", what, text.size(), bytes_max)
        );
    }
    if (clean_text(text, bytes_max) != text) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("{} is not valid UTF-8 text.", what));
    }
}

void check_id(std::string_view id) {
    if (id.empty()) {
        throw Error(ErrorCode::InvalidArgument, "The id of a snapshot must not be empty.");
    }
    check_text(id, "The id of a snapshot", SnapshotStore::kIdBytesMax);
}

void check_number(std::string_view what, std::int64_t value, std::int64_t min, std::int64_t max) {
    if (value >= min && value <= max) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{} is {}; allowed is {} to {}.", what, value, min, max)
    );
}

/// Long enough for every use, and far from an overflow.
constexpr Duration kKeepMax = std::chrono::hours(24 * 366) * 1'000;

/// Databases know few times after it.
constexpr TimePoint kLastDue{std::chrono::seconds(253'402'300'799)};  // the year 9999

TimePoint within_reach(TimePoint due) {
    return due > kLastDue ? kNever : due;
}

}  // namespace

std::string_view to_string(SaveResult::Kind kind) {
    switch (kind) {
        case SaveResult::Kind::Saved:
            return "saved";
        case SaveResult::Kind::Unchanged:
            return "unchanged";
        case SaveResult::Kind::Conflict:
            return "conflict";
        case SaveResult::Kind::NotFound:
            return "not_found";
    }
    return "conflict";
}

SnapshotStore::Row SnapshotStore::row_of(const Snapshot& snapshot, const SaveOptions& options)
    const {
    check_text(options.by, "SaveOptions::by", kByBytesMax);
    check_text(options.save_id, "SaveOptions::save_id", kSaveIdBytesMax);
    if (options.keep_for) {
        check_number(
            "SaveOptions::keep_for in microseconds", options.keep_for->count(), 1, kKeepMax.count()
        );
    }
    const auto retry = snapshot.retry_state();
    Row row{
        .info =
            {.id = snapshot.workflow_id(),
             .run_id = snapshot.run_id(),
             .workflow = snapshot.workflow(),
             .status = snapshot.status(),
             .version = snapshot.version(),
             .next_retry_at = retry ? within_reach(retry->next_retry_at) : kNever,
             .next_due_at = within_reach(snapshot.next_due()),
             .saved_by = options.by,
             .save_id = options.save_id},
        .json = snapshot.to_json(),
        .keep_for = options.keep_for,
    };
    if (row.info.save_id.empty()) {
        row.info.save_id = make_instance_id(SystemClock()).to_string();
    }
    if (row.json.size() > options_.snapshot_bytes_max) {
        throw Error(
            ErrorCode::PayloadTooLarge,
            fmt::format(
                "The snapshot of \"{}\" has {} bytes; the store's snapshot_bytes_max allows {}.",
                row.info.id,
                row.json.size(),
                options_.snapshot_bytes_max
            )
        );
    }
    return row;
}

SaveResult SnapshotStore::insert_if_absent(const Snapshot& snapshot, const SaveOptions& options) {
    return insert_row(row_of(snapshot, options));
}

std::optional<StoredSnapshot> SnapshotStore::load(std::string_view id) {
    check_id(id);
    return find_row(id);
}

SaveResult SnapshotStore::save(
    const Snapshot& snapshot, std::int64_t expected_version, const SaveOptions& options
) {
    if (snapshot.version() < expected_version) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The snapshot of \"{}\" has version {}, which is older than the expected {}.",
                snapshot.workflow_id(),
                snapshot.version(),
                expected_version
            )
        );
    }
    if (snapshot.version() == expected_version) return {SaveResult::Kind::Unchanged, {}};
    return update_row(row_of(snapshot, options), expected_version);
}

SaveResult SnapshotStore::remove(
    std::string_view id, std::optional<std::int64_t> expected_version
) {
    return remove(id, Expected{.version = expected_version});
}

SaveResult SnapshotStore::remove(std::string_view id, const Expected& expected) {
    check_id(id);
    return remove_row(id, expected);
}

std::vector<SnapshotInfo> SnapshotStore::list(const SnapshotQuery& query) {
    check_text(query.after, "SnapshotQuery::after", kIdBytesMax);
    check_number("SnapshotQuery::limit", query.limit, 1, kLimitMax);
    return list_rows(query);
}

std::vector<SnapshotInfo> SnapshotStore::due(const DueQuery& query) {
    check_text(query.after_id, "DueQuery::after_id", kIdBytesMax);
    check_number("DueQuery::limit", query.limit, 1, kLimitMax);
    check_number("DueQuery::idle_for in microseconds", query.idle_for.count(), 0, kKeepMax.count());
    return due_rows(query);
}

int SnapshotStore::purge(int limit) {
    check_number("The limit of purge", limit, 1, kPurgeMax);
    return purge_rows(limit);
}

}  // namespace ebb::stateless
