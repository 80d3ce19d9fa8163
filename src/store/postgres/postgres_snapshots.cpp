#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/snapshot_store.h>

#include "ebb/postgres/snapshot_sql.h"
#include "ebb/postgres/sql.h"
#include "store/postgres/pooled.h"
#include "store/postgres/schema.h"
#include "store/postgres/sql_error.h"
#include "store/snapshot_rows.h"

namespace ebb::stateless {

namespace sql = postgres::snapshot_sql;
using postgres::Arguments;
using postgres::Connection;
using postgres::Result;

namespace {

/// How often another process may be first to make the table, or to remove the row that was in the
/// way.
constexpr int kTriesMax = 10;

TimePoint time_or_never(const Result& rows, int row, int column) {
    return rows.is_null(row, column) ? kNever : rows.time(row, column);
}

SnapshotInfo read_info(const Result& rows, int row) {
    return {
        .id = std::string(rows.text(row, 0)),
        .run_id = std::string(rows.text(row, 11)),
        .workflow = std::string(rows.text(row, 3)),
        .status = parse_snapshot_status(rows.text(row, 1)),
        .version = rows.integer(row, 2),
        .next_retry_at = time_or_never(rows, row, 4),
        .next_due_at = time_or_never(rows, row, 5),
        .saved_by = std::string(rows.text(row, 6)),
        .save_id = std::string(rows.text(row, 7)),
        .created_at = rows.time(row, 8),
        .updated_at = rows.time(row, 9),
        .expires_at = time_or_never(rows, row, 10),
    };
}

std::optional<SnapshotInfo> first_of(const Result& rows) {
    return rows.is_empty() ? std::nullopt : std::optional(read_info(rows, 0));
}

std::vector<SnapshotInfo> all_of(const Result& rows) {
    std::vector<SnapshotInfo> found;
    for (int row = 0; row < rows.rows(); ++row) found.push_back(read_info(rows, row));
    return found;
}

std::vector<std::string> columns_of(Connection& connection) {
    const Arguments schema = Arguments::of(connection.settings().schema);
    const Result rows = connection.run(sql::columns_of_snapshots, schema);
    std::vector<std::string> columns;
    for (int row = 0; row < rows.rows(); ++row) columns.emplace_back(rows.text(row, 0));
    return columns;
}

void create_table(Connection& connection) {
    for (int tries = 1;; ++tries) {
        const std::vector<std::string> columns = columns_of(connection);
        if (!columns.empty() && !lacks_only_run_id(columns)) return;
        try {
            if (!columns.empty()) {
                connection.execute(sql::add_run_id);
                continue;
            }
            const Arguments schema = Arguments::of(connection.settings().schema);
            if (connection.run(postgres::sql::has_schema, schema).integer(0, 0) == 0) {
                connection.execute(postgres::sql::create_schema);
            }
            connection.execute(sql::create_snapshots);
        } catch (const postgres::SqlError& error) {
            if (tries == kTriesMax || !postgres::is_collision(error)) throw;
        }
    }
}

/// One row for each instance. Every function is one statement, or one pipeline of two in one
/// transaction, on a connection of a small pool.
class PostgresSnapshotStore final : public SnapshotStore, private postgres::Pooled {
 public:
    PostgresSnapshotStore(const PostgresOptions& database, const SnapshotStoreOptions& options)
        : SnapshotStore(options), Pooled(database) {
        perform(Repeat::Freely, [&](Connection& connection) {
            if (settings_.migrates) create_table(connection);
            const std::string place =
                fmt::format("the schema {} of {}", settings_.schema, settings_.target());
            check_snapshot_columns(columns_of(connection), place);
            return true;
        });
    }

 private:
    SaveResult insert_row(const Row& row) override {
        for (int tries = 1;; ++tries) {
            SaveResult result = write(sql::insert_snapshot, arguments_of(row), row);
            // The obstacle may have gone in the meantime.
            if (result.kind != SaveResult::Kind::NotFound || tries == kTriesMax) return result;
        }
    }

    SaveResult update_row(const Row& row, std::int64_t expected_version) override {
        Arguments arguments = arguments_of(row);
        arguments.add(expected_version);
        return write(sql::update_snapshot, arguments, row);
    }

    Arguments arguments_of(const Row& row) const {
        const SnapshotInfo& info = row.info;
        std::optional<std::int64_t> keep_for;
        if (row.keep_for) keep_for = row.keep_for->count();
        return Arguments::of(
            info.id,
            to_string(info.status),
            info.version,
            info.workflow,
            or_null(info.next_retry_at),
            or_null(info.next_due_at),
            info.saved_by,
            info.save_id,
            row.json,
            now(),
            keep_for,
            info.run_id
        );
    }

    SaveResult write(std::string_view statement, const Arguments& arguments, const Row& row) {
        const Arguments id = Arguments::of(row.info.id, now());
        const std::vector<postgres::Call> calls{{statement, arguments}, {sql::snapshot_info, id}};
        const std::vector<Result> results =
            perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
        std::optional<SnapshotInfo> there = first_of(results.at(1));
        if (results.at(0).changed() == 0) return unwritten(row.info, std::move(there));
        return {SaveResult::Kind::Saved, std::move(there).value_or(row.info)};
    }

    std::optional<StoredSnapshot> find_row(std::string_view id) override {
        const Result rows = read(sql::load_snapshot, Arguments::of(id, now()));
        if (rows.is_empty()) return std::nullopt;
        return StoredSnapshot{read_info(rows, 0), std::string(rows.text(0, 12))};
    }

    SaveResult remove_row(std::string_view id, const Expected& expected) override {
        const Arguments which = Arguments::of(id, now(), expected.version, expected.run_id);
        const Arguments found = Arguments::of(id, now());
        const std::vector<postgres::Call> calls{
            {sql::remove_snapshot, which}, {sql::snapshot_info, found}
        };
        const std::vector<Result> results =
            perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
        if (auto removed = first_of(results.at(0))) return {SaveResult::Kind::Saved, *removed};
        if (auto there = first_of(results.at(1))) return {SaveResult::Kind::Conflict, *there};
        return {SaveResult::Kind::NotFound, {}};
    }

    std::vector<SnapshotInfo> list_rows(const SnapshotQuery& query) override {
        Arguments arguments = Arguments::of(query.after, now(), std::int32_t{query.limit});
        if (!query.status) return all_of(read(sql::list_snapshots, arguments));
        arguments.add(to_string(*query.status));
        return all_of(read(sql::list_snapshots_of_status, arguments));
    }

    std::vector<SnapshotInfo> due_rows(const DueQuery& query) override {
        std::optional<std::int64_t> after;
        if (!query.after_id.empty()) after = query.after_due.time_since_epoch().count();
        const Arguments arguments = Arguments::of(
            now(),
            after,
            query.after_id,
            std::int64_t{query.idle_for.count()},
            std::int32_t{query.limit}
        );
        return all_of(read(query.retries_only ? sql::due_retries : sql::due_snapshots, arguments));
    }

    int purge_rows(int limit) override {
        const Arguments arguments = Arguments::of(now(), std::int32_t{limit});
        return static_cast<int>(read(sql::purge_snapshots, arguments).changed());
    }

    /// The time of a test; none = the server's own.
    std::optional<TimePoint> now() const {
        if (options().clock == nullptr) return std::nullopt;
        return options().clock->now();
    }
};

}  // namespace

SnapshotStorePtr open_postgres_snapshot_store(
    const PostgresOptions& database, const SnapshotStoreOptions& options
) {
    return std::make_unique<PostgresSnapshotStore>(database, options);
}

}  // namespace ebb::stateless
