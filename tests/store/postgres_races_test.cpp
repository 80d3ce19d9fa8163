// Goal: a verb that loses a race is repeated by the store until it is done, once and completely.
// Method: triggers that answer some changes of rows with 40001 (serialization_failure), while the
// statement runs or, as SERIALIZABLE does it, at the end of its transaction.

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

class PostgresRaces : public ::testing::TestWithParam<bool> {
 protected:
    PostgresRaces()
        : store_(make_postgres_store({.url = postgres_server().url(), .schema = schema_}, clock_)) {
    }

    std::string execute(const std::string& sql) { return postgres_server().execute(sql); }

    /// From now on changes number 1 to 3 of every 8 fail. Counting continues after a rollback.
    void inject() {
        const bool is_at_commit = GetParam();
        execute(fmt::format(
            "CREATE SEQUENCE {0}.changes;"
            "CREATE FUNCTION {0}.lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF nextval('{0}.changes') % 8 IN (1, 2, 3) THEN"
            "  RAISE serialization_failure USING MESSAGE = 'lost a race'; END IF;"
            " RETURN coalesce(NEW, OLD); END $$",
            schema_
        ));
        for (const char* table : {"instances", "tasks", "history", "workers", "workflows"}) {
            execute(fmt::format(
                "CREATE {2} TRIGGER lose {3} INSERT OR UPDATE OR DELETE ON {0}.{1} {4}"
                " FOR EACH ROW EXECUTE FUNCTION {0}.lose()",
                schema_,
                table,
                is_at_commit ? "CONSTRAINT" : "",
                is_at_commit ? "AFTER" : "BEFORE",
                is_at_commit ? "DEFERRABLE INITIALLY DEFERRED" : ""
            ));
        }
    }

    std::int64_t changes() {
        return std::stoll(execute("SELECT last_value FROM " + schema_ + ".changes"));
    }

    ManualClock clock_{kStart};
    std::string schema_ = fresh_schema();
    StorePtr store_;
};

INSTANTIATE_TEST_SUITE_P(
    Postgres,
    PostgresRaces,
    ::testing::Values(false, true),
    [](const auto& at_commit) { return at_commit.param ? "at_commit" : "at_once"; }
);

TEST_P(PostgresRaces, lost_ones_are_run_again_until_they_are_won) {
    inject();
    Store& store = *store_;
    store.register_workflow({.name = "orders", .definition = "{}", .checksum = "x"});
    store.heartbeat(worker_of("w1"), std::chrono::seconds(30));
    for (int n = 1; n <= 10; ++n) {
        // One after another: more than five rows in one statement cannot be won here.
        NewInstance instance = instance_of(n, {put(1, "pay", kStart + std::chrono::seconds(n))});
        if (n % 2 == 0) instance.row.key = fmt::format("k{}", n);
        EXPECT_EQ(start_one(store, instance).kind, StartResult::Kind::Created);
    }
    for (int n = 1; n <= 10; ++n) {
        clock_.advance(std::chrono::seconds(1));
        EXPECT_EQ(claim(store, "w1", {"pay"}, 1).size(), 1U) << n;
        const Change change{
            .instance = n,
            .state = "next",
            .history = {event_of(2, HistoryType::StepCompleted)},
            .tasks = {change_of(TaskChange::Kind::Remove, 1)},
        };
        EXPECT_EQ(commit_one(store, change), CommitResult::Committed);
        EXPECT_EQ(commit_one(store, change), CommitResult::Conflict);
    }
    store.sign_off({"w1", kStart});
    for (const InstanceRow& row : store.list({})) {
        EXPECT_EQ(row.revision, 2);
        EXPECT_TRUE(store.tasks(row.id).empty());
        HistoryQuery query;
        query.instance = row.id;
        EXPECT_EQ(store.history(query).size(), 2U);
    }
    EXPECT_TRUE(store.workers().empty());
    EXPECT_GT(changes(), 100);  // 83 would do without a lost race
}

TEST_P(PostgresRaces, that_are_always_lost_leave_the_instance_for_later_with_a_notice) {
    start_one(*store_, instance_of(1));
    inject();
    execute("ALTER SEQUENCE " + schema_ + ".changes INCREMENT BY 8");
    EXPECT_EQ(
        commit_one(*store_, {.history = {event_of(2, HistoryType::StepCompleted)}}),
        CommitResult::Busy
    );
    const std::vector<StoreNotice> notices = store_->take_notices();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_THAT(notices[0].message, HasSubstr("lost a race"));
    EXPECT_EQ(store_->load(id_of(1))->revision, 1);
}

}  // namespace
}  // namespace ebb::testing
