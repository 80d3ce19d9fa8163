// Goal: the views that docs/reference/sql.md promises have its columns in both databases, see what
// is wrong, and its examples run. (What `steps` says is compared by the golden workflows.) Method:
// rows as the stores write them, beside the real time, which the views ask the server for.

#include <map>
#include <set>

#include <fmt/format.h>

#include "ebb_test_dirs.h"
#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres_server.h"
#include "support/store_sql.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kPage =
    read_text(std::filesystem::path(EBB_SOURCE_DIR) / "docs/reference/sql.md");

/// A store whose tables can be asked in SQL.
struct Asked {
    StorePtr store;
    /// The first column of all rows.
    std::function<std::vector<std::string>(const std::string& sql)> ask;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

Asked open_sqlite(const Clock& clock, const TempDir& dir) {
    const std::string path = dir.file("ebb.db");
    return {make_sqlite_store({.path = path}, clock), [path](const std::string& sql) {
                sqlite::Database database(path, sqlite::Database::Access::Read, 1'000);
                sqlite::Query query(database, sql);
                std::vector<std::string> rows;
                while (query.step()) rows.emplace_back(query.text(0));
                return rows;
            }};
}

Asked open_postgres(const Clock& clock, const TempDir&) {
    const std::string schema = fresh_schema();
    return {
        make_postgres_store({.url = postgres_server().url(), .schema = schema}, clock),
        [schema](const std::string& sql) {
            return lines_of(
                postgres_server().execute(fmt::format("SET search_path = {}; {}", schema, sql))
            );
        }
    };
}

class SqlViews : public ::testing::TestWithParam<decltype(&open_sqlite)> {
 protected:
    SqlViews() : asked_(GetParam()(clock_, dir_)) {}

    Store& store() { return *asked_.store; }

    std::vector<std::string> ask(const std::string& sql) { return asked_.ask(sql); }

    std::vector<std::string> reasons() {
        return ask("SELECT reason || ' ' || coalesce(handler, '-') FROM stuck ORDER BY 1");
    }

    /// An instance as of an hour ago.
    NewInstance old_instance(int n, std::vector<TaskChange> tasks = {}) {
        NewInstance instance = instance_of(n, std::move(tasks));
        instance.row.created_at = instance.row.updated_at = hour_ago_;
        return instance;
    }

    const SystemClock clock_;
    const TimePoint hour_ago_ = clock_.now() - std::chrono::hours(1);
    TempDir dir_;
    Asked asked_;
};

TEST_P(SqlViews, have_the_columns_of_the_page) {
    const std::map<std::string, std::string> columns{
        {"running",
         "instance_id, workflow, version, key, status, priority, revision, created_at, updated_at, "
         "tasks_due, tasks_held, tasks_sleeping, tasks_parked, next_due_at"},
        {"stuck",
         "instance_id, workflow, version, key, status, reason, token, handler, queue, worker, since"
        },
        {"stats",
         "workflow, version, status, instances, first_created_at, last_created_at, "
         "last_finished_at, mean_seconds"},
        {"steps",
         "instance_id, workflow, version, visit, step, path, status, attempts, worker, started_at, "
         "finished_at, output, error"},
    };
    for (const auto& [view, names] : columns) {
        EXPECT_THAT(ask("SELECT " + names + " FROM " + view), IsEmpty()) << view;
        std::istringstream stream(names);
        for (std::string name; stream >> name;) {
            if (name.back() == ',') name.pop_back();
            EXPECT_NE(kPage.find("`" + name + "`"), std::string::npos) << view << "." << name;
        }
    }
}

TEST_P(SqlViews, run_every_example_of_the_page) {
    int examples = 0;
    for (auto at = kPage.find("```sql\n"); at != std::string::npos;
         at = kPage.find("```sql\n", at)) {
        at += 7;
        EXPECT_NO_THROW(ask(kPage.substr(at, kPage.find("```", at) - at)));
        ++examples;
    }
    EXPECT_GE(examples, 4);
}

TEST_P(SqlViews, count_what_waits_what_is_held_and_what_has_ended) {
    start_one(
        store(),
        old_instance(
            1, {put(1, "pay", hour_ago_), put(2, "pack", clock_.now() + std::chrono::hours(24))}
        )
    );
    NewInstance ended = old_instance(2);
    ended.row.status = InstanceStatus::Completed;
    ended.row.finished_at = ended.row.created_at + std::chrono::milliseconds(1'500);
    start_one(store(), ended);
    EXPECT_THAT(
        ask("SELECT status || ' ' || tasks_due || tasks_held || tasks_sleeping || tasks_parked "
            "FROM running WHERE next_due_at IS NOT NULL"),
        ElementsAre("running 1010")
    );
    store().heartbeat(worker_of("w1"), std::chrono::seconds(30));
    ASSERT_EQ(claim(store(), "w1").size(), 1U);
    EXPECT_THAT(ask("SELECT tasks_due || ' ' || tasks_held FROM running"), ElementsAre("0 1"));
    EXPECT_THAT(
        ask("SELECT status || ' ' || instances || ' ' || mean_seconds FROM stats "
            "WHERE status = 'completed'"),
        ElementsAre("completed 1 1.5")
    );
}

TEST_P(SqlViews, find_what_no_worker_runs_until_a_worker_can) {
    start_one(store(), old_instance(1, {put(1, "pay", hour_ago_)}));
    TaskChange mail = put_in("mail", 1, "send");
    mail.due = hour_ago_;
    start_one(store(), old_instance(2, {mail}));
    EXPECT_THAT(reasons(), ElementsAre("no_worker pay", "no_worker send"));
    WorkerRow worker = worker_of("w1", {"pay", "send"});
    worker.queues = {"default"};
    store().heartbeat(worker, std::chrono::seconds(30));
    EXPECT_THAT(reasons(), ElementsAre("no_worker send"));
    worker.queues = {};
    store().heartbeat(worker, std::chrono::seconds(30));
    EXPECT_THAT(reasons(), IsEmpty());
}

TEST_P(SqlViews, find_dead_letters_overdue_timers_and_leases_of_the_dead) {
    NewInstance dead = old_instance(1);
    dead.row.status = InstanceStatus::DeadLetter;
    start_one(store(), dead);
    start_one(store(), old_instance(2, {put(1, "", hour_ago_)}));
    start_one(store(), old_instance(3, {put(1, "pay", hour_ago_)}));
    store().heartbeat(worker_of("w1"), std::chrono::seconds(30));
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    request.instance = id_of(3);
    ASSERT_EQ(store().claim(request).size(), 1U);
    EXPECT_THAT(reasons(), ElementsAre("dead_letter -", "overdue "));
    store().heartbeat(worker_of("w1"), -std::chrono::hours(1));
    EXPECT_THAT(reasons(), ElementsAre("dead_letter -", "lease_expired pay", "no_worker "));
    EXPECT_THAT(
        ask("SELECT worker FROM stuck WHERE reason = 'lease_expired' AND since IS NOT NULL"),
        ElementsAre("w1")
    );
}

TEST_P(SqlViews, see_what_its_worker_holds_since_the_start) {
    NewInstance instance = old_instance(1, {put_continued(1, "pay")});
    instance.tasks[0].due = instance.row.created_at;
    instance.lease_owner = "w1";
    start_one(store(), instance);
    EXPECT_THAT(ask("SELECT tasks_held || '' FROM running"), ElementsAre("1"));
    EXPECT_THAT(reasons(), ElementsAre("lease_expired pay"));
    EXPECT_THAT(ask("SELECT worker || token FROM stuck"), ElementsAre("w11"));
    store().heartbeat(worker_of("w1"), std::chrono::seconds(30));
    EXPECT_THAT(reasons(), IsEmpty());
}

TEST_P(SqlViews, read_past_an_instance_whose_state_is_damaged) {
    NewInstance damaged = old_instance(1, {put(1, "pay", hour_ago_)});
    damaged.row.state = "{";
    HistoryEvent step = event_of(2, HistoryType::StepRetried, R"({"code":"down"})");
    step.node = "pay";
    step.visit = 1;
    step.attempt = 1;
    damaged.history.push_back(step);
    start_one(store(), damaged);
    EXPECT_THAT(
        ask("SELECT step || ' ' || status || ' ' || error FROM steps"),
        ElementsAre(R"(pay retrying {"code":"down"})")
    );
}

INSTANTIATE_TEST_SUITE_P(Sqlite, SqlViews, ::testing::Values(&open_sqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, SqlViews, ::testing::Values(&open_postgres));

}  // namespace
}  // namespace ebb::testing
