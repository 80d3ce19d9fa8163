// Goal: the dead rows that claims leave in the tasks table are vacuumed by the workers themselves,
// because autovacuum comes too rarely; and only then. Method: dead rows made by
// SQL, claims by the store, and the counters of the server.

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/postgres/dead_tasks.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using postgres::DeadTasks;

constexpr int kClaims = static_cast<int>(DeadTasks::kClaimsMin);

struct PostgresReclaim : ::testing::Test {
    ManualClock clock{kStart};
    const std::string schema = fresh_schema();
    StorePtr store = make_postgres_store(
        {.url = postgres_server().url(), .schema = schema, .application_name = schema}, clock
    );

    std::string ask(const std::string& question) const {
        return postgres_server().execute(fmt::format(fmt::runtime(question), schema));
    }

    /// As many dead rows as are worth a vacuum, which the server has counted.
    void leave_dead_rows() const {
        ask(fmt::format(
            "ALTER TABLE {{0}}.tasks SET (autovacuum_enabled = false);"
            "BEGIN; INSERT INTO {{0}}.tasks "
            "(instance_id, token, rank, due_at, lane, handler, queue) "
            "SELECT lpad(to_hex(n), 32, '0')::uuid, 1, n, n, 2, 'h', 'q' "
            "FROM generate_series(1, {}) AS n; ROLLBACK",
            DeadTasks::kDeadMin
        ));
        while (dead_rows() < DeadTasks::kDeadMin) {
        }
    }

    std::int64_t dead_rows() const {
        return std::stoll(ask("SELECT pg_stat_get_dead_tuples('{0}.tasks'::regclass)"));
    }

    int vacuums() const {
        return std::stoi(
            ask("SELECT vacuum_count FROM pg_stat_user_tables "
                "WHERE relid = '{0}.tasks'::regclass")
        );
    }

    void claim_enough() {
        std::vector<NewInstance> batch;
        for (int n = 1; n <= kClaims; ++n) batch.push_back(instance_of(n, {put(1, "pay")}));
        store->start(batch);
        store->heartbeat(worker_of("w1"), std::chrono::seconds(30));
        ASSERT_EQ(std::ssize(claim(*store, "w1", {"pay"}, kClaims)), kClaims);
    }
};

TEST_F(PostgresReclaim, vacuums_the_dead_rows_of_many_claims) {
    claim_enough();
    leave_dead_rows();
    EXPECT_EQ(store->reclaim(), DeadTasks::kPause);
    while (vacuums() == 0) {
    }
    EXPECT_LT(dead_rows(), DeadTasks::kDeadMin);
}

TEST_F(PostgresReclaim, leaves_the_table_to_autovacuum_if_this_process_has_claimed_little) {
    leave_dead_rows();
    EXPECT_EQ(store->reclaim(), DeadTasks::kPause);
    EXPECT_EQ(vacuums(), 0);
}

TEST_F(PostgresReclaim, leaves_a_few_dead_rows_to_autovacuum) {
    claim_enough();
    EXPECT_EQ(store->reclaim(), DeadTasks::kPause);
    EXPECT_EQ(vacuums(), 0);
}

TEST(PostgresDeadTasks, wait_for_twice_as_many_if_an_old_snapshot_has_kept_them) {
    DeadTasks dead;
    EXPECT_TRUE(dead.is_worth_a_vacuum(DeadTasks::kDeadMin));
    dead.note_left(3 * DeadTasks::kDeadMin);
    EXPECT_FALSE(dead.is_worth_a_vacuum(5 * DeadTasks::kDeadMin));
    EXPECT_TRUE(dead.is_worth_a_vacuum(6 * DeadTasks::kDeadMin));
}

TEST(PostgresDeadTasks, are_judged_as_before_once_they_are_gone) {
    DeadTasks dead;
    dead.note_left(3 * DeadTasks::kDeadMin);
    EXPECT_FALSE(dead.is_worth_a_vacuum(0));
    EXPECT_TRUE(dead.is_worth_a_vacuum(DeadTasks::kDeadMin));
}

}  // namespace
}  // namespace ebb::testing
