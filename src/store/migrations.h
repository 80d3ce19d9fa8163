#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/store.h>
#include <ebb/time.h>

#include "store/retention.h"

// The schema of a database as its owner sees it, without opening it as a store.

namespace ebb {

/// One numbered change of the schema.
struct Migration {
    int number = 0;
    std::string name;
    bool is_applied = false;
    bool is_known = true;    ///< false: of a newer program
    TimePoint applied_at{};  ///< zero unless it is applied
    /// What applies it by hand, in one transaction: with its entry in the table of migrations.
    std::string script;
};

/// All migrations that this program knows, by number, and what newer programs have applied, with
/// `is_known` false. Only reads; a file that does not exist is not made. Throws StoreVersion for a
/// schema of another edition. Component ebb::sqlite.
std::vector<Migration> sqlite_migrations(const SqliteOptions& options);

/// The same of a PostgreSQL schema. Component ebb::postgres.
std::vector<Migration> postgres_migrations(const PostgresOptions& options);

/// What the roles ebb_worker, ebb_observer and ebb_server need in the schema, as SQL for psql. Asks
/// no server.
/// Component ebb::postgres.
std::string postgres_grants(const PostgresOptions& options);

/// The SQL functions for workers in any language, as a script for psql that the owner of the schema
/// runs. Asks no server. Component ebb::postgres.
std::string postgres_sql_workers(const PostgresOptions& options);

/// Installs them, or brings them up to date, and notes what the registered workflows call.
/// Component ebb::postgres.
void install_sql_workers(const PostgresOptions& options);

/// The same two for rules as tables, which need the functions for workers. Component ebb::postgres.
std::string postgres_rules_sql(const PostgresOptions& options);
void install_rules_sql(const PostgresOptions& options);

/// Brings the schema up to date, whatever the URL says about migrations. Component ebb::postgres.
void migrate_postgres(const PostgresOptions& options);

/// How much time one partition of a PostgreSQL schema holds.
enum class PartitionPeriod { Day, Week, Month };

std::string_view to_string(PartitionPeriod period);

/// Divides the instances and their histories into partitions by the time of their start, from now
/// on into new ones of that period; what there is already becomes the first one. Returns false when
/// it was already so. Component ebb::postgres.
bool partition_postgres(const PostgresOptions& options, PartitionPeriod period);

/// What the sweep of a worker would do to the partitions, by the retention that is kept: nothing in
/// a schema without any. For users with more rights than the workers. Component ebb::postgres.
HousekeepingResult housekeep_postgres(const PostgresOptions& options);

}  // namespace ebb
