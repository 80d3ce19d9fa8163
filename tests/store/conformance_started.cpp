// Goal: a task that its worker holds since the start is one like any other, whatever a store makes
// of that. Method: all that can happen to it, from inside and from outside.

#include "store/conformance.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = TaskChange::Kind;

TEST_P(StoreStarted, is_seen_as_held) {
    const std::optional<TaskRow> row = task(1, 1);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->lease_owner, "w1");
    EXPECT_EQ(row->handler, "pay");
    EXPECT_EQ(row->queue, "till");
    EXPECT_EQ(row->due, kStart);
    EXPECT_FALSE(row->is_stop || row->was_lost || row->is_parked || row->has_slot);
    EXPECT_THAT(held_by("w1"), ElementsAre(1, 2, 3, 4));
    EXPECT_TRUE(store().heartbeat(worker_of("w1"), kLease).held.at(0).may_have_been_called);
    EXPECT_THAT(held_by("w2"), IsEmpty());
    EXPECT_THAT(claimed_by("w2"), IsEmpty());
    ASSERT_THAT(store().queues({.name = "till"}), SizeIs(1));
    EXPECT_EQ(store().queues({.name = "till"})[0].view.running, 4);
}

TEST_P(StoreStarted, stays_with_its_worker_over_steps_and_is_gone_at_the_end) {
    const std::vector<HistoryEvent> step{event_of(2, HistoryType::StepCompleted)};
    EXPECT_EQ(
        commit_one(store(), {.state = "next", .history = step, .lease_owner = "w1"}),
        CommitResult::Committed
    );
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    const std::vector<HistoryEvent> end{
        event_of(3, HistoryType::StepCompleted), event_of(4, HistoryType::Completed)
    };
    const Change last{
        .revision = 2, .status = InstanceStatus::Completed, .history = end, .lease_owner = "w1"
    };
    EXPECT_EQ(commit_one(store(), last), CommitResult::Committed);
    EXPECT_EQ(commit_one(store(), last), CommitResult::Conflict);
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
    EXPECT_THAT(held_by("w1"), ElementsAre(2, 3, 4));
}

TEST_P(StoreStarted, is_handed_back_at_its_place) {
    store().release({"w1", kStart}, std::vector{first(1), first(2), first(3)});
    EXPECT_THAT(claimed_by("w2"), ElementsAre(2, 1, 3));
    EXPECT_FALSE(task(1, 1)->was_lost);
    EXPECT_THAT(held_by("w1"), ElementsAre(4));
}

TEST_P(StoreStarted, is_not_handed_back_by_others) {
    store().release({"w2", kStart}, std::vector{first(1)});
    store().abandon({"w2", kStart}, std::vector{first(2)});
    store().postpone({"w2", kStart}, first(3), kStart + std::chrono::seconds(9));
    EXPECT_THAT(held_by("w1"), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(task(3, 1)->due, kStart);
}

TEST_P(StoreStarted, is_abandoned_as_lost_and_postponed) {
    store().abandon({"w1", kStart}, std::vector{first(1)});
    store().postpone({"w1", kStart}, first(2), kStart + std::chrono::seconds(9));
    const std::vector<Claim> claims = claim(store(), "w2", {"pay"}, 10);
    ASSERT_THAT(claims, SizeIs(1));
    EXPECT_TRUE(claims[0].was_lost);
    EXPECT_EQ(claims[0].lost_by, "w1");
    clock_.advance(std::chrono::seconds(9));
    store().maintain();
    EXPECT_THAT(claimed_by("w2"), ElementsAre(2));
}

TEST_P(StoreStarted, is_free_when_its_worker_signs_off) {
    store().sign_off({"w1", kStart});
    EXPECT_THAT(claimed_by("w2"), ElementsAre(2, 1, 3, 4));
}

TEST_P(StoreStarted, is_lost_when_its_worker_dies) {
    clock_.advance(kLease);
    store().heartbeat(worker_of("w2"), kLease);
    const MaintenanceResult result = store().maintain();
    EXPECT_EQ(result.leases_expired, 4);
    EXPECT_THAT(result.workers_expired, ElementsAre("w1"));
    const std::vector<Claim> claims = claim(store(), "w2", {"pay"}, 10);
    ASSERT_THAT(claims, SizeIs(4));
    EXPECT_EQ(claims[0].task.instance, id_of(2));
    EXPECT_TRUE(claims[0].was_lost);
    EXPECT_EQ(claims[0].lost_by, "w1");
    EXPECT_THAT(held_by("w1"), IsEmpty());
}

TEST_P(StoreStarted, may_be_stopped_parked_and_continued_by_others) {
    EXPECT_EQ(commit_one(store(), {.tasks = {change_of(Kind::Stop, 1)}}), CommitResult::Committed);
    commit_one(store(), {.instance = 2, .tasks = {change_of(Kind::Park, 1)}});
    EXPECT_TRUE(task(1, 1)->is_stop);
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    EXPECT_TRUE(task(2, 1)->is_parked);
    EXPECT_EQ(task(2, 1)->lease_owner, "w1");
    store().release({"w1", kStart}, std::vector{first(1), first(2)});
    EXPECT_THAT(claimed_by("w2"), ElementsAre(1));  // what is to stop needs no handler
    commit_one(store(), {.instance = 2, .revision = 2, .tasks = {change_of(Kind::Unpark, 1)}});
    EXPECT_THAT(claimed_by("w2"), ElementsAre(2));
    EXPECT_THAT(store().tasks(id_of(1)), SizeIs(1));
}

TEST_P(StoreStarted, is_replaced_removed_and_joined_by_others) {
    commit_one(store(), {.tasks = {put_continued(1, "ship")}, .lease_owner = "w1"});
    EXPECT_EQ(task(1, 1)->handler, "ship");
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    commit_one(store(), {.instance = 2, .tasks = {put(1, "pay", kStart + std::chrono::hours(1))}});
    EXPECT_EQ(task(2, 1)->lease_owner, "");
    commit_one(store(), {.instance = 3, .tasks = {change_of(Kind::Remove, 1), put(2, "ship")}});
    ASSERT_THAT(store().tasks(id_of(3)), SizeIs(1));
    EXPECT_EQ(store().tasks(id_of(3))[0].task.token, 2);
    commit_one(store(), {.instance = 4, .tasks = {put(2, "ship")}, .lease_owner = "w1"});
    ASSERT_THAT(store().tasks(id_of(4)), SizeIs(2));
    EXPECT_EQ(task(4, 1)->lease_owner, "w1");
    EXPECT_EQ(task(4, 2)->lease_owner, "");
    EXPECT_THAT(held_by("w1"), ElementsAre(1, 4));
}

TEST_P(StoreStarted, may_share_a_batch_with_all_kinds_of_changes) {
    const std::vector<HistoryEvent> step{event_of(2, HistoryType::StepCompleted)};
    const std::vector<Change> changes{
        {.status = InstanceStatus::Completed, .history = step, .lease_owner = "w1"},
        {.instance = 2, .history = step, .tasks = {change_of(Kind::Stop, 1)}},
        {.instance = 3, .history = step, .tasks = {put(1, "ship")}},
        {.instance = 4, .history = step, .lease_owner = "w1"},
    };
    std::vector<Commit> commits;
    for (const Change& change : changes) commits.push_back(change.view());
    EXPECT_THAT(store().commit(commits), ::testing::Each(CommitResult::Committed));
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
    EXPECT_TRUE(task(2, 1)->is_stop);
    EXPECT_EQ(task(3, 1)->handler, "ship");
    EXPECT_EQ(task(3, 1)->lease_owner, "");
    EXPECT_EQ(task(4, 1)->lease_owner, "w1");
}

TEST_P(StoreStarted, is_not_touched_by_a_worker_that_lost_a_race) {
    commit_one(store(), {.state = "won", .lease_owner = "w1"});
    for (const Kind kind : {Kind::Stop, Kind::Park, Kind::Remove}) {
        EXPECT_EQ(commit_one(store(), {.tasks = {change_of(kind, 1)}}), CommitResult::Conflict);
    }
    EXPECT_EQ(commit_one(store(), {.tasks = {put(1, "ship")}}), CommitResult::Conflict);
    EXPECT_EQ(task(1, 1)->handler, "pay");
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    EXPECT_FALSE(task(1, 1)->is_stop || task(1, 1)->is_parked);
}

}  // namespace
}  // namespace ebb::testing
