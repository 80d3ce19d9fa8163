#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <ebb/store.h>

#include "support/postgres_server.h"

// What the figures of PostgreSQL are measured on.

struct pg_conn;

namespace ebb::bench {

/// A server of our own with its default durability. No other figure's data is on it.
testing::PostgresServer make_bench_server();

/// What was done to the tables of a schema since they were made, and what they take.
struct TableUse {
    double row_writes = 0;   ///< rows inserted, updated and deleted
    double updates = 0;      ///< of instances
    double hot_updates = 0;  ///< of those, the ones that touched no index
    double dead_rows = 0;    ///< of all tables
    double kept_bytes = 0;   ///< of instances and history, with their indexes and free space
    double task_bytes = 0;   ///< of tasks, with its indexes and free space
};

/// A schema of its own in the server's database, dropped at the end. `server` must outlive it.
class Scratch {
 public:
    explicit Scratch(const testing::PostgresServer& server);
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();

    StorePtr open() const { return open_at(server_.url()); }

    StorePtr open_at(const std::string& url) const;

    const std::string& schema() const { return schema_; }

    /// `sql` with the schema in place of {0}.
    std::string execute(const std::string& sql) const;

    /// What was done to the schema's tables. Sessions tell the server of it when they end.
    TableUse table_use() const;

    /// Throws std::runtime_error when the database counts other than so many completed instances.
    void require_completed(std::int64_t workflows) const;

 private:
    const testing::PostgresServer& server_;
    std::string schema_;
};

/// A session that keeps its first snapshot open: no row that dies meanwhile can be removed.
class OldSnapshot {
 public:
    explicit OldSnapshot(const testing::PostgresServer& server);
    OldSnapshot(const OldSnapshot&) = delete;
    OldSnapshot& operator=(const OldSnapshot&) = delete;
    ~OldSnapshot() = default;

 private:
    std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

/// What a server has used since it started.
struct ServerUse {
    double cpu_seconds = 0;  ///< of all its processes, the ended ones too
    double wal_bytes = 0;
    double wal_syncs = 0;     ///< reported when sessions end
    double transactions = 0;  ///< reported when sessions end; each is one round trip

    ServerUse operator-(const ServerUse& earlier) const {
        return {
            cpu_seconds - earlier.cpu_seconds,
            wal_bytes - earlier.wal_bytes,
            wal_syncs - earlier.wal_syncs,
            transactions - earlier.transactions
        };
    }
};

ServerUse use_of(const testing::PostgresServer& server);

/// Waits until no more than `others` sessions are left; ended sessions have reported their work.
void wait_for_sessions(const testing::PostgresServer& server, int others);

}  // namespace ebb::bench
