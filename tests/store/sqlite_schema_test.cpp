// Goal: the schema is what the golden file says, migrations are safe, and hot statements use their
// indexes. Method: fresh databases, the .sql files themselves, EXPLAIN QUERY PLAN, forked openers.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <sqlite3.h>

#include <ebb/error.h>

#include "ebb_test_dirs.h"
#include "store/conformance.h"
#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"
#include "support/store_process.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kSource(EBB_SOURCE_DIR);

class SqliteSchema : public ::testing::Test {
 protected:
    StorePtr open(bool migrate = true) {
        return make_sqlite_store({.path = path_, .migrate = migrate}, clock_);
    }

    sqlite::Database connect() {
        return sqlite::Database(path_, sqlite::Database::Access::ReadWrite, 1'000);
    }

    ErrorCode code_of_opening(bool migrate, std::string_view message) {
        try {
            open(migrate);
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(std::string(message)));
            EXPECT_THAT(error.what(), HasSubstr(path_));
            return error.code();
        }
        return ErrorCode::Internal;
    }

    /// One column of all rows, a line each.
    std::string rows(const std::string& sql, int column) {
        sqlite::Database database = connect();
        std::string text;
        sqlite::Query query(database, sql);
        while (query.step()) text += std::string(query.text(column)) + "\n";
        return text;
    }

    TempDir dir_;
    ManualClock clock_{kStart};
    std::string path_ = dir_.file("ebb.db");
};

TEST_F(SqliteSchema, is_the_one_of_the_golden_file) {
    open();
    const std::string dump = rows(
        "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, "
        "name",
        0
    );
    const auto golden = kSource / "tests/golden/schema_sqlite.sql";
    if (std::getenv("EBB_APPROVE") != nullptr) std::ofstream(golden) << dump;
    EXPECT_EQ(dump, read_text(golden)) << "When the change is meant, EBB_APPROVE=1 writes it.";
}

TEST_F(SqliteSchema, accepts_every_statement) {
    open();
    sqlite::Database database = connect();
    const auto statements = embedded_statements("sqlite/sql");
    EXPECT_GT(statements.size(), 40U);
    for (const auto& [name, sql] : statements) {
        EXPECT_NO_THROW(database.statement(sql)) << name;
    }
}

TEST_F(SqliteSchema, serves_every_hot_statement_by_an_index_without_sorting) {
    open();
    const auto statements = embedded_statements("sqlite/sql");
    const std::map<std::string, std::string> index_of{
        {"advance_instance", "sqlite_autoindex_instances_1"},
        {"change_instance", "sqlite_autoindex_instances_1"},
        {"load_instance", "sqlite_autoindex_instances_1"},
        {"list_instances", "sqlite_autoindex_instances_1"},
        {"list_instances_by_status", "instances_by_status (status=? AND id>? AND id<?)"},
        {"list_instances_oldest_first", "sqlite_autoindex_instances_1"},
        {"list_instances_by_status_oldest_first", "instances_by_status (status=? AND id>? AND id<?)"
        },
        {"find_key", "instances_by_key (key=? AND workflow=?)"},
        {"ready_tasks", "COVERING INDEX tasks_ready (handler=? AND queue=? AND rank<?)"},
        {"next_ready_queue", "COVERING INDEX tasks_ready (handler=? AND queue>?)"},
        {"ready_stops", "COVERING INDEX tasks_stops"},
        {"has_task_to_wake", "COVERING INDEX tasks_sleeping (due_at<?)"},
        {"wake_tasks", "INDEX tasks_sleeping (due_at<?)"},
        {"next_due", "COVERING INDEX tasks_sleeping"},
        {"held_tasks", "INDEX tasks_leased (lease_owner=?)"},
        {"release_tasks_of_worker", "INDEX tasks_leased (lease_owner=?)"},
        {"take_lost_leases", "INDEX tasks_leased"},
        {"claimed_task", "SEARCH t USING PRIMARY KEY (instance_id=? AND token=?)"},
        {"lease_task", "PRIMARY KEY (instance_id=? AND token=?)"},
        {"release_task", "PRIMARY KEY (instance_id=? AND token=?)"},
        {"abandon_task", "PRIMARY KEY (instance_id=? AND token=?)"},
        {"postpone_task", "PRIMARY KEY (instance_id=? AND token=?)"},
        {"remove_tasks", "PRIMARY KEY (instance_id=? AND token>?)"},
        {"history_forward", "PRIMARY KEY (instance_id=? AND seq>? AND seq<?)"},
        {"history_backward", "PRIMARY KEY (instance_id=? AND seq>? AND seq<?)"},
    };
    for (const auto& [name, index] : index_of) {
        const std::string plan = rows("EXPLAIN QUERY PLAN " + statements.at(name), 3);
        EXPECT_THAT(plan, HasSubstr(index)) << name;
        EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE"))) << name;
        EXPECT_THAT(plan, Not(HasSubstr("SCAN instances"))) << name;
        EXPECT_THAT(plan, Not(HasSubstr("SCAN history"))) << name;
    }
}

TEST_F(SqliteSchema, opens_again_and_keeps_what_is_there) {
    start_one(*open(), instance_of(1, {put(1, "pay")}));
    const StorePtr store = open();
    store->migrate();
    EXPECT_TRUE(store->load(id_of(1)).has_value());
    const StorePtr without_migration = open(false);
    EXPECT_EQ(claim(*without_migration, "w1").size(), 1U);
}

TEST_F(SqliteSchema, is_made_once_when_ten_processes_open_at_once) {
    std::vector<pid_t> children;
    for (int i = 1; i <= 10; ++i) {
        children.push_back(fork_process([&, i] {
            const StorePtr store = open();
            start_one(*store, instance_of(i));
            return 0;
        }));
    }
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    EXPECT_EQ(open()->list({}).size(), 10U);
    EXPECT_EQ(
        rows("SELECT count(*) FROM migrations", 0),
        std::to_string(sqlite_migrations({.path = path_}).size()) + "\n"
    );
}

TEST_F(SqliteSchema, is_made_by_hand_from_the_printed_scripts) {
    const SqliteOptions options{.path = path_};
    const std::vector<Migration> migrations = sqlite_migrations(options);
    EXPECT_FALSE(std::filesystem::exists(path_));
    for (const Migration& migration : migrations) {
        EXPECT_FALSE(migration.is_applied);
        connect().execute(migration.script);
    }
    for (const Migration& migration : sqlite_migrations(options)) {
        EXPECT_TRUE(migration.is_applied);
        EXPECT_GT(migration.applied_at, TimePoint{} + std::chrono::years(50));
    }
    const StorePtr store = open(false);
    start_one(*store, instance_of(1, {put(1, "pay")}));
    EXPECT_EQ(claim(*store, "w1").size(), 1U);
}

TEST_F(SqliteSchema, refuses_a_newer_one) {
    open();
    connect().execute("INSERT INTO migrations VALUES (9999, 'future', 'x', 0, NULL)");
    EXPECT_EQ(code_of_opening(true, "has version 9999"), ErrorCode::StoreVersion);
    EXPECT_EQ(code_of_opening(false, "Use a newer ebb"), ErrorCode::StoreVersion);
}

TEST_F(SqliteSchema, refuses_an_older_one_when_it_may_not_migrate) {
    EXPECT_EQ(code_of_opening(false, "has version 0"), ErrorCode::StoreVersion);
    const StorePtr store = open();
    EXPECT_TRUE(store->list({}).empty());
}

TEST_F(SqliteSchema, refuses_a_migration_that_is_not_the_known_one) {
    open();
    connect().execute("UPDATE migrations SET checksum = 'edited' WHERE number = 1");
    EXPECT_EQ(code_of_opening(true, "another edition"), ErrorCode::StoreVersion);
}

TEST_F(SqliteSchema, leaves_a_foreign_database_as_it_is_when_names_collide) {
    connect().execute("CREATE TABLE tasks (mine TEXT); INSERT INTO tasks VALUES ('precious')");
    EXPECT_EQ(code_of_opening(true, "tasks already exists"), ErrorCode::StoreError);
    EXPECT_EQ(rows("SELECT name FROM sqlite_schema", 0), "tasks\n");
    EXPECT_EQ(rows("SELECT mine FROM tasks", 0), "precious\n");
}

TEST_F(SqliteSchema, takes_a_different_checksum_for_every_edit) {
    EXPECT_EQ(sqlite::migration_checksum(""), "cbf29ce484222325");
    EXPECT_NE(sqlite::migration_checksum("a b"), sqlite::migration_checksum("b a"));
}

TEST_F(SqliteSchema, needs_a_file) {
    for (const std::string path : {"", ":memory:"}) {
        EXPECT_THROW(make_sqlite_store({.path = path}, clock_), Error) << path;
    }
    EXPECT_THROW(make_sqlite_store({.path = path_, .busy_timeout_ms = -1}, clock_), Error);
    EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace ebb::testing
