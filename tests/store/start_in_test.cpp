// Goal: an instance that is started in the application's own transaction is there if that commits,
// and was never there if it does not; and what cannot work is refused with the reason, while the
// transaction stays as it was. Method: connections of an application, beside both databases.

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/application.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(60);

HandlerRegistry echo() {
    HandlerRegistry handlers;
    handlers.add_raw("pay", Handler([](const Payload& input, const StepContext&) {
                         return input;
                     }));
    return handlers;
}

/// The store, an engine on it, and why a start was refused.
class StartIn : public ::testing::Test {
 protected:
    explicit StartIn(const Place& place)
        : place_(place), store_(place.open()), engine_(*store_, handlers_) {
        engine_.register_workflow(WorkflowBuilder("orders").step("pay").build());
    }

    StartedInstance start(const Transaction& transaction, const std::string& key = {}) {
        return engine_.start_in(transaction, "orders", Payload::text("1"), {.key = key});
    }

    std::string refusal(
        const Transaction& transaction, ErrorCode code = ErrorCode::InvalidArgument
    ) {
        try {
            start(transaction);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            return error.what();
        }
        return "nothing was refused";
    }

    std::size_t instances() { return engine_.list().size(); }

    const HandlerRegistry handlers_ = echo();
    Place place_;
    StorePtr store_;
    Engine engine_;
};

class StartInPostgres : public StartIn {
 protected:
    StartInPostgres() : StartIn(postgres_place(TempDir())), connection_(connect()) {}

    using Owned = std::unique_ptr<PGconn, void (*)(PGconn*)>;

    static Owned connect(std::string_view database = "ebb_test") {
        return {PQconnectdb(postgres_server().url(database).c_str()), PQfinish};
    }

    std::string run(const std::string& sql) { return run_sql(connection_.get(), sql); }

    Owned connection_;
    const Transaction transaction_{connection_.get()};
};

TEST_F(StartInPostgres, begins_when_the_transaction_commits) {
    run("BEGIN; CREATE TABLE effects (id integer); INSERT INTO effects VALUES (1)");
    const StartedInstance started = start(transaction_);
    EXPECT_TRUE(started.is_new);
    EXPECT_EQ(instances(), 0U);
    engine_.poll();
    run("COMMIT");
    EXPECT_EQ(engine_.wait(started.id, kLong).status, "completed");
    EXPECT_EQ(run("SELECT count(*) FROM effects"), "1");
}

TEST_F(StartInPostgres, has_never_existed_when_the_transaction_rolls_back) {
    run("BEGIN");
    const InstanceId id = start(transaction_, "k").id;
    run("ROLLBACK");
    EXPECT_FALSE(engine_.find(id).has_value());
    EXPECT_TRUE(engine_.start("orders", Payload::text("1"), {.key = "k"}).is_new);
}

TEST_F(StartInPostgres, finds_the_instance_that_already_has_the_key) {
    const InstanceId id = engine_.start("orders", Payload::text("1"), {.key = "k"}).id;
    run("BEGIN");
    const StartedInstance again = start(transaction_, "k");
    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(again.id, id);
    run("COMMIT");
    EXPECT_EQ(instances(), 1U);
}

TEST_F(StartInPostgres, works_at_every_isolation_level_and_without_blocking) {
    PQsetnonblocking(connection_.get(), 1);
    for (const char* level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
        run(std::string("BEGIN ISOLATION LEVEL ") + level);
        start(transaction_);
        run("COMMIT");
    }
    EXPECT_EQ(instances(), 3U);
    EXPECT_EQ(run("SELECT count(*) FROM pg_prepared_statements"), "0");
}

TEST_F(StartInPostgres, refuses_what_is_not_an_open_transaction) {
    EXPECT_THAT(refusal(transaction_), HasSubstr("no transaction is open on the connection"));
    run("BEGIN");
    EXPECT_THROW(run("SELECT 1 / 0"), std::runtime_error);
    EXPECT_THAT(refusal(transaction_), HasSubstr("can only be rolled back"));
    run("ROLLBACK; BEGIN");
    PQsendQuery(connection_.get(), "SELECT 1");
    EXPECT_THAT(refusal(transaction_), HasSubstr("has a query in progress"));
    while (PGresult* result = PQgetResult(connection_.get())) PQclear(result);
    PQenterPipelineMode(connection_.get());
    EXPECT_THAT(refusal(transaction_), HasSubstr("pipeline mode"));
    PQexitPipelineMode(connection_.get());
    run("SET client_encoding = LATIN1");
    EXPECT_THAT(refusal(transaction_), HasSubstr("client encoding LATIN1"));
    run("SET client_encoding = UTF8");
    start(transaction_);
    run("COMMIT");
    EXPECT_EQ(instances(), 1U);
    EXPECT_THAT(refusal(Transaction(static_cast<pg_conn*>(nullptr))), HasSubstr("null pointer"));
    EXPECT_THAT(refusal(Transaction(static_cast<sqlite3*>(nullptr))), HasSubstr("null pointer"));
}

TEST_F(StartInPostgres, refuses_another_database_and_leaves_its_transaction_usable) {
    const Owned other = connect("postgres");
    run_sql(other.get(), "BEGIN");
    EXPECT_THAT(
        refusal(Transaction(other.get())),
        HasSubstr("its database, postgres, is not that of the store, postgresql://")
    );
    EXPECT_EQ(run_sql(other.get(), "SELECT 7"), "7");
}

TEST_F(StartInPostgres, refuses_the_same_schema_of_another_store) {
    const std::string schema = fresh_schema();
    postgres_server().execute("DROP DATABASE IF EXISTS twin", "postgres");
    postgres_server().execute("CREATE DATABASE twin", "postgres");
    const StorePtr here = open_postgres_store({.url = postgres_server().url(), .schema = schema});
    open_postgres_store({.url = postgres_server().url("twin"), .schema = schema});
    Engine engine(*here, handlers_);
    engine.register_workflow(WorkflowBuilder("orders").step("pay").build());
    const Owned other = connect("twin");
    run_sql(other.get(), "BEGIN");
    try {
        engine.start_in(Transaction(other.get()), "orders");
        FAIL() << "was started in the twin";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("its database, twin, is not that of the store"));
    }
}

TEST_F(StartInPostgres, refuses_bad_input_before_it_touches_the_transaction) {
    EXPECT_THROW(engine_.start_in(transaction_, "orders", Payload::text("{")), Error);
    EXPECT_THROW(engine_.start_in(transaction_, "nothing"), Error);
}

class StartInSqlite : public StartIn {
 protected:
    StartInSqlite() : StartInSqlite(std::make_unique<TempDir>()) {}

    explicit StartInSqlite(std::unique_ptr<TempDir> dir)
        : StartIn(sqlite_place(*dir)), dir_(std::move(dir)), connection_(connect("ebb.db")) {}

    using Owned = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

    Owned connect(std::string_view name, int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
        sqlite3* raw = nullptr;
        sqlite3_open_v2(dir_->file(name).c_str(), &raw, flags, nullptr);
        return {raw, sqlite3_close};
    }

    std::string run(const std::string& sql) { return run_sql(connection_.get(), sql); }

    std::unique_ptr<TempDir> dir_;
    Owned connection_;
    const Transaction transaction_{connection_.get()};
};

TEST_F(StartInSqlite, begins_when_the_transaction_commits) {
    run("BEGIN; CREATE TABLE effects (id integer); INSERT INTO effects VALUES (1)");
    const StartedInstance started = start(transaction_);
    EXPECT_EQ(instances(), 0U);
    run("COMMIT");
    EXPECT_EQ(engine_.wait(started.id, kLong).status, "completed");
    EXPECT_EQ(run("SELECT count(*) FROM effects"), "1");
}

TEST_F(StartInSqlite, has_never_existed_when_the_transaction_rolls_back) {
    run("BEGIN");
    const InstanceId id = start(transaction_, "k").id;
    run("ROLLBACK");
    EXPECT_FALSE(engine_.find(id).has_value());
    const InstanceId other = engine_.start("orders", Payload::text("1"), {.key = "k"}).id;
    run("BEGIN");
    const StartedInstance again = start(transaction_, "k");
    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(again.id, other);
    run("COMMIT");
}

TEST_F(StartInSqlite, refuses_what_is_not_a_transaction_of_the_store) {
    EXPECT_THAT(refusal(transaction_), HasSubstr("none is open on the connection"));
    const Owned other = connect("other.db");
    run_sql(other.get(), "BEGIN");
    EXPECT_THAT(
        refusal(Transaction(other.get())), HasSubstr("other.db\", is not that of the store")
    );
    run_sql(other.get(), "COMMIT; ATTACH '" + dir_->file("ebb.db") + "' AS ebb; BEGIN");
    EXPECT_THAT(refusal(Transaction(other.get())), HasSubstr("attached to the connection as ebb"));
    const Owned reader = connect("ebb.db", SQLITE_OPEN_READONLY);
    run_sql(reader.get(), "BEGIN");
    EXPECT_THAT(
        refusal(Transaction(reader.get()), ErrorCode::StoreReadOnly), HasSubstr("can only read")
    );
    const std::unique_ptr<PGconn, void (*)(PGconn*)> postgres(PQconnectStart(""), PQfinish);
    EXPECT_THAT(refusal(Transaction(postgres.get())), HasSubstr("of PostgreSQL, not of SQLite"));
}

TEST_F(StartInSqlite, refuses_a_schema_of_another_version) {
    run("BEGIN; DELETE FROM migrations WHERE number > 1");
    EXPECT_THAT(
        refusal(transaction_, ErrorCode::StoreVersion), HasSubstr("has version 1, and this program")
    );
    run("ROLLBACK");
}

}  // namespace
}  // namespace ebb::testing
