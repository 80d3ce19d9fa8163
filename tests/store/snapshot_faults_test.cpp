// Goal: a foreign table, a database that is gone, full or read-only, and a lost answer each give a
// precise error and lose nothing. Method: real files and a real server.

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <ebb/builder.h>
#include <ebb/error.h>
#include <ebb/snapshot_store.h>

#include "ebb_test_dirs.h"
#include "store/conformance.h"
#include "store/postgres/connection.h"
#include "store/sqlite/database.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using stateless::SaveResult;
using stateless::Snapshot;
using stateless::SnapshotStorePtr;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = SaveResult::Kind;

/// No statement that runs for each snapshot.
bool is_of_schema(const std::string& name) {
    return name == "create_snapshots" || name == "columns_of_snapshots" || name == "add_run_id";
}

constexpr const char* kSeedTable =
    "CREATE TABLE workflow_executions (id VARCHAR(255) PRIMARY KEY, snapshot TEXT NOT NULL, "
    "status VARCHAR(50) NOT NULL, created_at TEXT, updated_at TEXT)";

class SnapshotFaults : public ::testing::Test {
 protected:
    SnapshotFaults() : engine_(handlers_) {
        handlers_.add_raw("a", [](const Payload& input, const StepContext&) { return input; });
        WorkflowBuilder builder("one");
        builder.step("a");
        engine_.add(builder.build());
    }

    SnapshotStorePtr open_sqlite(bool migrate = true) {
        return stateless::open_sqlite_snapshot_store({.path = path_, .migrate = migrate});
    }

    SnapshotStorePtr open_postgres(const PostgresServer& server, bool migrate = true) {
        return stateless::open_postgres_snapshot_store(
            {.url = server.url(), .schema = schema_, .migrate = migrate}
        );
    }

    Snapshot start(const std::string& id = "x") {
        return engine_.start("one", Payload::text("1"), {.workflow_id = id});
    }

    static void expect_error(
        ErrorCode code, const std::string& part, const std::function<void()>& act
    ) {
        try {
            act();
            ADD_FAILURE() << "nothing was thrown; expected: " << part;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            EXPECT_THAT(error.what(), HasSubstr(part));
        }
    }

    TempDir dir_;
    std::string path_ = dir_.file("app.db");
    std::string schema_ = fresh_schema();
    HandlerRegistry handlers_;
    stateless::Engine engine_;
};

TEST_F(SnapshotFaults, a_table_of_the_seed_lacks_the_version) {
    sqlite::Database(path_, sqlite::Database::Access::ReadWrite, 100).execute(kSeedTable);
    expect_error(ErrorCode::StoreVersion, "lacks version, workflow", [&] { open_sqlite(); });
    postgres_server().execute(
        fmt::format("CREATE SCHEMA {0}; SET search_path = {0}; {1}", schema_, kSeedTable)
    );
    expect_error(ErrorCode::StoreVersion, "lacks version, workflow", [&] {
        open_postgres(postgres_server());
    });
    expect_error(ErrorCode::StoreVersion, schema_, [&] { open_postgres(postgres_server()); });
}

/// What an earlier version of Ebb has made and written.
constexpr const char* kTableBefore =
    "ALTER TABLE {0}workflow_executions DROP COLUMN run_id; "
    "INSERT INTO {0}workflow_executions (id, snapshot, status, version, workflow, saved_by, "
    "save_id, created_at, updated_at) VALUES ('old', '{1}', 'active', 0, 'one', '', '', {2}, {2})";

TEST_F(SnapshotFaults, a_table_of_before_there_were_run_ids_gets_the_column_and_keeps_its_rows) {
    Json json = Json::parse(start("old").to_json());
    json.erase("runId");
    json["formatVersion"] = 1;
    open_sqlite();
    open_postgres(postgres_server());
    sqlite::Database(path_, sqlite::Database::Access::ReadWrite, 1'000)
        .execute(fmt::format(fmt::runtime(kTableBefore), "", json.dump(), 0));
    postgres_server().execute(
        fmt::format(fmt::runtime(kTableBefore), schema_ + ".", json.dump(), "now()")
    );
    expect_error(ErrorCode::StoreVersion, "lacks run_id", [&] { open_sqlite(false); });
    expect_error(ErrorCode::StoreVersion, "lacks run_id", [&] {
        open_postgres(postgres_server(), false);
    });
    const auto go_on = [this](const SnapshotStorePtr& store) {
        const auto stored = store->load("old");
        ASSERT_TRUE(stored);
        EXPECT_EQ(stored->info.run_id, "");
        const Snapshot old = engine_.parse(stored->json);
        EXPECT_EQ(store->save(engine_.step(old), 0).kind, Kind::Saved);
        EXPECT_EQ(store->insert_if_absent(start("new")).kind, Kind::Saved);
    };
    go_on(open_sqlite());
    go_on(open_postgres(postgres_server()));
    EXPECT_NO_THROW(open_sqlite(false));
    EXPECT_NO_THROW(open_postgres(postgres_server(), false));
}

TEST_F(SnapshotFaults, a_missing_table_is_created_only_on_request) {
    expect_error(ErrorCode::StoreVersion, "There is no table", [&] { open_sqlite(false); });
    expect_error(ErrorCode::StoreVersion, "There is no table", [&] {
        open_postgres(postgres_server(), false);
    });
    open_sqlite();
    open_postgres(postgres_server());
    EXPECT_NO_THROW(open_sqlite(false));
    EXPECT_NO_THROW(open_postgres(postgres_server(), false));
}

TEST_F(SnapshotFaults, the_table_can_be_beside_those_of_the_durable_stores) {
    const SnapshotStorePtr sqlite = open_sqlite();
    const SnapshotStorePtr postgres = open_postgres(postgres_server());
    const StorePtr durable_sqlite = open_sqlite_store({.path = path_});
    const StorePtr durable_postgres =
        open_postgres_store({.url = postgres_server().url(), .schema = schema_});
    EXPECT_EQ(sqlite->insert_if_absent(start()).kind, Kind::Saved);
    EXPECT_EQ(postgres->insert_if_absent(start()).kind, Kind::Saved);
    EXPECT_NO_THROW(open_sqlite_store({.path = path_, .migrate = false}));
}

TEST_F(SnapshotFaults, a_read_only_database_is_reported_as_such) {
    open_sqlite()->insert_if_absent(start());
    const SnapshotStorePtr store =
        stateless::open_postgres_snapshot_store({.url = postgres_server().url(), .schema = schema_}
        );
    const SnapshotStorePtr reader = stateless::open_postgres_snapshot_store(
        {.url = postgres_server().url() + "&options=-c%20default_transaction_read_only%3Don",
         .schema = schema_}
    );
    expect_error(ErrorCode::StoreReadOnly, "read-only", [&] { reader->insert_if_absent(start()); });
    EXPECT_FALSE(reader->load("x"));
}

TEST_F(SnapshotFaults, a_locked_file_is_busy) {
    const SnapshotStorePtr store =
        stateless::open_sqlite_snapshot_store({.path = path_, .busy_timeout_ms = 20});
    sqlite::Database other(path_, sqlite::Database::Access::ReadWrite, 20);
    other.execute("BEGIN IMMEDIATE");
    expect_error(ErrorCode::StoreBusy, path_, [&] { store->insert_if_absent(start()); });
    other.execute("ROLLBACK");
    EXPECT_EQ(store->insert_if_absent(start()).kind, Kind::Saved);
}

TEST_F(SnapshotFaults, the_error_names_a_row_that_was_changed_by_hand) {
    const SnapshotStorePtr store = open_sqlite();
    store->insert_if_absent(start());
    sqlite::Database(path_, sqlite::Database::Access::ReadWrite, 1'000)
        .execute("UPDATE workflow_executions SET status = 'done'");
    expect_error(ErrorCode::CorruptState, "\"done\"", [&] { store->load("x"); });
}

TEST_F(SnapshotFaults, a_database_that_disappears_and_comes_back_loses_nothing) {
    PostgresServer server;
    const SnapshotStorePtr store = open_postgres(server);
    const Snapshot first = start();
    store->insert_if_absent(first);
    server.stop();
    expect_error(ErrorCode::StoreUnavailable, "postgresql://", [&] {
        store->save(engine_.step(first), 0, {.save_id = "s"});
    });
    server.start();
    SaveResult result;
    for (int tries = 0; tries < 100; ++tries) {
        try {
            result = store->save(engine_.step(first), 0, {.save_id = "s"});
            break;
        } catch (const Error& error) {
            ASSERT_TRUE(error.is_transient()) << error.what();
        }
    }
    EXPECT_EQ(result.kind, Kind::Saved);
    EXPECT_EQ(store->load("x")->info.version, 1);
}

TEST_F(SnapshotFaults, every_statement_uses_an_index) {
    open_postgres(postgres_server());
    postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
    settings.schema = schema_;
    postgres::Connection connection(settings);
    // The table is empty: the index that a full table would need must exist at all.
    connection.execute(
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_sort = "
        "off; SET enable_bitmapscan = off"
    );
    int seen = 0;
    std::map<std::string, std::string> questions;
    for (const auto& [name, sql] : embedded_statements("postgres/snapshot_sql")) {
        if (is_of_schema(name)) continue;
        connection.execute("PREPARE " + name + " AS " + sql);
        std::string& question = questions[name];
        question = "EXPLAIN EXECUTE " + name + " (NULL";
        for (int n = 2; sql.find(fmt::format("${}", n)) != std::string::npos; ++n) {
            question += ", NULL";
        }
        question += ")";
        const postgres::Result lines = connection.run(question, {});
        std::string plan;
        for (int row = 0; row < lines.rows(); ++row) plan += std::string(lines.text(row, 0)) + "\n";
        EXPECT_THAT(plan, Not(HasSubstr("Seq Scan"))) << name;
        EXPECT_THAT(plan, Not(HasSubstr("Sort"))) << name << "\n" << plan;
        ++seen;
    }
    EXPECT_EQ(seen, 10);
}

TEST_F(SnapshotFaults, every_statement_of_sqlite_uses_an_index) {
    open_sqlite();
    sqlite::Database database(path_, sqlite::Database::Access::ReadWrite, 1'000);
    std::map<std::string, std::string> questions;
    for (const auto& [name, sql] : embedded_statements("sqlite/snapshot_sql")) {
        if (is_of_schema(name)) continue;
        std::string& question = questions[name];
        question = "EXPLAIN QUERY PLAN " + sql;
        sqlite::Query plan(database, question);
        while (plan.step()) {
            EXPECT_THAT(std::string(plan.text(3)), Not(HasSubstr("SCAN"))) << name;
            EXPECT_THAT(std::string(plan.text(3)), Not(HasSubstr("TEMP B-TREE"))) << name;
        }
    }
}

}  // namespace
}  // namespace ebb::testing
