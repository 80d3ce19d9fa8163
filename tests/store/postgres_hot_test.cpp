// Goal: what a step changes is changed in place (a HOT update: no index is touched), so that tables
// and indexes do not grow by the hops of their rows; and what is not, is known.
// Method: engines do their work on a new schema whose pages have room, then leave, so that the
// server has counted all that they did; and the catalog is asked which columns the indexes are
// about.

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kSteps = 8;
/// Few enough for all versions of their rows to fit on one page, should nothing ever be pruned.
constexpr int kInstances = 2;

struct Updates {
    int all = 0;
    int in_place = 0;
    int inserted = 0;
};

class PostgresHot : public ::testing::Test {
 protected:
    PostgresHot() {
        handlers_.add_raw("work", [](const Payload& input, const StepContext&) { return input; });
    }

    StorePtr open() const {
        return open_postgres_store(
            {.url = postgres_server().url(), .schema = schema_, .application_name = schema_}
        );
    }

    static std::unique_ptr<Engine> make_engine(Store& store, const HandlerRegistry& handlers) {
        auto engine = std::make_unique<Engine>(store, handlers);
        WorkflowBuilder builder("orders");
        for (int i = 0; i < kSteps; ++i) {
            builder.step(fmt::format("step_{}", i), {.handler = "work"});
        }
        engine->register_workflow(builder.build());
        return engine;
    }

    /// Once all sessions of the store have ended, each of which then says what it did.
    Updates updates_of(const std::string& table) const {
        while (ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{0}'", "") > 0
        ) {
        }
        const std::string from =
            " FROM pg_stat_user_tables WHERE schemaname = '{0}' AND relname = '{1}'";
        return {
            .all = ask("SELECT n_tup_upd" + from, table),
            .in_place = ask("SELECT n_tup_hot_upd" + from, table),
            .inserted = ask("SELECT n_tup_ins" + from, table),
        };
    }

    int ask(const std::string& question, const std::string& table) const {
        return std::stoi(
            postgres_server().execute(fmt::format(fmt::runtime(question), schema_, table))
        );
    }

    /// Those that an index of the table holds, or asks for in its WHERE.
    std::string indexed_columns(const std::string& table) const {
        return postgres_server().execute(fmt::format(
            "SELECT string_agg(DISTINCT a.attname, ' ' ORDER BY a.attname) "
            "FROM pg_index AS x JOIN pg_attribute AS a ON a.attrelid = x.indrelid "
            "WHERE x.indrelid = '{0}.{1}'::regclass AND a.attnum > 0 AND ("
            "a.attnum = ANY (x.indkey) OR EXISTS (SELECT 1 FROM pg_depend AS d "
            "WHERE d.objid = x.indexrelid AND d.refobjid = x.indrelid "
            "AND d.refobjsubid = a.attnum))",
            schema_,
            table
        ));
    }

    const std::string schema_ = fresh_schema();
    HandlerRegistry handlers_;
    const HandlerRegistry nobody_;
};

TEST_F(PostgresHot, a_hop_updates_its_instance_in_place) {
    {
        const StorePtr store = open();
        const auto engine = make_engine(*store, handlers_);
        engine->run();
        // One after another, so that each has a transaction of its own.
        for (int n = 0; n < kInstances; ++n) {
            EXPECT_EQ(engine->wait(engine->start("orders").id, 60s).status, "completed");
        }
        EXPECT_TRUE(engine->drain(60s));
    }
    const Updates instances = updates_of("instances");
    EXPECT_EQ(instances.all, kInstances * kSteps);
    // All but the last of each, which changes `status` and gives the lease back.
    EXPECT_EQ(instances.in_place, kInstances * (kSteps - 1));
    // Who starts an instance and goes through it has no row in tasks, so there is none to update.
    const Updates tasks = updates_of("tasks");
    EXPECT_EQ(tasks.inserted, 0);
    EXPECT_EQ(tasks.all, 0);
    EXPECT_EQ(updates_of("history").all, 0);
}

TEST_F(PostgresHot, a_claim_is_the_only_update_of_a_task_and_a_hop_needs_none) {
    {
        const StorePtr store = open();
        const auto starter = make_engine(*store, nobody_);
        std::vector<InstanceId> ids;
        for (int n = 0; n < kInstances; ++n) ids.push_back(starter->start("orders").id);
        const auto engine = make_engine(*store, handlers_);
        engine->run();
        for (const InstanceId& id : ids) EXPECT_EQ(engine->wait(id, 60s).status, "completed");
        EXPECT_TRUE(engine->drain(60s));
    }
    const Updates instances = updates_of("instances");
    EXPECT_EQ(instances.all, kInstances * kSteps);
    EXPECT_EQ(instances.in_place, kInstances * (kSteps - 1));
    // A claim writes `lease_owner`, and the indexes of ready and held tasks depend on it. So the
    // update is cold by design, once for all the steps that the worker then runs.
    const Updates tasks = updates_of("tasks");
    EXPECT_EQ(tasks.inserted, kInstances);
    EXPECT_EQ(tasks.all, kInstances);
    EXPECT_EQ(tasks.in_place, 0);
}

TEST_F(PostgresHot, a_heartbeat_updates_its_worker_in_place) {
    constexpr int kHeartbeats = 10;
    {
        const StorePtr store = open();
        for (int n = 0; n <= kHeartbeats; ++n) store->heartbeat(worker_of("w1"), 30s);
    }
    const Updates workers = updates_of("workers");
    EXPECT_EQ(workers.inserted, 1);
    EXPECT_EQ(workers.all, kHeartbeats);
    EXPECT_EQ(workers.in_place, kHeartbeats);
}

TEST_F(PostgresHot, no_index_is_about_what_a_hop_changes) {
    open();
    // A hop changes revision, state and updated_at; status and lease_owner only begin and end.
    EXPECT_EQ(indexed_columns("instances"), "id lease_owner status\n");
    // The session is set once, when a worker in SQL joins.
    EXPECT_EQ(indexed_columns("workers"), "id session\n");
    EXPECT_EQ(indexed_columns("history"), "instance_id seq\n");
    // Each of these is a reason for a cold update, and only a change that claims, puts, parks or
    // stops a task makes one. Only workers in SQL set lease_until.
    EXPECT_EQ(
        indexed_columns("tasks"),
        "concurrency_key due_at handler instance_id is_stop lane lease_owner lease_until queue "
        "rank token took_slot\n"
    );
}

}  // namespace
}  // namespace ebb::testing
