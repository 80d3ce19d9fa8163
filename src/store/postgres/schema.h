#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/migrations.h"
#include "store/postgres/connection.h"
#include "store/postgres/sql_error.h"

namespace ebb::postgres {

/// Brings the schema to this program's version, each migration in a transaction of its own. Safe
/// when several processes do it at once. Throws StoreVersion when the schema is newer, or is not
/// the one this program knows. Only reads where there is nothing to do. `now`: the test's clock, or
/// none for the server's.
void migrate(Connection& connection, std::optional<TimePoint> now);

/// Throws StoreVersion unless the schema has exactly this program's version.
void check_schema(Connection& connection);

/// Throws StoreDenied with all rights that a worker needs and this user has not got, StoreVersion
/// as check_schema.
void check_rights(Connection& connection);

/// All that this program knows, and which of them are applied. Only reads; throws as migrate does.
std::vector<Migration> list_migrations(Connection& connection);

/// Another session was about to make the same thing: look again.
bool is_collision(const SqlError& error);

/// A fingerprint that tells whether a migration was edited after it had been applied.
std::string migration_checksum(std::string_view sql);

}  // namespace ebb::postgres
