// Goal: a commit happens completely or not at all, only on the expected revision, and does to tasks
// what TaskChange says. Method: every case runs against every store.

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;
using Kind = TaskChange::Kind;

TEST_P(StoreConformance, writes_state_history_and_tasks_together) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    const Change change{
        .state = "next",
        .history = {event_of(2, HistoryType::StepCompleted, "{}")},
        .tasks = {put(1, "ship"), put(2, "mail")},
        .now = kStart + 5s,
    };
    EXPECT_EQ(commit_one(store(), change), CommitResult::Committed);
    const InstanceRow row = *store().load(id_of(1));
    EXPECT_EQ(row.revision, 2);
    EXPECT_EQ(row.state, "next");
    EXPECT_EQ(row.updated_at, kStart + 5s);
    EXPECT_EQ(row.created_at, kStart);
    EXPECT_EQ(row.finished_at, TimePoint{});
    EXPECT_EQ(history_of(1).size(), 2U);
    EXPECT_EQ(task(1, 1)->handler, "ship");
    EXPECT_EQ(task(1, 2)->handler, "mail");
}

TEST_P(StoreConformance, keeps_every_field_of_an_event) {
    HistoryEvent event = event_of(2, HistoryType::StepFailed, R"({"code":"error"})");
    event.node = "pay";
    event.path = "2:a/5:b";
    event.token = 3;
    event.visit = 9;
    event.attempt = 2;
    event.ref = 1;
    event.worker = "w1";
    event.started_at = kStart + 1us;
    event.at = kStart + 2us;
    const HistoryEvent bare = event_of(3, HistoryType::Paused);
    start_one(store(), instance_of(1));
    commit_one(store(), {.history = {event, bare}});
    EXPECT_THAT(history_of(1), ElementsAre(::testing::_, event, bare));
}

TEST_P(StoreConformance, refuses_a_commit_on_a_stale_revision_completely) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    commit_one(store(), {.state = "winner"});
    const std::string before = describe(store(), 1);
    const Change loser{
        .status = InstanceStatus::Completed,
        .state = "loser",
        .history = {event_of(2, HistoryType::Completed)},
        .tasks = {change_of(Kind::Remove, 1), put(2, "pay")},
    };
    EXPECT_EQ(commit_one(store(), loser), CommitResult::Conflict);
    EXPECT_EQ(commit_one(store(), {.revision = 3}), CommitResult::Conflict);
    EXPECT_EQ(describe(store(), 1), before);
}

TEST_P(StoreConformance, says_that_an_instance_does_not_exist) {
    EXPECT_EQ(commit_one(store(), {.instance = 9}), CommitResult::NotFound);
    EXPECT_EQ(store().load(id_of(9)), std::nullopt);
}

TEST_P(StoreConformance, commits_a_batch_around_a_conflict_inside) {
    for (int n = 1; n <= 3; ++n) start_one(store(), instance_of(n));
    const Change a{.instance = 1, .history = {event_of(2, HistoryType::Paused)}};
    const Change conflict{
        .instance = 2, .revision = 7, .history = {event_of(2, HistoryType::Paused)}
    };
    const Change missing{.instance = 4, .tasks = {put(1, "pay")}};
    const Change b{.instance = 3, .tasks = {put(1, "pay")}};
    const std::vector<Commit> batch{a.view(), conflict.view(), missing.view(), b.view()};
    EXPECT_THAT(
        store().commit(batch),
        ElementsAre(
            CommitResult::Committed,
            CommitResult::Conflict,
            CommitResult::NotFound,
            CommitResult::Committed
        )
    );
    EXPECT_EQ(store().load(id_of(1))->revision, 2);
    EXPECT_EQ(store().load(id_of(2))->revision, 1);
    EXPECT_EQ(history_of(1).size(), 2U);
    EXPECT_EQ(history_of(2).size(), 1U);
    EXPECT_THAT(store().tasks(id_of(4)), IsEmpty());
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("3/1"));
    EXPECT_THAT(store().commit({}), IsEmpty());
}

TEST_P(StoreConformance, changes_the_status_and_back) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    commit_one(store(), {.status = InstanceStatus::Paused});
    EXPECT_EQ(store().load(id_of(1))->status, InstanceStatus::Paused);
    commit_one(store(), {.revision = 2, .status = InstanceStatus::Running});
    EXPECT_EQ(store().load(id_of(1))->status, InstanceStatus::Running);
    EXPECT_EQ(store().tasks(id_of(1)).size(), 1U);
}

TEST_P(StoreConformance, removes_all_tasks_of_an_instance_that_is_over) {
    const std::vector<InstanceStatus> terminal{
        InstanceStatus::Completed,
        InstanceStatus::Failed,
        InstanceStatus::Cancelled,
        InstanceStatus::Aborted,
    };
    int n = 0;
    for (const InstanceStatus status : terminal) {
        ++n;
        start_one(store(), instance_of(n, {put(0, "", kStart + 1h), put(1, "pay"), put(2, "pay")}));
        claim(store(), "w1", {"pay"}, 1);
        const Change change{
            .instance = n, .status = status, .tasks = {put(3, "pay")}, .now = kStart + 2s
        };
        EXPECT_EQ(commit_one(store(), change), CommitResult::Committed);
        EXPECT_THAT(store().tasks(id_of(n)), IsEmpty());
        EXPECT_EQ(store().load(id_of(n))->finished_at, kStart + 2s);
    }
    EXPECT_THAT(store().heartbeat(worker_of("w1"), kLease).held, IsEmpty());
    EXPECT_THAT(claim(store(), "w1"), IsEmpty());
    EXPECT_EQ(store().maintain().next_due, kNever);
}

TEST_P(StoreConformance, put_replaces_a_task_and_ends_its_lease) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.tasks = {put(1, "ship")}});
    EXPECT_EQ(task(1, 1)->lease_owner, "");
    EXPECT_THAT(claim(store(), "w2", {"pay"}), IsEmpty());
    EXPECT_THAT(names_of(claim(store(), "w2", {"ship"})), ElementsAre("1/1"));
}

TEST_P(StoreConformance, put_keeps_the_lease_of_a_step_that_continues) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.tasks = {put_continued(1, "ship"), put(2, "ship")}, .lease_owner = "w1"});
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    EXPECT_EQ(task(1, 2)->lease_owner, "");
    // Without an owner no lease is kept.
    commit_one(store(), {.revision = 2, .tasks = {put_continued(1, "mail")}});
    EXPECT_EQ(task(1, 1)->lease_owner, "");
}

TEST_P(StoreConformance, a_commit_without_task_changes_leaves_the_lease_alone) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.state = "hop", .lease_owner = "w1"});
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    EXPECT_EQ(task(1, 1)->handler, "pay");
}

TEST_P(StoreConformance, parks_a_task_until_it_is_unparked) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "pay", kStart + 1min)}));
    commit_one(store(), {.tasks = {change_of(Kind::Park, 1), change_of(Kind::Park, 2)}});
    EXPECT_TRUE(task(1, 1)->is_parked);
    EXPECT_THAT(claim(store(), "w1"), IsEmpty());
    EXPECT_EQ(store().maintain().next_due, kNever);
    EXPECT_THAT(store().unserved(), IsEmpty());

    commit_one(
        store(), {.revision = 2, .tasks = {change_of(Kind::Unpark, 1), change_of(Kind::Unpark, 2)}}
    );
    EXPECT_FALSE(task(1, 1)->is_parked);
    EXPECT_EQ(store().maintain().next_due, kStart + 1min);
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("1/1"));
    clock_.advance(1min);
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("1/2"));
}

TEST_P(StoreConformance, finds_a_task_that_became_due_while_it_was_parked) {
    start_one(store(), instance_of(1, {put(1, "pay", kStart + 1s)}));
    commit_one(store(), {.tasks = {change_of(Kind::Park, 1)}});
    clock_.advance(1h);
    EXPECT_THAT(claim(store(), "w1"), IsEmpty());
    commit_one(store(), {.revision = 2, .tasks = {change_of(Kind::Unpark, 1)}});
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("1/1"));
}

TEST_P(StoreConformance, parking_leaves_a_lease_with_its_worker) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.tasks = {change_of(Kind::Park, 1)}});
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    const TaskRef ref{id_of(1), 1};
    store().release({"w1", kStart}, {&ref, 1});
    EXPECT_THAT(claim(store(), "w2"), IsEmpty());
    commit_one(store(), {.revision = 2, .tasks = {change_of(Kind::Unpark, 1)}});
    EXPECT_THAT(names_of(claim(store(), "w2")), ElementsAre("1/1"));
}

TEST_P(StoreConformance, put_ends_a_park) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    commit_one(store(), {.tasks = {change_of(Kind::Park, 1)}});
    commit_one(store(), {.revision = 2, .tasks = {put(1, "pay")}});
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("1/1"));
}

TEST_P(StoreConformance, any_worker_may_claim_a_stopped_task_immediately) {
    start_one(store(), instance_of(1, {put(1, "unserved", kStart + 1h), put(2, "unserved")}));
    commit_one(store(), {.tasks = {change_of(Kind::Park, 2)}});
    const Change stop{.revision = 2, .tasks = {change_of(Kind::Stop, 1), change_of(Kind::Stop, 2)}};
    commit_one(store(), stop);
    EXPECT_TRUE(task(1, 1)->is_stop);
    EXPECT_EQ(task(1, 1)->handler, "");
    EXPECT_EQ(task(1, 1)->due, kStart);
    EXPECT_FALSE(task(1, 2)->is_parked);

    ClaimRequest request;
    request.worker = "w1";
    request.queues = {"another"};
    const std::vector<Claim> claims = store().claim(request);
    EXPECT_THAT(names_of(claims), ElementsAre("1/1", "1/2"));
    EXPECT_TRUE(claims.at(0).is_stop);
}

TEST_P(StoreConformance, a_stop_waits_for_the_worker_that_runs_the_task) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    claim(store(), "w1");
    commit_one(store(), {.tasks = {change_of(Kind::Stop, 1)}});
    EXPECT_THAT(claim(store(), "w2"), IsEmpty());
    EXPECT_THAT(
        store().heartbeat(worker_of("w1"), kLease).held, ElementsAre(HeldTask{{id_of(1), 1}, true})
    );
    const TaskRef ref{id_of(1), 1};
    store().release({"w1", kStart}, {&ref, 1});
    EXPECT_THAT(names_of(claim(store(), "w2", {})), ElementsAre("1/1"));
}

TEST_P(StoreConformance, put_ends_a_stop) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    commit_one(store(), {.tasks = {change_of(Kind::Stop, 1)}});
    commit_one(store(), {.revision = 2, .tasks = {put(1, "pay")}});
    EXPECT_FALSE(task(1, 1)->is_stop);
    EXPECT_THAT(claim(store(), "w1", {}), IsEmpty());
    EXPECT_FALSE(claim(store(), "w1").at(0).is_stop);
}

TEST_P(StoreConformance, changes_of_tasks_that_do_not_exist_do_nothing) {
    start_one(store(), instance_of(1));
    const Change change{
        .tasks =
            {
                change_of(Kind::Remove, 1),
                change_of(Kind::Park, 2),
                change_of(Kind::Unpark, 3),
                change_of(Kind::Stop, 4),
            }
    };
    EXPECT_EQ(commit_one(store(), change), CommitResult::Committed);
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
}

}  // namespace
}  // namespace ebb::testing
