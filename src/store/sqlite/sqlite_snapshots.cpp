#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/snapshot_store.h>

#include "ebb/sqlite/snapshot_sql.h"
#include "store/snapshot_rows.h"
#include "store/sqlite/database.h"
#include "store/sqlite/opening.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb::stateless {

namespace sql = sqlite::snapshot_sql;
using sqlite::Database;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

TimePoint time_or_never(const Query& query, int column) {
    return query.is_null(column) ? kNever : query.time(column);
}

SnapshotInfo read_info(const Query& query) {
    return {
        .id = std::string(query.text(0)),
        .run_id = std::string(query.text(11)),
        .workflow = std::string(query.text(3)),
        .status = parse_snapshot_status(query.text(1)),
        .version = query.integer(2),
        .next_retry_at = time_or_never(query, 4),
        .next_due_at = time_or_never(query, 5),
        .saved_by = std::string(query.text(6)),
        .save_id = std::string(query.text(7)),
        .created_at = query.time(8),
        .updated_at = query.time(9),
        .expires_at = time_or_never(query, 10),
    };
}

std::vector<std::string> columns_of(Database& database) {
    std::vector<std::string> columns;
    Query query(database, sql::columns_of_snapshots);
    while (query.step()) columns.emplace_back(query.text(0));
    return columns;
}

/// One row for each instance in one file. All go through one connection behind a mutex: who wants
/// more opens the store again.
class SqliteSnapshotStore final : public SnapshotStore {
 public:
    SqliteSnapshotStore(const SqliteOptions& file, const SnapshotStoreOptions& options)
        : SnapshotStore(options), database_(sqlite::open_for_writing(file)) {
        if (file.migrate) migrate();
        check_snapshot_columns(columns_of(database_), fmt::format("\"{}\"", file.path));
    }

 private:
    /// Asks first, because a transaction that writes waits for other writers.
    void migrate() EBB_REQUIRES(mutex_) {
        const auto is_current = [this]() EBB_REQUIRES(mutex_) {
            const std::vector<std::string> columns = columns_of(database_);
            return !columns.empty() && !lacks_only_run_id(columns);
        };
        if (is_current()) return;
        WriteTransaction transaction(database_);
        database_.execute(sql::create_snapshots);
        if (!is_current()) database_.execute(sql::add_run_id);
        transaction.commit();
    }

    SaveResult insert_row(const Row& row) override {
        const Lock lock(mutex_);
        return write(sql::insert_snapshot, row);
    }

    SaveResult update_row(const Row& row, std::int64_t expected_version) override {
        const Lock lock(mutex_);
        return write(sql::update_snapshot, row, expected_version);
    }

    template <class... Expected>
    SaveResult write(std::string_view statement, const Row& row, Expected... expected)
        EBB_REQUIRES(mutex_) {
        const SnapshotInfo& info = row.info;
        WriteTransaction transaction(database_);
        const TimePoint now = this->now();
        const TimePoint expires_at = row.keep_for ? now + *row.keep_for : kNever;
        const bool is_written = Query(
                                    database_,
                                    statement,
                                    info.id,
                                    to_string(info.status),
                                    info.version,
                                    info.workflow,
                                    or_null(info.next_retry_at),
                                    or_null(info.next_due_at),
                                    info.saved_by,
                                    info.save_id,
                                    now,
                                    or_null(expires_at),
                                    row.json,
                                    info.run_id,
                                    expected...
                                )
                                    .run() > 0;
        std::optional<SnapshotInfo> there = find_info(info.id, now);
        if (!is_written) return unwritten(row.info, std::move(there));
        transaction.commit();
        return {SaveResult::Kind::Saved, std::move(there).value_or(info)};
    }

    std::optional<StoredSnapshot> find_row(std::string_view id) override {
        const Lock lock(mutex_);
        Query query(database_, sql::load_snapshot, id, now());
        if (!query.step()) return std::nullopt;
        return StoredSnapshot{read_info(query), std::string(query.text(12))};
    }

    SaveResult remove_row(std::string_view id, const Expected& expected) override {
        const Lock lock(mutex_);
        WriteTransaction transaction(database_);
        std::optional<SnapshotInfo> there = find_info(id, now());
        if (!there) return {SaveResult::Kind::NotFound, {}};
        if (!is_expected(*there, expected.version, expected.run_id)) {
            return {SaveResult::Kind::Conflict, std::move(*there)};
        }
        Query(database_, sql::remove_snapshot, id).run();
        transaction.commit();
        return {SaveResult::Kind::Saved, std::move(*there)};
    }

    std::vector<SnapshotInfo> list_rows(const SnapshotQuery& query) override {
        const Lock lock(mutex_);
        const TimePoint now = this->now();
        if (!query.status) {
            Query all(database_, sql::list_snapshots, query.after, now, query.limit);
            return read_all(all);
        }
        const std::string_view status = to_string(*query.status);
        Query some(database_, sql::list_snapshots_of_status, query.after, now, query.limit, status);
        return read_all(some);
    }

    std::vector<SnapshotInfo> due_rows(const DueQuery& query) override {
        const Lock lock(mutex_);
        const TimePoint now = this->now();
        const TimePoint after = query.after_id.empty() ? TimePoint::min() : query.after_due;
        Query due(
            database_,
            query.retries_only ? sql::due_retries : sql::due_snapshots,
            now,
            after,
            query.after_id,
            now - query.idle_for,
            query.limit
        );
        return read_all(due);
    }

    int purge_rows(int limit) override {
        const Lock lock(mutex_);
        WriteTransaction transaction(database_);
        const auto purged = Query(database_, sql::purge_snapshots, now(), limit).run();
        transaction.commit();
        return static_cast<int>(purged);
    }

    static std::vector<SnapshotInfo> read_all(Query& query) {
        std::vector<SnapshotInfo> found;
        while (query.step()) found.push_back(read_info(query));
        return found;
    }

    std::optional<SnapshotInfo> find_info(std::string_view id, TimePoint now) EBB_REQUIRES(mutex_) {
        Query query(database_, sql::snapshot_info, id, now);
        return query.step() ? std::optional(read_info(query)) : std::nullopt;
    }

    TimePoint now() const {
        return options().clock != nullptr ? options().clock->now() : clock_.now();
    }

    const SystemClock clock_;
    Mutex mutex_;
    Database database_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

SnapshotStorePtr open_sqlite_snapshot_store(
    const SqliteOptions& database, const SnapshotStoreOptions& options
) {
    return std::make_unique<SqliteSnapshotStore>(database, options);
}

}  // namespace ebb::stateless
