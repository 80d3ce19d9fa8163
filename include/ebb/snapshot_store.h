#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/print.h>
#include <ebb/stateless.h>
#include <ebb/store.h>
#include <ebb/time.h>

// Stores for snapshots of the stateless engine: one row for each instance, changed only by
// compare-and-swap on its version. See docs/how-to/state-management.md.

namespace ebb::stateless {

/// What a store knows about a snapshot without its text. All members except the last five follow
/// from the snapshot itself.
struct SnapshotInfo {
    std::string id;      ///< Snapshot::workflow_id
    std::string run_id;  ///< Snapshot::run_id; empty = it has none
    std::string workflow;
    SnapshotStatus status = SnapshotStatus::Active;
    std::int64_t version = 0;
    TimePoint next_retry_at = kNever;  ///< of its retry state; kNever = it has none
    TimePoint next_due_at = kNever;    ///< Snapshot::next_due: zero = now
    std::string saved_by;
    std::string save_id;
    TimePoint created_at{};
    TimePoint updated_at{};
    TimePoint expires_at = kNever;

    bool operator==(const SnapshotInfo&) const = default;
};

struct StoredSnapshot {
    SnapshotInfo info;
    std::string json;  ///< for Engine::parse

    bool operator==(const StoredSnapshot&) const = default;
};

struct SaveOptions {
    /// Names the process that saves, for people: at most 256 bytes.
    std::string by{};
    /// Identifies this save. If its answer was lost, repeat it with the same id: the store then
    /// recognizes it instead of reporting a conflict. Empty = a new UUID. At most 64 bytes.
    std::string save_id{};
    /// The row expires this long after the save; absent = never. Every save sets it again.
    std::optional<Duration> keep_for{};
};

struct SaveResult {
    enum class Kind {
        Saved,      ///< it is stored now, and durable
        Unchanged,  ///< save: the snapshot has the expected version, so there was nothing to write
        Conflict,   ///< another version, or another run, is there: discard yours
        NotFound,   ///< save, remove: there is none with this id, or it has expired
    };

    Kind kind = Kind::Saved;
    SnapshotInfo
        current;  ///< what is stored now; after a conflict, the winner's save; empty if NotFound
};

std::string_view to_string(SaveResult::Kind kind);

struct SnapshotQuery {
    std::optional<SnapshotStatus> status{};  ///< absent = all
    std::string after{};                     ///< a page: only ids after this one, in byte order
    int limit = 100;                         ///< 1..1,000
};

struct DueQuery {
    /// Only snapshots whose next attempt is due (by next_retry_at); otherwise all that have
    /// something to do.
    bool retries_only = false;
    /// Only snapshots that were not saved for this long; skips those that another process is
    /// working on.
    Duration idle_for{0};
    TimePoint after_due{};   ///< a page: only those after (after_due, after_id), the time ...
    std::string after_id{};  ///< ... and id of the last one; empty = from the start
    int limit = 100;         ///< 1..1,000
};

struct SnapshotStoreOptions {
    std::size_t snapshot_bytes_max = std::size_t{64} << 20;  ///< of a text to be stored
    /// Stamps rows and decides when they expire. Null = the system's clock, or the server's on
    /// PostgreSQL. Must outlive the store.
    const Clock* clock = nullptr;
};

/// Stores the snapshots of any number of instances. Every change is atomic, compares the row's
/// version first, and is durable when the function returns. An expired row behaves as if it did not
/// exist. Thread-safe; several stores can be open on one database, in any number of processes.
///
/// A lost race is a result, not an error. A call that throws Error has changed nothing, except for
/// StoreInDoubt: repeat that save with the same save_id. Other errors: InvalidArgument and
/// PayloadTooLarge for arguments that cannot be stored; StoreUnavailable, StoreBusy, StoreFull,
/// StoreReadOnly for databases that cannot write now; StoreVersion for a table of another form;
/// CorruptState for a row that another program has written.
///
/// To add your own store, implement the private functions; the public functions check every
/// argument first.
class SnapshotStore {
 public:
    static constexpr std::size_t kIdBytesMax = 255;
    static constexpr std::size_t kByBytesMax = 256;
    static constexpr std::size_t kSaveIdBytesMax = 64;
    static constexpr int kLimitMax = 1'000;
    static constexpr int kPurgeMax = 10'000;

    virtual ~SnapshotStore() = default;
    SnapshotStore(const SnapshotStore&) = delete;
    SnapshotStore& operator=(const SnapshotStore&) = delete;

    /// Stores the first snapshot of an instance. Returns Saved, or Conflict if the id is taken.
    SaveResult insert_if_absent(const Snapshot& snapshot, const SaveOptions& options = {});

    std::optional<StoredSnapshot> load(std::string_view id);

    /// Stores `snapshot` if the row still has `expected_version`, the version that was loaded, and
    /// is of the same run: after a remove, the id may belong to another run by now. Throws
    /// InvalidArgument if the snapshot is older than that.
    SaveResult save(
        const Snapshot& snapshot, std::int64_t expected_version, const SaveOptions& options = {}
    );

    /// Removes an instance; with `expected_version`, only if the row has that version. A repeated
    /// call returns NotFound.
    SaveResult remove(
        std::string_view id, std::optional<std::int64_t> expected_version = std::nullopt
    );

    /// What a row must have to be removed.
    struct Expected {
        std::optional<std::int64_t> version{};
        std::optional<std::string> run_id{};  ///< Snapshot::run_id
    };

    /// Removes an instance only if the row has every member of `expected` that is not absent.
    SaveResult remove(std::string_view id, const Expected& expected);

    /// In ascending order of ids.
    std::vector<SnapshotInfo> list(const SnapshotQuery& query = {});

    /// Snapshots to execute now, the longest overdue first, equal times by id.
    std::vector<SnapshotInfo> due(const DueQuery& query = {});

    /// Removes at most `limit` (1..10,000) expired rows, the oldest first. Returns the number: if
    /// it is `limit`, call it again.
    int purge(int limit = 1'000);

 protected:
    explicit SnapshotStore(const SnapshotStoreOptions& options) : options_(options) {}

    const SnapshotStoreOptions& options() const { return options_; }

    /// A row to write. `info` has the members that follow from the snapshot, saved_by and save_id;
    /// the store sets the times: expires_at is now + keep_for.
    struct Row {
        SnapshotInfo info;
        std::string json;
        std::optional<Duration> keep_for;
    };

 private:
    /// Replaces an expired row. If a row with the same save_id exists, returns Saved.
    virtual SaveResult insert_row(const Row& row) = 0;
    /// Writes only if the row has expected_version and the run_id of `row`. Otherwise: if it has
    /// the same save_id, returns Saved; else Conflict.
    virtual SaveResult update_row(const Row& row, std::int64_t expected_version) = 0;
    virtual std::optional<StoredSnapshot> find_row(std::string_view id) = 0;
    /// Removes only what has every member of `expected` that is not absent.
    virtual SaveResult remove_row(std::string_view id, const Expected& expected) = 0;
    virtual std::vector<SnapshotInfo> list_rows(const SnapshotQuery& query) = 0;
    virtual std::vector<SnapshotInfo> due_rows(const DueQuery& query) = 0;
    virtual int purge_rows(int limit) = 0;

    Row row_of(const Snapshot& snapshot, const SaveOptions& options) const;

    SnapshotStoreOptions options_;
};

using SnapshotStorePtr = std::unique_ptr<SnapshotStore>;

/// In this process's memory only.
SnapshotStorePtr open_memory_snapshot_store(const SnapshotStoreOptions& options = {});

/// The table `workflow_executions` in a SQLite file, which can be the application's own file or
/// that of Ebb's durable store. Creates the table if it does not exist, unless
/// SqliteOptions::migrate is false. Component ebb::sqlite.
SnapshotStorePtr open_sqlite_snapshot_store(
    const SqliteOptions& database, const SnapshotStoreOptions& options = {}
);

/// The table `workflow_executions` in the schema that PostgresOptions names. Creates the table if
/// it does not exist, unless PostgresOptions::migrate is false. Component ebb::postgres.
SnapshotStorePtr open_postgres_snapshot_store(
    const PostgresOptions& database, const SnapshotStoreOptions& options = {}
);

}  // namespace ebb::stateless
