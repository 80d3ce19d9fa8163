// Goal: partitioned tables do all that others do, find an instance in one partition, and lose whole
// partitions that are not needed, never one in which something lives.
// Method: the conformance suite over partitions; plans; real tables with ids of chosen times.

#include <set>
#include <sstream>
#include <thread>

#include <ebb/error.h>

#include "store/instantiate.h"
#include "store/partitioned.h"
#include "support/store_describe.h"
#include "support/store_sql.h"
#include "support/uuid.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;
using std::chrono::days;

EBB_INSTANTIATE_STORE_TESTS(
    PostgresPartitioned,
    (StoreKind{
        "postgres_partitioned",
        [](const Clock& clock, const TempDir&) { return open_partitioned(clock, fresh_schema()); }
    })
);

/// 2027-01-15 08:00 UTC is kStart.
class PostgresPartitions : public ::testing::Test {
 protected:
    PostgresPartitions()
        : store_(make_postgres_store({.url = postgres_server().url(), .schema = schema_}, clock_)) {
    }

    std::string execute(const std::string& sql) {
        return postgres_server().execute("SET search_path = " + schema_ + "; " + sql);
    }

    std::vector<std::string> partitions() {
        postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
        settings.schema = schema_;
        postgres::Connection connection(settings);
        std::vector<std::string> names;
        for (const auto& partition : postgres::list_partitions(connection)) {
            names.push_back(partition.name);
        }
        return names;
    }

    /// Started now; ended at once if `has_ended`.
    InstanceId start(bool has_ended, const std::string& key = {}, const std::string& name = "w") {
        NewInstance instance = instance_of(1);
        instance.row.id = make_instance_id(clock_);
        instance.row.workflow = name;
        instance.row.key = key;
        if (has_ended) {
            instance.row.status = InstanceStatus::Completed;
            instance.row.finished_at = clock_.now();
        } else {
            instance.tasks = {put(1, "pay", clock_.now())};
        }
        return start_one(*store_, instance).id;
    }

    HousekeepingResult keep(Duration completed) {
        const RetentionRule rule{.workflow = "*", .keep = {.completed = completed}};
        return store_->housekeep({&rule, 1});
    }

    ManualClock clock_{kStart};
    std::string schema_ = fresh_schema();
    StorePtr store_;
};

TEST_F(PostgresPartitions, are_made_from_empty_tables_for_the_time_to_come) {
    EXPECT_EQ(store_->housekeep({}), HousekeepingResult{}) << "no partitions were requested";
    divide(schema_);
    EXPECT_THAT(partitions(), ElementsAre("p20270101", "p20270201", "p20270301", "p20270401"));
    const InstanceId id = start(false);
    EXPECT_EQ(execute("SELECT id FROM instances_p20270101"), id.to_string() + "\n");
    EXPECT_EQ(execute("SELECT count(*) FROM history_p20270101"), "1\n");
    clock_.advance(days(20));
    EXPECT_EQ(store_->housekeep({}).made, std::vector<std::string>{"p20270501"});
    EXPECT_EQ(store_->housekeep({}), HousekeepingResult{});
}

TEST_F(PostgresPartitions, take_what_is_there_as_their_first_and_keep_every_right) {
    const InstanceId lives = start(false, "k");
    start(true);
    execute("GRANT SELECT, UPDATE ON instances TO PUBLIC; GRANT SELECT ON running TO PUBLIC");
    const std::string before = describe(store_->list({}));
    const std::string rights = execute(
        "SELECT relacl FROM pg_class WHERE oid = "
        "'instances'::regclass"
    );
    divide(schema_);
    // The store was open before; its statements are planned again.
    EXPECT_EQ(describe(store_->list({})), before);
    EXPECT_EQ(store_->find_key("w", "k"), lives);
    EXPECT_THAT(partitions(), ElementsAre("before", "p20270201", "p20270301", "p20270401"));
    EXPECT_EQ(execute("SELECT count(*) FROM instances_before"), "2\n");
    EXPECT_EQ(execute("SELECT instance_id FROM running"), lives.to_string() + "\n");
    EXPECT_EQ(execute("SELECT relacl FROM pg_class WHERE oid = 'instances'::regclass"), rights);
    store_->heartbeat(worker_of("w1"), 1h);
    EXPECT_EQ(claim(*store_, "w1").size(), 1U);
    clock_.set(TimePoint(std::chrono::sys_days(std::chrono::year(2027) / 2 / 1)));
    const InstanceId next = start(false);
    EXPECT_EQ(execute("SELECT id FROM instances_p20270201"), next.to_string() + "\n");
}

TEST_F(PostgresPartitions, have_the_indexes_and_the_settings_of_the_table_they_come_from) {
    const auto settings = [&](const std::string& table) {
        return execute("SELECT reloptions FROM pg_class WHERE oid = '" + table + "'::regclass");
    };
    const auto indexes = [&](const std::string& table) {
        return execute(
            "SELECT regexp_replace(pg_get_indexdef(indexrelid), '^.* USING', '') FROM pg_index "
            "WHERE indrelid = '" +
            table + "'::regclass ORDER BY 1"
        );
    };
    const std::vector<std::string> tables{"instances", "history"};
    std::vector<std::string> expected;
    for (const std::string& table : tables) expected.push_back(settings(table) + indexes(table));
    start(true);
    divide(schema_);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        for (const char* part : {"_default", "_before", "_p20270201"}) {
            const std::string name = tables[i] + part;
            EXPECT_EQ(settings(name) + indexes(name), expected[i]) << name;
        }
        EXPECT_EQ(indexes(tables[i]), indexes(tables[i] + "_default"));
    }
}

TEST_F(PostgresPartitions, are_left_as_they_are_when_they_are_asked_for_again) {
    postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
    settings.schema = schema_;
    postgres::Connection connection(settings);
    EXPECT_TRUE(postgres::partition(connection, PartitionPeriod::Month, kStart));
    EXPECT_FALSE(postgres::partition(connection, PartitionPeriod::Month, kStart));
    EXPECT_EQ(partitions().size(), 4U);
    // Another period is that of those to come.
    EXPECT_TRUE(postgres::partition(connection, PartitionPeriod::Week, kStart));
    clock_.set(TimePoint(std::chrono::sys_days(std::chrono::year(2027) / 4 / 20)));
    EXPECT_THAT(
        store_->housekeep({}).made, ElementsAre("p20270501", "p20270503", "p20270510", "p20270517")
    );
}

TEST_F(PostgresPartitions, may_be_asked_for_by_several_at_once) {
    start(true);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            try {
                divide(schema_);
            } catch (const Error& error) {
                ADD_FAILURE() << error.what();
            }
        });
    }
    threads.clear();
    EXPECT_EQ(partitions().size(), 4U);
    EXPECT_EQ(store_->list({}).size(), 1U);
}

TEST_F(PostgresPartitions, are_dropped_when_all_in_them_has_been_kept_long_enough) {
    divide(schema_);
    const InstanceId first = start(true, "k");
    const InstanceId second = start(true);
    clock_.advance(days(30));
    const InstanceId young = start(true, "young");
    EXPECT_THAT(keep(days(14)).dropped, IsEmpty()) << "February has not begun 14 days ago";
    clock_.advance(days(1));
    EXPECT_THAT(keep(days(14)).dropped, ElementsAre("p20270101"));
    EXPECT_FALSE(store_->load(first) || store_->load(second));
    EXPECT_EQ(store_->find_key("w", "k"), std::nullopt);
    EXPECT_EQ(store_->find_key("w", "young"), young);
    EXPECT_EQ(execute("SELECT count(*) FROM history"), "1\n");
    EXPECT_EQ(execute("SELECT to_regclass('history_p20270101') IS NULL"), "t\n");
}

TEST_F(PostgresPartitions, are_kept_whole_as_long_as_one_lives_in_them) {
    divide(schema_);
    const InstanceId lives = start(false);
    start(true);
    clock_.advance(days(3'650));
    EXPECT_THAT(keep(days(14)).dropped, Not(::testing::Contains("p20270101")));
    EXPECT_TRUE(store_->load(lives).has_value());
    // What has ended goes by itself then.
    const PurgeRequest request{
        .rules = {{.workflow = "*", .keep = {.completed = days(14)}}}, .by_partition = true
    };
    EXPECT_EQ(store_->purge(request).purged.size(), 1U);
    EXPECT_TRUE(store_->load(lives).has_value());
    HistoryQuery query;
    query.instance = lives;
    EXPECT_EQ(store_->history(query).size(), 1U);
}

TEST_F(PostgresPartitions, are_kept_for_the_workflow_that_is_kept_longest) {
    divide(schema_);
    start(true, "", "short");
    start(true, "", "long");
    const std::vector<RetentionRule> rules{
        {.workflow = "*", .keep = {.completed = days(1)}},
        {.workflow = "long", .keep = {.completed = days(90)}}
    };
    clock_.advance(days(60));
    EXPECT_THAT(store_->housekeep(rules).dropped, ElementsAre("p20270201")) << "which is empty";
    clock_.advance(days(60));
    EXPECT_THAT(
        store_->housekeep(rules).dropped, ElementsAre("p20270101", "p20270301", "p20270401")
    );
}

TEST_F(PostgresPartitions, say_what_they_are) {
    EXPECT_FALSE(store_->partitions().has_value());
    divide(schema_);
    const auto view = store_->partitions();
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->period, "month");
    EXPECT_EQ(
        view->current_ends, TimePoint(std::chrono::sys_days(std::chrono::year(2027) / 2 / 1))
    );
}

TEST_F(PostgresPartitions, let_their_instances_wait_for_the_end_of_the_period) {
    divide(schema_);
    start(true);
    const PurgeRequest request{
        .rules = {{.workflow = "*", .keep = {.completed = days(1)}}}, .by_partition = true
    };
    clock_.advance(days(17));
    EXPECT_THAT(store_->purge(request).purged, IsEmpty()) << "January ended yesterday";
    clock_.set(TimePoint(std::chrono::sys_days(std::chrono::year(2027) / 2 / 2)));
    EXPECT_EQ(store_->purge(request).purged.size(), 1U);
}

TEST_F(PostgresPartitions, wait_for_no_session_that_reads_them_for_long) {
    divide(schema_);
    const InstanceId id = start(true, "k");
    clock_.advance(days(60));
    postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
    settings.schema = schema_;
    postgres::Connection report(settings);
    report.execute("BEGIN; SELECT count(*) FROM ebb.instances;");
    EXPECT_EQ(keep(days(1)).dropped, std::vector<std::string>{}) << "it gives up and comes again";
    EXPECT_TRUE(store_->load(id).has_value());
    EXPECT_EQ(store_->find_key("w", "k"), id) << "what is kept keeps its key";
    report.execute("COMMIT");
    EXPECT_THAT(keep(days(1)).dropped, ElementsAre("p20270101", "p20270201"));
    EXPECT_FALSE(store_->load(id).has_value());
    EXPECT_EQ(store_->find_key("w", "k"), std::nullopt);
}

TEST_F(PostgresPartitions, stay_with_all_their_keys_when_an_old_instance_comes_back) {
    divide(schema_);
    const InstanceId ended = start(true, "ended");
    const InstanceId other = start(true, "other");
    clock_.advance(days(31));
    // Where the keys are taken is the last moment before the partition is locked.
    execute(
        "CREATE FUNCTION come_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE " +
        schema_ + ".instances SET status = 'running', finished_at = NULL WHERE id = '" +
        other.to_string() +
        "'; RETURN NULL; END $$; CREATE TRIGGER come_back AFTER DELETE ON keys FOR EACH STATEMENT "
        "EXECUTE FUNCTION come_back()"
    );
    EXPECT_THAT(keep(days(14)).dropped, IsEmpty());
    EXPECT_EQ(store_->find_key("w", "ended"), ended);
    EXPECT_EQ(store_->find_key("w", "other"), other);
    execute("DROP TRIGGER come_back ON keys");
    EXPECT_THAT(keep(days(14)).dropped, ElementsAre("p20270101"));
    EXPECT_EQ(store_->find_key("w", "other"), std::nullopt);
}

TEST_F(PostgresPartitions, leave_what_has_no_place_in_the_default_one) {
    divide(schema_);
    clock_.set(TimePoint(std::chrono::sys_days(std::chrono::year(2028) / 1 / 20)));
    const InstanceId id = start(false);
    EXPECT_EQ(execute("SELECT id FROM instances_default"), id.to_string() + "\n");
    // This January stays there; what follows has its own.
    EXPECT_THAT(store_->housekeep({}).made, ElementsAre("p20280201", "p20280301", "p20280401"));
    EXPECT_TRUE(store_->load(id).has_value());
    store_->heartbeat(worker_of("w1"), 1h);
    EXPECT_EQ(claim(*store_, "w1").size(), 1U);
}

TEST_F(PostgresPartitions, are_the_owners_business) {
    divide(schema_);
    const std::string role = schema_ + "_worker";
    execute(
        "CREATE ROLE " + role + " LOGIN; GRANT USAGE ON SCHEMA " + schema_ + " TO " + role +
        "; GRANT ALL ON ALL TABLES IN SCHEMA " + schema_ + " TO " + role
    );
    const StorePtr worker = make_postgres_store(
        {.url = postgres_server().url("ebb_test", role), .schema = schema_, .migrate = false},
        clock_
    );
    clock_.advance(days(60));
    EXPECT_EQ(worker->housekeep({}), HousekeepingResult{});
    EXPECT_FALSE(store_->housekeep({}).made.empty());
}

TEST_F(PostgresPartitions, are_swept_without_any_retention) {
    EXPECT_EQ(store_->take_sweep(1min), std::nullopt);
    divide(schema_);
    EXPECT_TRUE(store_->take_sweep(1min).has_value());
}

TEST_F(PostgresPartitions, begin_and_end_with_days_weeks_and_months) {
    const auto day = [](int year, unsigned month, unsigned d) {
        return TimePoint(std::chrono::sys_days(
            std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(d)
        ));
    };
    using postgres::period_end;
    using postgres::period_start;
    EXPECT_EQ(period_start(PartitionPeriod::Day, kStart), day(2027, 1, 15));
    EXPECT_EQ(period_end(PartitionPeriod::Day, day(2027, 12, 31)), day(2028, 1, 1));
    EXPECT_EQ(period_start(PartitionPeriod::Week, kStart), day(2027, 1, 11));
    EXPECT_EQ(period_start(PartitionPeriod::Week, day(2027, 1, 11)), day(2027, 1, 11));
    EXPECT_EQ(period_end(PartitionPeriod::Week, day(2027, 1, 17) + 24h - 1us), day(2027, 1, 18));
    EXPECT_EQ(period_start(PartitionPeriod::Month, kStart), day(2027, 1, 1));
    EXPECT_EQ(period_end(PartitionPeriod::Month, day(2028, 2, 29)), day(2028, 3, 1));
    EXPECT_EQ(period_end(PartitionPeriod::Month, day(2027, 12, 31)), day(2028, 1, 1));
}

/// How many of the five partitions of each table a plan enters.
class PostgresPruning : public PostgresPartitions {
 protected:
    /// What EXPLAIN ANALYZE says of the statement with these arguments.
    std::string plan(const std::string& sql, const std::string& arguments) {
        postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
        settings.schema = schema_;
        postgres::Connection connection(settings);
        connection.execute("PREPARE asked AS " + sql);
        const std::string question =
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE asked (" + arguments +
            ")";
        const postgres::Result lines = connection.run(question, {});
        std::string text;
        for (int row = 0; row < lines.rows(); ++row) text += std::string(lines.text(row, 0)) + "\n";
        return text;
    }

    /// The partitions of `table` that the plan has really read.
    static std::set<std::string> entered(const std::string& plan, const std::string& table) {
        std::set<std::string> found;
        std::istringstream lines(plan);
        for (std::string line; std::getline(lines, line);) {
            const auto at = line.find(" on " + table + "_");
            const bool is_scan = line.find("Scan") < at && line.find("Bitmap Index") > at;
            const bool is_read = line.find("never executed") == std::string::npos;
            if (at == std::string::npos || !is_scan || !is_read) continue;
            const std::size_t begin = at + 4;
            found.insert(line.substr(begin, line.find(' ', begin) - begin));
        }
        return found;
    }
};

TEST_F(PostgresPruning, finds_an_instance_in_one_partition) {
    start(true);
    divide(schema_);
    clock_.advance(days(30));
    const InstanceId id = start(false);
    const std::string quoted = "'" + id.to_string() + "'";
    const auto statements = embedded_statements("postgres/sql");
    const std::string load = plan(statements.at("load_instance"), quoted);
    EXPECT_THAT(entered(load, "instances"), ElementsAre("instances_p20270201")) << load;
    const std::string history =
        plan(statements.at("history_forward"), quoted + ", 0, 100, NULL, NULL, 10");
    EXPECT_THAT(entered(history, "history"), ElementsAre("history_p20270201")) << history;
    const std::string step = plan(
        statements.at("commit_step"),
        quoted +
            ", 1, 'running', '{}', 1, 2, 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
            "1, NULL, false"
    );
    EXPECT_THAT(entered(step, "instances"), ElementsAre("instances_p20270201")) << step;
    const std::string batch = plan(
        statements.at("commit_and_remove"),
        "'{completed}', ARRAY[" + quoted +
            "]::uuid[], '{2}', '{1}', '{x}', '{1}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', "
            "'{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{0}'"
    );
    EXPECT_THAT(entered(batch, "instances"), ElementsAre("instances_p20270201")) << batch;
}

}  // namespace
}  // namespace ebb::testing
