#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ebb/store.h>
#include <ebb/time.h>

namespace ebb {

/// What PostgreSQL's own statistics say about one table of the schema.
struct TableHealth {
    std::string name;
    std::int64_t live_rows = 0;
    std::int64_t dead_rows = 0;   ///< waiting to be vacuumed
    bool is_autovacuumed = true;  ///< false: switched off for this table
    TimePoint vacuumed_at{};      ///< by hand or automatically; zero = never

    bool operator==(const TableHealth&) const = default;
};

/// How a PostgreSQL database fares, as far as every user of it may see.
struct DatabaseHealth {
    std::string version;           ///< of the server: `15.6`
    bool is_autovacuum_on = true;  ///< false: switched off for the whole server
    std::int64_t bytes = 0;        ///< of the whole database
    int connections = 0;           ///< to the server, of all clients
    int connections_max = 0;
    std::vector<TableHealth> tables;  ///< of the schema, by name
};

/// Only reads. Throws Error if the server does not answer. Component ebb::postgres.
DatabaseHealth postgres_health(const PostgresOptions& options);

}  // namespace ebb
