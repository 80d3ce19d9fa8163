// Goal: the schema is what the golden file says, migrations are safe, and every statement fits it.
// Method: fresh databases and schemas on a real server, the .sql files themselves, pg_dump, forked
// openers.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <ebb/error.h>

#include "store/conformance.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/schema.h"
#include "support/postgres_server.h"
#include "support/store_process.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kSource(EBB_SOURCE_DIR);

class PostgresSchema : public ::testing::Test {
 protected:
    StorePtr open(bool migrate = true) {
        return make_postgres_store(
            {.url = postgres_server().url(), .schema = schema_, .migrate = migrate}, clock_
        );
    }

    ErrorCode code_of_opening(bool migrate, const std::string& message) {
        try {
            open(migrate);
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(message));
            EXPECT_THAT(error.what(), HasSubstr(schema_));
            return error.code();
        }
        return ErrorCode::Internal;
    }

    std::string execute(const std::string& sql) { return postgres_server().execute(sql); }

    ManualClock clock_{kStart};
    std::string schema_ = fresh_schema();
};

/// What pg_dump says of the schema ebb, without what differs from server to server.
std::string dump(const std::string& database) {
    const std::string command = PostgresServer::program("pg_dump").string() +
                                " --schema-only --no-owner --schema=ebb --dbname='" +
                                postgres_server().url(database) + "'";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    char line[1'000];
    bool was_empty = true;
    while (fgets(line, sizeof line, pipe) != nullptr) {
        const std::string_view view(line);
        const bool is_noise = view.starts_with("--") || view.starts_with("SET ") ||
                              view.starts_with("SELECT pg_catalog") || view.starts_with("\\");
        const bool is_empty = view == "\n";
        if (is_noise || (is_empty && was_empty)) continue;
        was_empty = is_empty;
        text += view;
    }
    EXPECT_EQ(pclose(pipe), 0);
    return text;
}

TEST_F(PostgresSchema, is_the_one_of_the_golden_file) {
    execute("CREATE DATABASE ebb_test_golden");
    make_postgres_store({.url = postgres_server().url("ebb_test_golden")}, clock_);
    const std::string text = dump("ebb_test_golden");
    const auto golden = kSource / "tests/golden/schema_postgres.sql";
    if (std::getenv("EBB_APPROVE") != nullptr) std::ofstream(golden) << text;
    EXPECT_EQ(text, read_text(golden)) << "When the change is meant, EBB_APPROVE=1 writes it.";
}

TEST_F(PostgresSchema, accepts_every_statement) {
    open();
    const postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
    postgres::Settings in_schema = settings;
    in_schema.schema = schema_;
    postgres::Connection connection(in_schema);
    const auto statements = read_statements(kSource / "src/store/postgres/sql");
    EXPECT_GT(statements.size(), 40U);
    for (const auto& [name, sql] : statements) {
        const std::string_view text(sql);
        if (text.starts_with("BEGIN") || text.starts_with("COMMIT") ||
            text.starts_with("ROLLBACK") || text.starts_with("CREATE")) {
            continue;  // cannot be prepared
        }
        EXPECT_NO_THROW(connection.execute("PREPARE " + name + " AS " + sql)) << name;
    }
}

TEST_F(PostgresSchema, keeps_to_what_distributed_databases_understand) {
    // reference: the portability profile of the docs. Words that one of them lacks.
    const std::vector<std::string> forbidden{
        "advisory",
        "serial",
        "nextval",
        "savepoint ",  // the statement, not the event savepoint_reached
        "lock table",
        "plpgsql",
        "create function",
        "trigger",
        "temp table",
        "truncate",
        "references",
        "generated",
        "exclude using",
        "gist",
        "listen",
        "notify",
        "merge into",
        "extension",
    };
    std::string all;
    for (const char* folder : {"src/store/postgres/sql", "src/store/postgres/migrations"}) {
        for (const auto& entry : std::filesystem::directory_iterator(kSource / folder)) {
            // Hints are left out where the database cannot carry them: polling is the truth.
            if (entry.path().filename() != "hints.sql") all += read_text(entry.path());
        }
    }
    std::transform(all.begin(), all.end(), all.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    for (const std::string& word : forbidden) EXPECT_THAT(all, Not(HasSubstr(word)));
}

TEST_F(PostgresSchema, changes_no_table_twice_in_one_statement) {
    for (const auto& [name, sql] : read_statements(kSource / "src/store/postgres/sql")) {
        std::map<std::string, int> changes;
        for (const char* verb : {"INSERT INTO ebb.", "UPDATE ebb.", "DELETE FROM ebb."}) {
            for (auto at = sql.find(verb); at != std::string::npos; at = sql.find(verb, at + 1)) {
                const std::size_t table = sql.find('.', at) + 1;
                ++changes[sql.substr(table, sql.find_first_of(" \n", table) - table)];
            }
        }
        for (const auto& [table, count] : changes) EXPECT_LE(count, 1) << name << ": " << table;
    }
}

TEST_F(PostgresSchema, opens_again_and_keeps_what_is_there) {
    start_one(*open(), instance_of(1, {put(1, "pay")}));
    const StorePtr store = open();
    store->migrate();
    EXPECT_TRUE(store->load(id_of(1)).has_value());
    EXPECT_EQ(claim(*open(false), "w1").size(), 1U);
}

TEST_F(PostgresSchema, two_schemas_in_one_database_know_nothing_of_one_another) {
    const StorePtr one = open();
    schema_ = fresh_schema();
    const StorePtr two = open();
    start_one(*one, instance_of(1, {put(1, "pay")}));
    EXPECT_EQ(two->load(id_of(1)), std::nullopt);
    EXPECT_TRUE(claim(*two, "w1").empty());
    start_one(*two, instance_of(1));
    EXPECT_TRUE(two->tasks(id_of(1)).empty());
    EXPECT_EQ(one->tasks(id_of(1)).size(), 1U);
}

TEST_F(PostgresSchema, is_made_once_when_ten_processes_open_at_once) {
    postgres_server();
    std::vector<pid_t> children;
    for (int i = 1; i <= 10; ++i) {
        children.push_back(fork_process([&, i] {
            try {
                start_one(*open(), instance_of(i));
                return 0;
            } catch (const std::exception& error) {
                fprintf(stderr, "%s\n", error.what());
                return 1;
            }
        }));
    }
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    EXPECT_EQ(open()->list({}).size(), 10U);
    std::size_t migrations = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(kSource / "src/store/postgres/migrations")) {
        migrations += entry.path().extension() == ".sql" ? 1 : 0;
    }
    EXPECT_EQ(
        execute("SELECT count(*) FROM " + schema_ + ".migrations"), fmt::format("{}\n", migrations)
    );
}

TEST_F(PostgresSchema, is_made_by_hand_from_the_printed_scripts) {
    const PostgresOptions options{.url = postgres_server().url(), .schema = schema_};
    for (const Migration& migration : postgres_migrations(options)) {
        EXPECT_FALSE(migration.is_applied);
        EXPECT_EQ(migration.applied_at, TimePoint{});
        execute(migration.script);
    }
    for (const Migration& migration : postgres_migrations(options)) {
        EXPECT_TRUE(migration.is_applied);
        EXPECT_GT(migration.applied_at, TimePoint{} + std::chrono::years(50));
    }
    const StorePtr store = open(false);
    start_one(*store, instance_of(1, {put(1, "pay")}));
    EXPECT_EQ(claim(*store, "w1").size(), 1U);
    const std::string made = execute("SELECT checksum FROM " + schema_ + ".migrations");
    schema_ = fresh_schema();
    migrate_postgres({.url = postgres_server().url() + "&migrate=off", .schema = schema_});
    EXPECT_EQ(execute("SELECT checksum FROM " + schema_ + ".migrations"), made);
}

TEST_F(PostgresSchema, refuses_a_newer_one) {
    open();
    execute("INSERT INTO " + schema_ + ".migrations VALUES (9999, 'future', 'x', 0)");
    EXPECT_EQ(code_of_opening(true, "has version 9999"), ErrorCode::StoreVersion);
    EXPECT_EQ(code_of_opening(false, "Use a newer ebb"), ErrorCode::StoreVersion);
}

TEST_F(PostgresSchema, is_not_made_by_who_may_not_migrate) {
    EXPECT_EQ(code_of_opening(false, "There is no Ebb in the schema"), ErrorCode::StoreVersion);
    EXPECT_EQ(
        execute("SELECT count(*) FROM pg_namespace WHERE nspname = '" + schema_ + "'"), "0\n"
    );
    EXPECT_TRUE(open()->list({}).empty());
}

TEST_F(PostgresSchema, refuses_a_migration_that_is_not_the_known_one) {
    open();
    execute("UPDATE " + schema_ + ".migrations SET checksum = 'edited' WHERE number = 1");
    EXPECT_EQ(code_of_opening(true, "another edition"), ErrorCode::StoreVersion);
}

TEST_F(PostgresSchema, leaves_a_foreign_schema_as_it_is_when_names_collide) {
    execute("CREATE SCHEMA " + schema_);
    execute("CREATE TABLE " + schema_ + ".tasks AS SELECT 'precious' AS mine");
    try {
        open();
        FAIL() << "was opened";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreError);
        EXPECT_THAT(error.what(), HasSubstr("\"tasks\" already exists"));
    }
    EXPECT_EQ(execute("SELECT mine FROM " + schema_ + ".tasks"), "precious\n");
    EXPECT_EQ(execute("SELECT count(*) FROM " + schema_ + ".migrations"), "0\n");
}

TEST_F(PostgresSchema, takes_a_different_checksum_for_every_edit) {
    EXPECT_EQ(postgres::migration_checksum(""), "cbf29ce484222325");
    EXPECT_NE(postgres::migration_checksum("a b"), postgres::migration_checksum("b a"));
}

}  // namespace
}  // namespace ebb::testing
