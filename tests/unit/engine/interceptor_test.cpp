// Interceptors may refuse starts, calls and outputs; worker observers see how long calls waited.

#include <condition_variable>
#include <mutex>

#include <nlohmann/json.hpp>

#include <ebb/ebb.h>
#include <ebb/interceptor.h>
#include <ebb/stateless.h>
#include <ebb/worker_observer.h>

#include "engine_world.h"

namespace ebb::test {
namespace {

/// Refuses what a test tells it to.
struct Gatekeeper final : Interceptor {
    std::function<void(const StartRequest&)> on_start_request;
    std::function<void(const StepContext&, const Payload&)> on_call;
    std::function<void(const StepContext&, const Payload&)> on_output;

    void before_start(const StartRequest& start) override {
        if (on_start_request) on_start_request(start);
    }

    void before_call(const StepContext& step, const Payload& input) override {
        if (on_call) on_call(step, input);
    }

    void after_call(const StepContext& step, const Payload& output) override {
        if (on_output) on_output(step, output);
    }
};

struct Intercepted : ::testing::Test {
    EngineWorld world;
    std::shared_ptr<Gatekeeper> gate = std::make_shared<Gatekeeper>();

    std::unique_ptr<Engine> engine(const Definition& definition) {
        auto engine = world.engine();
        engine->add_observer(gate);
        engine->register_workflow(definition);
        return engine;
    }

    Json error_of(Engine& engine, const InstanceId& id) {
        return Json::parse(engine.show(id).error);
    }
};

TEST_F(Intercepted, a_refused_start_stores_nothing) {
    world.record({"a"});
    const auto engine = this->engine(workflow({step("a", {.is_compensated = false})}));
    gate->on_start_request = [](const StartRequest& start) {
        EXPECT_EQ(start.workflow, "test");
        EXPECT_EQ(start.version, 1);
        EXPECT_EQ(start.by, "ann");
        if (start.input == "13") throw Error(ErrorCode::NotAllowed, "Not 13.");
    };
    EXPECT_THROW(engine->start("test", 13, {.key = "k", .by = "ann"}), Error);
    EXPECT_FALSE(engine->find_key("test", "k")) << "the key stays free";
    const std::vector<Payload> inputs{"1", "13", "2"};
    EXPECT_THROW(engine->start_all("test", inputs, {.by = "ann"}), Error);
    EXPECT_TRUE(engine->list().empty()) << "all or none";
    EXPECT_TRUE(engine->start("test", 12, {.key = "k", .by = "ann"}).is_new);
}

TEST_F(Intercepted, a_refused_call_is_a_failed_attempt_that_called_nothing) {
    world.record({"a"});
    const auto engine =
        this->engine(workflow({step("a", {.is_compensated = false, .max_attempts = 3})}));
    int refusals = 0;
    gate->on_call = [&](const StepContext& step, const Payload& input) {
        EXPECT_EQ(input, "5");
        if (step.attempt < 3) {
            ++refusals;
            throw RetryAfter("closed", 1min);
        }
    };
    const InstanceId id = engine->start("test", 5).id;
    world.run(*engine);
    EXPECT_EQ(refusals, 2);
    EXPECT_EQ(world.calls_text(), "a");
    EXPECT_EQ(
        history_text(*engine, id),
        "started step_retried:a step_retried:a step_completed:a completed"
    );
    EXPECT_GE(engine->show(id).summary.finished_at - engine->show(id).summary.created_at, 2min);
}

TEST_F(Intercepted, a_refusal_for_good_is_compensated_like_a_failure) {
    world.record({"a", "b"});
    const auto engine = this->engine(workflow({step("a"), step("b", {.is_compensated = false})}));
    gate->on_call = [](const StepContext& step, const Payload&) {
        if (step.step == "b") throw PermanentError("not today", "forbidden");
    };
    const InstanceId id = engine->start("test", 1).id;
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "failed");
    EXPECT_EQ(error_of(*engine, id)["code"], "forbidden");
    EXPECT_EQ(world.calls_text(), "a ~a");
}

TEST_F(Intercepted, an_output_may_be_refused_after_the_call) {
    world.record({"a"});
    const auto engine = this->engine(workflow({step("a", {.is_compensated = false})}));
    gate->on_output = [](const StepContext&, const Payload& output) {
        if (output == "7") throw PermanentError("seven is not allowed", "bad_output");
    };
    const InstanceId bad = engine->start("test", 7).id;
    const InstanceId good = engine->start("test", 8).id;
    world.run(*engine);
    EXPECT_EQ(status(*engine, bad), "failed");
    EXPECT_EQ(error_of(*engine, bad)["message"], "seven is not allowed");
    EXPECT_EQ(status(*engine, good), "completed");
    EXPECT_EQ(world.calls_text(), "a a");
}

TEST_F(Intercepted, asynchronous_calls_are_checked_at_both_ends) {
    int begun = 0;
    world.handlers.add("now", [&begun](int input, const Completion<int>& completion) {
        ++begun;
        completion.complete(input);
    });
    const auto engine = this->engine(workflow({step("now", {.is_compensated = false})}));
    gate->on_call = [](const StepContext&, const Payload& input) {
        if (input == "1") throw PermanentError("no input of 1", "bad_input");
    };
    gate->on_output = [](const StepContext&, const Payload& output) {
        if (output == "2") throw PermanentError("no output of 2", "bad_output");
    };
    std::vector<InstanceId> ids;
    for (const int input : {1, 2, 3}) ids.push_back(engine->start("test", input).id);
    world.run(*engine);
    EXPECT_EQ(begun, 2);
    EXPECT_EQ(error_of(*engine, ids[0])["code"], "bad_input");
    EXPECT_EQ(error_of(*engine, ids[1])["code"], "bad_output");
    EXPECT_EQ(engine->show(ids[2]).output, "3");
}

TEST_F(Intercepted, the_first_refusal_counts) {
    world.record({"a"});
    const auto second = std::make_shared<Gatekeeper>();
    bool was_asked = false;
    const auto engine = this->engine(workflow({step("a", {.is_compensated = false})}));
    engine->add_observer(second);
    gate->on_call = [](const StepContext&, const Payload&) { throw PermanentError("x", "first"); };
    second->on_call = [&](const StepContext&, const Payload&) { was_asked = true; };
    const InstanceId id = engine->start("test").id;
    world.run(*engine);
    EXPECT_EQ(error_of(*engine, id)["code"], "first");
    EXPECT_FALSE(was_asked);
}

TEST_F(Intercepted, the_stateless_engine_asks_too) {
    world.record({"a"});
    stateless::Engine engine(world.handlers);
    engine.add_observer(gate);
    engine.add(workflow({step("a", {.is_compensated = false})}));
    gate->on_start_request = [](const StartRequest& start) {
        if (start.input == "13") throw Error(ErrorCode::NotAllowed, "Not 13.");
    };
    gate->on_call = [](const StepContext&, const Payload& input) {
        if (input == "1") throw PermanentError("no input of 1", "bad_input");
    };
    EXPECT_THROW(engine.start("test", 13), Error);
    const stateless::Snapshot refused = engine.execute(engine.start("test", 1));
    EXPECT_EQ(to_string(refused.instance_status()), "failed");
    const stateless::Snapshot fine = engine.execute(engine.start("test", 2));
    EXPECT_EQ(to_string(fine.instance_status()), "completed");
    EXPECT_EQ(world.calls_text(), "a");
}

struct Stopwatch final : WorkerObserver {
    std::vector<std::pair<std::string, Duration>> calls;

    void on_call(const StepContext& /*step*/, const CallDelay& delay) override {
        calls.emplace_back(delay.queue, delay.waited);
    }
};

TEST_F(Intercepted, a_worker_observer_sees_how_long_a_call_was_due) {
    world.record({"a"});
    const auto stopwatch = std::make_shared<Stopwatch>();
    const auto engine =
        this->engine(workflow({step("a", {.is_compensated = false, .max_attempts = 2})}));
    engine->add_observer(stopwatch);
    gate->on_call = [](const StepContext& step, const Payload&) {
        if (step.attempt == 1) throw RetryAfter("closed", 1min);
    };
    engine->start("test");
    world.clock.advance(5s);
    engine->poll();
    world.clock.advance(1min + 3s);
    engine->poll();
    using Call = std::pair<std::string, Duration>;
    EXPECT_EQ(stopwatch->calls, (std::vector<Call>{{"default", 5s}, {"default", 3s}}));
}

}  // namespace
}  // namespace ebb::test
