// Goal: engines keep the limits of queues: what they hold, what they keep for the next step, when
// they learn of limits, and what they say of those who wait.
// Method: engines over one memory store, polled in the test's thread, with handlers that note what
// else is held at that moment.

#include <deque>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/completion.h>

#include "engine/core.h"
#include "engine_world.h"

namespace ebb::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class Queues : public ::testing::Test {
 protected:
    Queues() {
        for (const char* name : {"pay", "ship"}) {
            world_.handlers.add_raw(name, [this](const Payload& input, const StepContext&) {
                most_held_ = std::max(most_held_, slots("bank"));
                ++calls_;
                return input;
            });
        }
        world_.handlers.add_raw("fail", [this](const Payload&, const StepContext&) -> Payload {
            ++calls_;
            throw std::runtime_error("no");
        });
    }

    std::int64_t slots(const std::string& queue) {
        const auto uses = world_.store->queues({.name = queue, .counts_tasks = false});
        return uses.empty() ? 0 : uses.front().view.slots;
    }

    static Definition flow() {
        WorkflowBuilder builder("flow");
        builder.step("first", {.handler = "ship"})
            .step("charge", {.handler = "pay", .queue = "bank", .concurrency_key = "input.who"})
            .step("last", {.handler = "ship"});
        return builder.build();
    }

    std::vector<InstanceId> start(Engine& engine, int count, const Payload& input) {
        std::vector<InstanceId> ids;
        for (int i = 0; i < count; ++i) ids.push_back(engine.start("flow", input).id);
        return ids;
    }

    int completed() {
        int count = 0;
        for (const StatusCount& each : world_.store->count()) {
            if (each.status == InstanceStatus::Completed) count += static_cast<int>(each.count);
        }
        return count;
    }

    EngineWorld world_;
    std::int64_t most_held_ = 0;
    int calls_ = 0;
};

TEST_F(Queues, with_limits_are_worked_off_within_them_and_every_instance_ends) {
    const auto engine = world_.engine();
    engine->register_workflow(flow());
    engine->set_queue("bank", {.concurrency = 2});
    start(*engine, 20, R"({"who":"a"})");
    world_.run(*engine);
    EXPECT_EQ(completed(), 20);
    EXPECT_EQ(most_held_, 2);
    EXPECT_EQ(slots("bank"), 0);
}

TEST_F(Queues, give_calls_without_a_thread_more_slots_than_there_are_threads) {
    std::deque<Completion<>> open;
    world_.handlers.add("ask", [&](const Completion<>& completion) { open.push_back(completion); });
    const auto engine = world_.engine();
    engine->register_workflow(
        WorkflowBuilder("flow").step("charge", {.handler = "ask", .queue = "bank"}).build()
    );
    constexpr int kSlots = 12;
    engine->set_queue("bank", {.concurrency = kSlots});
    start(*engine, 2 * kSlots, R"({"who":"a"})");
    for (int done = 0; done < 2 * kSlots; ++done) {
        engine->poll();
        EXPECT_EQ(std::ssize(open), std::min(kSlots, 2 * kSlots - done));
        ASSERT_FALSE(open.empty());
        EXPECT_TRUE(open.front().complete());
        open.pop_front();
    }
    world_.run(*engine);
    EXPECT_EQ(completed(), 2 * kSlots);
    EXPECT_EQ(slots("bank"), 0);
}

TEST_F(Queues, with_limits_of_keys_let_other_keys_pass) {
    const auto engine = world_.engine();
    engine->register_workflow(flow());
    engine->set_queue("bank", {.concurrency_per_key = 1});
    start(*engine, 10, R"({"who":"a"})");
    start(*engine, 10, R"({"who":7})");
    start(*engine, 10, R"({"who":null})");
    world_.run(*engine);
    EXPECT_EQ(completed(), 30);
    EXPECT_EQ(slots("bank"), 0);
}

TEST_F(Queues, with_a_rate_are_worked_off_at_it) {
    const auto engine = world_.engine();
    engine->register_workflow(flow());
    engine->set_queue("bank", {.rate = QueueRate{5, 64s}});
    const TimePoint begun = world_.clock.now();
    start(*engine, 20, R"({"who":"a"})");
    world_.run(*engine);
    EXPECT_EQ(completed(), 20);
    EXPECT_GE(world_.clock.now() - begun, 3 * 64s);
    EXPECT_LE(world_.clock.now() - begun, 3 * 65s + 1s);
}

TEST_F(Queues, are_paused_by_a_concurrency_of_zero_and_continue) {
    const auto engine = world_.engine();
    engine->register_workflow(flow());
    engine->set_queue("bank", {.concurrency = 0});
    const InstanceId id = start(*engine, 1, R"({"who":"a"})").front();
    world_.run(*engine, 1min);
    EXPECT_EQ(status(*engine, id), "running");
    EXPECT_THAT(engine->why(id), HasSubstr("waits for an operator to open the queue \"bank\""));
    engine->set_queue("bank", {});
    world_.run(*engine, 1min);
    EXPECT_EQ(status(*engine, id), "completed");
}

TEST_F(Queues, without_limits_cost_no_claim_between_steps) {
    const auto engine = world_.engine();
    engine->register_workflow(flow());
    engine->poll();
    engine->set_queue("other", {.concurrency = 1});
    const auto before = engine->counters().tasks_claimed;
    start(*engine, 1, R"({"who":"a"})");
    engine->poll();
    EXPECT_EQ(completed(), 1);
    EXPECT_EQ(engine->counters().tasks_claimed, before);
    engine->set_queue("bank", {.concurrency = 1});
    start(*engine, 1, R"({"who":"a"})");
    engine->poll();
    EXPECT_EQ(completed(), 2);
    // For its one step in the queue with limits, and for no other.
    EXPECT_EQ(engine->counters().tasks_claimed, before + 1);
}

TEST_F(Queues, are_known_to_other_workers_after_one_heartbeat) {
    const auto engine = world_.engine("w1");
    const auto other = world_.engine("w2");
    engine->register_workflow(flow());
    other->poll();
    engine->set_queue("bank", {.concurrency = 0});
    world_.clock.advance(1s);
    const InstanceId id = start(*other, 1, R"({"who":"a"})").front();
    world_.run(*other, 10s);
    EXPECT_EQ(status(*other, id), "running");
    engine->set_queue("bank", {.concurrency = 1});
    // A number that changes is in force at once.
    other->poll();
    EXPECT_EQ(status(*other, id), "completed");
}

TEST_F(Queues, give_the_slot_of_a_dead_worker_to_another_when_its_lease_has_run_out) {
    const auto dying = world_.engine("dying");
    dying->register_workflow(flow());
    dying->set_queue("bank", {.concurrency = 1});
    start(*dying, 2, R"({"who":"a"})");
    const auto engine = world_.engine("w1");
    const auto step_on = [&] {
        world_.clock.advance(250ms);
        engine->poll();
    };
    // The first step of one of them is done by a worker that then claims the second, and dies.
    dying->run_one();
    while (slots("bank") == 0) {
        world_.store->claim_limited(
            {.worker = "dying", .handlers = {"pay"}, .queues = {"bank"}, .instance = {}}
        );
    }
    const TimePoint died = world_.clock.now();
    for (int i = 0; i < 30; ++i) step_on();
    EXPECT_EQ(completed(), 0);
    while (completed() < 2) {
        step_on();
        ASSERT_LT(world_.clock.now() - died, 20s);
    }
    EXPECT_EQ(most_held_, 1);
}

TEST_F(Queues, hold_no_slot_for_a_retry_that_waits) {
    const auto engine = world_.engine();
    WorkflowBuilder builder("flow");
    builder.step(
        "charge",
        {.handler = "fail",
         .attempts = {.max_attempts = 3, .backoff = {.initial = 60s}},
         .queue = "bank"}
    );
    engine->register_workflow(builder.build());
    engine->set_queue("bank", {.concurrency = 1});
    start(*engine, 3, "null");
    engine->poll();
    EXPECT_EQ(calls_, 3);
    EXPECT_EQ(slots("bank"), 0);
    world_.run(*engine);
    EXPECT_EQ(calls_, 9);
}

TEST_F(Queues, are_explained_for_instances_that_wait_for_them) {
    std::unique_ptr<Engine> engine;
    std::string said;
    std::vector<InstanceId> ids;
    WaitingFor waiting;
    world_.handlers.add_raw("look", [&](const Payload& input, const StepContext&) {
        for (const InstanceId& id : ids) {
            const InstanceView view = engine->show(id);
            if (view.waiting_for.empty() || view.waiting_for[0].kind != "queue") continue;
            waiting = view.waiting_for[0];
            said = engine->why(id);
        }
        return input;
    });
    engine = world_.engine();
    engine->poll();
    WorkflowBuilder builder("look");
    builder.step("look", {.queue = "bank", .concurrency_key = "input"});
    engine->register_workflow(builder.build());
    const auto show = [&](const QueueLimits& limits) {
        engine->set_queue("bank", limits);
        said.clear();
        ids.clear();
        for (int i = 0; i < 2; ++i)
            ids.push_back(engine->start("look", Payload::text(R"("acme")")).id);
        world_.run(*engine, 1s);
        return said;
    };
    EXPECT_THAT(
        show({.concurrency = 1}),
        HasSubstr("Step \"look\" waits for a slot of queue \"bank\" (1 of 1 in use).")
    );
    EXPECT_EQ(waiting.what, "bank");
    EXPECT_THAT(
        show({.concurrency_per_key = 1}),
        HasSubstr("waits for a slot of the key \"acme\" in queue \"bank\" (1 of 1 in use).")
    );
    EXPECT_THAT(
        show({.rate = QueueRate{1, 1h}}),
        HasSubstr("waits for the rate of queue \"bank\" (1 in 1h), next at ")
    );
}

TEST_F(Queues, refuse_limits_and_names_that_cannot_be) {
    const auto engine = world_.engine();
    const auto refuses = [&](const std::string& name, const QueueLimits& limits) {
        try {
            engine->set_queue(name, limits);
            return false;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
            return true;
        }
    };
    for (const char* name : {"", "1a", "a b", "-", "a/b"}) EXPECT_TRUE(refuses(name, {})) << name;
    const std::size_t longest = DefinitionLimits::kNameBytesMax;
    EXPECT_TRUE(refuses(std::string(longest + 1, 'a'), {.concurrency = 1}));
    EXPECT_FALSE(refuses(std::string(longest, 'a'), {.concurrency = 1}));
    EXPECT_TRUE(refuses("q", {.concurrency = -1}));
    EXPECT_TRUE(refuses("q", {.concurrency_per_key = 0}));
    for (const int beyond : {0, 1}) {
        const bool is_refused = beyond == 1;
        EXPECT_EQ(refuses("q", {.concurrency = QueueLimits::kConcurrencyMax + beyond}), is_refused);
        EXPECT_EQ(
            refuses("q", {.rate = QueueRate{QueueLimits::kStartsMax + beyond, 1s}}), is_refused
        );
        EXPECT_EQ(
            refuses("q", {.rate = QueueRate{1, QueueLimits::kPeriodMax + beyond * 1us}}), is_refused
        );
        EXPECT_EQ(
            refuses("q", {.rate = QueueRate{1, QueueLimits::kPeriodMin - beyond * 1us}}), is_refused
        );
        EXPECT_EQ(refuses("q", {.rate = QueueRate{1 - beyond, 1s}}), is_refused);
    }
}

TEST_F(Queues, fail_a_step_whose_key_is_not_a_text_or_too_long) {
    const auto engine = world_.engine();
    engine->register_workflow(flow());
    const auto end_of = [&](const Payload& who) {
        const InstanceId id = start(*engine, 1, R"({"who":)" + who + "}").front();
        world_.run(*engine, 1min);
        return status(*engine, id);
    };
    const std::string longest(kConcurrencyKeyBytesMax, 'k');
    EXPECT_EQ(end_of("\"" + longest + "\""), "completed");
    EXPECT_EQ(end_of("\"" + longest + "k\""), "failed");
    EXPECT_EQ(end_of("[1]"), "failed");
    EXPECT_EQ(end_of("true"), "completed");
    WorkflowBuilder builder("nul");
    builder.step("charge", {.handler = "pay", .concurrency_key = R"("a\x00b")"});
    engine->register_workflow(builder.build());
    const InstanceId id = engine->start("nul").id;
    world_.run(*engine, 1min);
    EXPECT_EQ(status(*engine, id), "failed");
}

TEST_F(Queues, and_workers_are_listed_with_what_no_worker_can_run) {
    const auto engine = world_.engine();
    engine->register_workflow(flow());
    WorkflowBuilder builder("other");
    builder.step("x", {.handler = "unknown", .queue = "gpu"});
    engine->register_workflow(builder.build());
    engine->start("other");
    engine->poll();
    const auto unserved = engine->unserved();
    ASSERT_THAT(unserved, SizeIs(1));
    EXPECT_EQ(unserved[0], (UnservedTasks{"unknown", "gpu", 1}));
    const auto workers = engine->workers();
    ASSERT_THAT(workers, SizeIs(1));
    EXPECT_EQ(workers[0].id, "w1");
    EXPECT_TRUE(workers[0].is_alive);
    const auto queues = engine->queues();
    ASSERT_THAT(queues, SizeIs(1));
    EXPECT_EQ(queues[0].name, "gpu");
    EXPECT_EQ(queues[0].waiting, 1);
    world_.clock.advance(1h);
    EXPECT_FALSE(engine->workers()[0].is_alive);
}

TEST_F(Queues, and_workers_are_listed_with_what_they_hold_and_whether_they_drain) {
    Engine::Core core(*world_.store, world_.handlers, world_.options());
    core.register_workflow(flow());
    core.environment.worker.is_driven = true;
    core.keeper.tick(world_.clock.steady_now());
    const Payload input = "null";
    core.start_all("flow", {&input, 1}, {});
    WorkerView worker = core.workers().at(0);
    EXPECT_EQ(worker.tasks, 1);
    EXPECT_EQ(worker.threads, 2);
    EXPECT_FALSE(worker.is_draining);
    core.environment.worker.is_draining = true;
    world_.clock.advance(1s);
    core.keeper.tick(world_.clock.steady_now());
    worker = core.workers().at(0);
    EXPECT_TRUE(worker.is_draining);
    EXPECT_EQ(worker.threads, 0);
    EXPECT_EQ(worker.tasks, 1) << "it still holds what it has";
}

}  // namespace
}  // namespace ebb::test
