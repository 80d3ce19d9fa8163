// Goal: the printed grants are enough for each role and no more. Method: separate roles on the real
// server, created as docs/reference/store.md says. A worker does everything that an engine does,
// and then what it must not do.

#include <filesystem>
#include <regex>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "ebb_test_dirs.h"
#include "store/admin_store.h"
#include "store/conformance.h"
#include "store/migrations.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

class PostgresRoles : public ::testing::Test {
 protected:
    PostgresRoles() {
        // Role names belong to the whole server.
        execute("DROP DATABASE IF EXISTS roles", "postgres");
        drop_roles();
        execute("CREATE ROLE ebb_migrator LOGIN", "postgres");
        execute("CREATE ROLE ebb_worker LOGIN", "postgres");
        execute("CREATE ROLE ebb_observer LOGIN", "postgres");
        execute("CREATE ROLE ebb_server LOGIN IN ROLE ebb_worker", "postgres");
        execute("CREATE ROLE stranger LOGIN", "postgres");
        execute("CREATE DATABASE roles", "postgres");
        execute("CREATE SCHEMA " + schema_ + " AUTHORIZATION ebb_migrator");
    }

    std::string execute(const std::string& sql, std::string_view database = "roles") {
        return postgres_server().execute(sql, database);
    }

    /// The value of the only row.
    std::string execute_one(const std::string& sql) {
        std::string value = execute(sql);
        if (value.ends_with('\n')) value.pop_back();
        return value;
    }

    void drop_roles() {
        execute(
            "DROP ROLE IF EXISTS ebb_migrator, ebb_worker, ebb_observer, ebb_server, stranger, "
            "alarm, "
            "dba",
            "postgres"
        );
    }

    /// Runs what a page says as this role, which must not be a superuser.
    void execute_as(std::string_view role, std::string_view sql) {
        const postgres::Settings settings =
            postgres::read_settings({.url = postgres_server().url("roles", role)});
        postgres::Connection(settings).execute(sql);
    }

    PostgresOptions options(std::string_view role) {
        return {.url = postgres_server().url("roles", role), .schema = schema_, .migrate = false};
    }

    void prepare() {
        migrate_postgres(options("ebb_migrator"));
        // Twice, because the grants are run again after each update.
        for (int i = 0; i < 2; ++i) {
            execute("SET ROLE ebb_migrator; " + postgres_grants(options("ebb_migrator")));
        }
    }

    /// The reason why the role may not run this; empty if it may.
    std::string refusal(const std::string& role, const std::string& sql) {
        try {
            execute("SET ROLE " + role + "; SET search_path = " + schema_ + "; " + sql);
            return {};
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }

    std::string schema_ = "orders";
};

TEST_F(PostgresRoles, let_a_worker_do_all_its_work) {
    prepare();
    const StorePtr store = open_postgres_store(options("ebb_worker"));
    HandlerRegistry handlers;
    int failures = 0;
    handlers.add_raw("pay", Handler([](const Payload& input, const StepContext&) {
                         return input;
                     }));
    handlers.add_raw("ship", Handler([&](const Payload& input, const StepContext&) -> Payload {
                         if (++failures == 1) throw std::runtime_error("not yet");
                         return input;
                     }));
    const Definition definition =
        WorkflowBuilder("orders").step("pay").step("ship", {.queue = "truck"}).build();
    Engine engine(*store, handlers);
    engine.register_workflow(definition);
    engine.set_queue("truck", {.concurrency = 1, .rate = QueueRate{100, std::chrono::seconds(1)}});
    const InstanceId id = engine.start("orders", Payload::text("1"), {.key = "k"}).id;
    EXPECT_EQ(engine.wait(id, std::chrono::seconds(60)).status, "completed");
    const InstanceId other = engine.start("orders", Payload::text("2")).id;
    engine.cancel(other);
    store->maintain();
    store->unserved();
    store->count();
    store->sign_off({"absent", kStart});
    EXPECT_EQ(engine.show(id).summary.status, "completed");
    engine.set_retention("*", {.completed = std::chrono::hours(1)});
    EXPECT_TRUE(store->take_sweep(std::chrono::minutes(1)).has_value());
    EXPECT_GE(engine.purge({.older_than = Duration::zero()}).instances, 1);
    EXPECT_FALSE(engine.find(id).has_value());
    EXPECT_TRUE(engine.clear_retention("*"));
    for (const char* view : {"running", "stuck", "stats", "steps"}) {
        EXPECT_EQ(refusal("ebb_worker", fmt::format("SELECT * FROM {}", view)), "");
    }
}

TEST_F(PostgresRoles, keep_a_worker_from_the_schema_and_the_past) {
    prepare();
    for (const char* sql :
         {"DROP TABLE tasks",
          "ALTER TABLE tasks ADD COLUMN mine integer",
          "CREATE TABLE mine (id integer)",
          "DROP VIEW running",
          "TRUNCATE history",
          "UPDATE history SET payload = 'other'",
          "UPDATE workflows SET definition = '{}'",
          "DELETE FROM workflows",
          "DELETE FROM migrations",
          "INSERT INTO migrations VALUES (9999, 'mine', '', 0)"}) {
        const std::string why = refusal("ebb_worker", sql);
        const bool is_refused = why.find("permission denied") != std::string::npos ||
                                why.find("must be owner") != std::string::npos;
        EXPECT_TRUE(is_refused) << sql << ": " << why;
    }
}

TEST_F(PostgresRoles, let_an_observer_read_all_and_change_nothing) {
    prepare();
    const StorePtr store = open_postgres_store(options("ebb_observer"));
    EXPECT_TRUE(store->list({}).empty());
    EXPECT_TRUE(store->count().empty());
    try {
        start_one(*store, instance_of(1));
        FAIL() << "an observer started an instance";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreDenied);
        EXPECT_THAT(error.what(), HasSubstr("permission denied for table"));
        EXPECT_THAT(error.what(), HasSubstr("ebb migrate --grants"));
    }
    for (const char* table : {"instances", "tasks", "history", "workers", "workflows"}) {
        const std::string remove = fmt::format("DELETE FROM {}", table);
        EXPECT_THAT(refusal("ebb_observer", remove), HasSubstr("permission denied"));
    }
    for (const char* view : {"running", "stuck", "stats", "steps"}) {
        EXPECT_EQ(refusal("ebb_observer", fmt::format("SELECT * FROM {}", view)), "");
    }
}

TEST_F(PostgresRoles, let_a_server_keep_tokens_that_no_other_role_reads) {
    migrate_postgres(options("ebb_migrator"));
    // The server may not create its table itself.
    try {
        open_postgres_admin_store(options("ebb_server"));
        FAIL() << "the server created a table";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreDenied);
        EXPECT_THAT(error.what(), HasSubstr("ebb migrate --grants"));
    }
    prepare();
    const auto admin = open_postgres_admin_store(options("ebb_server"));
    EXPECT_TRUE(admin->add({.kind = "token", .name = "ci", .document = "{}"}));
    admin->put({.kind = "token", .name = "ci", .document = "[]"});
    EXPECT_EQ(admin->list("token").size(), 1U);
    EXPECT_TRUE(admin->remove("token", "ci"));
    admin->remove_expired(TimePoint{});
    start_one(*open_postgres_store(options("ebb_server")), instance_of(1));
    for (const char* role : {"ebb_worker", "ebb_observer"}) {
        EXPECT_THAT(refusal(role, "SELECT * FROM admin"), HasSubstr("permission denied")) << role;
        EXPECT_THAT(refusal(role, "DELETE FROM admin"), HasSubstr("permission denied")) << role;
    }
}

TEST_F(PostgresRoles, let_a_worker_run_flows_in_sql_and_not_change_them) {
    execute("GRANT CREATE ON DATABASE roles TO ebb_migrator");
    migrate_postgres(options("ebb_migrator"));
    install_sql_workers(options("ebb_migrator"));
    install_rules_sql(options("ebb_migrator"));
    prepare();
    execute("DROP SCHEMA IF EXISTS travel CASCADE");
    execute_as("ebb_migrator", R"(
        SELECT orders.create_flow('travel');
        INSERT INTO travel.wed_attr (aname, adv) VALUES ('hotel', 'wanted');
        INSERT INTO travel.wed_trig (trname, cpred) VALUES ('book', $$hotel = 'wanted'$$);
        INSERT INTO travel.wed_trig (cpred, cfinal) VALUES ($$hotel = 'booked'$$, true);
        INSERT INTO travel.wed_flow DEFAULT VALUES)");
    const StorePtr store = open_postgres_store(options("ebb_worker"));
    HandlerRegistry handlers;
    handlers.add_raw("book", Handler([](const Payload&, const StepContext&) {
                         return Payload::text(R"({"hotel":"booked"})");
                     }));
    Engine engine(*store, handlers);
    engine.run();
    const auto id = InstanceId::parse(execute_one("SELECT instance_id FROM travel.wed_flow"));
    ASSERT_TRUE(id.has_value());
    EXPECT_EQ(engine.wait(*id, std::chrono::seconds(60)).status, "completed");
    EXPECT_EQ(execute_one("SELECT hotel FROM travel.wed_flow"), "booked");
    for (const char* role : {"ebb_worker", "ebb_observer", "stranger"}) {
        for (const char* sql :
             {"UPDATE orders.flows SET notify = 'none'",
              "DELETE FROM orders.flow_versions",
              "INSERT INTO orders.flow_rights VALUES ('stranger', 'travel', 'define')",
              "DELETE FROM orders.flow_behind",
              "UPDATE travel.wed_flow SET hotel = 'x'",
              "INSERT INTO travel.wed_attr (aname) VALUES ('x')",
              "SELECT * FROM travel.wed_flow",
              "SELECT travel.wed_claim('book')",
              "SELECT orders.create_flow('mine')",
              "SELECT orders.flow_build('travel')",
              "SELECT orders.import_wed('mine', 'travel')"}) {
            EXPECT_THAT(refusal(role, sql), HasSubstr("permission denied")) << role << ": " << sql;
        }
    }
    EXPECT_EQ(refusal("ebb_observer", "SELECT * FROM flow_rights"), "");
    EXPECT_THAT(refusal("ebb_worker", "SELECT * FROM flow_rights"), HasSubstr("permission denied"));
}

TEST_F(PostgresRoles, let_a_reader_of_a_view_not_read_the_tables) {
    prepare();
    execute("GRANT USAGE ON SCHEMA orders TO stranger; GRANT SELECT ON orders.stuck TO stranger");
    EXPECT_EQ(refusal("stranger", "SELECT * FROM stuck"), "");
    EXPECT_THAT(refusal("stranger", "SELECT * FROM history"), HasSubstr("permission denied"));
}

TEST_F(PostgresRoles, can_be_created_as_documented_by_an_owner_without_superuser_rights) {
    execute("DROP DATABASE roles", "postgres");
    drop_roles();
    execute("CREATE ROLE dba LOGIN CREATEROLE", "postgres");
    execute("CREATE DATABASE roles OWNER dba", "postgres");
    schema_ = "ebb";
    const std::filesystem::path docs = std::filesystem::path(EBB_SOURCE_DIR) / "docs/reference";
    const std::string page = read_text(docs / "store.md");
    const std::size_t begin = page.find("-- As the owner of the database, once.");
    ASSERT_NE(begin, std::string::npos);
    execute_as("dba", page.substr(begin, page.find("```", begin) - begin));
    migrate_postgres(options("ebb_migrator"));
    execute_as("ebb_migrator", postgres_grants(options("ebb_migrator")));
    const StorePtr store = open_postgres_store(options("ebb_worker"));
    start_one(*store, instance_of(1));
    EXPECT_EQ(open_postgres_store(options("ebb_observer"))->list({}).size(), 1U);
    EXPECT_EQ(refusal("ebb_worker", "DELETE FROM history"), "") << "as retention does";
    execute_as("dba", "CREATE ROLE alarm LOGIN");
    const std::string views = read_text(docs / "sql.md");
    const std::regex grant("`(GRANT [^`]* TO alarm)`");
    int grants = 0;
    for (std::sregex_iterator at(views.begin(), views.end(), grant), end; at != end; ++at) {
        execute_as("ebb_migrator", (*at)[1].str());
        ++grants;
    }
    EXPECT_EQ(grants, 2);
    execute_as("alarm", "SELECT * FROM ebb.stuck");
}

/// Returns whether a worker has the rights to do its work.
bool can_work(Store& store, Store& owner, const std::string& key) {
    HandlerRegistry handlers;
    for (const char* name : {"pay", "ship", "pack"}) {
        handlers.add_raw(name, Handler([](const Payload& input, const StepContext&) {
                             return input;
                         }));
    }
    const HandlerRegistry none;
    Engine starter(owner, none);
    const auto ship = [](BlockBuilder& branch) { branch.step("ship"); };
    const auto pack = [](BlockBuilder& branch) { branch.step("pack", {.queue = "truck"}); };
    WorkflowBuilder builder("orders");
    builder.step("pay").parallel("both", {{"x", ship}, {"y", pack}});
    starter.register_workflow(builder.build());
    starter.set_queue("truck", {.concurrency = 1, .rate = QueueRate{100, std::chrono::seconds(1)}});
    const InstanceId id = starter.start("orders", Payload::text("1"), {.key = key}).id;
    Engine engine(store, handlers);
    constexpr int kRoundsMax = 10;
    for (int i = 0; i < kRoundsMax && starter.find(id)->finished_at == TimePoint{}; ++i) {
        engine.poll();
    }
    try {
        store.maintain();
        store.unserved();
        engine.drain(Duration::zero());
        store.sign_off({"absent", kStart});
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreDenied) << error.what();
        return false;
    }
    return starter.find(id)->status == "completed" && engine.counters().store_errors == 0;
}

TEST_F(PostgresRoles, are_checked_for_every_right_that_a_worker_needs) {
    prepare();
    const StorePtr owner = open_postgres_store(options("ebb_migrator"));
    const StorePtr store = open_postgres_store(options("ebb_worker"));
    EXPECT_NO_THROW(store->check_rights());
    EXPECT_TRUE(can_work(*store, *owner, "all"));
    std::istringstream rights(
        execute("SELECT privilege_type || ' ON orders.' || table_name "
                "FROM information_schema.role_table_grants "
                "WHERE grantee = 'ebb_worker' ORDER BY table_name, privilege_type")
    );
    int needed = 0;
    for (std::string right; std::getline(rights, right);) {
        execute("REVOKE " + right + " FROM ebb_worker");
        std::string why;
        try {
            store->check_rights();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::StoreDenied);
            why = error.what();
        }
        if (why.empty()) {
            EXPECT_TRUE(can_work(*store, *owner, right)) << right;
        } else {
            ++needed;
            EXPECT_THAT(why, HasSubstr("GRANT " + right + " TO ebb_worker;"));
        }
        execute("GRANT " + right + " TO ebb_worker");
    }
    EXPECT_GE(needed, 20);
    // What a workflow calls is written down by those who may register workflows.
    execute("REVOKE INSERT ON orders.calls FROM ebb_worker");
    EXPECT_THROW(store->check_rights(), Error);
    execute("REVOKE INSERT ON orders.workflows FROM ebb_worker");
    EXPECT_NO_THROW(store->check_rights());
    execute("GRANT INSERT ON orders.calls, orders.workflows TO ebb_worker");
    execute("REVOKE USAGE ON SCHEMA orders FROM ebb_worker");
    execute("REVOKE INSERT, UPDATE ON orders.tasks FROM ebb_worker");
    try {
        store->check_rights();
        FAIL() << "all rights were present";
    } catch (const Error& error) {
        EXPECT_THAT(
            error.what(),
            HasSubstr("GRANT USAGE ON SCHEMA orders TO ebb_worker; "
                      "GRANT INSERT, UPDATE ON orders.tasks TO ebb_worker;")
        );
    }
}

TEST_F(PostgresRoles, say_who_must_migrate_if_this_role_may_not) {
    prepare();
    execute("DELETE FROM orders.migrations WHERE number > 1");
    PostgresOptions migrating = options("ebb_worker");
    migrating.migrate = true;
    try {
        open_postgres_store(migrating);
        FAIL() << "a worker migrated the schema";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreDenied);
        EXPECT_THAT(error.what(), HasSubstr("has version 1, and this program needs"));
        EXPECT_THAT(error.what(), HasSubstr("Run `ebb migrate` as the owner of the schema."));
    }
}

TEST_F(PostgresRoles, name_the_rights_that_are_missing) {
    prepare();
    try {
        open_postgres_store(options("stranger"));
        FAIL() << "a stranger opened the store";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreDenied);
        EXPECT_THAT(error.what(), HasSubstr("permission denied for schema orders"));
        EXPECT_THAT(error.what(), HasSubstr("ebb migrate --grants"));
    }
}

}  // namespace
}  // namespace ebb::testing
