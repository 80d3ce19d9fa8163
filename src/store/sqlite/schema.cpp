#include "store/sqlite/schema.h"

#include <cstdint>

#include <fmt/format.h>

#include <ebb/error.h>

#include "ebb/sqlite/migrations.h"
#include "ebb/sqlite/sql.h"

namespace ebb::sqlite {

namespace {

constexpr int kNewest = migrations::kAll.back().number;

/// The number of the newest migration that was applied; 0 for an empty database.
int applied_version(Database& database) {
    {
        Query tables(database, sql::has_migrations);
        tables.step();
        if (tables.integer(0) == 0) return 0;
    }
    Query query(database, sql::list_migrations);
    int version = 0;
    while (query.step()) {
        version = static_cast<int>(query.integer(0));
        if (version > kNewest) {
            throw Error(
                ErrorCode::StoreVersion,
                fmt::format(
                    "The schema of '{}' has version {}, but this program knows only up to {}. Use "
                    "a "
                    "newer ebb.",
                    database.path(),
                    version,
                    kNewest
                )
            );
        }
        for (const migrations::Migration& known : migrations::kAll) {
            if (known.number != version || query.text(2) == migration_checksum(known.sql)) continue;
            throw Error(
                ErrorCode::StoreVersion,
                fmt::format(
                    "Migration {} ({}) of '{}' is not the one of this program: the database was "
                    "made "
                    "by another edition of ebb and cannot be used with this one.",
                    version,
                    query.text(1),
                    database.path()
                )
            );
        }
    }
    return version;
}

}  // namespace

std::string migration_checksum(std::string_view sql) {
    // FNV-1a: it must only notice accidents, and never change.
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : sql) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 1099511628211ULL;
    }
    return fmt::format("{:016x}", hash);
}

void migrate(Database& database, const Clock& clock) {
    // Looks without the write lock first: this is what happens at every start but the first.
    if (applied_version(database) == kNewest) return;
    Transaction transaction(database);
    Query(database, sql::create_migrations).run();
    const int applied = applied_version(database);
    for (const migrations::Migration& next : migrations::kAll) {
        if (next.number <= applied) continue;
        database.execute(next.sql);
        const std::string checksum = migration_checksum(next.sql);
        Query(database, sql::add_migration, next.number, next.name, checksum, clock.now()).run();
    }
    transaction.commit();
}

void check_schema(Database& database) {
    const int version = applied_version(database);
    if (version == kNewest) return;
    throw Error(
        ErrorCode::StoreVersion,
        fmt::format(
            "The schema of '{}' has version {}, and this program needs {}. Run `ebb migrate`, or "
            "open "
            "the store with migrations on.",
            database.path(),
            version,
            kNewest
        )
    );
}

}  // namespace ebb::sqlite
