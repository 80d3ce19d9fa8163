// Goal: what is counted of stored instances is right, bounded, and counted once, whenever someone
// looks. Method: a memory store and a clock that the test moves.

#include "view/activity.h"

#include <gmock/gmock.h>

#include <ebb/error.h>

#include "store/memory/memory_store.h"
#include "support/uuid.h"

namespace ebb::view {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TimePoint kNoon = TimePoint(std::chrono::seconds(1'800'000'000));

class ActivityTest : public ::testing::Test {
 protected:
    /// An id whose time is `at`, above all that the test has made for the same millisecond.
    InstanceId id_at(TimePoint at) {
        InstanceId id = lowest_id_of(at);
        ++made_;
        for (std::size_t byte = 0; byte < 4; ++byte) {
            id.bytes.at(15 - byte) = static_cast<std::uint8_t>(made_ >> (8 * byte));
        }
        return id;
    }

    InstanceId start(const std::string& workflow = "order", Duration ago = {}) {
        const TimePoint at = clock.now() - ago;
        NewInstance instance;
        instance.row.id = id_at(at);
        instance.row.workflow = workflow;
        instance.row.state = R"({"seq":1,"visit":3,"tokens":[]})";
        instance.row.created_at = at;
        instance.row.updated_at = at;
        instance.history.push_back({.seq = 1, .type = HistoryType::Started, .at = at});
        store.start({&instance, 1});
        return instance.row.id;
    }

    void change(const InstanceId& id, InstanceStatus status, bool is_undone = false) {
        const auto row = store.load(id);
        std::vector<HistoryEvent> events;
        if (is_undone) {
            events.push_back(
                {.seq = 2, .type = HistoryType::StepCompensated, .ref = 1, .at = clock.now()}
            );
        }
        const Commit commit{
            .instance = id,
            .expected_revision = row->revision,
            .status = status,
            .state = row->state,
            .history = events,
            .tasks = {},
            .now = clock.now(),
        };
        ASSERT_EQ(store.commit({&commit, 1}).at(0), CommitResult::Committed);
    }

    /// One step: due at the start, and started `delay` later.
    void run(Duration delay) {
        const InstanceId id = start();
        const auto row = store.load(id);
        const TimePoint due = clock.now();
        clock.advance(delay + 1s);
        const std::vector<HistoryEvent> events{
            {.seq = 2,
             .type = HistoryType::StepCompleted,
             .attempt = 1,
             .ref = 1,
             .started_at = due + delay,
             .at = clock.now()},
        };
        const Commit commit{
            .instance = id,
            .expected_revision = row->revision,
            .status = InstanceStatus::Completed,
            .state = row->state,
            .history = events,
            .tasks = {},
            .now = clock.now(),
        };
        ASSERT_EQ(store.commit({&commit, 1}).at(0), CommitResult::Committed);
    }

    ActivityReport report(const ActivityQuery& query = {}) {
        return activity.report(query, [](const std::string&) { return true; });
    }

    ActivityCell total(const ActivityQuery& query = {}) { return report(query).all.total; }

    void look() { activity.look(1h); }

    ManualClock clock{kNoon};
    MemoryStore store{clock};
    Activity activity{store, clock};

 private:
    std::uint32_t made_ = 0;
};

TEST_F(ActivityTest, counts_starts_and_ends) {
    const InstanceId done = start();
    const InstanceId undone = start();
    const InstanceId failed = start();
    start("other");
    clock.advance(8s);
    change(done, InstanceStatus::Completed);
    change(undone, InstanceStatus::Failed, true);
    change(failed, InstanceStatus::Failed);
    look();
    const ActivityReport found = report();
    EXPECT_TRUE(found.is_complete);
    EXPECT_EQ(found.all.total.started, 4);
    ASSERT_EQ(found.workflows.size(), 2U);
    EXPECT_EQ(found.workflows[0].workflow, "order");
    const ActivityCell& order = found.workflows[0].total;
    EXPECT_EQ(order.started, 3);
    EXPECT_EQ(order.completed, 1);
    EXPECT_EQ(order.failed, 2);
    EXPECT_EQ(order.compensated, 1);
    EXPECT_EQ(order.steps, 9);
    EXPECT_EQ(order.durations.count(), 1);
}

TEST_F(ActivityTest, knows_how_long_due_tasks_waited_for_a_worker) {
    run(20s);
    clock.advance(10min);
    run(90s);
    look();
    look();
    const ActivityReport found = report({.window = 1h, .step = 5min});
    const DurationHistogram& delays = found.all.total.delays;
    ASSERT_EQ(delays.count(), 2);
    EXPECT_NEAR(static_cast<double>(delays.quantile(0.5)->count()), 20e6, 2e6);
    EXPECT_NEAR(static_cast<double>(delays.quantile(0.95)->count()), 90e6, 9e6);
    std::vector<std::int64_t> counts;
    for (const ActivityCell& cell : found.all.buckets) counts.push_back(cell.delays.count());
    EXPECT_EQ(counts.at(counts.size() - 1) + counts.at(counts.size() - 2), 1);
}

TEST_F(ActivityTest, reads_start_delays_of_a_few_instances_in_each_bucket) {
    constexpr int kMany = 200;
    for (int n = 0; n < kMany; ++n) run(1s);
    look();
    EXPECT_EQ(total().completed, kMany);
    // They end within 400 s. A bucket of a minute is sampled every 5 s, one of 30 minutes every
    // 150 s.
    const std::int64_t hour = total({.window = 1h}).delays.count();
    const std::int64_t day = total({.window = 24h}).delays.count();
    EXPECT_GE(hour, 400 / 5);
    EXPECT_LE(hour, 400 / 5 + 1);
    EXPECT_GE(day, 2);
    EXPECT_LE(day, 4);
}

TEST_F(ActivityTest, another_look_counts_nothing_twice) {
    const InstanceId first = start();
    look();
    look();
    EXPECT_EQ(total().started, 1);
    EXPECT_EQ(total().completed, 0);
    clock.advance(5min);
    change(first, InstanceStatus::Completed);
    start();
    look();
    look();
    EXPECT_EQ(total().started, 2);
    EXPECT_EQ(total().completed, 1);
}

TEST_F(ActivityTest, an_instance_that_becomes_visible_late_is_counted) {
    start();
    look();
    clock.advance(30s);
    start();
    look();
    // Its id is older than what was counted.
    start("order", 20s);
    look();
    EXPECT_EQ(total().started, 3);
}

TEST_F(ActivityTest, a_dead_letter_counts_each_time_that_it_is_found) {
    const InstanceId id = start();
    change(id, InstanceStatus::DeadLetter);
    look();
    look();
    EXPECT_EQ(total().dead_letters, 1);
    change(id, InstanceStatus::Running);
    look();
    clock.advance(1s);
    change(id, InstanceStatus::DeadLetter);
    look();
    EXPECT_EQ(total().dead_letters, 2);
    change(id, InstanceStatus::Completed);
    look();
    EXPECT_EQ(total().completed, 1);
    EXPECT_EQ(total().failed, 0);
}

TEST_F(ActivityTest, counts_in_the_bucket_of_the_event) {
    const InstanceId id = start();
    clock.advance(12min);
    change(id, InstanceStatus::Completed);
    look();
    const ActivityReport found = report({.window = 15min, .step = 5min});
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    for (const ActivityCell& cell : found.all.buckets) {
        starts.push_back(cell.started);
        ends.push_back(cell.completed);
    }
    EXPECT_THAT(starts, ElementsAre(1, 0, 0));
    EXPECT_THAT(ends, ElementsAre(0, 0, 1));
    EXPECT_EQ(found.span.from, kNoon);
    EXPECT_EQ(found.span.until, kNoon + 15min);
}

TEST_F(ActivityTest, an_end_counts_although_the_start_is_before_the_window) {
    const InstanceId id = start("order", 24h * 20);
    change(id, InstanceStatus::Completed);
    look();
    const ActivityCell hour = total({.window = 1h});
    EXPECT_EQ(hour.started, 0);
    EXPECT_EQ(hour.completed, 1);
    const auto took = hour.durations.quantile(0.5);
    ASSERT_TRUE(took);
    EXPECT_NEAR(static_cast<double>(took->count()), Duration(24h * 20).count(), 1e12);
    EXPECT_EQ(total({.window = 24h * 30}).started, 1);
}

TEST_F(ActivityTest, one_look_reads_no_more_than_its_budget_and_the_next_goes_on) {
    constexpr int kMany = 45'000;
    for (int n = 0; n < kMany; ++n) start("order", std::chrono::milliseconds(2 * (kMany - n)));
    look();
    EXPECT_EQ(total().started, Activity::kRowsMax);
    EXPECT_FALSE(report().is_complete);
    EXPECT_GT(report().counted_from, kNoon - 60s);
    EXPECT_LT(report().counted_from, kNoon);
    // What is new comes first.
    start("new");
    look();
    EXPECT_EQ(report({.workflow = "new"}).all.total.started, 1);
    for (int looks = 0; looks < 5 && !activity.is_complete(); ++looks) look();
    EXPECT_TRUE(report().is_complete);
    EXPECT_EQ(report().counted_from, TimePoint{});
    EXPECT_EQ(total().started, kMany + 1);
}

TEST_F(ActivityTest, more_starts_between_two_looks_than_a_look_reads_are_all_counted) {
    start();
    look();
    clock.advance(1h);
    constexpr int kMany = 25'000;
    for (int n = 0; n < kMany; ++n) start("order", std::chrono::milliseconds(kMany - n));
    look();
    clock.advance(1s);
    start();
    for (int looks = 0; looks < 4; ++looks) look();
    EXPECT_EQ(total().started, kMany + 2);
    EXPECT_TRUE(activity.is_complete());
}

TEST_F(ActivityTest, many_live_instances_are_looked_at_in_turn) {
    constexpr int kMany = 9'000;
    std::vector<InstanceId> ids;
    for (int n = 0; n < kMany; ++n) {
        ids.push_back(start("order", std::chrono::milliseconds(kMany - n)));
    }
    look();
    change(ids.front(), InstanceStatus::Completed);
    change(ids.back(), InstanceStatus::Completed);
    look();
    EXPECT_EQ(total().completed, 1);
    for (int looks = 0; looks < 5; ++looks) look();
    EXPECT_EQ(total().completed, 2);
}

TEST_F(ActivityTest, does_not_look_again_before_the_pause_is_over) {
    activity.look(1h);
    start();
    activity.look(1h, 2s);
    EXPECT_EQ(total().started, 0);
    clock.advance(2s);
    activity.look(1h, 2s);
    EXPECT_EQ(total().started, 1);
}

TEST_F(ActivityTest, what_no_window_reaches_is_forgotten) {
    change(start(), InstanceStatus::Completed);
    look();
    clock.advance(24h * 45);
    look();
    EXPECT_EQ(total({.window = 24h * 30}).events(), 0);
    EXPECT_TRUE(report().workflows.empty());
}

TEST_F(ActivityTest, a_system_workflow_is_not_counted) {
    start("ebb:webhook");
    look();
    EXPECT_EQ(total().started, 0);
}

TEST_F(ActivityTest, counts_a_bounded_number_of_workflows) {
    for (int n = 0; n < Activity::kWorkflowsMax + 7; ++n) start("w" + std::to_string(n));
    look();
    const ActivityReport found = report();
    EXPECT_EQ(found.workflows.size(), static_cast<std::size_t>(Activity::kSeriesMax));
    EXPECT_EQ(found.left_out, Activity::kWorkflowsMax - Activity::kSeriesMax + 7);
    EXPECT_EQ(found.all.total.started, Activity::kWorkflowsMax);
}

TEST_F(ActivityTest, shows_only_what_is_visible) {
    start("order");
    start("secret");
    look();
    const auto found =
        activity.report({}, [](const std::string& name) { return name != "secret"; });
    EXPECT_EQ(found.all.total.started, 1);
    EXPECT_EQ(found.workflows.size(), 1U);
}

TEST_F(ActivityTest, an_instance_that_was_purged_is_not_awaited) {
    const InstanceId id = start();
    look();
    change(id, InstanceStatus::Completed);
    clock.advance(1h);
    store.purge({.rules = {{.workflow = "order", .keep = {.completed = 1s, .failed = 1s}}}});
    look();
    EXPECT_EQ(total().completed, 0);
    EXPECT_EQ(total().started, 1);
}

std::string refusal(const ActivityQuery& query) {
    try {
        activity_span(query, kNoon);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        return error.what();
    }
    return "";
}

TEST(ActivitySpan, takes_the_narrowest_step_that_is_kept) {
    EXPECT_EQ(activity_span({.window = 1h}, kNoon).step, 1min);
    EXPECT_EQ(activity_span({.window = 1h}, kNoon).buckets(), 60);
    EXPECT_EQ(activity_span({.window = 6h}, kNoon).step, 5min);
    EXPECT_EQ(activity_span({.window = 24h}, kNoon).step, 30min);
    EXPECT_EQ(activity_span({.window = 24h * 7}, kNoon).buckets(), 56);
    EXPECT_EQ(activity_span({.window = 24h * 30}, kNoon).step, 12h);
    EXPECT_EQ(activity_span({.window = 24h, .step = 12h}, kNoon).buckets(), 2);
    EXPECT_EQ(activity_span({.window = 6h, .until = kNoon - 24h * 3}, kNoon).step, 3h);
}

TEST(ActivitySpan, ends_with_the_bucket_of_now) {
    const ActivitySpan span = activity_span({.window = 1h}, kNoon + 30s);
    EXPECT_EQ(span.until, kNoon + 1min);
    EXPECT_EQ(span.from, kNoon - 59min);
}

TEST(ActivitySpan, says_what_is_wrong) {
    EXPECT_THAT(refusal({.window = 1s}), HasSubstr("is 1m to 30d"));
    EXPECT_THAT(refusal({.window = 24h * 31}), HasSubstr("is 1m to 30d"));
    EXPECT_THAT(refusal({.step = 7min}), HasSubstr("\"7m\" is not a step"));
    EXPECT_THAT(refusal({.window = 24h, .step = 1min}), HasSubstr("A step of 1m is kept for 2h"));
    EXPECT_THAT(
        refusal({.window = 5min, .step = 30min}), HasSubstr("does not have 1 to 120 steps")
    );
    EXPECT_THAT(refusal({.until = kNoon + 1h}), HasSubstr("in the future"));
    EXPECT_THAT(refusal({.until = kNoon - 24h * 31}), HasSubstr("at most 30d ago"));
}

TEST(DurationHistogram, a_quantile_is_within_a_tenth) {
    for (const Duration each : {Duration(3), Duration(1'500), Duration(70'000'000)}) {
        DurationHistogram histogram;
        histogram.add(each);
        const auto found = histogram.quantile(0.95);
        ASSERT_TRUE(found);
        const auto exact = static_cast<double>(each.count());
        EXPECT_NEAR(static_cast<double>(found->count()), exact, exact / 10 + 1);
    }
}

TEST(DurationHistogram, a_quantile_has_its_share_below_it) {
    DurationHistogram histogram;
    EXPECT_FALSE(histogram.quantile(0.5));
    for (int n = 0; n < 94; ++n) histogram.add(1s);
    for (int n = 0; n < 6; ++n) histogram.add(100s);
    EXPECT_LT(*histogram.quantile(0.5), 2s);
    EXPECT_GT(*histogram.quantile(0.95), 80s);
    histogram.add(Duration::zero());
    EXPECT_EQ(*histogram.quantile(0), Duration::zero());
}

TEST(ActivityJson, has_one_value_for_each_bucket) {
    ActivityReport report{.span = {.from = kNoon, .until = kNoon + 2min, .step = 1min}};
    report.all.buckets.resize(2);
    report.all.buckets[1].durations.add(1s);
    const Json json = activity_json(report);
    EXPECT_EQ(json["step"], "1m");
    EXPECT_EQ(json["all"]["buckets"]["started"].dump(), "[0,0]");
    EXPECT_EQ(json["all"]["buckets"]["p50_seconds"][0], nullptr);
    EXPECT_NEAR(json["all"]["buckets"]["p50_seconds"][1].get<double>(), 1.0, 0.1);
    EXPECT_EQ(json["counted_from"], nullptr);
}

}  // namespace
}  // namespace ebb::view
