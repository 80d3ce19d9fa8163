#include "store/sqlite/schema.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

#include "ebb/sqlite/migrations.h"
#include "ebb/sqlite/sql.h"
#include "store/agreement.h"

namespace ebb::sqlite {

namespace {

constexpr int kNewest = migrations::kAll.back().number;

/// A migration that was applied.
struct Applied {
    int number = 0;
    std::string name;
    TimePoint at{};
};

void check_known(
    const Database& database, int number, std::string_view name, std::string_view sum
) {
    for (const migrations::Migration& known : migrations::kAll) {
        if (known.number != number || sum == migration_checksum(known.sql)) continue;
        throw Error(
            ErrorCode::StoreVersion,
            fmt::format(
                "Migration {} ({}) of \"{}\" is not the one of this program: the database was made "
                "by another edition of ebb and cannot be used with this one.",
                number,
                name,
                database.path()
            )
        );
    }
}

/// By number, newer ones than this program knows among them; none for an empty database.
std::vector<Applied> applied_migrations(Database& database) {
    {
        Query tables(database, sql::has_migrations);
        tables.step();
        if (tables.integer(0) == 0) return {};
    }
    std::vector<Applied> applied;
    Query query(database, sql::list_migrations);
    while (query.step()) {
        applied.push_back(
            {static_cast<int>(query.integer(0)), std::string(query.text(1)), query.time(3)}
        );
        check_known(database, applied.back().number, query.text(1), query.text(2));
    }
    return applied;
}

/// Whether this program can work with what newer ones have made of the schema.
bool is_compatible(Database& database) {
    Query column(database, sql::has_compatible_with);
    if (!column.step() || column.integer(0) == 0) return false;
    Query incompatible(database, sql::incompatible_migrations, kNewest);
    return incompatible.step() && incompatible.integer(0) == 0;
}

/// The number of the newest migration that was applied, as far as this program knows them; what it
/// does not know must be compatible with it. 0 for an empty database.
int applied_version(Database& database) {
    const std::vector<Applied> applied = applied_migrations(database);
    const int version = applied.empty() ? 0 : applied.back().number;
    if (version <= kNewest) return version;
    if (is_compatible(database)) return kNewest;
    throw Error(
        ErrorCode::StoreVersion,
        fmt::format(
            "The schema of \"{}\" has version {}, but this program knows only up to {}. Use a "
            "newer "
            "ebb.",
            database.path(),
            version,
            kNewest
        )
    );
}

void replace(std::string& text, std::string_view parameter, std::string_view value) {
    text.replace(text.find(parameter), parameter.size(), value);
}

/// For the shell of SQLite.
std::string script_of(const migrations::Migration& migration) {
    std::string add(sql::add_migration);
    replace(add, "?1", std::to_string(migration.number));
    replace(add, "?2", fmt::format("'{}'", migration.name));
    replace(add, "?3", fmt::format("'{}'", migration_checksum(migration.sql)));
    replace(add, "?4", "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)");
    std::string sql(migration.sql);
    if (const auto compatible = compatible_with(migration.sql)) {
        std::string set(sql::set_compatible_with);
        replace(set, "?2", std::to_string(*compatible));
        replace(set, "?1", std::to_string(migration.number));
        sql += "\n\n" + set;
    }
    return fmt::format(
        "-- {:04} {}\n{}\n\n{}\n\n{}\n\n{}\n{}\n",
        migration.number,
        migration.name,
        sql::begin_write,
        sql::create_migrations,
        add,
        sql,
        sql::commit_write
    );
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
    WriteTransaction transaction(database);
    Query(database, sql::create_migrations).run();
    const int applied = applied_version(database);
    for (const migrations::Migration& next : migrations::kAll) {
        if (next.number <= applied) continue;
        database.execute(next.sql);
        const std::string checksum = migration_checksum(next.sql);
        Query(database, sql::add_migration, next.number, next.name, checksum, clock.now()).run();
        if (const auto compatible = compatible_with(next.sql)) {
            Query(database, sql::set_compatible_with, next.number, *compatible).run();
        }
    }
    transaction.commit();
}

void check_schema(Database& database) {
    const int version = applied_version(database);
    if (version == kNewest) return;
    throw Error(
        ErrorCode::StoreVersion,
        fmt::format(
            "The schema of \"{}\" has version {}, and this program needs {}. Run `ebb migrate`, or "
            "open "
            "the store with migrations on.",
            database.path(),
            version,
            kNewest
        )
    );
}

}  // namespace ebb::sqlite

namespace ebb {

std::vector<Migration> sqlite_migrations(const SqliteOptions& options) {
    std::vector<Migration> all;
    for (const sqlite::migrations::Migration& known : sqlite::migrations::kAll) {
        all.push_back(
            {.number = known.number,
             .name = std::string(known.name),
             .script = sqlite::script_of(known)}
        );
    }
    std::error_code error;
    if (!std::filesystem::exists(options.path, error)) return all;
    sqlite::Database database(
        options.path, sqlite::Database::Access::Read, options.busy_timeout_ms
    );
    for (const sqlite::Applied& applied : sqlite::applied_migrations(database)) {
        if (applied.number > sqlite::kNewest) {
            all.push_back(
                {.number = applied.number,
                 .name = applied.name,
                 .is_applied = true,
                 .is_known = false,
                 .applied_at = applied.at,
                 .script = {}}
            );
        }
        for (Migration& migration : all) {
            if (migration.number != applied.number) continue;
            migration.is_applied = true;
            migration.applied_at = applied.at;
        }
    }
    return all;
}

}  // namespace ebb
