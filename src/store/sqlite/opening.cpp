#include "store/sqlite/opening.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "ebb/sqlite/sql.h"

namespace ebb::sqlite {

namespace {

void check(const SqliteOptions& options) {
    if (options.path.empty() || options.path == ":memory:") {
        throw Error(
            ErrorCode::InvalidArgument,
            "A SQLite store needs the path of a file; for a store without one use "
            "open_memory_store()."
        );
    }
    if (options.busy_timeout_ms < 0) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("busy_timeout_ms is {}, but must be 0 or more.", options.busy_timeout_ms)
        );
    }
}

void require_wal(Database& database) {
    Query mode(database, sql::use_wal);
    if (mode.step() && mode.text(0) == "wal") return;
    throw Error(
        ErrorCode::StoreError,
        fmt::format(
            "The SQLite store \"{}\" cannot use a write-ahead log ({} instead). The file must be "
            "writable and on a local file system.",
            database.path(),
            mode.text(0)
        )
    );
}

/// Several processes that open a new file at once get in each other's way here, and SQLite does not
/// wait for the busy timeout in that case.
void switch_to_wal(Database& database, int timeout_ms) {
    constexpr int kPauseMs = 5;
    for (int waited_ms = 0;; waited_ms += kPauseMs) {
        try {
            require_wal(database);
            return;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::StoreBusy || waited_ms >= timeout_ms) throw;
        }
        sqlite3_sleep(kPauseMs);
    }
}

}  // namespace

Database open_for_writing(const SqliteOptions& options) {
    check(options);
    Database database(options.path, Database::Access::ReadWrite, options.busy_timeout_ms);
    switch_to_wal(database, options.busy_timeout_ms);
    const bool is_full = options.synchronous == SqliteOptions::Synchronous::Full;
    database.execute(is_full ? sql::synchronous_full : sql::synchronous_normal);
    database.execute(sql::size_cache);
    return database;
}

}  // namespace ebb::sqlite
