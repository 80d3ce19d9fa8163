// Goal: a claim of what the engine itself decides does not wait for the disk, and one that calls a
// handler does. Method: a deferred trigger on the tasks notes with which setting a transaction that
// leases one is committed.

#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/store.h>

#include "store/migrations.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

class Client {
 public:
    Client() : connection_(PQconnectdb(postgres_server().url().c_str()), &PQfinish) {}

    /// The first value of the answer; empty if there is none.
    std::string ask(const std::string& sql) {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(
            PQexec(connection_.get(), sql.c_str()), &PQclear
        );
        const ExecStatusType status = PQresultStatus(result.get());
        EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
            << PQerrorMessage(connection_.get());
        return PQntuples(result.get()) == 0 ? std::string() : PQgetvalue(result.get(), 0, 0);
    }

 private:
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

TEST(PostgresClaim, of_what_the_engine_decides_does_not_wait_for_the_disk) {
    const PostgresOptions database{.url = postgres_server().url(), .schema = fresh_schema()};
    const StorePtr store = open_postgres_store(database);
    install_sql_workers(database);
    const HandlerRegistry no_handlers;
    Engine engine(*store, no_handlers, {.worker_id = "keeper"});
    engine.register_workflow(WorkflowBuilder("w").step("a").step("b").build());
    Client client;
    client.ask(fmt::format(
        "SET search_path = {0}; SELECT {0}.grant_work(current_user);"
        "CREATE TABLE commits (handler text, flushes text);"
        "CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO {0}.commits VALUES (OLD.handler, current_setting('synchronous_commit'));"
        " RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER note_commit AFTER UPDATE ON tasks DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW WHEN (OLD.lease_owner IS NULL AND NEW.lease_owner IS NOT NULL)"
        " EXECUTE FUNCTION note_commit()",
        database.schema
    ));
    const std::string session = client.ask("SELECT session FROM work_join('sql', ARRAY['a', 'b'])");
    engine.run();
    const InstanceId id = engine.start("w", Payload::text("{}")).id;
    for (const char* step : {"a", "b"}) {
        std::string job;
        while (job.empty()) {
            job = client.ask(fmt::format("SELECT job FROM work_claim('{}')", session));
        }
        EXPECT_EQ(
            client.ask(fmt::format("SELECT work_complete('{}', '{}')", session, job)), "handed_over"
        ) << step;
    }
    EXPECT_EQ(engine.wait(id).status, InstanceStatus::Completed);
    EXPECT_EQ(
        client.ask("SELECT string_agg(DISTINCT (handler || '=' || flushes) COLLATE \"C\", ' ')"
                   " FROM commits"),
        "=off a=on b=on"
    );
}

}  // namespace
}  // namespace ebb::testing
