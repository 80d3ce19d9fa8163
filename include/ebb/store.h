#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ebb {

class Clock;
class Store;

/// Deletes a Store without knowing its definition.
struct StoreDeleter {
    void operator()(Store* store) const noexcept;
};

/// The caller that opens a store owns it. The store must outlive the engines that use it. All
/// stores are thread-safe.
using StorePtr = std::unique_ptr<Store, StoreDeleter>;

struct MemoryOptions {
    const Clock* clock = nullptr;  ///< null = the system's; must outlive the store
};

/// State in this process's memory only: for tests and for `ebb run` without --db.
StorePtr open_memory_store(const MemoryOptions& options = {});

struct SqliteOptions {
    /// Full: a commit survives power loss. Normal: it survives a crash of the process, but power
    /// loss can lose the last commits.
    enum class Synchronous { Full, Normal };

    std::string path;  ///< a file; it is created if it does not exist
    Synchronous synchronous = Synchronous::Full;
    int busy_timeout_ms =
        10'000;           ///< how long to wait for another process's write before StoreBusy
    bool migrate = true;  ///< updates the schema when opening
    const Clock* clock = nullptr;  ///< null = the system's; must outlive the store
};

/// State in one SQLite file (WAL). Several processes on one machine can share it. Component
/// ebb::sqlite.
StorePtr open_sqlite_store(const SqliteOptions& options);

struct PostgresOptions {
    /// On: statements are prepared once per connection, in sessions with Ebb's settings. Off: for
    /// poolers, which share sessions, including PgBouncer of any version and in any pool mode.
    enum class StatementCache { On, Off };

    /// `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETER=VALUE` with all parameters of
    /// libpq: several hosts, target_session_attrs, sslmode, a service file. The URL can also
    /// contain the fields below by name, and then takes precedence.
    std::string url;
    std::string schema = "ebb";  ///< the schema of the tables; it is created if it does not exist
    StatementCache statement_cache = StatementCache::On;
    int connections_max = 8;
    bool migrate = true;  ///< updates the schema when opening
    std::string application_name = "ebb";
    /// Only for tests in which one process uses the schema; null = the server's. Must outlive the
    /// store.
    const Clock* clock = nullptr;
};

/// State in a PostgreSQL database (13 or newer), shared by any number of processes and machines.
/// Component ebb::postgres.
StorePtr open_postgres_store(const PostgresOptions& options);

}  // namespace ebb
