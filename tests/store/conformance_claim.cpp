// Goal: a claim gets what is due, in the right order, and nothing else.
// Method: every case runs against every store.

#include <set>

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

TEST_P(StoreConformance, a_claim_brings_the_task_and_its_instance) {
    NewInstance instance = instance_of(1, {put(1, "pay")});
    instance.row.key = "k";
    instance.row.state = "the state";
    start_one(store(), instance);
    const std::vector<Claim> claims = claim(store(), "w1");
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_EQ(claims[0].handler, "pay");
    EXPECT_FALSE(claims[0].is_stop);
    EXPECT_FALSE(claims[0].was_lost);
    EXPECT_EQ(claims[0].instance, instance.row);
    EXPECT_EQ(task(1, 1)->lease_owner, "w1");
}

TEST_P(StoreConformance, a_claim_brings_the_first_event_while_nothing_else_has_happened) {
    NewInstance instance = instance_of(1, {put(1, "pay"), put(2, "ship"), put(3, "mail")});
    instance.history[0].worker = "client";
    instance.history.push_back(event_of(2, HistoryType::StepRetried));
    start_one(store(), instance);
    const std::vector<Claim> any = claim(store(), "w1", {"pay"});
    ASSERT_EQ(any.size(), 1U);
    EXPECT_EQ(any[0].input, instance.history[0]);
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"ship"};
    request.instance = id_of(1);
    const std::vector<Claim> own = store().claim(request);
    ASSERT_EQ(own.size(), 1U);
    EXPECT_EQ(own[0].input, instance.history[0]);
    // Later it may be another event that the task is about, so none comes.
    commit_one(store(), {.history = {event_of(3, HistoryType::StepCompleted)}});
    const std::vector<Claim> later = claim(store(), "w1", {"mail"});
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later[0].input, std::nullopt);
}

TEST_P(StoreConformance, a_claim_brings_the_attributes_that_were_written_with_the_start) {
    NewInstance instance = instance_of(1, {put(1, "pay")});
    instance.history.push_back(event_of(2, HistoryType::AttributesWritten));
    instance.history.push_back(event_of(3, HistoryType::AttributesWritten));
    start_one(store(), instance);
    const std::vector<Claim> claims = claim(store(), "w1", {"pay"});
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_EQ(claims[0].input, instance.history[1]);
}

TEST_P(StoreConformance, gives_a_task_to_one_worker_only) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    EXPECT_EQ(claim(store(), "w1").size(), 1U);
    EXPECT_THAT(claim(store(), "w2"), IsEmpty());
    EXPECT_THAT(claim(store(), "w1"), IsEmpty());
}

TEST_P(StoreConformance, gives_only_tasks_of_the_handlers_that_were_asked_for) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "ship"), put(3, "pay2"), put(4, "")}));
    EXPECT_THAT(
        names_of(claim(store(), "w1", {"pay", "mail"})), UnorderedElementsAre("1/1", "1/4")
    );
    EXPECT_THAT(names_of(claim(store(), "w1", {"ship", "ship"})), ElementsAre("1/2"));
}

TEST_P(StoreConformance, gives_only_tasks_of_the_queues_that_were_asked_for) {
    start_one(
        store(),
        instance_of(1, {put_in("gpu", 1, "pay"), put_in("cpu", 2, "pay"), put_in("", 3, "pay")})
    );
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    request.queues = {"gpu", "none"};
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("1/1"));
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("1/2", "1/3"));
}

TEST_P(StoreConformance, gives_engine_tasks_of_any_queue_to_any_worker) {
    start_one(store(), instance_of(1, {put_in("gpu", 1, ""), put_in("cpu", 2, "")}));
    ClaimRequest request;
    request.worker = "w1";
    request.queues = {"another"};
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("1/1", "1/2"));
}

TEST_P(StoreConformance, gives_no_task_before_it_is_due_and_needs_no_maintenance_for_it) {
    start_one(store(), instance_of(1, {put(1, "pay", kStart + 1min)}));
    clock_.advance(1min - 1us);
    EXPECT_THAT(claim(store(), "w1"), IsEmpty());
    clock_.advance(1us);
    EXPECT_EQ(claim(store(), "w1").size(), 1U);
}

TEST_P(StoreConformance, never_gives_a_task_that_is_due_never) {
    NewInstance instance = instance_of(1, {put(1, "pay", kNever), put(2, "pay", TimePoint::min())});
    instance.row.priority = -100;
    start_one(store(), instance);
    EXPECT_EQ(store().maintain().next_due, kNever);
    clock_.advance(24h * 365 * 1000);
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("1/2"));
    EXPECT_EQ(task(1, 1)->due, kNever);
}

TEST_P(StoreConformance, gives_the_task_that_is_due_longest_first) {
    clock_.set(kStart + 1h);
    start_one(store(), instance_of(1, {put(1, "pay", kStart + 2s), put(2, "pay", kStart + 1s)}));
    start_one(store(), instance_of(2, {put(1, "pay", kStart + 3s), put(2, "pay", kStart)}));
    EXPECT_THAT(names_of(claim(store(), "w1", {"pay"}, 3)), ElementsAre("2/2", "1/2", "1/1"));
    EXPECT_THAT(names_of(claim(store(), "w1", {"pay"}, 3)), ElementsAre("2/1"));
}

TEST_P(StoreConformance, breaks_ties_by_instance_and_token) {
    start_one(store(), instance_of(2, {put(2, "pay"), put(1, "pay")}));
    start_one(store(), instance_of(1, {put(11, "pay"), put(9, "pay")}));
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("1/9", "1/11", "2/1", "2/2"));
}

TEST_P(StoreConformance, breaks_ties_alike_across_handlers_and_queues) {
    start_one(store(), instance_of(4, {put(1, "a")}));
    start_one(store(), instance_of(3, {put(1, "b")}));
    start_one(store(), instance_of(2, {put_in("z", 1, "b")}));
    start_one(store(), instance_of(1, {put_in("zz", 1, "b")}));
    EXPECT_THAT(names_of(claim(store(), "w1", {"a", "b"}, 1)), ElementsAre("1/1"));
    EXPECT_THAT(names_of(claim(store(), "w1", {"a", "b"}, 2)), ElementsAre("2/1", "3/1"));
}

TEST_P(StoreConformance, lets_priority_go_first_but_waiting_tasks_catch_up) {
    const auto start_with = [&](int n, int priority, TimePoint due) {
        NewInstance instance = instance_of(n, {put(1, "pay", due)});
        instance.row.priority = priority;
        start_one(store(), instance);
    };
    clock_.set(kStart + 1h);
    start_with(1, 0, kStart);
    start_with(2, 10, kStart);
    start_with(3, 10, kStart + 10 * kHeadStartPerPriority + 1us);
    start_with(4, 10, kStart + 10 * kHeadStartPerPriority - 1us);
    start_with(5, -100, kStart);
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("2/1", "4/1", "1/1", "3/1", "5/1"));
}

TEST_P(StoreConformance, takes_no_more_than_the_limit) {
    for (int n = 1; n <= 5; ++n) start_one(store(), instance_of(n, {put(1, "pay"), put(2, "")}));
    EXPECT_THAT(claim(store(), "w1", {"pay"}, 0), IsEmpty());
    EXPECT_EQ(claim(store(), "w1", {"pay"}, 1).size(), 1U);
    EXPECT_EQ(claim(store(), "w1", {"pay"}, 8).size(), 8U);
    EXPECT_EQ(claim(store(), "w1", {"pay"}, 8).size(), 1U);
}

/// One task, and 100 bytes that come with it when it is claimed.
NewInstance hundred_bytes(int number) {
    NewInstance instance = instance_of(number, {put(1, "pay", TimePoint(number * 1s))});
    instance.row.state = std::string(60, 's');
    instance.history[0].payload = std::string(40, 'i');
    return instance;
}

TEST_P(StoreConformance, takes_no_more_than_the_bytes_and_always_one) {
    for (int number = 1; number <= 6; ++number) start_one(store(), hundred_bytes(number));
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    const auto claimed_within = [&](std::int64_t bytes) {
        request.bytes_max = bytes;
        return names_of(store().claim(request));
    };
    EXPECT_THAT(claimed_within(1), ElementsAre("1/1"));
    EXPECT_THAT(claimed_within(200), ElementsAre("2/1", "3/1"));
    EXPECT_THAT(claimed_within(201), ElementsAre("4/1", "5/1", "6/1"));
    EXPECT_THAT(claimed_within(201), IsEmpty());
}

TEST_P(StoreConformance, counts_the_bytes_of_one_instance_for_each_of_its_tasks) {
    NewInstance instance = instance_of(1, {put(1, "pay"), put(2, "pay"), put(3, "pay")});
    instance.row.state = std::string(60, 's');
    instance.history[0].payload = std::string(40, 'i');
    start_one(store(), instance);
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    request.instance = id_of(1);
    request.bytes_max = 101;
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("1/1", "1/2"));
    request.bytes_max = 1;
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("1/3"));
}

TEST_P(StoreConformance, takes_no_more_stops_than_the_bytes) {
    for (int number = 1; number <= 3; ++number) {
        start_one(store(), hundred_bytes(number));
        commit_one(
            store(),
            {.instance = number,
             .state = std::string(60, 's'),
             .tasks = {change_of(TaskChange::Kind::Stop, 1)}}
        );
    }
    ClaimRequest request;
    request.worker = "w1";
    request.stops_only = true;
    request.bytes_max = 61;
    EXPECT_EQ(store().claim(request).size(), 2U);
    request.bytes_max = 1;
    EXPECT_EQ(store().claim(request).size(), 1U);
}

TEST_P(StoreConformance, is_fair_to_all_handlers_and_queues) {
    clock_.set(kStart + 1h);
    const std::vector<std::string> handlers{"a", "b", "c"};
    const std::vector<std::string> queues{"q1", "q2"};
    int n = 0;
    std::vector<std::string> expected;
    for (int round = 0; round < 4; ++round) {
        for (const std::string& queue : queues) {
            for (const std::string& handler : handlers) {
                TaskChange change = put_in(queue, 1, handler);
                change.due = kStart + std::chrono::seconds(++n);
                start_one(store(), instance_of(n, {change}));
                expected.push_back(std::to_string(n) + "/1");
            }
        }
    }
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"c", "a", "b"};
    request.limit = 7;
    std::vector<std::string> claimed;
    while (true) {
        const std::vector<std::string> names = names_of(store().claim(request));
        if (names.empty()) break;
        claimed.insert(claimed.end(), names.begin(), names.end());
        if (request.queues.empty()) request.queues = {"q2", "q1"};
    }
    EXPECT_EQ(claimed, expected);
}

TEST_P(StoreConformance, finds_its_tasks_behind_thousands_that_it_cannot_take) {
    std::vector<NewInstance> batch;
    for (int n = 1; n <= 2'000; ++n) {
        batch.push_back(instance_of(n, {put(1, "other"), put(2, "pay", kStart + 1h)}));
    }
    batch.push_back(instance_of(2'001, {put(1, "pay")}));
    store().start(batch);
    EXPECT_THAT(names_of(claim(store(), "w1")), ElementsAre("2001/1"));
}

TEST_P(StoreConformance, claims_of_one_instance_only) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    start_one(store(), instance_of(2, {put(1, "pay"), put(2, "ship"), put(3, "pay", kStart + 1s)}));
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    request.instance = id_of(2);
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("2/1"));
    EXPECT_THAT(store().claim(request), IsEmpty());
    clock_.advance(1s);
    request.queues = {"gpu"};
    EXPECT_THAT(store().claim(request), IsEmpty());
    request.queues = {"default"};
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("2/3"));
}

TEST_P(StoreConformance, claims_stops_only) {
    start_one(store(), instance_of(1, {put(1, "pay"), put(2, "pay"), put(3, "")}));
    start_one(store(), instance_of(2, {put(1, "pay")}));
    commit_one(store(), {.instance = 1, .tasks = {change_of(TaskChange::Kind::Stop, 2)}});
    commit_one(store(), {.instance = 2, .tasks = {change_of(TaskChange::Kind::Stop, 1)}});
    ClaimRequest request;
    request.worker = "w1";
    request.handlers = {"pay"};
    request.stops_only = true;
    request.instance = id_of(1);
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("1/2"));
    request.instance.reset();
    EXPECT_THAT(names_of(store().claim(request)), ElementsAre("2/1"));
    EXPECT_THAT(store().claim(request), IsEmpty());
}

}  // namespace
}  // namespace ebb::testing
