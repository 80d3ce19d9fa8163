// Goal: a program works on a schema that a newer one has migrated, where the migration says that it
// may; so workers are replaced one after another. Method: the conformance suite over a schema with
// a migration that this program does not know, and the statements of the release before on the
// schema of this one.

#include <ebb/error.h>

#include "ebb_test_dirs.h"
#include "store/instantiate.h"
#include "store/migrations.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kNewer = 9'001;

std::string known(const std::string& schema) {
    return postgres_server().execute("SELECT max(number) FROM " + schema + ".migrations");
}

/// What a later release may do to the tables while this one runs.
void migrate_further(const std::string& schema, const std::string& compatible_with) {
    postgres_server().execute(
        "SET search_path = " + schema +
        "; ALTER TABLE instances ADD COLUMN later text, ADD COLUMN counted integer NOT NULL "
        "DEFAULT 0;"
        "ALTER TABLE tasks ADD COLUMN later text; ALTER TABLE history ADD COLUMN later text;"
        "ALTER TABLE workers ADD COLUMN later text; ALTER TABLE queues ADD COLUMN later text;"
        "CREATE TABLE later (addressee uuid, sender uuid, seq bigint, kind text);"
        "CREATE INDEX instances_later ON instances (later) WHERE later IS NOT NULL;"
        "INSERT INTO migrations VALUES (" +
        std::to_string(kNewer) + ", 'later', 'x', 1, " + compatible_with + ")"
    );
}

EBB_INSTANTIATE_STORE_TESTS(
    PostgresNewer,
    (StoreKind{
        "postgres_newer",
        [](const Clock& clock, const TempDir&) {
            const std::string schema = fresh_schema();
            const PostgresOptions options{.url = postgres_server().url(), .schema = schema};
            make_postgres_store(options, clock);
            migrate_further(schema, known(schema));
            return make_postgres_store(options, clock);
        }
    })
);

TEST(PostgresCompatible, schemas_are_used_with_and_without_leave_to_migrate) {
    const std::string schema = fresh_schema();
    PostgresOptions options{.url = postgres_server().url(), .schema = schema};
    open_postgres_store(options);
    migrate_further(schema, known(schema));
    open_postgres_store(options)->check_rights();
    options.migrate = false;
    open_postgres_store(options);
    const std::vector<Migration> all = postgres_migrations(options);
    EXPECT_EQ(all.back().number, kNewer);
    EXPECT_FALSE(all.back().is_known);
}

TEST(PostgresCompatible, schemas_are_those_that_a_migration_names) {
    for (const std::string compatible_with : {"NULL", "9000"}) {
        const std::string schema = fresh_schema();
        const PostgresOptions options{.url = postgres_server().url(), .schema = schema};
        open_postgres_store(options);
        migrate_further(schema, compatible_with);
        try {
            open_postgres_store(options);
            ADD_FAILURE() << "compatible with " << compatible_with;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::StoreVersion);
            EXPECT_THAT(error.what(), HasSubstr("Use a newer ebb"));
        }
    }
}

TEST(PostgresCompatible, schemas_may_be_older_than_the_column_that_says_so) {
    const std::string schema = fresh_schema();
    const PostgresOptions options{.url = postgres_server().url(), .schema = schema};
    open_postgres_store(options);
    postgres_server().execute("ALTER TABLE " + schema + ".migrations DROP COLUMN compatible_with");
    open_postgres_store(options);
    // One that has a migration to apply makes it.
    postgres_server().execute(
        "SET search_path = " + schema +
        "; DELETE FROM migrations WHERE number >= 7; DROP VIEW awaited, failed; "
        "DROP TABLE waits, failures, repairs, subscriptions, outbox, labels, calls, inbox; "
        "ALTER TABLE tasks DROP COLUMN outcome, DROP COLUMN lease_until; "
        "ALTER TABLE workers DROP COLUMN decides_since, DROP COLUMN session, DROP COLUMN role, "
        "DROP COLUMN lease"
    );
    open_postgres_store(options);
    EXPECT_EQ(
        postgres_server().execute(
            "SELECT string_agg(number || ' ' || compatible_with, ',') FROM " + schema +
            ".migrations WHERE compatible_with IS NOT NULL"
        ),
        "7 6,8 6,9 6,10 6,11 6,12 6,13 6\n"
    );
}

TEST(PostgresCompatible, statements_of_the_release_before_fit_the_schema_of_this_one) {
    postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
    settings.schema = fresh_schema();
    migrate_postgres({.url = postgres_server().url(), .schema = settings.schema});
    postgres::Connection connection(settings);
    const std::filesystem::path folder =
        std::filesystem::path(EBB_SOURCE_DIR) / "tests/store/previous/postgres";
    int statements = 0;
    for (const auto& [name, sql] : read_statements(folder)) {
        SCOPED_TRACE(name);
        const bool can_be_prepared =
            sql.find("SELECT") != std::string::npos || sql.find("INSERT") != std::string::npos ||
            sql.find("UPDATE") != std::string::npos || sql.find("DELETE") != std::string::npos;
        if (!can_be_prepared) continue;
        EXPECT_NO_THROW(connection.execute("PREPARE old_" + name + " AS " + sql));
        ++statements;
    }
    EXPECT_GT(statements, 60);
}

}  // namespace
}  // namespace ebb::testing
