// Goal: what queues with limits promise: never too many tasks of a queue, of a key or in a period,
// and a task that must wait does not block the tasks behind it. Method: every case runs against
// every store.

#include <algorithm>
#include <atomic>
#include <barrier>
#include <map>
#include <set>
#include <thread>

#include <ebb/error.h>

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

TEST_P(StoreQueues, hold_no_more_tasks_than_their_concurrency_over_all_workers) {
    start_all(1, 5, put_in("a", 1, "pay"));
    limit("a", {.concurrency = 3});
    EXPECT_THAT(take("w1", 2), ElementsAre("1/1", "2/1"));
    EXPECT_THAT(take("w2"), ElementsAre("3/1"));
    EXPECT_THAT(take("w1"), IsEmpty());
    end(2);
    EXPECT_THAT(take("w1"), ElementsAre("4/1"));
    EXPECT_EQ(use_of("a").view.slots, 3);
}

TEST_P(StoreQueues, give_only_tasks_of_the_requested_instance_whatever_waits_before_them) {
    start_all(1, 600, put_in("a", 1, "pay"));
    start_one(store(), instance_of(601, {put_in("a", 1, "pay"), put_in("a", 2, "mail")}));
    start_one(store(), instance_of(602, {put_in("b", 1, "pay")}));
    limit("a", {.concurrency = 2});
    limit("b", {.concurrency = 2});
    EXPECT_THAT(names_of(look_at(601).claims), ElementsAre("601/1"));
    EXPECT_EQ(task(601, 1)->lease_owner, "w1");
    EXPECT_TRUE(task(601, 1)->has_slot);
    EXPECT_THAT(look_at(601).claims, IsEmpty());
    EXPECT_THAT(names_of(look_at(600).claims), ElementsAre("600/1"));
    EXPECT_THAT(look_at(599).claims, IsEmpty()) << "the limits hold for it, too";
    EXPECT_THAT(look_at(700).claims, IsEmpty());
    EXPECT_THAT(names_of(look_at(602).claims), ElementsAre("602/1"));
}

TEST_P(StoreQueues, hold_the_limits_of_keys_and_rates_for_one_instance) {
    std::vector<TaskChange> tasks;
    for (TokenId token = 1; token <= 4; ++token) {
        tasks.push_back(keyed("a", token <= 3 ? "x" : "y"));
        tasks.back().token = token;
    }
    start_one(store(), instance_of(1, tasks));
    start_all(2, 9, keyed("a", "y"));
    limit("a", {.concurrency_per_key = 1});
    EXPECT_THAT(names_of(look_at(1).claims), ElementsAre("1/1", "1/4"));
    EXPECT_THAT(look_at(1).claims, IsEmpty());
    start_all(11, 13, put_in("b", 1, "pay"));
    limit("b", {.rate = QueueRate{1, 1min}});
    EXPECT_THAT(names_of(look_at(13).claims), ElementsAre("13/1"));
    const LimitedClaims none = look_at(12);
    EXPECT_THAT(none.claims, IsEmpty());
    EXPECT_GT(none.next_start, clock_.now());
    EXPECT_LE(none.next_start, clock_.now() + 1min + 1s);
}

TEST_P(StoreQueues, report_the_slot_that_each_claim_holds) {
    start_all(1, 1, put_in("a", 1, "pay"));
    limit("a", {.concurrency = 1});
    const std::vector<Claim> claims = look("w1").claims;
    ASSERT_THAT(claims, SizeIs(1));
    EXPECT_EQ(claims[0].slot, "a");
    EXPECT_EQ(claims[0].handler, "pay");
    EXPECT_EQ(claims[0].input->type, HistoryType::Started);
    EXPECT_EQ(claims[0].instance.id, id_of(1));
    EXPECT_TRUE(task(1, 1)->has_slot);
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
}

TEST_P(StoreQueues, without_limits_are_for_plain_claims) {
    start_all(1, 2, put_in("a", 1, "pay"));
    EXPECT_THAT(take("w1"), IsEmpty());
    limit("a", {.concurrency = 1});
    limit("a", {});
    EXPECT_THAT(take("w1"), IsEmpty());
    const std::vector<Claim> claims = claim(store(), "w1");
    ASSERT_THAT(claims, SizeIs(2));
    EXPECT_EQ(claims[0].slot, "");
    EXPECT_FALSE(task(1, 1)->has_slot);
}

TEST_P(StoreQueues, are_skipped_by_plain_claims_that_name_them_except_for_engine_tasks) {
    start_all(1, 1, put_in("a", 1, "pay"));
    start_all(2, 2, put_in("a", 1, ""));
    start_all(3, 3, put_in("b", 1, "pay"));
    limit("a", {.concurrency = 1});
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    request.limited_queues = {"a"};
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("2/1", "3/1"));
    request.instance = id_of(1);
    EXPECT_THAT(store().claim(request), IsEmpty());
    request.limited_queues = {};
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("1/1"));
}

TEST_P(StoreQueues, give_only_due_tasks_of_the_requested_handlers_and_queues) {
    for (const char* queue : {"a", "b"}) limit(queue, {.concurrency = 10});
    start_all(1, 1, put_in("a", 1, "mail"));
    start_all(2, 2, put_in("b", 1, "pay"));
    start_all(3, 3, put_in("a", 1, ""));
    TaskChange later = put_in("a", 1, "pay");
    later.due = kStart + 1s;
    start_all(4, 4, later);
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay", ""};
    request.queues = {"a", "none"};
    EXPECT_THAT(store().claim_limited(request).claims, IsEmpty());
    clock_.advance(1s);
    EXPECT_THAT(names_of(store().claim_limited(request).claims), ElementsAre("4/1"));
    request.queues = {};
    EXPECT_THAT(store().claim_limited(request).claims, IsEmpty());
    request.queues = {"b"};
    request.limit = 0;
    EXPECT_THAT(store().claim_limited(request).claims, IsEmpty());
}

TEST_P(StoreQueues, give_the_earliest_rank_first_across_queues_handlers_and_keys) {
    limit("a", {.concurrency = 2});
    limit("b", {.concurrency_per_key = 1});
    clock_.set(kStart + 1h);
    const auto start_at = [&](int n, TaskChange task, Duration due) {
        task.due = kStart + due;
        start_one(store(), instance_of(n, {task}));
    };
    start_at(1, put_in("a", 1, "pay"), 9s);
    start_at(2, put_in("a", 1, "ship"), 1s);
    start_at(3, put_in("a", 1, "pay"), 3s);
    start_at(4, keyed("b", "x"), 8s);
    start_at(5, keyed("b", "x"), 2s);
    start_at(6, keyed("b", "y"), 4s);
    start_at(7, keyed("b", ""), 5s);
    EXPECT_THAT(take("w1", 4), ElementsAre("2/1", "5/1", "3/1", "6/1"));
    EXPECT_THAT(take("w1", 4), ElementsAre("7/1"));
}

TEST_P(StoreQueues, limit_each_key_separately_and_no_key_hides_another) {
    limit("a", {.concurrency_per_key = 1});
    for (int n = 1; n <= 3; ++n) start_all(n, n, keyed("a", "x"));
    start_all(4, 5, keyed("a", "y"));
    start_all(6, 7, put_in("a", 1, "pay"));
    EXPECT_THAT(take("w1"), ElementsAre("1/1", "4/1", "6/1", "7/1"));
    EXPECT_THAT(take("w2"), IsEmpty());
    EXPECT_EQ(use_of("a", "x").key_slots, 1);
    EXPECT_EQ(use_of("a", "z").key_slots, 0);
    end(4);
    EXPECT_THAT(take("w2"), ElementsAre("5/1"));
    EXPECT_EQ(task(2, 1)->concurrency_key, "x");
}

TEST_P(StoreQueues, find_the_keys_with_free_slots_behind_thousands_of_others) {
    limit("a", {.concurrency_per_key = 1});
    std::vector<NewInstance> batch;
    int n = 0;
    // 400 keys whose slots are in use, each with tasks ahead of all others.
    for (int key = 0; key < 400; ++key) {
        for (int i = 0; i < 5; ++i) {
            batch.push_back(instance_of(++n, {keyed("a", "k" + std::to_string(1'000 + key))}));
        }
    }
    store().start(batch);
    std::size_t taken = 0;
    for (int round = 0; round < 10; ++round) taken += take("w1").size();
    EXPECT_EQ(taken, 400U);
    clock_.advance(1s);
    start_all(n + 1, n + 1, keyed("a", "z"));
    start_all(n + 2, n + 2, keyed("a", "0"));
    EXPECT_THAT(take("w1"), SizeIs(2));
    EXPECT_THAT(take("w1"), IsEmpty());
}

TEST_P(StoreQueues, eventually_serve_each_of_thousands_of_keys) {
    limit("a", {.concurrency_per_key = 1});
    std::vector<NewInstance> batch;
    for (int n = 1; n <= 1'500; ++n) {
        batch.push_back(instance_of(n, {keyed("a", "k" + std::to_string(10'000 - n))}));
    }
    store().start(batch);
    std::size_t taken = 0;
    for (std::size_t last = 1; last > 0; taken += last) last = take("w1", 100).size();
    EXPECT_EQ(taken, 1'500U);
}

TEST_P(StoreQueues, start_no_more_attempts_than_their_rate_in_any_period) {
    limit("a", {.rate = QueueRate{3, 64s}});
    start_all(1, 9, put_in("a", 1, "pay"));
    EXPECT_THAT(take("w1", 2), ElementsAre("1/1", "2/1"));
    clock_.advance(32s);
    EXPECT_THAT(take("w2"), ElementsAre("3/1"));
    // The end of these attempts does not make room.
    end(1);
    const LimitedClaims none = look("w1");
    EXPECT_THAT(none.claims, IsEmpty());
    // The first two count for one period plus the rest of their slice of it, which is a second.
    EXPECT_GT(none.next_start, kStart + 64s);
    EXPECT_LE(none.next_start, kStart + 65s);
    EXPECT_EQ(use_of("a").view.starts, 3);
    EXPECT_EQ(use_of("a").view.next_start, none.next_start);
    clock_.set(none.next_start - 1us);
    EXPECT_THAT(take("w1"), IsEmpty());
    clock_.set(none.next_start);
    EXPECT_THAT(take("w1"), ElementsAre("4/1", "5/1"));
    EXPECT_THAT(take("w1"), IsEmpty());
}

TEST_P(StoreQueues, never_exceed_their_rate_in_a_window_that_slides) {
    constexpr int kStarts = 5;
    const Duration period = 10s;
    limit("a", {.rate = QueueRate{kStarts, period}});
    start_all(1, 200, put_in("a", 1, "pay"));
    std::vector<TimePoint> starts;
    for (int i = 0; i < 400 && starts.size() < 100; ++i) {
        const std::size_t taken = take("w1", 1 + i % 3).size();
        starts.insert(starts.end(), taken, clock_.now());
        clock_.advance(137ms * (1 + i % 7));
    }
    ASSERT_GE(starts.size(), 80U);
    for (std::size_t i = kStarts; i < starts.size(); ++i) {
        EXPECT_GE(starts[i] - starts[i - kStarts], period) << i;
    }
}

TEST_P(StoreQueues, do_not_report_a_rate_that_no_task_waits_for) {
    limit("a", {.rate = QueueRate{1, 10s}});
    start_all(1, 1, put_in("a", 1, "pay"));
    EXPECT_EQ(look("w1").next_start, kNever);
    EXPECT_EQ(look("w1").next_start, kNever);
    start_all(2, 2, put_in("a", 1, "mail"));
    EXPECT_EQ(look("w1").next_start, kNever);
    start_all(3, 3, put_in("a", 1, "pay"));
    EXPECT_NE(look("w1").next_start, kNever);
}

TEST_P(StoreQueues, take_nothing_away_when_a_limit_is_lowered_and_give_when_it_is_raised) {
    start_all(1, 9, put_in("a", 1, "pay"));
    limit("a", {.concurrency = 4});
    EXPECT_THAT(take("w1"), SizeIs(4));
    limit("a", {.concurrency = 2});
    EXPECT_THAT(store().heartbeat(worker_of("w1"), kLease).held, SizeIs(4));
    end(1);
    end(2);
    EXPECT_THAT(take("w1"), IsEmpty());
    end(3);
    EXPECT_THAT(take("w1"), SizeIs(1));
    limit("a", {.concurrency = 5});
    EXPECT_THAT(take("w2"), SizeIs(3));
}

TEST_P(StoreQueues, start_nothing_at_a_concurrency_of_zero) {
    limit("a", {.concurrency = 0});
    start_all(1, 2, put_in("a", 1, "pay"));
    EXPECT_THAT(take("w1"), IsEmpty());
    limit("a", {.concurrency = 1});
    EXPECT_THAT(take("w1"), SizeIs(1));
}

TEST_P(StoreQueues, free_the_slot_however_the_lease_ends) {
    limit("a", {.concurrency = 1});
    start_all(1, 1, put_in("a", 1, "pay"));
    const TaskRef ref{id_of(1), 1};
    EXPECT_THAT(take("w1"), SizeIs(1));
    store().release({"w1", kStart}, {&ref, 1});
    EXPECT_EQ(use_of("a").view.slots, 0);
    EXPECT_THAT(take("w1"), SizeIs(1));
    store().sign_off({"w1", kStart});
    EXPECT_THAT(take("w2"), SizeIs(1));
    // A retry that waits for its time holds no slot.
    TaskChange retry = put_in("a", 1, "pay");
    retry.due = kStart + 5s;
    commit_one(store(), {.tasks = {retry}});
    EXPECT_EQ(use_of("a").view.slots, 0);
    EXPECT_EQ(use_of("a").view.sleeping, 1);
    clock_.advance(5s);
    EXPECT_THAT(take("w2"), SizeIs(1));
    // Its worker dies.
    store().heartbeat(worker_of("w2"), 1s);
    clock_.advance(1s);
    EXPECT_EQ(store().maintain().leases_expired, 1);
    store().heartbeat(worker_of("w1"), kLease);
    const std::vector<Claim> claims = look("w1").claims;
    ASSERT_THAT(claims, SizeIs(1));
    EXPECT_EQ(claims[0].lost_by, "w2");
    EXPECT_TRUE(claims[0].was_lost);
}

TEST_P(StoreQueues, free_the_slot_when_the_lease_is_kept_for_another_step) {
    limit("a", {.concurrency = 1});
    start_all(1, 2, put_in("a", 1, "pay"));
    EXPECT_THAT(take("w1"), ElementsAre("1/1"));
    commit_one(store(), {.tasks = {put_continued(1, "ship")}, .lease_owner = "w1"});
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
    EXPECT_FALSE(task(1, 1)->has_slot);
    EXPECT_THAT(take("w1"), ElementsAre("2/1"));
}

TEST_P(StoreQueues, keep_the_slot_of_a_held_task_that_is_parked_or_stopped) {
    limit("a", {.concurrency = 1});
    start_all(1, 2, put_in("a", 1, "pay"));
    EXPECT_THAT(take("w1"), ElementsAre("1/1"));
    commit_one(store(), {.tasks = {change_of(TaskChange::Kind::Park, 1)}});
    EXPECT_THAT(take("w1"), IsEmpty());
    commit_one(store(), {.revision = 2, .tasks = {change_of(TaskChange::Kind::Stop, 1)}});
    EXPECT_THAT(take("w1"), IsEmpty());
    // No worker calls its handler anymore. The engine does the rest.
    const TaskRef ref{id_of(1), 1};
    store().release({"w1", kStart}, {&ref, 1});
    EXPECT_THAT(take("w1"), ElementsAre("2/1"));
    EXPECT_THAT(names_of(claim(store(), "w2", {}, 8)), ElementsAre("1/1"));
    EXPECT_EQ(use_of("a").view.slots, 1);
}

TEST_P(StoreQueues, forget_the_key_of_a_task_that_is_put_without_one) {
    limit("a", {.concurrency_per_key = 1});
    start_all(1, 2, keyed("a", "x"));
    commit_one(store(), {.instance = 2, .tasks = {put_in("a", 1, "pay")}});
    EXPECT_EQ(task(2, 1)->concurrency_key, "");
    EXPECT_THAT(take("w1"), SizeIs(2));
    commit_one(
        store(), {.instance = 2, .revision = 2, .tasks = {keyed("a", "x"), keyed("a", "y", 2)}}
    );
    EXPECT_EQ(task(2, 1)->concurrency_key, "x");
    EXPECT_EQ(task(2, 2)->concurrency_key, "y");
    EXPECT_THAT(take("w1"), ElementsAre("2/2"));
}

TEST_P(StoreQueues, keep_the_keys_of_tasks_whose_commit_does_other_things_too) {
    limit("a", {.concurrency_per_key = 1});
    start_one(store(), instance_of(1, {keyed("a", "x"), keyed("b", "z", 2), put(3, "pay")}));
    commit_one(
        store(),
        {.tasks =
             {keyed("a", "y"),
              change_of(TaskChange::Kind::Remove, 2),
              change_of(TaskChange::Kind::Park, 3)}}
    );
    EXPECT_EQ(task(1, 1)->concurrency_key, "y");
    EXPECT_FALSE(task(1, 2));
    EXPECT_TRUE(task(1, 3)->is_parked);
    // A commit that loses does not change a key.
    EXPECT_EQ(commit_one(store(), {.tasks = {keyed("a", "lost")}}), CommitResult::Conflict);
    EXPECT_EQ(task(1, 1)->concurrency_key, "y");
}

TEST_P(StoreQueues, keep_the_keys_of_instances_that_are_started_with_a_key_of_their_own) {
    NewInstance first = instance_of(1, {keyed("a", "x")});
    first.row.key = "order-1";
    NewInstance second = instance_of(2, {keyed("a", "y")});
    second.row.key = "order-1";
    start_one(store(), first);
    EXPECT_EQ(start_one(store(), second).kind, StartResult::Kind::Existing);
    EXPECT_EQ(task(1, 1)->concurrency_key, "x");
    commit_one(store(), {.tasks = {keyed("a", "later")}});
    // A repeated start does not change anything.
    start_one(store(), first);
    start_one(store(), instance_of(1, {keyed("a", "x")}));
    EXPECT_EQ(task(1, 1)->concurrency_key, "later");
}

TEST_P(StoreQueues, with_limits_are_named_by_every_heartbeat) {
    EXPECT_THAT(store().heartbeat(worker_of("w1"), kLease).limited_queues, IsEmpty());
    limit("b", {.concurrency = 1});
    limit("a.x-y_1", {.rate = QueueRate{1, 1s}});
    EXPECT_THAT(
        store().heartbeat(worker_of("w1"), kLease).limited_queues, ElementsAre("a.x-y_1", "b")
    );
    limit("b", {});
    EXPECT_THAT(store().heartbeat(worker_of("new"), kLease).limited_queues, ElementsAre("a.x-y_1"));
}

TEST_P(StoreQueues, are_listed_with_their_limits_and_task_counts) {
    EXPECT_THAT(store().queues({}), IsEmpty());
    const QueueLimits limits{
        .concurrency = 2, .concurrency_per_key = 1, .rate = QueueRate{100, 1min}
    };
    limit("a", limits);
    start_all(1, 1, keyed("a", "x"));
    start_all(2, 2, put_in("a", 1, "pay"));
    EXPECT_THAT(take("w1"), SizeIs(2));
    start_all(3, 5, put_in("a", 1, "pay"));
    TaskChange later = put_in("a", 1, "pay");
    later.due = kStart + 1h;
    start_all(6, 6, later);
    start_all(7, 7, put_in("free", 1, "pay"));
    start_all(8, 8, put_in("free", 1, ""));
    const std::vector<QueueUse> uses = store().queues({.concurrency_key = "x"});
    ASSERT_THAT(uses, SizeIs(2));
    const QueueUse expected{
        .view =
            {.name = "a",
             .limits = limits,
             .updated_at = kStart,
             .running = 2,
             .waiting = 3,
             .sleeping = 1,
             .slots = 2,
             .starts = 2},
        .key_slots = 1
    };
    EXPECT_EQ(uses[0], expected);
    EXPECT_EQ(uses[1], (QueueUse{.view = {.name = "free", .waiting = 1}}));
    EXPECT_THAT(store().queues({.name = "a"}), SizeIs(1));
    EXPECT_THAT(store().queues({.name = "free", .counts_tasks = false}), IsEmpty());
    EXPECT_EQ(store().queues({.name = "a", .counts_tasks = false}).at(0).view.slots, 2);
}

TEST_P(StoreQueues, can_have_limits_up_to_a_number_of_queues) {
    for (int n = 0; n < QueueLimits::kQueuesMax; ++n) {
        limit("q" + std::to_string(n), {.concurrency = 1});
    }
    EXPECT_THROW(limit("one_more", {.concurrency = 1}), Error);
    limit("q7", {.concurrency = 2});
    limit("q8", {});
    limit("one_more", {.concurrency = 1});
    EXPECT_THAT(
        store().heartbeat(worker_of("w1"), kLease).limited_queues, SizeIs(QueueLimits::kQueuesMax)
    );
}

TEST_P(StoreQueues, hold_their_limits_when_several_workers_claim_at_once) {
    constexpr int kThreads = 4;
    limit("a", {.concurrency = 3});
    limit("b", {.concurrency_per_key = 2});
    limit("c", {.rate = QueueRate{7, 1h}});
    start_all(1, 40, put_in("a", 1, "pay"));
    start_all(41, 80, keyed("b", "x"));
    start_all(81, 120, put_in("c", 1, "pay"));
    std::barrier start(kThreads);
    std::mutex mutex;
    std::map<std::string, int> taken;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                const std::string worker = "t" + std::to_string(i);
                store().heartbeat(worker_of(worker), kLease);
                start.arrive_and_wait();
                for (int round = 0; round < 6; ++round) {
                    for (const Claim& claim : look(worker, 2).claims) {
                        const std::lock_guard lock(mutex);
                        ++taken[claim.slot];
                    }
                }
            });
        }
    }
    EXPECT_EQ(taken, (std::map<std::string, int>{{"a", 3}, {"b", 2}, {"c", 7}}));
}

TEST_P(StoreRepeat, claim_limited_after_which_the_heartbeat_names_what_was_claimed) {
    store().set_queue({.name = "a", .limits = {.concurrency = 2}, .updated_at = kStart});
    for (int n = 1; n <= 3; ++n) start_one(store(), instance_of(n, {put_in("a", 1, "pay")}));
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    request.queues = {"a"};
    LimitedClaims again;
    lose_and_repeat(StoreVerb::ClaimLimited, [&](Store& store) {
        again = store.claim_limited(request);
    });
    EXPECT_THAT(again.claims, IsEmpty());
    EXPECT_THAT(store().heartbeat(worker_of("w1"), kLease).held, SizeIs(2));
    lose_and_repeat(StoreVerb::SetQueue, [&](Store& store) {
        store.set_queue({.name = "b", .limits = {.concurrency = 2}, .updated_at = kStart});
    });
}

}  // namespace
}  // namespace ebb::testing
