// Goal: what limits cost in PostgreSQL: nothing to tasks of queues without any, and little to a
// claim before which a hundred thousand tasks wait.
// Method: the rows that each statement reads and writes, as EXPLAIN ANALYZE and the server's
// statistics count them. And that no limit is exceeded, at any level of isolation.

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class PostgresQueues : public ::testing::Test {
 protected:
    PostgresQueues() {
        settings_ = postgres::read_settings({.url = postgres_server().url()});
        settings_.schema = fresh_schema();
        store_ = make_postgres_store(
            {.url = postgres_server().url(), .schema = settings_.schema}, clock_
        );
        store_->heartbeat(worker_of("w1"), std::chrono::hours(1));
    }

    void limit(QueueLimits limits) {
        store_->set_queue({.name = "a", .limits = limits, .updated_at = kStart});
    }

    /// Tasks 1..count, whose concurrency_key `key` yields (SQL over n).
    void fill(int count, const std::string& key) {
        const std::string sql = fmt::format(
            "INSERT INTO ebb.instances SELECT gen_random_uuid(), 1, n, n, NULL, 1, 0, 'running', "
            "'w', NULL, '{{}}' FROM generate_series(1, {}) AS n;"
            "INSERT INTO ebb.tasks (instance_id, token, rank, due_at, lane, handler, queue, "
            "concurrency_key) SELECT i.id, 1, i.created_at, 1, 1, 'pay', 'a', {} FROM (SELECT id, "
            "created_at, created_at AS n FROM ebb.instances) AS i;"
            "ANALYZE ebb.instances; ANALYZE ebb.tasks;",
            count,
            key
        );
        postgres_server().execute(settings_.in_schema(sql));
    }

    std::size_t claim_limited() {
        ClaimRequest request;
        request.worker = "w1";
        request.handlers = {"pay"};
        request.queues = {"a"};
        request.limit = 8;
        return store_->claim_limited(request).claims.size();
    }

    /// All rows of the nodes of the plan of claim_limited, loops and all, and what they threw away.
    std::int64_t rows_read() {
        postgres::Connection connection(settings_);
        const auto statements = embedded_statements("postgres/sql");
        connection.execute("PREPARE look AS " + statements.at("claim_limited"));
        const std::string question =
            "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE look ('w1', '{pay}', '{a}', '{NULL}', 8, " +
            std::to_string(kStart.time_since_epoch().count()) + ", 64, 512, 256, NULL)";
        const postgres::Result lines = connection.run(question, {});
        const Json plan = Json::parse(lines.text(0, 0));
        return rows_of(plan.at(0).at("Plan"));
    }

    static std::int64_t rows_of(const Json& node) {
        const double each = node.value("Actual Rows", 0.0) +
                            node.value("Rows Removed by Filter", 0.0) +
                            node.value("Rows Removed by Index Recheck", 0.0);
        auto rows = static_cast<std::int64_t>(each * node.value("Actual Loops", 1.0));
        for (const Json& part : node.value("Plans", Json::array())) rows += rows_of(part);
        return rows;
    }

    ManualClock clock_{kStart};
    postgres::Settings settings_;
    StorePtr store_;
};

constexpr int kBacklog = 100'000;
// Of all nodes of the plan, what they hand one another counted each time.
constexpr std::int64_t kRowsMax = 30'000;

TEST_F(PostgresQueues, read_little_while_a_hundred_thousand_wait_for_slots) {
    fill(kBacklog, "NULL");
    limit({.concurrency = 8});
    EXPECT_EQ(claim_limited(), 8U);
    EXPECT_EQ(claim_limited(), 0U);
    EXPECT_LE(rows_read(), 100);
}

TEST_F(PostgresQueues, read_little_while_a_hundred_thousand_wait_for_one_key) {
    fill(kBacklog, "CASE WHEN n = 100000 THEN 'free' ELSE 'full' END");
    limit({.concurrency_per_key = 1});
    EXPECT_EQ(claim_limited(), 2U);
    EXPECT_EQ(claim_limited(), 0U);
    EXPECT_LE(rows_read(), kRowsMax);
}

TEST_F(PostgresQueues, read_little_while_a_hundred_thousand_keys_wait) {
    fill(kBacklog, "'k' || n");
    limit({.concurrency_per_key = 1});
    EXPECT_EQ(claim_limited(), 8U);
    EXPECT_LE(rows_read(), kRowsMax);
}

/// Statements that the server has run and rows that were put into each index, for steps of a queue
/// without limits.
TEST_F(PostgresQueues, without_limits_put_nothing_into_the_indexes_of_limits) {
    limit({.concurrency = 1});
    std::vector<NewInstance> batch;
    for (int n = 1; n <= 100; ++n) batch.push_back(instance_of(n, {put(1, "pay")}));
    store_->start(batch);
    EXPECT_THAT(claim(*store_, "w1"), SizeIs(64));
    const std::string sizes = settings_.in_schema(
        "SELECT (SELECT count(*) FROM ebb.tasks WHERE concurrency_key IS NOT NULL OR took_slot)"
    );
    postgres::Connection connection(settings_);
    EXPECT_EQ(connection.run(sizes, {}).integer(0, 0), 0);
}

class PostgresQueuesAt : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(
    Isolation,
    PostgresQueuesAt,
    ::testing::Values("read committed", "repeatable read", "serializable"),
    [](const auto& level) { return level.param.substr(0, level.param.find(' ')); }
);

TEST_P(PostgresQueuesAt, is_never_overbooked_by_those_who_waited_for_one_another) {
    const std::string schema = fresh_schema();
    std::string level = GetParam();
    if (const auto space = level.find(' '); space != std::string::npos) {
        level.replace(space, 1, "%5C%20");
    }
    const std::string url =
        postgres_server().url() + "&options=-c%20default_transaction_isolation%3D" + level;
    const ManualClock clock(kStart);
    const StorePtr store = make_postgres_store({.url = url, .schema = schema}, clock);
    store->set_queue({.name = "a", .limits = {.concurrency = 1}, .updated_at = kStart});
    // Of two handlers, so that they do not meet at one task.
    const std::vector<std::string> handlers{"pay", "ship"};
    std::vector<NewInstance> batch;
    for (int n = 1; n <= 2; ++n) {
        TaskChange task = put(1, handlers[static_cast<std::size_t>(n - 1)]);
        task.queue = "a";
        batch.push_back(instance_of(n, {task}));
    }
    store->start(batch);
    for (const char* worker : {"w1", "w2"}) {
        store->heartbeat(worker_of(worker), std::chrono::hours(1));
    }
    postgres::Settings settings = postgres::read_settings({.url = url});
    settings.schema = schema;
    postgres::Connection holder(settings);
    EXPECT_EQ(holder.run("SHOW default_transaction_isolation", {}).text(0, 0), GetParam());
    holder.execute("BEGIN; SELECT name FROM ebb.queues FOR UPDATE;");
    std::atomic<int> claimed = 0;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < handlers.size(); ++i) {
        threads.emplace_back([&, i] {
            ClaimRequest request;
            request.worker = i == 0 ? "w1" : "w2";
            request.handlers = {handlers[i]};
            request.queues = {"a"};
            request.limit = 8;
            claimed += static_cast<int>(store->claim_limited(request).claims.size());
        });
    }
    const std::string waiting = settings.in_schema(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        "AND query LIKE '%ebb.queues%'"
    );
    while (postgres_server().execute(waiting) != "2\n") {
    }
    holder.execute("COMMIT");
    threads.clear();
    EXPECT_EQ(claimed, 1);
}

}  // namespace
}  // namespace ebb::testing
