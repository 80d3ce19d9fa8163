// Goal: what has ended long enough ago is deleted completely with its key, and nothing else ever
// does. Method: every case runs against every store. The last one lets purges race with commits.

#include <algorithm>
#include <atomic>
#include <thread>

#include <ebb/error.h>

#include "store/conformance.h"
#include "support/store_describe.h"
#include "support/store_faulty.h"
#include "support/uuid.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const std::vector<InstanceStatus> kTerminal{
    InstanceStatus::Completed,
    InstanceStatus::Failed,
    InstanceStatus::Cancelled,
    InstanceStatus::Aborted,
};

RetentionRule rule(std::string workflow, Retention keep) {
    return {.workflow = std::move(workflow), .keep = keep, .updated_at = kStart};
}

/// Everything older than `age`.
PurgeRequest older_than(Duration age) {
    return {.rules = {rule("*", {.completed = age, .failed = age})}};
}

/// An instance that has ended at kStart.
NewInstance ended(int n, InstanceStatus status = InstanceStatus::Completed) {
    NewInstance instance = instance_of(n);
    instance.row.status = status;
    instance.row.finished_at = kStart;
    return instance;
}

std::vector<int> left(Store& store) {
    std::vector<int> numbers;
    for (const InstanceRow& row : store.list({.limit = 100'000})) {
        numbers.push_back(std::stoi(name_of({row.id, 0})));
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

TEST_P(StoreConformance, purges_what_has_ended_long_enough_ago_with_its_history) {
    start_one(store(), instance_of(1, {put(1, "pay")}));
    start_one(store(), instance_of(2, {put(1, "pay")}));
    commit_one(
        store(),
        {.instance = 1,
         .status = InstanceStatus::Completed,
         .history = {event_of(2, HistoryType::Completed)}}
    );
    clock_.advance(1h);
    const PurgeResult result = store().purge(older_than(1h));
    EXPECT_EQ(
        result, (PurgeResult{.purged = {{"orders", InstanceStatus::Completed, 1}}, .last = {}})
    );
    EXPECT_FALSE(store().load(id_of(1)).has_value());
    EXPECT_THAT(history_of(1), IsEmpty());
    EXPECT_THAT(store().tasks(id_of(1)), IsEmpty());
    EXPECT_TRUE(store().load(id_of(2)).has_value());
    EXPECT_EQ(history_of(2).size(), 1U);
    EXPECT_EQ(store().tasks(id_of(2)).size(), 1U);
    EXPECT_EQ(commit_one(store(), {.instance = 1, .revision = 2}), CommitResult::NotFound);
}

TEST_P(StoreConformance, never_purges_what_has_not_ended) {
    int n = 0;
    for (int status = 0; status <= static_cast<int>(InstanceStatus::Aborted); ++status) {
        const auto value = static_cast<InstanceStatus>(status);
        if (is_terminal(value)) continue;
        start_one(store(), instance_of(++n, {put(1, "pay")}));
        commit_one(store(), {.instance = n, .status = value, .tasks = {put(1, "pay")}});
    }
    const std::string before = describe(store(), n);
    clock_.jump(24h * 36'500);
    EXPECT_EQ(store().purge(older_than(0s)), PurgeResult{});
    EXPECT_EQ(n, 5);
    EXPECT_THAT(left(store()), ElementsAre(1, 2, 3, 4, 5));
    clock_.jump(-24h * 36'500);
    EXPECT_EQ(describe(store(), n), before);
}

TEST_P(StoreConformance, purges_at_the_age_and_not_before) {
    start_one(store(), ended(1));
    clock_.advance(1h - 1us);
    EXPECT_THAT(store().purge(older_than(1h)).purged, IsEmpty());
    clock_.advance(1us);
    EXPECT_EQ(store().purge(older_than(1h)).purged.size(), 1U);
}

TEST_P(StoreConformance, keeps_completed_and_other_instances_for_times_of_their_own) {
    int n = 0;
    for (const InstanceStatus status : kTerminal) start_one(store(), ended(++n, status));
    clock_.advance(2h);
    EXPECT_TRUE(store().purge({.rules = {rule("*", {.failed = 3h})}}).purged.empty());
    PurgeRequest request{.rules = {rule("*", {.completed = 1h})}};
    EXPECT_THAT(store().purge(request).purged, ElementsAre(StatusCount{"orders", kTerminal[0], 1}));
    request.rules = {rule("*", {.failed = 1h})};
    EXPECT_THAT(
        store().purge(request).purged,
        ElementsAre(
            StatusCount{"orders", kTerminal[1], 1},
            StatusCount{"orders", kTerminal[2], 1},
            StatusCount{"orders", kTerminal[3], 1}
        )
    );
}

TEST_P(StoreConformance, purges_by_the_rule_of_the_workflow_before_that_of_all_others) {
    for (int n = 1; n <= 4; ++n) {
        NewInstance instance = ended(n);
        instance.row.workflow = "w" + std::to_string(n);
        start_one(store(), instance);
    }
    clock_.advance(2h);
    PurgeRequest request;
    EXPECT_TRUE(store().purge(request).purged.empty());
    request.rules = {
        rule("*", {.completed = 1h}), rule("w2", {}), rule("w3", {.completed = 3h}), rule("w9", {})
    };
    store().purge(request);
    EXPECT_THAT(left(store()), ElementsAre(2, 3));
    request.rules = {rule("w2", {.completed = 2h})};
    store().purge(request);
    EXPECT_THAT(left(store()), ElementsAre(3));
}

TEST_P(StoreConformance, frees_the_key_of_what_is_purged) {
    NewInstance instance = ended(1);
    instance.row.key = "k";
    start_one(store(), instance);
    NewInstance other = ended(2);
    other.row.key = "other";
    other.row.finished_at = kStart + 1h;
    start_one(store(), other);
    clock_.advance(1h);
    store().purge(older_than(1h));
    EXPECT_EQ(store().find_key("orders", "k"), std::nullopt);
    EXPECT_EQ(store().find_key("orders", "other"), id_of(2));
    NewInstance again = instance_of(3);
    again.row.key = "k";
    EXPECT_EQ(start_one(store(), again), (StartResult{StartResult::Kind::Created, id_of(3)}));
    EXPECT_EQ(store().find_key("orders", "k"), id_of(3));
}

TEST_P(StoreConformance, purges_page_by_page) {
    for (int n = 1; n <= 5; ++n) start_one(store(), n == 2 ? instance_of(n) : ended(n));
    PurgeRequest request = older_than(0s);
    request.limit = 2;
    PurgeResult page = store().purge(request);
    EXPECT_EQ(page.last, id_of(2));
    EXPECT_FALSE(page.is_end);
    EXPECT_THAT(left(store()), ElementsAre(2, 3, 4, 5));
    request.after = page.last;
    page = store().purge(request);
    EXPECT_EQ(page.last, id_of(4));
    request.after = page.last;
    EXPECT_EQ(store().purge(request).is_end, true);
    EXPECT_THAT(left(store()), ElementsAre(2));
    request = older_than(0s);
    request.limit = 1;
    EXPECT_TRUE(store().purge(request).is_end);  // nothing is above the last one
}

TEST_P(StoreConformance, looks_at_nothing_that_was_made_too_late) {
    NewInstance late = ended(1);
    late.row.id = lowest_id_of(kStart);
    start_one(store(), ended(1));
    start_one(store(), late);
    clock_.advance(1h);
    PurgeRequest request = older_than(1h + 1ms);
    request.limit = 1;
    EXPECT_TRUE(store().purge(request).is_end);
    request = older_than(1h);
    request.limit = 1;
    EXPECT_FALSE(store().purge(request).is_end);
    EXPECT_EQ(store().purge(older_than(1h)).purged.size(), 1U);
    EXPECT_THAT(left(store()), IsEmpty());
}

TEST_P(StoreConformance, bounds_the_changes_of_one_purge) {
    for (int n = 1; n <= 4; ++n) {
        NewInstance instance = ended(n);
        instance.row.revision = n == 1 ? kPurgeChangesMax - 1 : n == 3 ? kPurgeChangesMax : 1;
        start_one(store(), instance);
    }
    const PurgeResult first = store().purge(older_than(0s));
    EXPECT_EQ(first.purged.at(0).count, 2);  // at the bound
    EXPECT_EQ(first.last, id_of(2));
    EXPECT_FALSE(first.is_end);
    EXPECT_THAT(left(store()), ElementsAre(3, 4));
    // One that is above the bound alone goes alone.
    EXPECT_EQ(store().purge(older_than(0s)).last, id_of(3));
    EXPECT_THAT(left(store()), ElementsAre(4));
}

TEST_P(StoreConformance, counts_what_it_would_purge) {
    start_one(store(), ended(1));
    start_one(store(), instance_of(2));
    PurgeRequest request = older_than(0s);
    request.only_counts = true;
    EXPECT_THAT(
        store().purge(request).purged,
        ElementsAre(StatusCount{"orders", InstanceStatus::Completed, 1})
    );
    EXPECT_THAT(left(store()), ElementsAre(1, 2));
    EXPECT_EQ(history_of(1).size(), 1U);
}

TEST_P(StoreConformance, refuses_a_purge_of_an_impossible_size) {
    start_one(store(), ended(1));
    PurgeRequest request = older_than(0s);
    for (const int limit : {-1, 0, kPurgeLimitMax + 1}) {
        request.limit = limit;
        try {
            store().purge(request);
            ADD_FAILURE() << limit;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
            EXPECT_THAT(error.what(), ::testing::HasSubstr("1 to 10000"));
        }
    }
    EXPECT_THAT(left(store()), ElementsAre(1));
    request.limit = kPurgeLimitMax;
    EXPECT_EQ(store().purge(request).purged.size(), 1U);
}

TEST_P(StoreConformance, keeps_the_retention_by_workflow) {
    EXPECT_THAT(store().retention(), IsEmpty());
    const RetentionRule others = rule("*", {.completed = 24h});
    const RetentionRule orders = rule("orders", {.failed = 1h});
    store().set_retention(orders);
    store().set_retention(rule("*", {.completed = 1h, .failed = 1h}));
    store().set_retention(others);
    EXPECT_THAT(store().retention(), ElementsAre(others, orders));
    EXPECT_TRUE(store().clear_retention("orders"));
    EXPECT_FALSE(store().clear_retention("orders"));
    EXPECT_THAT(store().retention(), ElementsAre(others));
}

TEST_P(StoreConformance, gives_the_turn_to_sweep_to_one_at_a_time) {
    store().set_retention(rule("*", {.completed = 1h}));
    auto turn = store().take_sweep(1min);
    ASSERT_TRUE(turn.has_value());
    EXPECT_EQ(turn->after, InstanceId{});
    EXPECT_EQ(store().take_sweep(1min), std::nullopt);
    turn->after = id_of(7);
    EXPECT_TRUE(store().put_sweep(*turn, 10min));
    EXPECT_TRUE(store().put_sweep(*turn, 5min));
    clock_.advance(5min - 1us);
    EXPECT_EQ(store().take_sweep(1min), std::nullopt);
    clock_.advance(1us);
    const auto next = store().take_sweep(1min);
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->after, id_of(7));
    EXPECT_FALSE(store().put_sweep(*turn, 1min)) << "it is another worker's turn";
    EXPECT_TRUE(store().put_sweep(*next, 1min));
}

TEST_P(StoreConformance, lets_the_next_one_sweep_when_the_one_before_is_dead) {
    store().set_retention(rule("*", {.completed = 1h}));
    const auto turn = store().take_sweep(1min);
    clock_.advance(1min);
    EXPECT_TRUE(store().take_sweep(1min).has_value());
    EXPECT_FALSE(store().put_sweep(*turn, 1min));
}

TEST_P(StoreConformance, begins_to_sweep_again_when_the_retention_changes) {
    store().set_retention(rule("*", {.completed = 1h}));
    auto turn = store().take_sweep(1min);
    turn->after = id_of(7);
    store().put_sweep(*turn, 24h);
    store().set_retention(rule("orders", {.completed = 1min}));
    EXPECT_FALSE(store().put_sweep(*turn, 24h));
    turn = store().take_sweep(1min);
    ASSERT_TRUE(turn.has_value());
    EXPECT_EQ(turn->after, InstanceId{});
    store().clear_retention("orders");
    EXPECT_TRUE(store().take_sweep(1min).has_value());
}

TEST_P(StoreRepeat, purge_and_retention) {
    start_one(store(), ended(1));
    start_one(store(), ended(2));
    lose_and_repeat(StoreVerb::Purge, [&](Store& store) { store.purge(older_than(0s)); });
    EXPECT_THAT(left(store()), IsEmpty());
    lose_and_repeat(StoreVerb::SetRetention, [](Store& store) {
        store.set_retention(rule("*", {.completed = 1h}));
    });
    EXPECT_EQ(store().retention().size(), 1U);
    lose_and_repeat(StoreVerb::Sweep, [](Store& store) { store.take_sweep(1min); });
    lose_and_repeat(StoreVerb::SetRetention, [](Store& store) { store.clear_retention("*"); });
    EXPECT_TRUE(store().retention().empty());
}

/// Lets an instance continue, be dead-lettered and requeued; odd ones end at last.
void live(Store& store, int n) {
    for (int revision = 1; revision <= 6; ++revision) {
        Change change{.instance = n, .revision = revision};
        const bool is_last = revision == 6 && n % 2 == 1;
        change.status = is_last             ? InstanceStatus::Completed
                        : revision % 2 == 1 ? InstanceStatus::DeadLetter
                                            : InstanceStatus::Running;
        change.history = {event_of(revision + 1, HistoryType::StepCompleted)};
        ASSERT_EQ(commit_one(store, change), CommitResult::Committed) << n;
    }
}

TEST_P(StoreConformance, never_purges_what_lives_while_it_lives) {
    constexpr int kEach = 25;
    constexpr int kThreads = 3;
    for (int n = 1; n <= kEach * kThreads; ++n) start_one(store(), instance_of(n));
    std::atomic<int> living = kThreads;
    std::int64_t purged = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                for (int n = 1; n <= kEach; ++n) live(store(), i * kEach + n);
                --living;
            });
        }
        while (living > 0) {
            for (const StatusCount& count : store().purge(older_than(0s)).purged) {
                purged += count.count;
            }
        }
    }
    for (const StatusCount& count : store().purge(older_than(0s)).purged) purged += count.count;
    int expected = 0;
    for (int n = 1; n <= kEach * kThreads; ++n) {
        const bool has_ended = n % 2 == 1;
        expected += has_ended ? 1 : 0;
        EXPECT_EQ(store().load(id_of(n)).has_value(), !has_ended) << n;
        EXPECT_EQ(history_of(n).size(), has_ended ? 0U : 7U) << n;
    }
    EXPECT_EQ(purged, expected);
}

}  // namespace
}  // namespace ebb::testing
