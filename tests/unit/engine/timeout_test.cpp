// Handlers that take too long. In virtual time a handler "takes" as long as it moves the clock; the
// last tests use threads and a handler that really hangs until the test lets it go.

#include <latch>
#include <thread>

#include "engine_world.h"

namespace ebb::test {
namespace {

Node timed_step(const std::string& name, Duration timeout, int max_attempts = 1) {
    Node made = step(name, {.is_compensated = false, .max_attempts = max_attempts});
    std::get<Step>(made.kind).attempts.timeout = timeout;
    return made;
}

struct Timeouts : ::testing::Test {
    EngineWorld world;

    std::string error_of(Engine& engine, const InstanceId& id) { return engine.show(id).error; }
};

TEST_F(Timeouts, tells_the_handler_its_deadline) {
    world.handlers.add_raw("a", [&](const Payload& input, const StepContext& context) {
        EXPECT_EQ(context.deadline, world.clock.now() + 7s);
        EXPECT_FALSE(context.stop.stop_requested());
        return input;
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({timed_step("a", 7s)}));
    const InstanceId id = engine->start("test").id;
    EXPECT_EQ(engine->poll(), 1);
    EXPECT_EQ(status(*engine, id), "completed");
}

TEST_F(Timeouts, a_handler_that_fails_after_its_deadline_fails_by_timeout) {
    world.handlers.add_raw("a", [&](const Payload&, const StepContext&) -> Payload {
        world.clock.advance(7s);
        throw std::runtime_error("connection reset");
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({timed_step("a", 7s)}));
    const InstanceId id = engine->start("test").id;
    engine->poll();
    EXPECT_EQ(
        error_of(*engine, id), R"({"code":"timeout","message":"connection reset","step":"a"})"
    );
}

TEST_F(Timeouts, a_result_within_the_grace_still_counts) {
    world.handlers.add_raw("a", [&](const Payload& input, const StepContext&) {
        world.clock.advance(7s + 4s);
        return input;
    });
    EngineOptions options = world.options();
    options.lease = 60s;
    Engine engine(*world.store, world.handlers, options);
    engine.register_workflow(workflow({timed_step("a", 7s)}));
    const InstanceId id = engine.start("test").id;
    world.run(engine);
    EXPECT_EQ(status(engine, id), "completed");
}

TEST_F(Timeouts, a_result_after_the_grace_is_dropped) {
    world.handlers.add_raw("a", [&](const Payload& input, const StepContext& context) {
        world.clock.advance(7s + 5s);
        EXPECT_FALSE(context.stop.stop_requested()) << "nothing could ask: this thread is the only";
        return input;
    });
    EngineOptions options = world.options();
    options.lease = 60s;
    Engine engine(*world.store, world.handlers, options);
    engine.register_workflow(workflow({timed_step("a", 7s)}));
    const InstanceId id = engine.start("test").id;
    world.run(engine);
    EXPECT_EQ(status(engine, id), "failed");
    EXPECT_NE(error_of(engine, id).find("did not return in time"), std::string::npos);
    EXPECT_EQ(engine.counters().stuck_handlers, 0);
}

TEST_F(Timeouts, each_attempt_has_its_own_time) {
    int calls = 0;
    world.handlers.add_raw("a", [&](const Payload& input, const StepContext&) -> Payload {
        if (++calls == 1) {
            world.clock.advance(8s);
            throw std::runtime_error("slow");
        }
        return input;
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({timed_step("a", 7s, 2)}));
    const InstanceId id = engine->start("test").id;
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(calls, 2);
}

TEST_F(Timeouts, the_deadline_of_the_instance_fails_what_waits) {
    Definition definition = workflow({node("approve", HumanDecision{})});
    definition.deadline = 1h;
    const auto engine = world.engine();
    engine->register_workflow(definition);
    const InstanceId id = engine->start("test").id;
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "failed");
    EXPECT_NE(error_of(*engine, id).find("deadline_exceeded"), std::string::npos);
}

TEST_F(Timeouts, a_step_that_no_worker_has_fails_at_its_step_timeout) {
    Node a = step("a", {.is_compensated = false});
    std::get<Step>(a.kind).attempts.step_timeout = 1min;
    const auto engine = world.engine();  // without a handler for it
    engine->register_workflow(workflow({a}));
    const InstanceId id = engine->start("test").id;
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "failed");
    EXPECT_NE(error_of(*engine, id).find("step_timeout"), std::string::npos);
}

/// Waits for something that other threads do; fails the test when it does not come.
template <class Condition>
void eventually(Condition condition) {
    const SystemClock clock;
    const TimePoint end = clock.now() + 20s;
    while (!condition()) {
        ASSERT_LT(clock.now(), end) << "it did not happen";
        std::this_thread::yield();
    }
}

struct RealTimeouts : ::testing::Test {
    SystemClock clock;
    StorePtr store = make_memory_store(clock);
    HandlerRegistry handlers;
    std::latch release{1};

    EngineOptions options() {
        EngineOptions options;
        options.threads = 1;
        options.stop_grace = 20ms;
        return options;
    }
};

TEST_F(RealTimeouts, a_handler_that_hears_the_stop_ends_at_its_deadline) {
    handlers.add_raw("a", [](const Payload&, const StepContext& context) -> Payload {
        while (!context.stop.stop_requested()) std::this_thread::yield();
        throw std::runtime_error("stopped");
    });
    Engine engine(*store, handlers, options());
    engine.register_workflow(workflow({timed_step("a", 30ms)}));
    engine.run();
    const Result result = engine.wait(engine.start("test").id, 20s);
    EXPECT_EQ(result.status, "failed");
    EXPECT_NE(result.error.find("timeout"), std::string::npos);
    EXPECT_EQ(engine.counters().stuck_handlers, 0);
}

TEST_F(RealTimeouts, a_handler_that_does_not_return_is_given_up_and_its_thread_replaced) {
    handlers.add_raw("a", [this](const Payload& input, const StepContext&) {
        release.wait();
        return input;
    });
    handlers.add_raw("b", [](const Payload& input, const StepContext&) { return input; });
    Engine engine(*store, handlers, options());
    engine.register_workflow(workflow({timed_step("a", 10ms)}));
    Definition other = workflow({step("b", {.is_compensated = false})});
    other.name = "other";
    engine.register_workflow(other);
    engine.run();
    const InstanceId stuck = engine.start("test").id;
    EXPECT_EQ(engine.wait(stuck, 20s).status, "failed");
    EXPECT_EQ(engine.counters().stuck_handlers, 1);
    EXPECT_EQ(engine.wait(engine.start("other").id, 20s).status, "completed")
        << "the pool's only thread is stuck, and another one has taken its place";
    release.count_down();
    eventually([&] { return engine.counters().stuck_handlers == 0; });
    EXPECT_EQ(engine.counters().steps, 1U) << "the late result was dropped";
    EXPECT_EQ(engine.wait(engine.start("other").id, 20s).status, "completed");
}

TEST_F(RealTimeouts, a_cancelled_handler_is_asked_to_stop) {
    std::latch begun{1};
    handlers.add_raw("a", [&](const Payload&, const StepContext& context) -> Payload {
        begun.count_down();
        while (!context.stop.stop_requested()) std::this_thread::yield();
        throw std::runtime_error("stopped");
    });
    Engine engine(*store, handlers, options());
    engine.register_workflow(workflow({step("a", {.is_compensated = false, .max_attempts = 5})}));
    engine.run();
    const InstanceId id = engine.start("test").id;
    begun.wait();
    engine.cancel(id);
    EXPECT_EQ(engine.wait(id, 20s).status, "cancelled");
}

/// Its program was ended by us, or it gave up its work: it is unknown how far it had come.
TEST_F(RealTimeouts, a_handler_that_fails_when_it_is_stopped_has_an_unknown_outcome) {
    std::latch begun{1};
    std::string told;
    handlers.add_raw("a", [&](const Payload&, const StepContext& context) -> Payload {
        begun.count_down();
        while (!context.stop.stop_requested()) std::this_thread::yield();
        throw std::runtime_error("killed by signal 15");
    });
    handlers.add_raw("~a", [&](const Payload& input, const StepContext&) {
        told = input;
        return input;
    });
    Engine engine(*store, handlers, options());
    engine.register_workflow(workflow({step("a", {.max_attempts = 5})}));
    engine.run();
    const InstanceId id = engine.start("test").id;
    begun.wait();
    engine.cancel(id);
    EXPECT_EQ(engine.wait(id, 20s).status, "cancelled");
    EXPECT_NE(told.find(R"("outcome":"unknown")"), std::string::npos) << told;
    EXPECT_NE(told.find("killed by signal 15"), std::string::npos) << "with what it said";
}

}  // namespace
}  // namespace ebb::test
