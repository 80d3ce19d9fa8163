// Goal: what one process puts for another is done at once, without frequent polling.
// Method: engines that would look again only in an hour, so that nothing but a hint can
// make them do it; every wait ends with what it waits for.

#include <atomic>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <ebb/engine.h>
#include <ebb/transaction.h>

#include "store/migrations.h"
#include "store/postgres/postgres_store.h"
#include "support/clock.h"
#include "support/flow.h"
#include "support/postgres_server.h"
#include "support/store_decorator.h"
#include "support/store_process.h"
#include "waiting_log.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using test::workflow;

Node step(const std::string& name) {
    return test::step(name, {.is_compensated = false, .input = {}});
}

/// Counts reads of the database; on demand, heartbeats say nothing of stops.
class Watched final : public StoreDecorator {
 public:
    explicit Watched(Store& inner) : StoreDecorator(inner), store_(inner) {}

    std::unique_ptr<Hints> open_hints() override { return store_.open_hints(); }

    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override {
        HeartbeatResult result = StoreDecorator::heartbeat(worker, lease);
        ++heartbeats;
        if (!tells_stops)
            std::erase_if(result.held, [](const HeldTask& held) { return held.is_stop; });
        return result;
    }

    std::vector<Claim> claim(const ClaimRequest& request) override {
        ++looks;
        return StoreDecorator::claim(request);
    }

    MaintenanceResult maintain() override {
        ++looks;
        return StoreDecorator::maintain();
    }

    std::atomic<int> heartbeats{0};
    std::atomic<int> looks{0};
    std::atomic<bool> tells_stops{true};

 private:
    Store& store_;
};

struct Hinting : ::testing::Test {
    const PostgresOptions database{
        .url = postgres_server().url(), .schema = fresh_schema(), .application_name = "hinting"
    };
    StorePtr store = open_postgres_store(database);
    WaitingLog log;
    HandlerRegistry handlers;
    HandlerRegistry no_handlers;

    EngineOptions rarely_looking(std::string worker) {
        EngineOptions options;
        options.worker_id = std::move(worker);
        options.poll_min = 1h;
        options.poll_max = 1h;
        options.poll_max_told = 1h;
        options.log = &log;
        return options;
    }

    void add_pass(const std::string& name) {
        handlers.add_raw(name, [](const Payload& input, const StepContext&) { return input; });
    }
};

TEST_F(Hinting, an_instance_that_another_process_starts_runs_at_once) {
    add_pass("a");
    Engine worker(*store, handlers, rarely_looking("worker"));
    worker.register_workflow(workflow({step("a")}));
    worker.run();
    ASSERT_TRUE(log.wait_for("hints_heard"));
    const pid_t starter = fork_process([&] {
        const StorePtr mine = open_postgres_store(database);
        Engine engine(*mine, no_handlers);
        const InstanceId id = engine.start("test").id;
        return engine.wait(id, 60s).status == "completed" ? 0 : 1;
    });
    EXPECT_EQ(wait_for(starter), 0);
    worker.drain(10s);
}

TEST_F(Hinting, an_instance_of_a_transaction_runs_at_once_when_its_commit_is_notified) {
    add_pass("a");
    Engine worker(*store, handlers, rarely_looking("worker"));
    worker.register_workflow(workflow({step("a")}));
    worker.run();
    ASSERT_TRUE(log.wait_for("hints_heard"));
    const StorePtr mine = open_postgres_store(database);
    Engine client(*mine, no_handlers);
    const std::unique_ptr<PGconn, decltype(&PQfinish)> application(
        PQconnectdb(postgres_server().url().c_str()), &PQfinish
    );
    const auto execute = [&](const char* sql) { PQclear(PQexec(application.get(), sql)); };
    execute("BEGIN");
    const InstanceId id = client.start_in(Transaction(application.get()), "test").id;
    execute("COMMIT");
    client.wake_workers();
    EXPECT_EQ(client.wait(id, 60s).status, "completed");
    worker.drain(10s);
}

/// A session that makes requests in SQL.
class Requests {
 public:
    explicit Requests(const PostgresOptions& database)
        : schema_(database.schema), connection_(PQconnectdb(database.url.c_str()), &PQfinish) {}

    /// The first value of the answer.
    std::string ask(const std::string& sql) {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(
            PQexec(connection_.get(), sql.c_str()), &PQclear
        );
        EXPECT_LE(PQresultStatus(result.get()), PGRES_TUPLES_OK)
            << PQerrorMessage(connection_.get());
        return PQntuples(result.get()) == 0 ? std::string() : PQgetvalue(result.get(), 0, 0);
    }

    InstanceId start() { return *InstanceId::parse(ask("SELECT " + schema_ + ".start('test')")); }

 private:
    const std::string schema_;
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

TEST_F(Hinting, a_transaction_that_is_open_while_a_worker_falls_asleep_wakes_it_at_its_commit) {
    install_sql_workers(database);
    add_pass("a");
    Engine worker(*store, handlers, rarely_looking("worker"));
    worker.register_workflow(workflow({step("a")}));
    Requests one(database);
    Requests other(database);
    one.ask("SELECT " + database.schema + ".grant_requests(current_user)");
    const InstanceId before = one.start();
    other.ask("BEGIN");
    other.ask("SELECT 1");
    // A request waits already, so this one does not notify: the worker will look. But it looks
    // before the commit.
    const InstanceId late = other.start();
    worker.run();
    ASSERT_TRUE(log.wait_for("hints_heard"));
    EXPECT_EQ(worker.wait(before, 60s).status, "completed");
    other.ask("COMMIT");
    EXPECT_EQ(worker.wait(late, 60s).status, "completed");
    worker.drain(10s);
}

TEST_F(Hinting, a_request_whose_savepoint_is_rolled_back_takes_its_notification_with_it) {
    install_sql_workers(database);
    add_pass("a");
    Engine worker(*store, handlers, rarely_looking("worker"));
    worker.register_workflow(workflow({step("a")}));
    worker.run();
    ASSERT_TRUE(log.wait_for("hints_heard"));
    Requests one(database);
    one.ask("SELECT " + database.schema + ".grant_requests(current_user)");
    one.ask("BEGIN");
    one.ask("SAVEPOINT s");
    one.start();
    one.ask("ROLLBACK TO s");
    const InstanceId kept = one.start();
    const InstanceId second = one.start();
    one.ask("COMMIT");
    EXPECT_EQ(worker.wait(kept, 60s).status, "completed");
    EXPECT_EQ(worker.wait(second, 60s).status, "completed");
    worker.drain(10s);
}

TEST_F(Hinting, a_slot_that_becomes_free_is_announced_to_the_workers_that_can_use_it) {
    std::atomic<bool> is_open{false};
    handlers.add_raw("hold", [&](const Payload& input, const StepContext&) {
        while (!is_open) std::this_thread::yield();
        return input;
    });
    HandlerRegistry others;
    others.add_raw("next", [](const Payload& input, const StepContext&) { return input; });
    const StorePtr mine = open_postgres_store(database);
    Engine holder(*store, handlers, rarely_looking("holder"));
    Engine waiter(*mine, others, rarely_looking("waiter"));
    const auto in_queue = [](std::string name) {
        Node node = step(name);
        std::get<Step>(node.kind).queue = "narrow";
        Definition definition = workflow({node});
        definition.name = std::move(name);
        return definition;
    };
    holder.register_workflow(in_queue("hold"));
    holder.register_workflow(in_queue("next"));
    holder.set_queue("narrow", {.concurrency = 1});
    holder.run();
    waiter.run();
    while (log.count("hints_heard") < 2) std::this_thread::yield();
    const InstanceId first = holder.start("hold").id;
    while (holder.queues().at(0).slots == 0) std::this_thread::yield();
    const InstanceId second = holder.start("next").id;
    while (holder.show(second).waiting_for.at(0).kind != "queue") std::this_thread::yield();
    is_open = true;
    EXPECT_EQ(holder.wait(first, 60s).status, "completed");
    EXPECT_EQ(holder.wait(second, 60s).status, "completed");
    holder.drain(10s);
    waiter.drain(10s);
}

TEST_F(Hinting, a_step_goes_over_to_a_worker_that_has_its_handler) {
    add_pass("b");
    HandlerRegistry of_first;
    for (const char* name : {"a", "c"}) {
        of_first.add_raw(name, [](const Payload& input, const StepContext&) { return input; });
    }
    const StorePtr other = open_postgres_store(database);
    Engine first(*store, of_first, rarely_looking("first"));
    Engine second(*other, handlers, rarely_looking("second"));
    first.register_workflow(workflow({step("a"), step("b"), step("c")}));
    first.run();
    second.run();
    ASSERT_TRUE(log.wait_for("hints_heard", 2));
    EXPECT_EQ(first.wait(first.start("test").id, 60s).status, "completed");
}

TEST_F(Hinting, a_cancel_reaches_a_handler_that_runs_in_another_process) {
    std::atomic<bool> is_running = false;
    handlers.add_raw("a", [&](const Payload& input, const StepContext& context) {
        is_running = true;
        is_running.notify_all();
        std::atomic<bool> was_stopped = false;
        const std::stop_callback stop(context.stop, [&] {
            was_stopped = true;
            was_stopped.notify_all();
        });
        was_stopped.wait(false);
        return input;
    });
    Watched watched(*store);
    watched.tells_stops = false;
    Engine worker(watched, handlers, rarely_looking("worker"));
    worker.register_workflow(workflow({step("a")}));
    worker.run();
    ASSERT_TRUE(log.wait_for("hints_heard"));
    const InstanceId id = worker.start("test").id;
    is_running.wait(false);
    const pid_t operating = fork_process([&] {
        const StorePtr mine = open_postgres_store(database);
        Engine engine(*mine, no_handlers);
        engine.cancel(id, "me", "enough");
        return 0;
    });
    EXPECT_EQ(wait_for(operating), 0);
    EXPECT_EQ(worker.wait(id, 60s).status, "cancelled");
}

TEST_F(Hinting, an_idle_worker_sends_heartbeats_and_looks_no_more) {
    Watched watched(*store);
    EngineOptions options = rarely_looking("worker");
    options.lease = 150ms;
    Engine worker(watched, handlers, options);
    worker.run();
    ASSERT_TRUE(log.wait_for("hints_heard"));
    const auto wait_for_heartbeats = [&](int count) {
        while (watched.heartbeats < count) std::this_thread::yield();
    };
    // On a loaded machine a heartbeat may come after the lease has ended, and then the worker looks
    // with good reason. A worker that looks as a rule does so in each of the periods.
    constexpr int kPeriods = 50;
    constexpr int kHeartbeats = 10;
    for (int period = 0; period < kPeriods; ++period) {
        const int looks = watched.looks;
        wait_for_heartbeats(watched.heartbeats + kHeartbeats);
        if (watched.looks == looks) return;
    }
    ADD_FAILURE() << "the worker looked in each period of " << kHeartbeats << " heartbeats";
}

TEST_F(Hinting, the_end_of_another_worker_is_noticed_by_its_deadline) {
    add_pass("a");
    EngineOptions options = rarely_looking("heir");
    options.lease = 500ms;
    const pid_t doomed = fork_process([&] {
        HandlerRegistry blocking;
        blocking.add_raw("a", [](const Payload&, const StepContext&) -> Payload {
            ::raise(SIGKILL);
            return {};
        });
        const StorePtr mine = open_postgres_store(database);
        EngineOptions short_lived;
        short_lived.lease = 500ms;
        Engine engine(*mine, blocking, short_lived);
        engine.register_workflow(workflow({step("a")}));
        engine.run();
        engine.wait(engine.start("test").id, 60s);
        return 0;
    });
    EXPECT_EQ(wait_for(doomed), 128 + SIGKILL);
    Engine heir(*store, handlers, options);
    heir.run();
    const auto instances = heir.list({});
    ASSERT_EQ(instances.size(), 1U);
    EXPECT_EQ(heir.wait(instances.front().id, 60s).status, "completed");
}

TEST_F(Hinting, says_once_that_it_hears_nothing_and_looks_instead) {
    add_pass("a");
    EngineOptions options = rarely_looking("worker");
    options.poll_min = options.poll_max = 20ms;
    const StorePtr deaf = open_postgres_store(
        {.url = postgres_server().url() + "&statement_cache=off", .schema = database.schema}
    );
    Engine worker(*deaf, handlers, options);
    worker.register_workflow(workflow({step("a")}));
    worker.run();
    Engine starter(*store, no_handlers);
    EXPECT_EQ(starter.wait(starter.start("test").id, 60s).status, "completed");
    EXPECT_TRUE(log.wait_for("hints_unheard"));
    EXPECT_EQ(log.count("hints_unheard"), 1);
}

}  // namespace
}  // namespace ebb::testing
