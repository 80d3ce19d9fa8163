// Goal: everything works through PgBouncer in transaction mode, where each transaction may get
// another session. Method: the real one, between the store and the server, with fewer sessions than
// connections.

#include "store/pgbouncer.h"

#include <libpq-fe.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/conformance.h"
#include "store/migrations.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/sql_error.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(60);

class BehindPgBouncer : public ::testing::Test {
 protected:
    StorePtr open_store() {
        return open_postgres_store(
            {.url = bouncer_.url() + "&statement_cache=off", .schema = schema_}
        );
    }

    const PgBouncer bouncer_;
    const std::string schema_ = fresh_schema();
};

TEST_F(BehindPgBouncer, workers_run_workflows) {
    HandlerRegistry handlers;
    handlers.add_raw("pay", Handler([](const Payload& input, const StepContext&) {
                         return input;
                     }));
    handlers.add_transactional(
        "book",
        [](const Json& input, const StepContext&, const Transaction& transaction) {
            PGresult* result = PQexec(transaction.postgres(), "INSERT INTO bookings VALUES (1)");
            EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQresultErrorMessage(result);
            PQclear(result);
            return input;
        }
    );
    postgres_server().execute(
        "DROP TABLE IF EXISTS public.bookings; CREATE TABLE public.bookings (n integer)"
    );
    const StorePtr store = open_store();
    const StorePtr other_store = open_store();
    Engine one(*store, handlers, {.threads = 4});
    Engine two(*other_store, handlers, {.threads = 4});
    one.register_workflow(
        WorkflowBuilder("orders").step("pay").step("book").step("pay2", {.handler = "pay"}).build()
    );
    one.run();
    two.run();
    const std::vector<Payload> inputs(100, "1");
    for (const StartedInstance& started : one.start_all("orders", inputs)) {
        EXPECT_EQ(two.wait(started.id, kLong).status, "completed");
    }
    EXPECT_EQ(postgres_server().execute("SELECT count(*) FROM public.bookings"), "100\n");
    EXPECT_TRUE(one.drain(kLong));
    EXPECT_TRUE(two.drain(kLong));
}

TEST_F(BehindPgBouncer, start_in_the_applications_transaction_works) {
    const StorePtr store = open_store();
    const HandlerRegistry nobody;
    Engine engine(*store, nobody);
    engine.register_workflow(WorkflowBuilder("orders").step("pay").build());
    PGconn* connection = PQconnectdb(bouncer_.url().c_str());
    for (const char* end : {"ROLLBACK", "COMMIT"}) {
        PQclear(PQexec(connection, "BEGIN"));
        engine.start_in(Transaction(connection), "orders");
        PQclear(PQexec(connection, end));
    }
    PQfinish(connection);
    EXPECT_EQ(engine.list().size(), 1U);
}

// Without statement_cache=off no PgBouncer serves, but each must say what is missing.

/// What opening two stores and looking into them without statement_cache=off ends in.
void expect_refusal(const PgBouncer& bouncer, const std::string& reason) {
    const PostgresOptions options{.url = bouncer.url(), .schema = fresh_schema()};
    try {
        const StorePtr one = open_postgres_store(options);
        const StorePtr two = open_postgres_store(options);
        ADD_FAILURE() << "was opened: " << one->list({}).size() + two->list({}).size();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreError) << error.what();
        EXPECT_FALSE(error.is_transient());
        EXPECT_THAT(error.what(), HasSubstr(reason));
        EXPECT_THAT(error.what(), HasSubstr("?statement_cache=off"));
    }
}

TEST(WithoutTheSwitch, a_pgbouncer_that_refuses_the_options_differs_from_a_server_that_is_down) {
    const PgBouncer bouncer;
    expect_refusal(bouncer, "unsupported startup parameter");
    // A user with the switch and with own options learns what is left to do.
    try {
        open_postgres_store({.url = bouncer.url() + "&statement_cache=off&options=-cjit%3Doff"});
        ADD_FAILURE() << "was opened";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreError);
        EXPECT_THAT(error.what(), HasSubstr("Leave options= out"));
    }
}

TEST(WithoutTheSwitch, a_pgbouncer_that_ignores_the_options_is_found_out_by_its_statements) {
    const PgBouncer bouncer("default_pool_size = 1\nignore_startup_parameters = options\n");
    expect_refusal(bouncer, "42P05");
}

TEST(WithoutTheSwitch, a_statement_that_a_pgbouncer_has_lost_is_an_error_that_names_it) {
    const PgBouncer bouncer("default_pool_size = 1\nignore_startup_parameters = options\n");
    const std::string schema = fresh_schema();
    migrate_postgres({.url = postgres_server().url(), .schema = schema});
    postgres::Settings settings = postgres::read_settings({.url = bouncer.url()});
    settings.schema = schema;
    postgres::Connection connection(settings);
    constexpr std::string_view kQuestion = "SELECT count(*) FROM ebb.instances";
    EXPECT_EQ(connection.run(kQuestion, {}).integer(0, 0), 0);
    PGconn* other = PQconnectdb(bouncer.url().c_str());
    PQclear(PQexec(other, "DEALLOCATE ALL"));
    PQfinish(other);
    try {
        connection.run(kQuestion, {});
        ADD_FAILURE() << "the statement is still there";
    } catch (const postgres::SqlError& error) {
        EXPECT_EQ(error.sqlstate(), "26000");
        EXPECT_EQ(error.code(), ErrorCode::StoreError);
        EXPECT_TRUE(error.is_of_session());
        EXPECT_THAT(error.what(), HasSubstr("?statement_cache=off"));
    }
}

}  // namespace
}  // namespace ebb::testing
