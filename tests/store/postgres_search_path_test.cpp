// Goal: whatever search_path a role or a database has, Ebb means its own tables and PostgreSQL's
// own types, functions and operators; and a program that shares a transaction with it keeps its
// path. Method: the role that Ebb connects as has a path that begins with a schema full of
// impostors, all of which end in an error when they are used; directly, and behind a real
// PgBouncer.

#include <memory>

#include <libpq-fe.h>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "store/migrations.h"
#include "store/pgbouncer.h"
#include "store/postgres/postgres_store.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHostile = "evil, pg_catalog, public";

/// Impostors of what is in Ebb's statements, migrations and views.
constexpr const char* kImpostors = R"(
CREATE SCHEMA evil;
CREATE DOMAIN evil.text AS integer CHECK (VALUE > 999);
CREATE DOMAIN evil.uuid AS integer CHECK (VALUE > 999);
CREATE TABLE evil.instances (nothing integer);
CREATE TABLE evil.tasks (nothing integer);
CREATE TABLE evil.migrations (nothing integer);
CREATE FUNCTION evil.caught() RETURNS integer LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'an impostor was used'; END$$;
CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE sql AS
    'SELECT evil.caught()::pg_catalog.text::timestamptz';
CREATE FUNCTION evil.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE sql AS
    'SELECT $1[evil.caught()]';
CREATE FUNCTION evil.length(pg_catalog.text) RETURNS integer LANGUAGE sql AS 'SELECT evil.caught()';
CREATE FUNCTION evil.pg_notify(pg_catalog.text, pg_catalog.text) RETURNS void LANGUAGE sql AS
    'SELECT evil.caught()';
CREATE FUNCTION evil.to_timestamp(double precision) RETURNS timestamptz LANGUAGE sql AS
    'SELECT evil.caught()::pg_catalog.text::timestamptz';
CREATE FUNCTION evil.set_config(pg_catalog.text, pg_catalog.text, boolean)
    RETURNS pg_catalog.text LANGUAGE sql AS 'SELECT evil.caught()::pg_catalog.text';
CREATE FUNCTION evil.same(bigint, bigint) RETURNS boolean LANGUAGE sql AS
    'SELECT evil.caught() > 0';
CREATE FUNCTION evil.same(pg_catalog.text, pg_catalog.text) RETURNS boolean LANGUAGE sql AS
    'SELECT evil.caught() > 0';
CREATE FUNCTION evil.same(pg_catalog.uuid, pg_catalog.uuid) RETURNS boolean LANGUAGE sql AS
    'SELECT evil.caught() > 0';
CREATE FUNCTION evil.plus(bigint, bigint) RETURNS bigint LANGUAGE sql AS
    'SELECT evil.caught()::bigint';
CREATE OPERATOR evil.= (leftarg = bigint, rightarg = bigint, function = evil.same);
CREATE OPERATOR evil.<= (leftarg = bigint, rightarg = bigint, function = evil.same);
CREATE OPERATOR evil.= (
    leftarg = pg_catalog.text, rightarg = pg_catalog.text, function = evil.same
);
CREATE OPERATOR evil.= (
    leftarg = pg_catalog.uuid, rightarg = pg_catalog.uuid, function = evil.same
);
CREATE OPERATOR evil.+ (leftarg = bigint, rightarg = bigint, function = evil.plus);
CREATE TABLE evil.audit (entry integer);
CREATE TABLE evil.bookings (entry integer);
CREATE FUNCTION evil.note() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN INSERT INTO audit VALUES (1); RETURN NULL; END$$;
CREATE CONSTRAINT TRIGGER noting AFTER INSERT ON evil.bookings
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION evil.note();
CREATE ROLE victim LOGIN SUPERUSER;
)";

std::string text_of(PGconn* connection, const std::string& sql) {
    PGresult* result = PQexec(connection, sql.c_str());
    const std::string error = PQresultErrorMessage(result);
    const std::string text = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    EXPECT_EQ(error, "") << sql;
    return text;
}

class HostilePath : public ::testing::TestWithParam<std::string> {
 protected:
    HostilePath() {
        server_.execute(kImpostors);
        server_.execute(std::string("ALTER ROLE victim SET search_path = ") + kHostile);
        server_.execute(
            std::string("ALTER ROLE victim IN DATABASE ebb_test SET search_path = ") + kHostile
        );
        if (GetParam() == "behind_pgbouncer") {
            bouncer_ = std::make_unique<PgBouncer>("default_pool_size = 3\n", server_, "victim");
            options_.url = bouncer_->url() + "&statement_cache=off";
        } else {
            options_.url = server_.url("ebb_test", "victim");
        }
        handlers_.add_raw("pay", [](const Payload& input, const StepContext&) { return input; });
        handlers_.add_transactional(
            "book",
            [](const Json& input, const StepContext&, const Transaction& transaction) {
                PGconn* const connection = transaction.postgres();
                EXPECT_EQ(text_of(connection, "SHOW search_path"), kHostile);
                text_of(connection, "INSERT INTO bookings VALUES (1)");
                return input;
            }
        );
    }

    std::string url_of_application() const {
        return bouncer_ ? bouncer_->url() : server_.url("ebb_test", "victim");
    }

    /// All that is in the schema of Ebb, as the catalog has it.
    std::string columns() const {
        return server_.execute(
            "SELECT pg_catalog.concat_ws(' ', c.relname, a.attname, a.atttypid::regtype, "
            "CASE c.relkind WHEN 'v' THEN pg_catalog.pg_get_viewdef(c.oid) END) "
            "FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid "
            "WHERE c.relnamespace = 'ebb'::regnamespace AND a.attnum > 0 ORDER BY 1"
        );
    }

    void run_all_kinds_of_work();

    const PostgresServer server_;
    std::unique_ptr<PgBouncer> bouncer_;
    PostgresOptions options_;
    HandlerRegistry handlers_;
};

INSTANTIATE_TEST_SUITE_P(
    Ways,
    HostilePath,
    ::testing::Values("directly", "behind_pgbouncer"),
    [](const auto& way) { return way.param; }
);

void HostilePath::run_all_kinds_of_work() {
    const StorePtr store = open_postgres_store(options_);
    Engine engine(*store, handlers_, {.threads = 2});
    engine.set_retention("*", {.completed = 24h * 30, .failed = std::nullopt});
    engine.set_queue("bank", {.concurrency = 2, .rate = QueueRate{1'000, 1s}});
    engine.register_workflow(
        WorkflowBuilder("orders").step("pay", {.queue = "bank"}).step("book").build()
    );
    engine.run();
    const std::vector<Payload> inputs(10, "1");
    std::vector<InstanceId> ids;
    for (const StartedInstance& started : engine.start_all("orders", inputs)) {
        ids.push_back(started.id);
    }
    ids.push_back(engine.start("orders", Payload::text("1"), {.key = "a"}).id);
    EXPECT_EQ(engine.start("orders", Payload::text("1"), {.key = "a"}).id, ids.back());
    const std::unique_ptr<PGconn, void (*)(PGconn*)> application(
        PQconnectdb(url_of_application().c_str()), PQfinish
    );
    text_of(application.get(), "BEGIN");
    ids.push_back(engine.start_in(Transaction(application.get()), "orders").id);
    EXPECT_EQ(text_of(application.get(), "SHOW search_path"), kHostile);
    text_of(application.get(), "COMMIT");
    EXPECT_EQ(text_of(application.get(), "SHOW search_path"), kHostile);
    for (const InstanceId& id : ids) EXPECT_EQ(engine.wait(id, 60s).status, "completed");
    EXPECT_GE(engine.list().size(), ids.size());
    EXPECT_EQ(engine.queues().size(), 1U);
    EXPECT_TRUE(engine.drain(60s));
}

TEST_P(HostilePath, changes_nothing_of_what_is_done) {
    run_all_kinds_of_work();
    EXPECT_EQ(server_.execute("SELECT count(*) FROM evil.audit"), "12\n");
    partition_postgres(options_, PartitionPeriod::Month);
    run_all_kinds_of_work();
    EXPECT_EQ(server_.execute("SELECT count(*) > 20 FROM ebb.steps"), "t\n");
    // What was made of impostors would go with them.
    const std::string before = columns();
    EXPECT_NE(before, "");
    server_.execute("SET client_min_messages = error; DROP SCHEMA evil CASCADE");
    EXPECT_EQ(columns(), before);
}

}  // namespace
}  // namespace ebb::testing
