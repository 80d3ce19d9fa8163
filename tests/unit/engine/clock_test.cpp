// Clocks that are set, forward and back, while workers live: of one machine, or of all of them and
// the store. A date may change what is due; it must not change which worker holds what.

#include "engine/core.h"
#include "engine_world.h"
#include "support/skewed_clock.h"
#include "support/store_faulty.h"

namespace ebb::test {
namespace {

struct Clocks : ::testing::TestWithParam<Duration> {
    EngineWorld world;
    SkewedClock own{world.clock};    ///< of the worker's machine
    std::function<void()> during_a;  ///< runs inside the handler of a

    void SetUp() override {
        world.handlers.add_raw("a", [this](const Payload& input, const StepContext&) {
            if (during_a) std::exchange(during_a, nullptr)();
            return input;
        });
        world.record({"b"});
    }

    EngineOptions options(const std::string& worker) {
        EngineOptions options = world.options(worker);
        options.clock = &own;
        return options;
    }

    static Definition a_then_b(Duration timeout = {}) {
        Node a = step("a", {.is_compensated = false, .max_attempts = 1});
        std::get<Step>(a.kind).attempts.timeout = timeout;
        return workflow({a, step("b")});
    }

    /// A worker that holds the first task of a new instance, and the instance.
    std::pair<std::unique_ptr<Engine::Core>, InstanceId> busy_worker() {
        auto core = std::make_unique<Engine::Core>(*world.store, world.handlers, options("busy"));
        core->environment.worker.is_driven = true;
        core->keeper.tick(own.steady_now());
        core->register_workflow(a_then_b());
        const Payload input = "null";
        const InstanceId id = core->start_all("test", {&input, 1}, {}).front().id;
        return {std::move(core), id};
    }

    std::string owner_of(const InstanceId& id) const {
        return world.memory->tasks(id).at(0).lease_owner;
    }
};

INSTANTIATE_TEST_SUITE_P(
    SetBy,
    Clocks,
    ::testing::Values<Duration>(-1h, -10min, -3s, 3s, 10min, 1h),
    [](const auto& jump) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(jump.param).count();
        return (seconds < 0 ? "back_" : "forward_") + std::to_string(std::abs(seconds));
    }
);

TEST_P(Clocks, a_worker_whose_clock_is_set_keeps_sending_heartbeats_and_keeps_its_leases) {
    const auto [core, id] = busy_worker();
    HandlerRegistry none;
    Engine other(*world.store, none, world.options("other"));
    own.error = GetParam();
    for (int i = 0; i < 30; ++i) {
        world.clock.advance(1s);
        core->keeper.tick(own.steady_now());
        other.poll();
    }
    EXPECT_EQ(owner_of(id), "busy");
    EXPECT_EQ(core->environment.statistics.leases_lost, 0U);
    EXPECT_TRUE(core->environment.worker.has_valid_leases(own.steady_now()));
}

TEST_P(Clocks, no_worker_takes_the_leases_of_a_living_one_when_the_stores_clock_is_set) {
    const auto [core, id] = busy_worker();
    HandlerRegistry none;
    Engine other(*world.store, none, world.options("other"));
    world.clock.jump(GetParam());
    other.poll();  // before the worker's next heartbeat
    for (int i = 0; i < 30; ++i) {
        world.clock.advance(1s);
        core->keeper.tick(own.steady_now());
        other.poll();
    }
    EXPECT_EQ(owner_of(id), "busy");
    EXPECT_EQ(core->environment.statistics.leases_lost, 0U);
}

TEST_P(Clocks, a_dead_worker_is_found_within_its_lease_and_a_second) {
    const auto dead = busy_worker();
    const auto alive = world.engine("alive");
    alive->poll();
    world.clock.jump(GetParam());
    for (int i = 0; i < 44; ++i) {
        world.clock.advance(250ms);
        alive->poll();
    }
    EXPECT_EQ(status(*alive, dead.second), "completed");
}

TEST_P(Clocks, a_call_has_its_whole_timeout) {
    Engine engine(*world.store, world.handlers, options("worker"));
    engine.register_workflow(a_then_b(20s));
    const InstanceId id = engine.start("test").id;
    during_a = [&] {
        own.error = GetParam();
        world.clock.advance(5s);
    };
    world.run(engine, 30s);
    EXPECT_EQ(status(engine, id), "completed") << engine.show(id).error;
}

TEST_P(Clocks, a_worker_that_has_not_beaten_for_a_lease_starts_nothing) {
    Engine engine(*world.store, world.handlers, options("worker"));
    engine.register_workflow(a_then_b());
    engine.poll();
    const InstanceId id = engine.start("test").id;
    during_a = [&] {
        own.error = GetParam();
        world.clock.advance(11s);
    };
    EXPECT_TRUE(engine.run_one());
    EXPECT_EQ(world.calls_text(), "") << "another worker may be calling b";
    own.error = 0s;  // what it wrote may be due by its own date only
    world.run(engine, 2h);
    EXPECT_EQ(status(engine, id), "completed");
}

TEST_P(Clocks, what_the_store_refused_is_written_again_after_the_same_pause) {
    testing::FaultyStore faulty(*world.memory);
    world.store = &faulty;
    Engine engine(*world.store, world.handlers, options("worker"));
    engine.register_workflow(a_then_b());
    const InstanceId id = engine.start("test").id;
    faulty.plan(
        {.kind = testing::Fault::Kind::Unavailable, .nth = 1, .verb = testing::StoreVerb::Commit}
    );
    engine.poll();
    ASSERT_EQ(status(engine, id), "running");
    own.error = GetParam();
    world.clock.advance(1s);
    engine.poll();
    EXPECT_EQ(status(engine, id), "completed");
}

}  // namespace
}  // namespace ebb::test
