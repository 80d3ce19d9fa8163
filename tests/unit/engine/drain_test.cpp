// The end of a worker: what runs may finish, what has not begun goes back, and the next worker need
// not wait for any lease to run out.

#include <atomic>
#include <latch>
#include <thread>

#include "engine_world.h"
#include "support/store_faulty.h"

namespace ebb::test {
namespace {

TEST(Drain, hands_back_what_has_not_begun_and_signs_off) {
    EngineWorld world;
    world.record({"a"});
    const auto first = world.engine("first");
    const auto second = world.engine("second");
    first->register_workflow(workflow({step("a")}));
    first->poll();
    const InstanceId id = first->start("test").id;
    EXPECT_EQ(world.memory->tasks(id).at(0).lease_owner, "first");
    EXPECT_TRUE(first->drain(0s));
    EXPECT_TRUE(world.memory->tasks(id).at(0).lease_owner.empty());
    EXPECT_EQ(second->poll(), 1) << "at once, no lease has to run out";
    EXPECT_EQ(history_text(*second, id), "started step_completed:a completed")
        << "and nothing was lost";
    for (const WorkerRow& worker : world.memory->workers()) EXPECT_NE(worker.id, "first");
}

TEST(Drain, leaves_alone_what_a_dead_predecessor_of_its_name_may_have_called) {
    EngineWorld world;
    world.record({"a"});
    auto dead = world.engine("same");
    Node a = step("a");
    std::get<Step>(a.kind).non_idempotent = true;
    dead->register_workflow(workflow({a}));
    dead->poll();
    const InstanceId id = dead->start("test").id;
    testing::FaultyStore faulty(*world.memory);
    world.store = &faulty;
    {
        // It ends before the store has answered it.
        const auto successor = world.engine("same");
        faulty.plan(
            {.kind = testing::Fault::Kind::Unavailable,
             .nth = 1,
             .verb = testing::StoreVerb::Heartbeat}
        );
        successor->poll();
        successor->drain(0s);
    }
    EXPECT_EQ(world.memory->tasks(id).at(0).lease_owner, "same");
    const auto other = world.engine("other");
    for (int i = 0; i < 20; ++i) {
        other->poll();
        world.clock.advance(1s);
    }
    EXPECT_EQ(status(*other, id), "failed") << "the only call may already have been made";
    EXPECT_EQ(world.calls_text(), "~a");
}

TEST(Drain, is_idempotent_and_the_engine_serves_as_a_client_afterwards) {
    EngineWorld world;
    world.record({"a"});
    const auto first = world.engine("first");
    first->register_workflow(workflow({step("a")}));
    first->poll();
    EXPECT_TRUE(first->drain(1s));
    EXPECT_TRUE(first->drain(1s));
    EXPECT_EQ(first->poll(), 0);
    EXPECT_THROW(first->run(), Error);
    const InstanceId id = first->start("test").id;
    EXPECT_EQ(first->poll(), 0) << "it takes nothing any more";
    EXPECT_EQ(world.engine("second")->poll(), 1);
    EXPECT_EQ(status(*first, id), "completed");
}

struct DrainThreads : ::testing::Test {
    SystemClock clock;
    StorePtr store = make_memory_store(clock);
    HandlerRegistry handlers;
    std::atomic<bool> has_begun{false};

    std::unique_ptr<Engine> engine(std::string worker, Duration grace = 5s) {
        EngineOptions options;
        options.worker_id = std::move(worker);
        options.stop_grace = grace;
        options.threads = 2;
        return std::make_unique<Engine>(*store, handlers, options);
    }
};

TEST_F(DrainThreads, lets_a_running_handler_finish_within_the_limit) {
    std::latch finish{1};
    handlers.add_raw("a", [&](const Payload& input, const StepContext& context) {
        has_begun = true;
        has_begun.notify_all();
        finish.wait();
        EXPECT_FALSE(context.stop.stop_requested());
        return input;
    });
    handlers.add_raw("b", [](const Payload& input, const StepContext&) { return input; });
    const auto worker = engine("one");
    worker->register_workflow(
        workflow({step("a", {.is_compensated = false}), step("b", {.is_compensated = false})})
    );
    worker->run();
    const InstanceId id = worker->start("test").id;
    has_begun.wait(false);
    std::jthread later([&] {
        // A drained engine leases nothing any more: then the handler may return.
        while (!store->tasks(worker->start("test").id).at(0).lease_owner.empty()) {
            std::this_thread::yield();
        }
        finish.count_down();
    });
    EXPECT_TRUE(worker->drain(20s));
    const auto tasks = store->tasks(id);
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].handler, "b") << "its result is kept, the next step is left to others";
    EXPECT_TRUE(tasks[0].lease_owner.empty());
}

TEST_F(DrainThreads, asks_what_takes_longer_to_stop_and_does_not_count_that_as_a_failure) {
    handlers.add_raw("a", [&](const Payload& input, const StepContext& context) -> Payload {
        if (context.attempt > 1) return input;
        has_begun = true;
        has_begun.notify_all();
        while (!context.stop.stop_requested()) std::this_thread::yield();
        throw std::runtime_error("interrupted");
    });
    const auto first = engine("first");
    first->register_workflow(workflow({step("a", {.is_compensated = false})}));
    first->run();
    const InstanceId id = first->start("test").id;
    has_begun.wait(false);
    EXPECT_FALSE(first->drain(10ms));
    const auto second = engine("second");
    second->run();
    EXPECT_EQ(second->wait(id, 20s).status, "completed") << "max_attempts is 1";
}

TEST_F(DrainThreads, gives_up_a_handler_that_does_not_listen) {
    std::latch finish{1};
    handlers.add_raw("a", [&](const Payload& input, const StepContext& context) {
        if (context.attempt == 1) {
            has_begun = true;
            has_begun.notify_all();
            finish.wait();
        }
        return input;
    });
    auto first = engine("first", 20ms);
    first->register_workflow(workflow({step("a", {.is_compensated = false})}));
    first->run();
    const InstanceId id = first->start("test").id;
    has_begun.wait(false);
    bool is_in_time = true;
    std::jthread draining([&] {
        is_in_time = first->drain(10ms);
        first.reset();
    });
    const auto second = engine("second");
    second->run();
    EXPECT_EQ(second->wait(id, 20s).status, "completed") << "while the first one still hangs";
    finish.count_down();
    draining.join();
    EXPECT_FALSE(is_in_time);
}

TEST_F(DrainThreads, the_destructor_ends_a_running_engine) {
    handlers.add_raw("a", [&](const Payload&, const StepContext& context) -> Payload {
        has_begun = true;
        has_begun.notify_all();
        while (!context.stop.stop_requested()) std::this_thread::yield();
        throw std::runtime_error("interrupted");
    });
    InstanceId id;
    {
        const auto worker = engine("one");
        worker->register_workflow(workflow({step("a", {.is_compensated = false})}));
        worker->run();
        id = worker->start("test").id;
        has_begun.wait(false);
    }
    EXPECT_TRUE(store->tasks(id).at(0).lease_owner.empty());
    EXPECT_TRUE(store->workers().empty());
}

}  // namespace
}  // namespace ebb::test
