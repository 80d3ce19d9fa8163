// Goal: a program that speaks SQL only works as safely as a C++ worker does, with no rights but
// those it was given. Method: sessions of plain roles call the installed functions, and an engine
// without handlers decides; every refusal is tried by a role that has everything else.

#include <thread>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "core/kernel/state.h"
#include "store/application.h"
#include "store/migrations.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr Duration kLong = 60s;

/// A connection of a role, and the session of a worker.
class Person {
 public:
    /// The role need not exist before the first statement.
    Person(std::string schema, std::string role)
        : schema_(std::move(schema)), role_(std::move(role)), connection_(nullptr, PQfinish) {}

    /// With `ebb.` for the schema.
    std::string run(std::string sql) {
        for (auto at = sql.find("ebb."); at != std::string::npos; at = sql.find("ebb.", at + 1)) {
            sql.replace(at, 4, schema_ + ".");
        }
        for (auto at = sql.find("$S"); at != std::string::npos; at = sql.find("$S")) {
            sql.replace(at, 2, "'" + session + "'");
        }
        if (!connection_) {
            connection_.reset(PQconnectdb(postgres_server().url("ebb_test", role_).c_str()));
            EXPECT_EQ(PQstatus(connection_.get()), CONNECTION_OK);
        }
        return run_sql(connection_.get(), sql);
    }

    /// The error's message.
    std::string refused(const std::string& sql) {
        try {
            const std::string answer = run(sql);
            return "it was allowed: " + answer;
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }

    void join(
        const std::string& name, const std::string& handlers, const std::string& lease = "30 s"
    ) {
        session =
            run("SELECT session FROM ebb.work_join('" + name + "', '" + handlers + "', lease => '" +
                lease + "')");
    }

    std::string claim() { return run("SELECT job FROM ebb.work_claim($S)"); }

    std::string session;

 private:
    std::string schema_;
    std::string role_;
    std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

class SqlWorkers : public ::testing::Test {
 protected:
    SqlWorkers() {
        for (const std::string& role : std::vector<std::string>{"sql_app", "sql_evil"}) {
            postgres_server().execute(
                "DO $$ BEGIN CREATE ROLE " + role +
                " LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
            );
        }
        postgres_server().execute(
            "DROP TABLE IF EXISTS public.effects; CREATE TABLE public.effects (job text);"
            "GRANT ALL ON public.effects TO sql_app"
        );
        store_ = open_postgres_store(options_);
        install_sql_workers(options_);
        engine_ = std::make_unique<Engine>(*store_, no_handlers_, EngineOptions{.lease = 1s});
        const Backoff soon{.strategy = Backoff::Strategy::Fixed, .initial = 1ms};
        engine_->register_workflow(WorkflowBuilder("order")
                                       .step("reserve")
                                       .compensate("release")
                                       .backoff(soon)
                                       .step("pay")
                                       .backoff(soon)
                                       .max_attempts(2)
                                       .build());
        engine_->register_workflow(
            WorkflowBuilder("slow").step("reserve").timeout(200ms).max_attempts(1).build()
        );
        owner_.run("SELECT ebb.grant_work('sql_app', 'order')");
        engine_->run();
    }

    ~SqlWorkers() override { engine_->drain(1s); }

    InstanceId start(const std::string& workflow = "order") {
        return engine_->start(workflow, Payload::text(R"({"x":1})")).id;
    }

    /// The first job that there is, at the latest after a while.
    std::string next_job(Person& person) {
        const auto end = std::chrono::steady_clock::now() + kLong;
        while (std::chrono::steady_clock::now() < end) {
            if (const std::string job = person.claim(); !job.empty()) return job;
            std::this_thread::yield();
        }
        return "none";
    }

    std::string complete(Person& person, const std::string& job, const std::string& output) {
        return person.run("SELECT ebb.work_complete($S, '" + job + "', '" + output + "')");
    }

    const PostgresOptions options_{.url = postgres_server().url(), .schema = fresh_schema()};
    HandlerRegistry no_handlers_;
    StorePtr store_;
    std::unique_ptr<Engine> engine_;
    Person owner_{options_.schema, "ebb"};
    Person app_{options_.schema, "sql_app"};
    Person evil_{options_.schema, "sql_evil"};
};

TEST_F(SqlWorkers, run_a_flow_from_its_start_to_its_end) {
    const InstanceId id = start();
    app_.join("py", "{reserve,pay}");
    const std::string reserve = next_job(app_);
    EXPECT_EQ(reserve, id.to_string() + ":1:1:1:0");
    EXPECT_EQ(complete(app_, reserve, R"({"held":3})"), "handed_over");
    const std::string pay = next_job(app_);
    EXPECT_EQ(pay, id.to_string() + ":1:2:1:0");
    EXPECT_EQ(complete(app_, pay, R"("paid")"), "handed_over");
    const Result result = engine_->wait(id, kLong);
    EXPECT_EQ(result.status, "completed");
    EXPECT_EQ(result.output, "\"paid\"");
    EXPECT_EQ(complete(app_, pay, "1"), "stale") << "again";
}

TEST_F(SqlWorkers, what_a_call_gets_is_what_a_handler_in_cpp_gets) {
    const InstanceId id = start();
    app_.join("py", "{reserve,pay}");
    const std::string row = app_.run(
        "SELECT concat_ws(' ', workflow, version, step, handler, queue, attempt, max_attempts, "
        "idempotency_key, input, payload, compensates) FROM ebb.work_claim($S)"
    );
    EXPECT_EQ(row, "order 1 reserve reserve default 1 3 " + id.to_string() + ":1 {\"x\":1}");
}

TEST_F(SqlWorkers, effects_and_outcome_are_one_transaction) {
    const InstanceId id = start();
    app_.join("py", "{reserve,pay}");
    const std::string job = next_job(app_);
    app_.run("BEGIN; INSERT INTO effects VALUES ('" + job + "')");
    EXPECT_EQ(complete(app_, job, "1"), "handed_over");
    app_.run("ROLLBACK");
    EXPECT_EQ(app_.run("SELECT count(*) FROM effects"), "0");
    EXPECT_EQ(engine_->show(id).summary.status, InstanceStatus::Running);
    EXPECT_EQ(app_.run("SELECT count(*) FROM ebb.work_beat($S, ARRAY['" + job + "'])"), "0")
        << "it is still held";
    app_.run("BEGIN; INSERT INTO effects VALUES ('" + job + "')");
    EXPECT_EQ(complete(app_, job, "1"), "handed_over");
    app_.run("COMMIT");
    EXPECT_EQ(next_job(app_), id.to_string() + ":1:2:1:0");
    EXPECT_EQ(app_.run("SELECT count(*) FROM effects"), "1");
}

TEST_F(SqlWorkers, a_failure_is_retried_and_then_compensated) {
    const InstanceId id = start();
    app_.join("py", "{reserve,pay,release}");
    complete(app_, next_job(app_), R"({"held":3})");
    for (int attempt = 1; attempt <= 2; ++attempt) {
        const std::string job = next_job(app_);
        EXPECT_EQ(job, fmt::format("{}:1:2:{}:0", id.to_string(), attempt));
        app_.run("SELECT ebb.work_fail($S, '" + job + "', 'no money', 'no_money')");
    }
    std::string undo;
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (undo.empty() && std::chrono::steady_clock::now() < end) {
        undo = app_.run(
            "SELECT concat_ws(' ', handler, input, idempotency_key, job) FROM ebb.work_claim($S)"
        );
    }
    EXPECT_THAT(
        undo,
        HasSubstr(
            R"(release {"input" : {"x":1}, "output" : {"held": 3}, "error" : null, )"
            R"("outcome" : "completed"} )" +
            id.to_string() + ":undo:"
        )
    );
    complete(app_, undo.substr(undo.rfind(' ') + 1), "null");
    const Result result = engine_->wait(id, kLong);
    EXPECT_EQ(result.status, "failed");
    EXPECT_THAT(result.error, HasSubstr("no_money"));
}

TEST_F(SqlWorkers, a_cancelled_job_is_stale_or_compensated_but_never_goes_on) {
    const InstanceId id = start();
    app_.join("py", "{reserve,pay,release}");
    const std::string job = next_job(app_);
    engine_->cancel(id, {.by = "ada"});
    EXPECT_EQ(app_.run("SELECT ask FROM ebb.work_beat($S)"), "stop");
    EXPECT_EQ(complete(app_, job, R"({"held":3})"), "handed_over") << "it is recorded and undone";
    complete(app_, next_job(app_), "null");
    EXPECT_EQ(engine_->wait(id, kLong).status, "cancelled");
}

TEST_F(SqlWorkers, the_attempt_of_a_dead_worker_is_made_again) {
    const InstanceId id = start();
    app_.join("dead", "{reserve,pay}", "1 s");
    const std::string lost = next_job(app_);
    Person other(options_.schema, "sql_app");
    other.join("alive", "{reserve,pay}");
    EXPECT_EQ(next_job(other), id.to_string() + ":1:1:2:0");
    EXPECT_THAT(
        app_.refused("SELECT ebb.work_complete($S, '" + lost + "', '1')"),
        HasSubstr("does not exist, or has ended")
    );
}

TEST_F(SqlWorkers, an_attempt_has_its_timeout) {
    owner_.run("SELECT ebb.grant_work('sql_app', 'slow')");
    const InstanceId id = start("slow");
    app_.join("py", "{reserve}");
    const std::string job = next_job(app_);
    const Result result = engine_->wait(id, kLong);
    EXPECT_EQ(result.status, "failed");
    EXPECT_THAT(result.error, HasSubstr("timeout"));
    EXPECT_EQ(complete(app_, job, "1"), "stale");
}

TEST_F(SqlWorkers, a_role_sees_no_table_and_runs_what_it_was_given) {
    EXPECT_THAT(app_.refused("SELECT * FROM ebb.tasks"), HasSubstr("permission denied"));
    EXPECT_THAT(app_.refused("SELECT * FROM ebb.work_rights"), HasSubstr("permission denied"));
    EXPECT_THAT(app_.refused("SELECT ebb.grant_work('sql_app')"), HasSubstr("permission denied"));
    EXPECT_THAT(app_.refused("SELECT ebb.work_lose('w1')"), HasSubstr("permission denied"))
        << "the functions inside are for no role";
    EXPECT_THAT(
        evil_.refused("SELECT * FROM ebb.work_join('x', '{reserve}')"),
        HasSubstr("permission denied")
    );
    owner_.run("SELECT ebb.grant_work('sql_evil', 'order', 'pay')");
    EXPECT_THAT(
        evil_.refused("SELECT * FROM ebb.work_join('x', '{reserve}')"),
        HasSubstr("may not run the handler \"reserve\"")
    );
    start("slow");
    app_.join("py", "{reserve}");
    EXPECT_EQ(app_.claim(), "") << "a task of a workflow that it has no right to";
}

TEST_F(SqlWorkers, another_role_cannot_use_a_session_or_its_jobs) {
    owner_.run("SELECT ebb.grant_work('sql_evil', 'order')");
    start();
    app_.join("py", "{reserve,pay}");
    const std::string job = next_job(app_);
    evil_.join("evil", "{reserve,pay}");
    EXPECT_EQ(complete(evil_, job, "1"), "stale") << "the lease is not its own";
    EXPECT_EQ(evil_.run("SELECT ebb.work_release($S, ARRAY['" + job + "'])"), "0");
    EXPECT_THAT(
        evil_.refused("SELECT * FROM ebb.work_join('py', '{pay}')"),
        HasSubstr("Another worker has the name")
    );
    evil_.session = app_.session;
    EXPECT_THAT(evil_.refused("SELECT * FROM ebb.work_claim($S)"), HasSubstr("has ended"));
    EXPECT_THAT(
        evil_.refused("SELECT ebb.work_complete($S, '" + job + "', '1')"), HasSubstr("has ended")
    );
}

TEST_F(SqlWorkers, forged_jobs_and_hostile_values_change_nothing) {
    const InstanceId id = start();
    app_.join("it''s \"py\"; --", "{reserve,pay}");
    const std::string job = next_job(app_);
    for (const std::string& forged : std::vector<std::string>{
             id.to_string() + ":1:2:1:0",
             id.to_string() + ":1:1:2:0",
             id.to_string() + ":1:1:1:1",
             id.to_string() + ":2:1:1:0"
         }) {
        EXPECT_EQ(complete(app_, forged, "1"), "stale") << forged;
    }
    for (const std::string& text :
         std::vector<std::string>{"", "x", "1:1:1:1:1", "''; DROP TABLE ebb.tasks; --"}) {
        EXPECT_THAT(
            app_.refused("SELECT ebb.work_complete($S, '" + text + "', '1')"),
            HasSubstr("This is not a job")
        );
    }
    EXPECT_THAT(
        app_.refused("SELECT ebb.work_complete($S, '" + job + "', to_jsonb(repeat('x', 1048577)))"),
        HasSubstr("1,048,576 are allowed")
    );
    EXPECT_EQ(complete(app_, job, R"("''; \\ \u00e9 $work$")"), "handed_over");
    next_job(app_);
}

TEST_F(SqlWorkers, nothing_of_a_roles_own_runs_with_the_rights_of_the_owner) {
    postgres_server().execute(
        "DROP SCHEMA IF EXISTS trap CASCADE; CREATE SCHEMA trap AUTHORIZATION sql_app"
    );
    app_.run(
        "CREATE FUNCTION trap.now() RETURNS timestamptz LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;"
        "CREATE FUNCTION trap.same(text, text) RETURNS boolean LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;"
        "CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.same);"
        "CREATE TEMP TABLE tasks (instance_id uuid); CREATE TEMP TABLE pg_roles (rolname text);"
        "SET search_path = trap, pg_temp, pg_catalog"
    );
    start();
    app_.join("py", "{reserve,pay}");
    EXPECT_EQ(complete(app_, next_job(app_), "1"), "handed_over");
    app_.run("SELECT ebb.work_leave($S)");
}

TEST_F(SqlWorkers, get_no_task_while_a_worker_of_an_earlier_release_runs) {
    app_.join("py", "{reserve,pay}");
    owner_.run(
        "INSERT INTO ebb.workers (id, pid, started_at, expires_at, capacity, host, handlers, "
        "queues) VALUES ('old', 1, 1, 9223372036854775807, 1, '', '{}', '{}')"
    );
    EXPECT_THAT(app_.refused("SELECT * FROM ebb.work_claim($S)"), HasSubstr("earlier release"));
    EXPECT_THAT(
        app_.refused("SELECT * FROM ebb.work_join('b', '{pay}')"), HasSubstr("earlier release")
    );
    owner_.run("DELETE FROM ebb.workers WHERE id = 'old'");
    EXPECT_EQ(app_.claim(), "");
}

TEST_F(SqlWorkers, the_limits_of_a_queue_hold) {
    engine_->set_queue("default", {.concurrency = 2});
    for (int n = 0; n < 5; ++n) start();
    app_.join("py", "{reserve}");
    EXPECT_EQ(app_.run("SELECT count(*) FROM ebb.work_claim($S, 10)"), "2");
    EXPECT_EQ(app_.run("SELECT count(*) FROM ebb.work_claim($S, 10)"), "0");
}

TEST_F(SqlWorkers, several_outcomes_and_the_next_claim_are_one_call) {
    for (int n = 0; n < 3; ++n) start();
    app_.join("py", "{reserve}");
    const std::string results = app_.run(
        "SELECT json_agg(json_build_object('job', job, 'output', 7)) FROM ebb.work_claim($S, 3)"
    );
    app_.run("SELECT count(*) FROM ebb.work_next($S, '" + results + "', 1)");
    Person other(options_.schema, "sql_app");
    other.join("next", "{pay}");
    for (int n = 0; n < 3; ++n) EXPECT_NE(next_job(other), "none");
}

}  // namespace
}  // namespace ebb::testing
