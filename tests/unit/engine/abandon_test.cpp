// A call was made and its outcome cannot be kept, because the instance became unreadable while it
// ran: the next worker of the task must know of the call. The handler itself spoils the state.

#include "engine_world.h"
#include "support/store_faulty.h"

namespace ebb::test {
namespace {

using testing::Fault;
using testing::FaultyStore;
using testing::StoreVerb;

struct Abandon : ::testing::Test {
    EngineWorld world;
    InstanceRow good;

    void SetUp() override {
        world.handlers.add_raw("odd", [this](const Payload& input, const StepContext&) {
            world.calls.push_back("odd");
            if (world.calls.size() == 1) spoil();
            return input;
        });
    }

    static Definition once() {
        Node odd = step("odd", {.is_compensated = false});
        std::get<Step>(odd.kind).non_idempotent = true;
        return workflow({odd});
    }

    void spoil() {
        good = world.memory->list({}).at(0);
        write("{rubbish");
    }

    void write(const std::string& state) {
        const Commit commit{
            .instance = good.id,
            .expected_revision = world.memory->load(good.id)->revision,
            .status = good.status,
            .state = state,
            .history = {},
            .tasks = {},
            .lease_owner = {},
            .now = world.clock.now(),
        };
        ASSERT_EQ(world.memory->commit({&commit, 1}).at(0), CommitResult::Committed);
    }

    void expect_called_once(Engine& engine) {
        write(good.state);
        for (int minute = 0; minute < 10; ++minute) {
            engine.poll();
            world.clock.advance(std::chrono::minutes(1));
        }
        EXPECT_EQ(status(engine, good.id), "failed") << "the only call was already made";
        EXPECT_EQ(world.calls_text(), "odd");
    }
};

TEST_F(Abandon, a_call_is_remembered_when_its_instance_became_unreadable) {
    const auto engine = world.engine();
    engine->register_workflow(once());
    engine->start("test");
    engine->poll();
    const TaskRow task = world.memory->tasks(good.id).at(0);
    EXPECT_EQ(task.lease_owner, "");
    EXPECT_TRUE(task.was_lost);
    const auto other = world.engine("other");
    expect_called_once(*other);
}

TEST_F(Abandon, an_idempotent_step_is_called_once_more) {
    const auto engine = world.engine();
    Node odd = step("odd");
    Node next = step("b");
    world.record({"b"});
    engine->register_workflow(workflow({odd, next}));
    engine->start("test");
    engine->poll();
    write(good.state);
    world.run(*engine, std::chrono::minutes(10));
    EXPECT_EQ(status(*engine, good.id), "completed");
    EXPECT_EQ(world.calls_text(), "odd odd b");
}

TEST_F(Abandon, a_call_is_remembered_when_the_store_failed_at_that_moment_too) {
    for (const auto kind : {Fault::Kind::Unavailable, Fault::Kind::InDoubt}) {
        world.calls.clear();
        FaultyStore faulty(*world.memory);
        faulty.plan({.kind = kind, .nth = 1, .verb = StoreVerb::Abandon});
        world.store = &faulty;
        const auto engine = world.engine();
        engine->register_workflow(once());
        engine->start("test");
        engine->poll();
        EXPECT_TRUE(faulty.is_exhausted());
        for (int i = 0; i < 6; ++i) {
            world.clock.advance(std::chrono::seconds(10));
            engine->poll();
        }
        const TaskRow task = world.memory->tasks(good.id).at(0);
        EXPECT_EQ(task.lease_owner, "");
        EXPECT_TRUE(task.was_lost);
        world.store = world.memory.get();
        const auto other = world.engine("other");
        expect_called_once(*other);
        engine->drain(std::chrono::seconds(0));
    }
}

TEST_F(Abandon, a_worker_that_ends_before_the_store_knows_of_the_call_lets_its_leases_run_out) {
    FaultyStore faulty(*world.memory);
    faulty.plan({.kind = Fault::Kind::Unavailable, .nth = 1, .verb = StoreVerb::Abandon});
    world.store = &faulty;
    {
        const auto engine = world.engine();
        engine->register_workflow(once());
        engine->start("test");
        engine->poll();
        engine->drain(std::chrono::seconds(0));
        EXPECT_TRUE(faulty.is_exhausted());
    }
    world.store = world.memory.get();
    const auto other = world.engine("other");
    expect_called_once(*other);
}

TEST_F(Abandon, what_a_predecessor_of_the_same_name_called_is_given_back_as_lost) {
    {
        const auto starter = world.engine("starter");
        starter->register_workflow(once());
        starter->start("test");
    }
    // It dies in the handler, and the next process of its name cannot write down what that means.
    ASSERT_EQ(world.memory->claim({.worker = "w1", .handlers = {"odd"}}).size(), 1U);
    FaultyStore faulty(*world.memory);
    faulty.plan({.kind = Fault::Kind::Refused, .nth = 1, .verb = StoreVerb::Commit});
    world.store = &faulty;
    const auto engine = world.engine();
    engine->poll();
    ASSERT_TRUE(faulty.is_exhausted());
    // It is ended before it tries again.
    world.clock.advance(std::chrono::minutes(1));
    engine->drain(std::chrono::seconds(0));
    const auto other = world.engine("other");
    world.run(*other, std::chrono::minutes(1));
    const InstanceId id = world.memory->list({}).at(0).id;
    EXPECT_EQ(status(*other, id), "failed") << "the only call was already made";
    EXPECT_EQ(world.calls_text(), "");
}

}  // namespace
}  // namespace ebb::test
