// Goal: a program works on a file whose schema a newer one has migrated, where the migration says
// that it may. Method: the conformance suite over a file with a migration that this program does
// not know, and files that say something else.

#include <fmt/format.h>

#include <ebb/error.h>

#include "store/instantiate.h"
#include "store/migrations.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kNewer = 9'001;

int known(const std::string& path) {
    return static_cast<int>(sqlite_migrations({.path = path}).size());
}

void execute(const std::string& path, const std::string& sql) {
    sqlite::Database(path, sqlite::Database::Access::ReadWrite, 1'000).execute(sql);
}

/// What a later release may do to the tables while this one runs.
void migrate_further(const std::string& path, const std::string& compatible_with) {
    execute(
        path,
        "ALTER TABLE instances ADD COLUMN later TEXT; ALTER TABLE tasks ADD COLUMN later TEXT;"
        "ALTER TABLE history ADD COLUMN later TEXT; ALTER TABLE workers ADD COLUMN later TEXT;"
        "CREATE TABLE later (addressee BLOB, kind TEXT);"
        "CREATE INDEX instances_later ON instances (later) WHERE later IS NOT NULL;"
    );
    execute(
        path,
        fmt::format(
            "INSERT INTO migrations (number, name, checksum, applied_at, compatible_with) "
            "VALUES ({}, 'later', 'x', 1, {})",
            kNewer,
            compatible_with
        )
    );
}

EBB_INSTANTIATE_STORE_TESTS(
    SqliteNewer,
    (StoreKind{
        "sqlite_newer",
        [](const Clock& clock, const TempDir& dir) {
            const SqliteOptions options{.path = dir.file("ebb.db")};
            make_sqlite_store(options, clock);
            migrate_further(options.path, std::to_string(known(options.path)));
            return make_sqlite_store(options, clock);
        }
    })
);

TEST(SqliteCompatible, schemas_are_used_with_and_without_leave_to_migrate) {
    const TempDir dir;
    SqliteOptions options{.path = dir.file("ebb.db")};
    open_sqlite_store(options);
    migrate_further(options.path, std::to_string(known(options.path)));
    open_sqlite_store(options)->migrate();
    options.migrate = false;
    open_sqlite_store(options);
    const std::vector<Migration> all = sqlite_migrations(options);
    EXPECT_EQ(all.back().number, kNewer);
    EXPECT_FALSE(all.back().is_known);
}

TEST(SqliteCompatible, schemas_must_be_compatible) {
    for (const std::string compatible_with : {"NULL", "9000"}) {
        const TempDir dir;
        const SqliteOptions options{.path = dir.file("ebb.db")};
        open_sqlite_store(options);
        migrate_further(options.path, compatible_with);
        try {
            open_sqlite_store(options);
            ADD_FAILURE() << "compatible with " << compatible_with;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::StoreVersion);
            EXPECT_THAT(error.what(), HasSubstr("Use a newer ebb"));
        }
    }
}

TEST(SqliteCompatible, schemas_without_the_column_that_says_so_are_brought_up_to_date) {
    const TempDir dir;
    const SqliteOptions options{.path = dir.file("ebb.db")};
    open_sqlite_store(options);
    execute(
        options.path,
        "DELETE FROM migrations WHERE number >= 5; DROP VIEW awaited; DROP VIEW failed;"
        "DROP TABLE waits; DROP TABLE failures; DROP TABLE repairs;"
        "DROP TABLE subscriptions; DROP TABLE outbox; DROP TABLE labels; DROP TABLE inbox;"
        "ALTER TABLE tasks DROP COLUMN outcome;"
        "ALTER TABLE migrations DROP COLUMN compatible_with;"
        "ALTER TABLE workers DROP COLUMN boot_id; ALTER TABLE workers DROP COLUMN steady_until"
    );
    open_sqlite_store(options);
    const std::vector<Migration> all = sqlite_migrations(options);
    EXPECT_TRUE(all.back().is_applied);
}

}  // namespace
}  // namespace ebb::testing
