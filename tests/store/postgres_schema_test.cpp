// Goal: the schema is what the golden file says, migrations are safe, and every statement fits it.
// Method: fresh databases and schemas on a real server, the .sql files themselves, pg_dump, forked
// openers.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <ebb/error.h>

#include "ebb_test_dirs.h"
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

/// Not what changes the schema or ends a transaction, and what has places in braces.
bool can_be_prepared(const std::string& sql) {
    const std::string bare = std::regex_replace(sql, std::regex("--[^\n]*"), "");
    std::istringstream words(bare);
    std::string first;
    words >> first;
    static const std::set<std::string> preparable{"SELECT", "WITH", "INSERT", "UPDATE", "DELETE"};
    return preparable.contains(first) && !std::regex_search(bare, std::regex("[^']\\{[a-z]+\\}"));
}

TEST_F(PostgresSchema, accepts_every_statement) {
    open();
    const postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
    postgres::Settings in_schema = settings;
    in_schema.schema = schema_;
    postgres::Connection connection(in_schema);
    const std::map<std::string, std::size_t> folders{
        {"sql", 70}, {"partition_sql", 9}, {"snapshot_sql", 9}
    };
    for (const auto& [folder, at_least] : folders) {
        std::size_t prepared = 0;
        const auto statements = embedded_statements("postgres/" + folder);
        if (statements.contains("create_snapshots")) {
            connection.execute(statements.at("create_snapshots"));
        }
        for (const auto& [name, sql] : statements) {
            if (!can_be_prepared(sql)) continue;
            EXPECT_NO_THROW(connection.execute("PREPARE " + name + " AS " + sql)) << name;
            ++prepared;
        }
        EXPECT_GE(prepared, at_least) << folder;
    }
}

/// Hints are left out where the database cannot carry them: polling is the truth. Partitions are
/// for PostgreSQL alone, and nothing else needs them. The path is set in sessions that are
/// shared with others; one of our own has it from its start.
const std::map<std::string, std::set<std::string>>& exempted_words() {
    static const std::map<std::string, std::set<std::string>> exempted{
        {"sql/hints.sql", {"notify"}},
        {"sql/transaction.sql", {"set_config"}},
        {"partitions/partitions.sql", {"lock table"}},
        // A claim compares the version of the row that it has seen with the one that it locks.
        {"sql/tasks.sql", {"xmin", "set_config"}},
        {"sql/queues.sql", {"xmin"}},
        // A heartbeat reads the server's clock, so that all workers have one.
        {"sql/workers.sql", {"clock_timestamp", "xmin"}},
        {"sql/busy.sql", {"clock_timestamp"}},
        // An option of VACUUM.
        {"sql/retention.sql", {"truncate"}},
        // Mail is in the order of its time, also within one transaction.
        {"sql/mail.sql", {"clock_timestamp"}},
        // Workers in SQL are for PostgreSQL alone, and installed only on request.
        {"sql_workers/install.sql",
         {"plpgsql",
          "trigger",
          "deferrable",
          "notify",
          "gen_random_uuid",
          "clock_timestamp",
          "set_config",
          "xmin"}},
        {"sql_workers/outcomes.sql", {"plpgsql", "set_config", "xmin"}},
        {"sql_workers/requests.sql", {"plpgsql", "gen_random_uuid"}},
        {"sql_workers/tasks.sql", {"plpgsql", "set_config"}},
        // So is the surface of rules.
        {"surface/apply.sql", {"plpgsql", "trigger", "notify", "set_config", "clock_timestamp"}},
        {"surface/catalog.sql", {"plpgsql", "references", "notify", "set_config", "xmin", "ctid"}},
        {"surface/claims.sql", {"advisory", "plpgsql", "trigger", "gen_random_uuid", "set_config"}},
        {"surface/decide.sql", {"plpgsql", "trigger", "savepoint "}},
        {"surface/definition.sql", {"plpgsql", "create function", "trigger", "set_config"}},
        {"surface/grammar.sql", {"plpgsql"}},
        {"surface/grants.sql", {"plpgsql", "trigger", "set_config"}},
        {"surface/import.sql",
         {"serial", "plpgsql", "trigger", "copy ", "gen_random_uuid", "set_config", "ctid"}},
        {"surface/merge.sql", {"plpgsql", "trigger"}},
        {"surface/plain.sql", {"advisory", "plpgsql", "trigger", "notify", "set_config"}},
        {"surface/registered.sql", {"lock table", "plpgsql", "trigger", "notify"}},
        {"surface/rows.sql",
         {"advisory",
          "lock table",
          "plpgsql",
          "trigger",
          "gen_random_uuid",
          "clock_timestamp",
          "set_config",
          "truncate",
          "notify",
          "ctid"}},
        {"surface/steering.sql", {"plpgsql", "trigger", "gen_random_uuid"}},
        {"surface/tables.sql",
         {"advisory", "plpgsql", "trigger", "deferrable", "generated", "notify", "truncate"}},
        {"surface/texts.sql", {"plpgsql", "trigger"}},
        {"surface/tokens.sql", {"plpgsql"}},
        {"surface/types.sql", {"plpgsql"}},
        {"surface/views.sql", {"advisory", "plpgsql", "trigger", "set_config"}},
        // It reads a database of WED-SQL, which is PostgreSQL.
        {"wed/wed.sql", {"advisory", "temporary", "copy ", "set_config", "ctid"}},
    };
    return exempted;
}

TEST_F(PostgresSchema, keeps_to_what_distributed_databases_understand) {
    // reference: the portability profile of the docs. Words that one of them lacks, and functions
    // whose answers differ from row to row or from replica to replica.
    const std::vector<std::string> forbidden{
        "advisory",        "serial",        "nextval",
        "savepoint ",  // the statement, not the event savepoint_reached
        "lock table",      "plpgsql",       "create function", "trigger",    "temp table",
        "temporary",       "unlogged",      "truncate",        "references", "deferrable",
        "generated",       "exclude using", "gist (",          "listen",     "notify",
        "copy ",           "merge into",    "extension",       "random(",    "gen_random_uuid",
        "clock_timestamp", "timeofday",     "set_config",      "xmin",       "ctid",
    };
    int files = 0;
    const auto store = kSource / "src/store/postgres";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store)) {
        if (entry.path().extension() != ".sql") continue;
        ++files;
        const std::string name = entry.path().lexically_relative(store).string();
        std::string text = std::regex_replace(read_text(entry.path()), std::regex("--[^\n]*"), "");
        std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
            return static_cast<char>(std::tolower(c));
        });
        for (const std::string& word : forbidden) {
            const auto found = exempted_words().find(name);
            const bool is_exempted =
                found != exempted_words().end() && found->second.contains(word);
            // An unused exemption is an error.
            EXPECT_EQ(text.find(word) != std::string::npos, is_exempted) << name << ": " << word;
        }
    }
    EXPECT_GE(files, 20);
}

TEST_F(PostgresSchema, changes_no_table_twice_in_one_statement) {
    for (const auto& [name, sql] : embedded_statements("postgres/sql")) {
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

/// What a program of an older schema may have left: instance 1 is held by w1, 2 waits for any
/// worker, 3 has ended, 4 has no key.
constexpr const char* kOldData = R"(
    INSERT INTO ebb.instances (id, revision, created_at, updated_at, finished_at, version, priority,
                               status, workflow, key, state)
    SELECT ('{' || i.id || '}')::uuid, 1, 1, 1, CASE i.n WHEN 3 THEN 1 END, 1, 0,
           CASE i.n WHEN 3 THEN 'completed' ELSE 'running' END, 'orders',
           CASE WHEN i.n < 4 THEN 'k' || i.n END, '{}'
    FROM unnest(ARRAY['$1', '$2', '$3', '$4']) WITH ORDINALITY AS i (id, n);
    INSERT INTO ebb.tasks (instance_id, token, rank, due_at, lane, handler, queue, lease_owner)
    SELECT i.id, 1, 1, 1, 1, CASE i.key WHEN 'k1' THEN 'pay' ELSE 'ship' END, '',
           CASE i.key WHEN 'k1' THEN 'w1' END
    FROM ebb.instances AS i WHERE i.key IN ('k1', 'k2');
    INSERT INTO ebb.history (instance_id, seq, at, type, payload)
    SELECT i.id, s.seq, 1, CASE s.seq WHEN 1 THEN 'started' ELSE 'step_completed' END, '1'
    FROM ebb.instances AS i CROSS JOIN generate_series(1, 2) AS s (seq);
    INSERT INTO ebb.workers VALUES ('w1', 1, 1, 9000000000000000, 1, 'h', '{pay}', '{}');
)";

TEST_F(PostgresSchema, is_brought_up_to_date_with_all_that_is_in_it) {
    // The next one has the table of keys, which its programs fill themselves.
    for (std::size_t version = 1; version <= 4; ++version) {
        schema_ = fresh_schema();
        const PostgresOptions options{.url = postgres_server().url(), .schema = schema_};
        const std::vector<Migration> migrations = postgres_migrations(options);
        for (std::size_t i = 0; i < version; ++i) execute(migrations.at(i).script);
        postgres::Settings settings;
        settings.schema = schema_;
        std::string data = settings.in_schema(kOldData);
        for (int n = 1; n <= 4; ++n) {
            data.replace(data.find(fmt::format("${}", n)), 2, id_of(n).to_string());
        }
        execute(data);
        EXPECT_EQ(code_of_opening(false, "ebb migrate"), ErrorCode::StoreVersion);
        const StorePtr store = open();
        for (int n = 1; n <= 3; ++n) {
            EXPECT_EQ(store->find_key("orders", fmt::format("k{}", n)), id_of(n)) << version;
        }
        NewInstance again = instance_of(9);
        again.row.key = "k3";
        EXPECT_EQ(start_one(*store, again).id, id_of(3));
        EXPECT_EQ(store->list({}).size(), 4U);
        WorkerRow w1 = worker_of("w1");
        w1.takes_name = true;  // from the process in the old data
        const HeartbeatResult held = store->heartbeat(w1, std::chrono::hours(1));
        ASSERT_EQ(held.held.size(), 1U);
        EXPECT_EQ(held.held[0].task.instance, id_of(1));
        store->heartbeat(worker_of("w2"), std::chrono::hours(1));
        EXPECT_THAT(names_of(claim(*store, "w2", {"pay", "ship"})), ElementsAre("2/1"));
        const Change change{
            .history = {event_of(3, HistoryType::StepCompleted)},
            .tasks = {change_of(TaskChange::Kind::Remove, 1)},
        };
        EXPECT_EQ(commit_one(*store, change), CommitResult::Committed);
        HistoryQuery query;
        query.instance = id_of(1);
        EXPECT_EQ(store->history(query).size(), 3U);
        EXPECT_EQ(execute(settings.in_schema("SELECT count(*) FROM ebb.running")), "3\n");
    }
}

TEST_F(PostgresSchema, refuses_a_newer_one) {
    open();
    execute("INSERT INTO " + schema_ + ".migrations VALUES (9999, 'future', 'x', 0)");
    EXPECT_EQ(code_of_opening(true, "has version 9999"), ErrorCode::StoreVersion);
    EXPECT_EQ(code_of_opening(false, "Use a newer ebb"), ErrorCode::StoreVersion);
}

TEST_F(PostgresSchema, is_not_created_by_a_user_who_may_not_migrate) {
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
