// Whole instances through the engine: one store in memory, virtual time, one thread that polls.
// What a workflow means is the kernel's tests' matter; here it is that every kind of node gets its
// due from the engine.

#include <map>
#include <string>

#include "engine_world.h"
#include "support/store_counting.h"

namespace ebb::test {
namespace {

using testing::CountingStore;
using testing::StoreVerb;

TEST(Flow, runs_a_sequence_and_hands_outputs_on) {
    EngineWorld world;
    world.handlers.add_raw("a", [](const Payload& input, const StepContext&) {
        return R"({"got":)" + input + "}";
    });
    world.handlers.add_raw("b", [](const Payload& input, const StepContext&) { return input; });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a"), step("b")}));
    const InstanceId id = engine->start("test", Payload::text("7")).id;
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

TEST(Flow, commits_many_instances_together) {
    EngineWorld world;
    CountingStore counting(*world.memory);
    world.store = &counting;
    world.record({"a"});
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a")}));
    const std::vector<Payload> inputs(50, "1");
    EXPECT_EQ(engine->start_all("test", inputs).size(), 50U);
    EXPECT_EQ(engine->poll(), 50);
    EXPECT_EQ(engine->counters().finished, 50U);
    EXPECT_LT(counting.calls(StoreVerb::Commit), 25);
    EXPECT_EQ(counting.calls(StoreVerb::Start), 1);
}

TEST(Flow, runs_all_branches_of_a_parallel_block_and_joins_them) {
    EngineWorld world;
    world.record({"a", "b", "c", "d"});
    const auto engine = world.engine();
    engine->register_workflow(workflow(
        {parallel("both", {{"left", {step("a"), step("b")}}, {"right", {step("c")}}}), step("d")}
    ));
    const InstanceId id = engine->start("test", Payload::text("1")).id;
    EXPECT_EQ(engine->poll(), 4);
    EXPECT_EQ(engine->wait(id, 0s).output, R"({"left":1,"right":1})");
}

TEST(Flow, compensates_in_reverse_order_when_a_step_fails_for_good) {
    EngineWorld world;
    world.record({"a", "b"});
    std::vector<std::string> seen;
    world.handlers.add_raw("c", [](const Payload&, const StepContext&) -> Payload {
        throw PermanentError("out of stock", "no_stock");
    });
    world.handlers.add_raw("~c", [&](const Payload& input, const StepContext& context) {
        EXPECT_TRUE(context.compensates.has_value());
        EXPECT_EQ(context.compensates->outcome, CompensatedStep::Outcome::Failed);
        EXPECT_EQ(context.compensates->input, "5");
        EXPECT_TRUE(context.compensates->output.empty());
        EXPECT_NE(context.idempotency_key, context.compensates->idempotency_key);
        world.calls.push_back("~c");
        seen.push_back(input);
        return Payload("null");
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a"), step("b"), step("c")}));
    const InstanceId id = engine->start("test", Payload::text("5")).id;
    engine->poll();
    EXPECT_EQ(world.calls_text(), "a b ~c ~b ~a");
    const Result result = engine->wait(id, 0s);
    EXPECT_EQ(result.status, "failed");
    EXPECT_EQ(result.error, R"({"code":"no_stock","message":"out of stock","step":"c"})");
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(
        seen[0],
        R"({"input":5,"output":null,"error":{"code":"no_stock","message":"out of stock"},)"
        R"("outcome":"failed"})"
    );
}

TEST(Flow, hands_input_and_output_of_the_forward_step_to_its_compensation) {
    EngineWorld world;
    world.handlers.add_raw("a", [](const Payload&, const StepContext&) {
        return Payload("\"out\"");
    });
    Payload given;
    std::string forward_key;
    world.handlers.add_raw("~a", [&](const Payload& input, const StepContext& context) {
        given = input;
        forward_key = context.compensates->idempotency_key;
        return Payload("null");
    });
    world.handlers.add_raw("b", [](const Payload&, const StepContext&) -> Payload {
        throw PermanentError("no");
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a"), step("b", {.is_compensated = false})}));
    const InstanceId id = engine->start("test", Payload::text("\"in\"")).id;
    engine->poll();
    EXPECT_EQ(given, R"({"input":"in","output":"out","error":null,"outcome":"completed"})");
    EXPECT_EQ(forward_key, id.to_string() + ":1");
}

TEST(Flow, retries_after_the_backoff_and_not_before) {
    EngineWorld world;
    int calls = 0;
    world.handlers.add_raw("a", [&](const Payload& input, const StepContext& context) {
        EXPECT_EQ(context.attempt, ++calls);
        EXPECT_EQ(context.max_attempts, 3);
        if (calls < 3) throw std::runtime_error("not yet");
        return input;
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a", {.is_compensated = false, .max_attempts = 3})}));
    const InstanceId id = engine->start("test").id;
    EXPECT_EQ(engine->poll(), 1);
    EXPECT_EQ(engine->next_due(), world.clock.now() + 1s);
    world.clock.advance(1s - 1us);
    EXPECT_EQ(engine->poll(), 0);
    world.clock.advance(1us);
    EXPECT_EQ(engine->poll(), 1);
    world.clock.advance(2s);
    EXPECT_EQ(engine->poll(), 1);
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(engine->counters().attempts_failed, 2U);
}

TEST(Flow, obeys_a_handlers_own_delay) {
    EngineWorld world;
    world.handlers.add_raw("a", [](const Payload& input, const StepContext& context) {
        if (context.attempt == 1) throw RetryAfter("busy", 90s);
        return input;
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("a", {.is_compensated = false, .max_attempts = 2})}));
    engine->start("test");
    engine->poll();
    EXPECT_EQ(engine->next_due(), world.clock.now() + 90s);
}

TEST(Flow, waits_for_a_timer_without_polling_for_it) {
    EngineWorld world;
    world.record({"a"});
    const auto engine = world.engine();
    engine->register_workflow(
        workflow({node("rest", Delay{.duration = "30d", .until = {}}), step("a")})
    );
    const InstanceId id = engine->start("test").id;
    engine->poll();
    EXPECT_EQ(engine->next_due(), world.clock.now() + std::chrono::hours(24 * 30));
    world.clock.advance(std::chrono::hours(24 * 30));
    EXPECT_EQ(engine->poll(), 1);
    EXPECT_EQ(status(*engine, id), "completed");
}

TEST(Flow, keeps_the_idempotency_key_over_attempts_and_changes_it_in_a_loop) {
    EngineWorld world;
    std::vector<std::string> keys;
    world.handlers.add_raw("a", [&](const Payload&, const StepContext& context) {
        keys.push_back(context.idempotency_key);
        if (keys.size() == 1) throw std::runtime_error("once");
        return Payload(keys.size() < 3 ? "1" : "2");
    });
    const auto engine = world.engine();
    Loop loop;
    loop.until_expression = "input == 2";
    loop.steps = {step("a", {.is_compensated = false, .max_attempts = 2})};
    engine->register_workflow(workflow({node("again", loop)}));
    const InstanceId id = engine->start("test", Payload::text("0")).id;
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "completed");
    ASSERT_EQ(keys.size(), 3U);
    EXPECT_EQ(keys[0], keys[1]);
    EXPECT_NE(keys[1], keys[2]);
}

TEST(Flow, a_decision_and_a_signal_wait_without_work_and_continue_immediately) {
    EngineWorld world;
    world.record({"a"});
    const auto engine = world.engine();
    engine->register_workflow(
        workflow({node("approve", HumanDecision{}), node("paid", Signal{.signal = {}}), step("a")})
    );
    const InstanceId id = engine->start("test", Payload::text(R"({"n":1})")).id;
    engine->poll();
    EXPECT_EQ(engine->next_due(), kNever);
    engine->decide(id, {.by = "ann"});
    engine->signal(id, "paid", std::map<std::string, int>{{"amount", 3}}, {.by = "bob"});
    EXPECT_EQ(engine->poll(), 1);
    EXPECT_EQ(engine->wait(id, 0s).output, R"({"amount":3})");
}

TEST(Flow, asking_for_the_result_of_an_ended_instance_registers_no_worker) {
    EngineWorld world;
    world.record({"a"});
    const auto engine = world.engine("worker");
    engine->register_workflow(workflow({step("a")}));
    const InstanceId id = engine->start("test", Payload::text("1")).id;
    engine->poll();
    const auto client = world.engine("client");
    EXPECT_EQ(client->wait(id, 1h).output, "1");
    ASSERT_EQ(world.memory->workers().size(), 1U);
    EXPECT_EQ(world.memory->workers()[0].id, "worker");
}

TEST(Flow, joins_a_hundred_branches_with_one_look_into_the_past) {
    EngineWorld world;
    CountingStore counting(*world.memory);
    world.store = &counting;
    world.record({"a"});
    const auto engine = world.engine();
    std::vector<Parallel::Branch> branches;
    for (int i = 0; i < 100; ++i) {
        const std::string name = "b" + std::to_string(i);
        Step to_a;
        to_a.handler = "a";
        branches.push_back({name, {node(name + "_step", to_a)}});
    }
    engine->register_workflow(workflow({parallel("all", branches)}));
    const InstanceId id = engine->start("test", Payload::text("1")).id;
    engine->poll();
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_LE(counting.calls(StoreVerb::History), 2);
}

TEST(Flow, runs_ten_thousand_steps_of_one_instance) {
    EngineWorld world;
    CountingStore counting(*world.memory);
    world.store = &counting;
    int turns = 0;
    world.handlers.add_raw("a", [&](const Payload&, const StepContext&) {
        return std::to_string(++turns);
    });
    const auto engine = world.engine();
    Loop loop;
    loop.while_expression = "input < 10000";
    loop.max_iterations = 20'000;
    loop.steps = {step("a", {.is_compensated = false})};
    engine->register_workflow(workflow({node("again", loop)}));
    const InstanceId id = engine->start("test", Payload::text("0")).id;
    engine->poll();
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(turns, 10'000);
    EXPECT_LE(counting.calls(StoreVerb::History), 1) << "a hop reads nothing";
    EXPECT_LE(counting.calls(StoreVerb::Claim), 2);
}

TEST(Flow, rolls_back_a_long_instance_in_exact_reverse_order) {
    EngineWorld world;
    constexpr int kTurns = 200;
    int turns = 0;
    std::vector<std::string> undone;
    world.handlers.add_raw("a", [&](const Payload&, const StepContext&) {
        return std::to_string(++turns);
    });
    world.handlers.add_raw("~a", [&](const Payload&, const StepContext& context) {
        undone.push_back(context.compensates->output);
        return Payload("null");
    });
    const auto engine = world.engine();
    Loop loop;
    loop.while_expression = "input < " + std::to_string(kTurns);
    loop.steps = {step("a")};
    engine->register_workflow(
        workflow({node("again", loop), node("stop", Fail{.message = "enough"})})
    );
    const InstanceId id = engine->start("test", Payload::text("0")).id;
    engine->poll();
    EXPECT_EQ(status(*engine, id), "failed");
    ASSERT_EQ(undone.size(), static_cast<std::size_t>(kTurns));
    for (int i = 0; i < kTurns; ++i) {
        EXPECT_EQ(undone[static_cast<std::size_t>(i)], std::to_string(kTurns - i));
    }
}

}  // namespace
}  // namespace ebb::test
