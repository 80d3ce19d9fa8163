// Goal: one instance that cannot be written for now keeps no other from being written, and an
// operator learns which it is and who is in the way. Method: another session that locks rows and
// stays, as a person in psql does; and a server that refuses one instance again and again.

#include <fmt/format.h>

#include <ebb/error.h>

#include "races/interleaving.h"
#include "store/postgres/postgres_store.h"
#include "support/store_samples.h"

namespace ebb::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LockedRows : public ::testing::Test {
 protected:
    LockedRows()
        : clock_(kStart),
          store_(make_postgres_store({.url = postgres_server().url(), .schema = schema_}, clock_)),
          person_(
              PQconnectdb((postgres_server().url() + "&application_name=a%20person").c_str()),
              PQfinish
          ) {
        for (int n = 1; n <= 5; ++n) start_one(*store_, instance_of(n, {put(1, "pay")}));
    }

    void run(const std::string& sql) {
        const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
            PQexec(person_.get(), sql.c_str()), PQclear
        );
        ASSERT_EQ(std::string(PQresultErrorMessage(result.get())), "") << sql;
    }

    /// One event for each of the instances.
    std::vector<CommitResult> commit(std::span<const int> instances) {
        std::vector<Change> changes;
        for (const int n : instances) {
            const std::int64_t revision = store_->load(id_of(n))->revision;
            changes.push_back(
                {.instance = n,
                 .revision = revision,
                 .history = {event_of(revision + 1, HistoryType::StepCompleted)},
                 .tasks = {put(1, "pay")}}
            );
        }
        std::vector<Commit> commits;
        for (const Change& change : changes) commits.push_back(change.view());
        return store_->commit(commits);
    }

    ManualClock clock_;
    std::string schema_ = fresh_schema();
    StorePtr store_;
    std::unique_ptr<PGconn, void (*)(PGconn*)> person_;
};

constexpr int kAll[] = {1, 2, 3, 4, 5};
constexpr auto kCommitted = CommitResult::Committed;
constexpr auto kBusy = CommitResult::Busy;

TEST_F(LockedRows, of_an_instance_let_all_others_be_written) {
    run("BEGIN; SELECT 1 FROM " + schema_ + ".instances WHERE id = '" + id_of(3).to_string() +
        "' FOR UPDATE");
    EXPECT_THAT(commit(kAll), ElementsAre(kCommitted, kCommitted, kBusy, kCommitted, kCommitted));
    EXPECT_EQ(store_->load(id_of(3))->revision, 1);
    EXPECT_EQ(store_->load(id_of(4))->revision, 2);
    const std::vector<StoreNotice> notices = store_->take_notices();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].name, "commit_blocked");
    EXPECT_THAT(
        notices[0].message,
        AllOf(
            HasSubstr(id_of(3).to_string()),
            HasSubstr(fmt::format("session {} ", PQbackendPID(person_.get()))),
            HasSubstr("a person"),
            HasSubstr("idle in transaction"),
            HasSubstr(fmt::format("pg_terminate_backend({})", PQbackendPID(person_.get())))
        )
    );
    constexpr int kOne[] = {3};
    EXPECT_THAT(commit(kOne), ElementsAre(kBusy));
    EXPECT_THAT(store_->take_notices(), IsEmpty()) << "the same thing, a moment later";
    run("ROLLBACK");
    EXPECT_THAT(commit(kOne), ElementsAre(kCommitted));
}

TEST_F(LockedRows, of_a_task_let_all_others_be_written) {
    run("BEGIN; UPDATE " + schema_ + ".tasks SET rank = rank WHERE instance_id = '" +
        id_of(2).to_string() + "'");
    EXPECT_THAT(commit(kAll), ElementsAre(kCommitted, kBusy, kCommitted, kCommitted, kCommitted));
    EXPECT_THAT(store_->take_notices().at(0).message, HasSubstr(id_of(2).to_string()));
    run("COMMIT");
    constexpr int kOne[] = {2};
    EXPECT_THAT(commit(kOne), ElementsAre(kCommitted));
}

TEST_F(LockedRows, of_a_whole_table_are_an_error_that_may_pass) {
    run("BEGIN; LOCK TABLE " + schema_ + ".history IN EXCLUSIVE MODE");
    try {
        commit(kAll);
        ADD_FAILURE() << "written into a table that is locked";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_transient());
    }
    run("ROLLBACK");
    EXPECT_THAT(
        commit(kAll), ElementsAre(kCommitted, kCommitted, kCommitted, kCommitted, kCommitted)
    );
}

TEST_F(LockedRows, of_an_instance_that_always_loses_its_race_let_all_others_be_written) {
    postgres_server().execute(fmt::format(
        "CREATE FUNCTION {0}.lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE serialization_failure USING MESSAGE = 'lost a race'; END $$;"
        "CREATE TRIGGER lose BEFORE UPDATE ON {0}.instances FOR EACH ROW WHEN (OLD.id = '{1}')"
        " EXECUTE FUNCTION {0}.lose()",
        schema_,
        id_of(4).to_string()
    ));
    EXPECT_THAT(commit(kAll), ElementsAre(kCommitted, kCommitted, kCommitted, kBusy, kCommitted));
    const std::vector<StoreNotice> notices = store_->take_notices();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].name, "commit_busy");
    EXPECT_THAT(
        notices[0].message, AllOf(HasSubstr(id_of(4).to_string()), HasSubstr("lost a race"))
    );
}

TEST_F(LockedRows, do_not_keep_a_lease_from_being_given_back_forever) {
    store_->heartbeat(worker_of("w1"), std::chrono::seconds(30));
    ASSERT_EQ(claim(*store_, "w1").size(), 5U);
    run("BEGIN; UPDATE " + schema_ + ".tasks SET rank = rank WHERE instance_id = '" +
        id_of(2).to_string() + "'");
    const std::vector<TaskRef> tasks{{id_of(2), 1}};
    try {
        store_->release({"w1", kStart}, tasks);
        ADD_FAILURE() << "released a row that is locked";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_transient());
    }
    run("ROLLBACK");
}

TEST_F(LockedRows, in_doubt_are_asked_about_in_one_question) {
    std::vector<Change> changes;
    for (const int n : kAll) {
        changes.push_back(
            {.instance = n,
             .state = R"({"mine":true})",
             .history = {event_of(2, HistoryType::StepCompleted, "1")},
             .tasks = {}}
        );
    }
    changes[4].history.clear();
    std::vector<Commit> commits;
    for (const Change& change : changes) commits.push_back(change.view());
    EXPECT_THAT(store_->were_committed(commits), ElementsAre(false, false, false, false, false));
    // 1 and 5 were written, 1 has continued; 2 was written by another worker, which came to the
    // same state, and 3 to another one.
    store_->commit(std::vector<Commit>{commits[0], commits[4]});
    commit_one(
        *store_,
        {.instance = 1, .revision = 2, .history = {event_of(3, HistoryType::StepCompleted)}}
    );
    Change other = changes[1];
    other.history = {event_of(2, HistoryType::StepCompleted, "2")};
    commit_one(*store_, other);
    commit_one(*store_, {.instance = 3, .history = {event_of(2, HistoryType::StepCompleted, "1")}});
    EXPECT_THAT(store_->were_committed(commits), ElementsAre(true, false, false, false, true));
    // As the question that any store understands.
    EXPECT_EQ(store_->were_committed(commits), store_->Store::were_committed(commits));
}

}  // namespace
}  // namespace ebb::testing
