// Whole instances through the engine: one store in memory, virtual time, one thread that polls.
// What a workflow means is the kernel's tests' matter; here it is that every kind of node gets its
// due from the engine.

#include "engine_world.h"
#include "support/store_counting.h"

namespace ebb::test {
namespace {

using testing::CountingStore;
using testing::StoreVerb;

TEST(Flow, runs_a_sequence_and_hands_outputs_on) {
    EngineWorld world;
    world.handlers.add("a", [](const Payload& input, const StepContext&) {
        return R"({"got":)" + input + "}";
    });
    world.handlers.add("b", [](const Payload& input, const StepContext&) { return input; });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a"), step("b")}));
    const InstanceId id = engine->start("test", "7").id;
    EXPECT_EQ(engine->poll(), 2);
    const Result result = engine->wait(id, 0s);
    EXPECT_EQ(result.status, "completed");
    EXPECT_TRUE(result.is_finished);
    EXPECT_EQ(result.output, R"({"got":7})");
    EXPECT_EQ(history_text(*engine, id), "started step_completed:a step_completed:b completed");
}

TEST(Flow, costs_one_start_and_one_commit_per_step_and_no_claim) {
    EngineWorld world;
    CountingStore counting(*world.memory);
    world.store = &counting;
    world.record({"a", "b", "c"});
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a"), step("b"), step("c")}));
    engine->poll();  // from here on it is a worker
    counting.reset();
    const InstanceId id = engine->start("test").id;
    EXPECT_TRUE(engine->run_one());
    EXPECT_TRUE(engine->run_one());
    EXPECT_TRUE(engine->run_one());
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(counting.calls(StoreVerb::Start), 1);
    EXPECT_EQ(counting.calls(StoreVerb::Commit), 3);
    EXPECT_EQ(counting.writes(), 4) << "no claim, no release";
    EXPECT_EQ(counting.calls(StoreVerb::History), 0) << "what was just produced is not read back";
}

}  // namespace
}  // namespace ebb::test
