#pragma once

#include <string>
#include <string_view>

#include "store/migrations.h"
#include "store/sqlite/database.h"
#include "support/clock.h"

namespace ebb::sqlite {

/// Brings the schema to this program's version, in one transaction. Safe when several processes do
/// it at once. Throws StoreVersion when the schema is newer, or is not the one this program knows.
void migrate(Database& database, const Clock& clock);

/// Throws StoreVersion unless the schema has exactly this program's version.
void check_schema(Database& database);

/// A fingerprint that tells whether a migration was edited after it had been applied.
std::string migration_checksum(std::string_view sql);

}  // namespace ebb::sqlite
