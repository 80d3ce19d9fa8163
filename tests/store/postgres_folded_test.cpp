// Goal: a task that is folded into the row of its instance gets a row of its own when others change
// it, in either order. Method: two processes' stores on one database, and a session that holds
// locks while a store waits for them; what the store remembers is asked directly.

#include <thread>

#include <fmt/format.h>

#include "store/conformance.h"
#include "store/postgres/memories/folded_tasks.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using postgres::Fold;
using postgres::FoldedTasks;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = TaskChange::Kind;

NewInstance started(int n) {
    NewInstance instance = instance_of(n, {put_continued(1, "pay")});
    instance.lease_owner = "w1";
    return instance;
}

std::vector<HistoryEvent> two_events(Seq seq) {
    return {event_of(seq, HistoryType::StepCompleted), event_of(seq + 1, HistoryType::Completed)};
}

class PostgresFolded : public ::testing::Test {
 protected:
    PostgresFolded() : ours_(open()), theirs_(open()) {
        ours_->heartbeat(worker_of("w1"), std::chrono::seconds(30));
        theirs_->heartbeat(worker_of("w2"), std::chrono::seconds(30));
        const std::vector<NewInstance> instances{started(1), started(2), started(3)};
        ours_->start(instances);
    }

    StorePtr open() {
        return make_postgres_store({.url = postgres_server().url(), .schema = schema_}, clock_);
    }

    int count(const std::string& from) {
        return std::stoi(postgres_server().execute(
            fmt::format(fmt::runtime("SELECT count(*) FROM " + from), fmt::arg("schema", schema_))
        ));
    }

    int task_rows() { return count("{schema}.tasks"); }

    int folded() { return count("{schema}.instances WHERE lease_owner IS NOT NULL"); }

    /// Lets `change` come while a session that has locked instance 1 before unfolds its task.
    CommitResult commit_while_it_is_unfolded(const Change& change) {
        postgres::Settings settings = postgres::read_settings({.url = postgres_server().url()});
        postgres::Connection other(settings);
        const std::string id = id_of(1).to_string();
        other.execute(fmt::format(
            "BEGIN; UPDATE {0}.instances SET lease_owner = NULL, lease_handler = NULL WHERE id = "
            "'{1}'; INSERT INTO {0}.tasks (instance_id, token, handler, queue, due_at, rank, lane, "
            "lease_owner, is_stop) VALUES ('{1}', 1, 'pay', '', 1, 1, 1, 'w1', true)",
            schema_,
            id
        ));
        CommitResult result{};
        std::thread committing([&] { result = commit_one(*ours_, change); });
        while (count("pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE "
                     "'%{schema}%'") == 0) {
            std::this_thread::yield();
        }
        other.execute("COMMIT");
        committing.join();
        return result;
    }

    ManualClock clock_{kStart};
    std::string schema_ = fresh_schema();
    StorePtr ours_;
    StorePtr theirs_;
};

TEST_F(PostgresFolded, has_no_row_until_something_else_happens_to_it) {
    EXPECT_EQ(task_rows(), 0);
    EXPECT_EQ(folded(), 3);
    commit_one(*ours_, {.history = {event_of(2, HistoryType::StepCompleted)}});
    commit_one(*ours_, {.revision = 2, .state = "two", .history = two_events(3)});
    EXPECT_EQ(task_rows(), 0);
    EXPECT_EQ(folded(), 3);
    commit_one(
        *ours_, {.revision = 3, .status = InstanceStatus::Completed, .history = two_events(5)}
    );
    commit_one(*ours_, {.instance = 2, .tasks = {put(1, "pay", kStart + std::chrono::hours(1))}});
    commit_one(*ours_, {.instance = 3, .tasks = {change_of(Kind::Park, 1)}});
    EXPECT_EQ(task_rows(), 2);
    EXPECT_EQ(folded(), 0);
}

TEST_F(PostgresFolded, is_not_made_of_what_a_row_must_say) {
    NewInstance later = started(4);
    later.tasks[0].due += std::chrono::seconds(1);
    NewInstance of_a_key = started(5);
    of_a_key.tasks[0].concurrency_key = "k";
    NewInstance two = started(6);
    two.tasks.push_back(put(2, "ship"));
    NewInstance free = started(7);
    free.lease_owner.clear();
    const std::vector<NewInstance> instances{later, of_a_key, two, free};
    ours_->start(instances);
    EXPECT_EQ(folded(), 3);
    EXPECT_EQ(task_rows(), 5);
}

TEST_F(PostgresFolded, is_committed_by_a_worker_that_does_not_know_of_it) {
    const std::vector<Change> changes{
        {.status = InstanceStatus::Completed, .history = two_events(2)},
        {.instance = 2, .history = {event_of(2, HistoryType::StepCompleted)}},
        {.instance = 3, .tasks = {put(1, "ship")}},
        {.instance = 9, .history = {event_of(2, HistoryType::StepCompleted)}},
    };
    std::vector<Commit> commits;
    for (const Change& change : changes) commits.push_back(change.view());
    EXPECT_THAT(
        theirs_->commit(commits),
        ElementsAre(
            CommitResult::Committed,
            CommitResult::Committed,
            CommitResult::Committed,
            CommitResult::NotFound
        )
    );
    EXPECT_THAT(theirs_->tasks(id_of(1)), IsEmpty());
    EXPECT_EQ(theirs_->tasks(id_of(2)).at(0).lease_owner, "w1");
    EXPECT_EQ(theirs_->tasks(id_of(3)).at(0).handler, "ship");
    EXPECT_EQ(folded(), 0);
    // Nor does the first process know any more what is so.
    EXPECT_EQ(
        commit_one(
            *ours_,
            {.instance = 2,
             .revision = 2,
             .status = InstanceStatus::Completed,
             .history = two_events(3)}
        ),
        CommitResult::Committed
    );
    EXPECT_THAT(ours_->tasks(id_of(2)), IsEmpty());
    EXPECT_EQ(commit_one(*ours_, {.tasks = {put(1, "ship")}}), CommitResult::Conflict);
    EXPECT_EQ(task_rows(), 1);
}

TEST_F(PostgresFolded, leaves_no_row_behind_when_its_instance_ends_at_that_moment) {
    EXPECT_EQ(
        commit_while_it_is_unfolded({.status = InstanceStatus::Completed, .history = two_events(2)}
        ),
        CommitResult::Committed
    );
    EXPECT_EQ(task_rows(), 0);
    EXPECT_EQ(ours_->load(id_of(1))->status, InstanceStatus::Completed);
}

TEST_F(PostgresFolded, keeps_the_change_when_its_worker_continues_at_that_moment) {
    EXPECT_EQ(
        commit_while_it_is_unfolded({.history = {event_of(2, HistoryType::StepCompleted)}}),
        CommitResult::Committed
    );
    ASSERT_THAT(ours_->tasks(id_of(1)), SizeIs(1));
    EXPECT_TRUE(ours_->tasks(id_of(1))[0].is_stop);
    EXPECT_EQ(folded(), 2);
}

TEST_F(PostgresFolded, is_replaced_when_it_is_put_again_at_that_moment) {
    EXPECT_EQ(commit_while_it_is_unfolded({.tasks = {put(1, "ship")}}), CommitResult::Committed);
    ASSERT_THAT(ours_->tasks(id_of(1)), SizeIs(1));
    EXPECT_EQ(ours_->tasks(id_of(1))[0].handler, "ship");
    EXPECT_FALSE(ours_->tasks(id_of(1))[0].is_stop);
}

class FoldedTasksRules : public ::testing::Test {
 protected:
    FoldedTasksRules() {
        const std::vector<NewInstance> instances{started(1), started(2)};
        folded_.note_started(instances);
    }

    Fold fold_of(const Change& change) {
        const Commit commit = change.view();
        return folded_.folds_of({&commit, 1}).at(0);
    }

    FoldedTasks folded_;
};

TEST_F(FoldedTasksRules, say_what_happens_to_it) {
    EXPECT_EQ(fold_of({}), Fold::Stays);
    EXPECT_EQ(fold_of({.tasks = {put(2, "ship")}}), Fold::Stays);
    EXPECT_EQ(fold_of({.tasks = {put(1, "ship")}}), Fold::Ends);
    EXPECT_EQ(fold_of({.tasks = {change_of(Kind::Remove, 1)}}), Fold::Ends);
    EXPECT_EQ(fold_of({.status = InstanceStatus::Failed}), Fold::Ends);
    for (const Kind kind : {Kind::Stop, Kind::Park, Kind::Unpark}) {
        EXPECT_EQ(fold_of({.tasks = {change_of(kind, 1)}}), Fold::Unfold);
    }
    EXPECT_EQ(fold_of({.instance = 3}), Fold::None);
    EXPECT_EQ(fold_of({.instance = 3, .status = InstanceStatus::Failed}), Fold::None);
}

TEST_F(FoldedTasksRules, forget_what_has_ended) {
    const Change end{.status = InstanceStatus::Completed};
    const Commit commit = end.view();
    folded_.forget_ended({&commit, 1}, folded_.folds_of({&commit, 1}));
    EXPECT_EQ(fold_of({}), Fold::None);
    EXPECT_EQ(fold_of({.instance = 2}), Fold::Stays);
}

TEST_F(FoldedTasksRules, forget_what_a_worker_does_not_hold_any_more) {
    const std::uint64_t look = folded_.begin_look();
    const NewInstance later = started(3);
    folded_.note_started({&later, 1});
    const std::vector<HeldTask> held{{.task = {id_of(2), 1}}};
    folded_.end_look("w2", look, {});
    EXPECT_EQ(fold_of({}), Fold::Stays);
    folded_.end_look("w1", look, held);
    EXPECT_EQ(fold_of({}), Fold::None);
    EXPECT_EQ(fold_of({.instance = 2}), Fold::Stays);
    EXPECT_EQ(fold_of({.instance = 3}), Fold::Stays);  // started since the look began
    folded_.remove("w1");
    EXPECT_EQ(fold_of({.instance = 2}), Fold::None);
}

}  // namespace
}  // namespace ebb::testing
