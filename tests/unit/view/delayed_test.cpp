// Goal: tasks that no worker starts are found, with the right reason and since when, and nothing
// else is; the work of one look is bounded. Method: a memory store and a clock that the test moves.

#include "view/delayed.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine/view.h"
#include "store/memory/memory_store.h"
#include "support/uuid.h"

namespace ebb::view {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimePoint kNoon = TimePoint(std::chrono::seconds(1'800'000'000));
constexpr std::string_view kReady =
    R"({"status":"running","seq":1,"last_token":1,"visit":1,)"
    R"("tokens":[{"id":1,"node":"pay","visit":1,"attempt":1,"input":1}]})";

struct Made {
    std::string workflow = "order";
    std::string handler = "pay";
    std::string queue = "default";
    std::string key{};
    std::string state{kReady};
    InstanceStatus status = InstanceStatus::Running;
};

class DelayedTest : public ::testing::Test {
 protected:
    /// With one task that is due now.
    InstanceId start(const Made& made = {}) {
        NewInstance instance;
        instance.row.id = lowest_id_of(clock.now());
        instance.row.id.bytes.at(14) = static_cast<std::uint8_t>(++made_ >> 8);
        instance.row.id.bytes.at(15) = static_cast<std::uint8_t>(made_);
        instance.row.workflow = made.workflow;
        instance.row.state = made.state;
        instance.row.status = made.status;
        instance.row.created_at = instance.row.updated_at = clock.now();
        instance.history.push_back({.seq = 1, .type = HistoryType::Started, .at = clock.now()});
        instance.tasks.push_back(
            {.token = 1,
             .handler = made.handler,
             .queue = made.queue,
             .concurrency_key = made.key,
             .due = clock.now()}
        );
        store.start({&instance, 1});
        return instance.row.id;
    }

    void work(
        const std::vector<std::string>& handlers,
        std::vector<std::string> queues = {},
        bool is_keeper = true
    ) {
        WorkerRow worker;
        worker.is_keeper = is_keeper;
        worker.id = "w1";
        worker.handlers = handlers;
        worker.queues = std::move(queues);
        worker.started_at = started = clock.now();
        store.heartbeat(worker, 1h);
    }

    std::vector<DelayedTasks> found() {
        delayed.look(1h);
        return delayed.report([](const std::string&) { return true; });
    }

    std::string reason() {
        const auto tasks = found();
        return tasks.size() == 1 ? tasks.front().reason : std::to_string(tasks.size());
    }

    void register_program(const std::string& workflow, int version, const std::string& handlers) {
        store.register_workflow(
            {.name = workflow,
             .version = version,
             .definition = fmt::format(
                 R"({{"workflow":"{}","version":{},"handlers":{},"steps":["pay"]}})",
                 workflow,
                 version,
                 handlers
             )}
        );
    }

    /// As a worker does that must not run it.
    void leave_alone(const InstanceId& id) {
        store.claim({.worker = "w1", .handlers = {"pay"}});
        store.postpone({"w1", started}, {id, 1}, clock.now() + engine::kLeftAlone);
    }

    void limit(const QueueLimits& limits) {
        store.set_queue({.name = "default", .limits = limits, .updated_at = clock.now()});
    }

    ManualClock clock{kNoon};
    MemoryStore store{clock};
    Delayed delayed{store, clock};
    TimePoint started{};  ///< of the worker

 private:
    int made_ = 0;
};

TEST_F(DelayedTest, tasks_count_from_one_minute_on) {
    const InstanceId first = start();
    clock.advance(20s);
    start();
    clock.advance(39s);
    EXPECT_THAT(found(), IsEmpty());
    clock.advance(1s);
    EXPECT_EQ(found().at(0).count, 1);
    clock.advance(20s);
    const auto tasks = found();
    ASSERT_THAT(tasks, SizeIs(1));
    EXPECT_EQ(tasks[0].workflow, "order");
    EXPECT_EQ(tasks[0].handler, "pay");
    EXPECT_EQ(tasks[0].queue, "default");
    EXPECT_EQ(tasks[0].count, 2);
    EXPECT_EQ(tasks[0].since, kNoon);
    EXPECT_EQ(tasks[0].instance, first);
}

TEST_F(DelayedTest, the_longest_delayed_come_first_by_workflow_handler_and_queue) {
    start({.handler = "ship"});
    clock.advance(1s);
    start({.workflow = "refund"});
    start({.queue = "slow"});
    clock.advance(2min);
    const auto tasks = found();
    ASSERT_THAT(tasks, SizeIs(3));
    EXPECT_EQ(tasks[0].handler, "ship");
    EXPECT_EQ(tasks[1].queue, "slow");
    EXPECT_EQ(tasks[2].workflow, "refund");
}

TEST_F(DelayedTest, says_why_they_do_not_start) {
    start({.key = "k"});
    clock.advance(2min);
    EXPECT_EQ(reason(), "no_worker");
    work({"pay"}, {"other"});
    EXPECT_EQ(reason(), "no_worker");
    work({"pay"});
    EXPECT_EQ(reason(), "workers_busy");
    limit({.concurrency = 0});
    EXPECT_EQ(reason(), "queue_closed");
    limit({.concurrency = 5});
    EXPECT_EQ(reason(), "workers_busy");
}

TEST_F(DelayedTest, says_which_limit_of_the_queue_is_reached) {
    limit({.concurrency = 1, .concurrency_per_key = 1, .rate = QueueRate{1, 1h}});
    start({.key = "k"});
    work({"pay"});
    const ClaimRequest request{
        .worker = "w1", .handlers = {"pay"}, .queues = {"default"}, .limit = 1, .instance = {}
    };
    ASSERT_THAT(store.claim_limited(request).claims, SizeIs(1));
    start({.key = "k"});
    clock.advance(2min);
    EXPECT_EQ(reason(), "queue_full");
    limit({.concurrency = 2, .concurrency_per_key = 1, .rate = QueueRate{1, 1h}});
    EXPECT_EQ(reason(), "queue_key");
    limit({.concurrency = 2, .concurrency_per_key = 2, .rate = QueueRate{1, 1h}});
    EXPECT_EQ(reason(), "queue_rate");
    limit({.concurrency = 2, .concurrency_per_key = 2});
    EXPECT_EQ(reason(), "workers_busy");
}

TEST_F(DelayedTest, what_waits_for_a_person_or_is_paused_is_not_delayed) {
    start({.state = R"({"seq":1,"tokens":[{"id":1,"node":"ask","status":"waiting_decision"}]})"});
    start({.status = InstanceStatus::Paused});
    work({});
    clock.advance(2min);
    EXPECT_THAT(found(), IsEmpty());
    EXPECT_TRUE(delayed.is_complete());
}

TEST_F(DelayedTest, what_an_engine_decides_has_no_handler_and_waits_for_an_engine) {
    const std::string state =
        R"({"seq":1,"tokens":[{"id":1,"node":"ask","status":"waiting_decision"}]})";
    const InstanceId first = start({.handler = "", .queue = "", .state = state});
    clock.advance(59s);
    EXPECT_THAT(found(), IsEmpty());
    clock.advance(1s);
    const auto tasks = found();
    ASSERT_THAT(tasks, SizeIs(1));
    EXPECT_EQ(tasks[0].instance, first);
    EXPECT_EQ(tasks[0].since, kNoon);
    EXPECT_EQ(tasks[0].reason, "no_engine");
    const Json json = delayed_task_json(tasks[0]);
    EXPECT_TRUE(json["handler"].is_null());
    EXPECT_TRUE(json["queue"].is_null());
}

TEST_F(DelayedTest, an_engine_that_lives_may_be_busy_but_a_worker_in_sql_is_none) {
    start();
    start({.handler = ""});
    clock.advance(2min);
    work({}, {}, false);
    const auto reason_of_engine_tasks = [&] {
        for (const DelayedTasks& tasks : found()) {
            if (tasks.handler.empty()) return tasks.reason;
        }
        return std::string("none");
    };
    EXPECT_EQ(reason_of_engine_tasks(), "no_engine");
    work({});
    EXPECT_EQ(reason_of_engine_tasks(), "workers_busy");
}

TEST_F(DelayedTest, a_state_that_cannot_be_read_is_left_out) {
    start({.state = "{"});
    start({.state = "[]"});
    start({.state = R"({"tokens":7})"});
    work({});
    clock.advance(2min);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DelayedTest, a_program_that_no_worker_may_run_is_delayed_although_its_date_is_put_off) {
    register_program("order", 1, R"({"pay":{"exec":["true"]}})");
    const InstanceId id = start();
    work({"pay"});
    for (int second = 0; second < 60; ++second) {
        EXPECT_THAT(found(), IsEmpty());
        leave_alone(id);
        clock.advance(1s);
    }
    leave_alone(id);
    const auto tasks = found();
    ASSERT_THAT(tasks, SizeIs(1));
    EXPECT_EQ(tasks[0].since, kNoon);
    EXPECT_EQ(tasks[0].reason, "exec_not_allowed");
    EXPECT_EQ(tasks[0].instance, id);
}

TEST_F(DelayedTest, what_is_put_off_for_another_reason_is_not_delayed) {
    register_program("order", 1, R"({"pay":{"http":{"url":"https://example.com"}}})");
    register_program("refund", 1, R"({"pay":{"exec":["true"]}})");
    const InstanceId id = start();
    work({"pay"});
    clock.advance(2min);
    leave_alone(id);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DelayedTest, shows_only_what_is_visible) {
    start();
    start({.workflow = "secret"});
    clock.advance(2min);
    ASSERT_THAT(found(), SizeIs(2));
    const auto visible =
        delayed.report([](const std::string& workflow) { return workflow != "secret"; });
    ASSERT_THAT(visible, SizeIs(1));
    EXPECT_EQ(visible[0].workflow, "order");
}

TEST_F(DelayedTest, what_has_started_is_delayed_no_more) {
    start();
    clock.advance(2min);
    ASSERT_THAT(found(), SizeIs(1));
    work({"pay"});
    const ClaimRequest request{
        .worker = "w1", .handlers = {"pay"}, .queues = {}, .limit = 1, .instance = {}
    };
    ASSERT_THAT(store.claim(request), SizeIs(1));
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DelayedTest, one_look_reads_no_more_than_its_budget_and_the_next_goes_on) {
    start();
    for (int n = 0; n < Delayed::kRowsMax; ++n) start({.handler = "ship"});
    clock.advance(2min);
    EXPECT_THAT(found(), IsEmpty());
    EXPECT_FALSE(delayed.is_complete());
    const auto tasks = found();
    EXPECT_TRUE(delayed.is_complete());
    ASSERT_THAT(tasks, SizeIs(2));
    EXPECT_EQ(tasks[0].count + tasks[1].count, Delayed::kRowsMax + 1);
}

TEST_F(DelayedTest, does_not_look_again_before_the_pause_is_over) {
    EXPECT_THAT(found(), IsEmpty());
    start();
    clock.advance(2min);
    delayed.look(1h, 1h);
    EXPECT_THAT(delayed.report([](const std::string&) { return true; }), IsEmpty());
    clock.advance(1h);
    delayed.look(1h, 1h);
    EXPECT_THAT(delayed.report([](const std::string&) { return true; }), SizeIs(1));
}

TEST_F(DelayedTest, keeps_a_bounded_number_of_groups) {
    for (int n = 0; n < Delayed::kGroupsMax + 5; ++n) start({.handler = "h" + std::to_string(n)});
    clock.advance(2min);
    EXPECT_THAT(found(), SizeIs(Delayed::kGroupsMax));
}

TEST_F(DelayedTest, is_answered_as_json) {
    const InstanceId id = start();
    clock.advance(2min);
    const Json json = delayed_json(found(), true);
    EXPECT_EQ(
        json.dump(),
        R"({"items":[{"workflow":"order","handler":"pay","queue":"default","tasks":1,)"
        R"("since":"2027-01-15T08:00:00Z","reason":"no_worker","instance":")" +
            id.to_string() + R"("}],"complete":true})"
    );
}

}  // namespace
}  // namespace ebb::view
