// Asynchronous handlers: calls that continue without a thread.

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include <ebb/ebb.h>

#include "engine_world.h"

namespace ebb::test {
namespace {

/// Completions that a test has taken in, by the input of their calls.
struct Desk {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::pair<int, Completion<int>>> open;

    void take(int input, const Completion<int>& completion) {
        const std::lock_guard lock(mutex);
        open.emplace_back(input, completion);
        changed.notify_all();
    }

    std::pair<int, Completion<int>> give() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return !open.empty(); });
        auto first = std::move(open.front());
        open.pop_front();
        return first;
    }

    void wait_for(std::size_t count) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return open.size() >= count; });
    }
};

struct Async : ::testing::Test {
    EngineWorld world;
    Desk desk;

    void SetUp() override {
        world.handlers.add("ask", [this](int input, const Completion<int>& completion) {
            desk.take(input, completion);
        });
        world.record({"a", "b"});
    }

    Json error_of(Engine& engine, const InstanceId& id) {
        return Json::parse(engine.show(id).error);
    }
};

TEST_F(Async, a_polled_engine_begins_the_call_and_takes_the_outcome_later) {
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("ask"), step("a")}));
    const InstanceId id = engine->start("test", 6).id;
    EXPECT_EQ(engine->poll(), 1);
    EXPECT_EQ(engine->counters().in_flight, 1);
    EXPECT_EQ(engine->poll(), 0) << "it is not called again";
    auto [input, completion] = desk.give();
    EXPECT_TRUE(completion.complete(input + 1));
    EXPECT_FALSE(completion.complete(99)) << "only the first outcome counts";
    EXPECT_FALSE(completion.fail("no"));
    EXPECT_EQ(status(*engine, id), "running") << "completing does no I/O";
    EXPECT_LE(engine->next_due(), world.clock.now()) << "there is something to do";
    engine->poll();
    EXPECT_EQ(engine->show(id).output, "7");
    EXPECT_EQ(world.calls_text(), "a");
}

TEST_F(Async, a_call_may_complete_before_its_handler_returns) {
    world.handlers.add("now", [](const Completion<int>& completion) { completion.complete(1); });
    world.handlers.add("pass", [](const Completion<>& completion) { completion.complete(); });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("now"), step("pass")}));
    const InstanceId id = engine->start("test").id;
    EXPECT_EQ(engine->wait<int>(id, 10s), 1);
}

TEST_F(Async, failures_are_retried_and_undone_as_any_others) {
    const auto engine = world.engine();
    Step ask;
    ask.attempts.max_attempts = 2;
    engine->register_workflow(
        WorkflowBuilder("test").step("a", {.compensate = "~a"}).step("ask").max_attempts(2).build()
    );
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    EXPECT_TRUE(desk.give().second.fail("the line is busy"));
    world.run(*engine, 1h);
    EXPECT_TRUE(desk.give().second.fail(PermanentError("wrong number", "wrong")));
    world.run(*engine, 1h);
    EXPECT_EQ(status(*engine, id), "failed");
    EXPECT_EQ(error_of(*engine, id).at("code"), "wrong");
    EXPECT_EQ(world.calls_text(), "a ~a");
}

TEST_F(Async, a_dropped_completion_is_a_failure_that_says_so) {
    world.handlers.add("forget", [](const Completion<int>&) {});
    const auto engine = world.engine();
    engine->register_workflow(WorkflowBuilder("test").step("forget").max_attempts(1).build());
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    const Json error = error_of(*engine, id);
    EXPECT_EQ(error.at("code"), "abandoned");
    EXPECT_EQ(
        error.at("message"),
        "The asynchronous handler \"forget\" dropped its completion without completing it."
    );
}

TEST_F(Async, what_the_handler_throws_before_it_returns_is_its_failure) {
    world.handlers.add("throw", [this](int input, const Completion<int>& completion) {
        desk.take(input, completion);
        throw PermanentError("cannot begin", "closed");
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("throw")}));
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    EXPECT_EQ(error_of(*engine, id).at("code"), "closed");
    EXPECT_FALSE(desk.give().second.complete(1));
}

TEST_F(Async, an_output_that_json_does_not_have_fails_for_good_as_that_of_any_other_handler) {
    std::optional<Completion<double>> open;
    world.handlers.add("sum", [&](const Completion<double>& completion) { open = completion; });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("sum", {.is_compensated = false})}));
    const InstanceId id = engine->start("test").id;
    engine->poll();
    EXPECT_NO_THROW(EXPECT_TRUE(open->complete(std::numeric_limits<double>::quiet_NaN())));
    EXPECT_FALSE(open->complete(1.5)) << "only the first outcome counts";
    engine->poll();
    EXPECT_EQ(status(*engine, id), "failed");
    EXPECT_EQ(error_of(*engine, id).at("code"), "invalid_output");
    EXPECT_EQ(
        error_of(*engine, id).at("message"),
        "The value cannot be written as JSON: it is NaN, which JSON does not have."
    );
}

TEST_F(Async, an_output_that_is_too_large_fails_for_good) {
    world.handlers.add("large", [](const Completion<std::string>& completion) {
        completion.complete(std::string(2 << 20, 'x'));
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("large")}));
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    EXPECT_EQ(error_of(*engine, id).at("code"), "invalid_output");
}

TEST_F(Async, a_call_that_is_late_is_asked_to_stop_and_then_given_up) {
    const auto engine = world.engine();
    engine->register_workflow(
        WorkflowBuilder("test").step("ask").max_attempts(1).timeout(10s).build()
    );
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    const Completion<int> completion = desk.give().second;
    EXPECT_LE(engine->next_due(), world.clock.now() + 10s);
    world.clock.advance(10s);
    engine->poll();
    EXPECT_TRUE(completion.context().stop.stop_requested());
    EXPECT_EQ(status(*engine, id), "running") << "it has its grace";
    world.clock.advance(engine->next_due() - world.clock.now());
    world.run(*engine, 1min);
    EXPECT_EQ(status(*engine, id), "failed");
    EXPECT_EQ(error_of(*engine, id).at("code"), "timeout");
    EXPECT_NE(
        error_of(*engine, id).at("message").get<std::string>().find("did not complete in time"),
        std::string::npos
    );
    EXPECT_EQ(engine->counters().stuck_handlers, 1);
    EXPECT_FALSE(completion.complete(1)) << "the engine has given it up";
    EXPECT_EQ(engine->counters().stuck_handlers, 0);
}

TEST_F(Async, a_cancelled_call_is_asked_to_stop_and_its_late_success_is_undone) {
    world.handlers.add("~ask", [this](const Json&) { world.calls.emplace_back("~ask"); });
    const auto engine = world.engine();
    engine->register_workflow(WorkflowBuilder("test").step("ask", {.compensate = "~ask"}).build());
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    const Completion<int> completion = desk.give().second;
    engine->cancel(id);
    engine->poll();
    EXPECT_TRUE(completion.context().stop.stop_requested());
    EXPECT_TRUE(completion.complete(1));
    world.run(*engine, 1min);
    EXPECT_EQ(status(*engine, id), "cancelled");
    EXPECT_EQ(world.calls_text(), "~ask");
}

TEST_F(Async, a_completion_may_outlive_its_engine) {
    std::optional<Completion<int>> kept;
    {
        EngineOptions options = world.options();
        options.stop_grace = 1ms;
        Engine engine(*world.store, world.handlers, options);
        engine.register_workflow(workflow({step("ask")}));
        engine.start("test", 1);
        engine.poll();
        kept = desk.give().second;
    }
    EXPECT_TRUE(kept->context().stop.stop_requested());
    kept->context().log(LogLevel::Info, "still here");
    kept->context().progress(0.5);
    EXPECT_FALSE(kept->complete(1));
}

TEST_F(Async, drain_waits_for_what_is_in_flight) {
    EngineOptions options = world.options();
    Engine engine(*world.store, world.handlers, options);
    engine.register_workflow(workflow({step("ask")}));
    engine.run();
    const InstanceId id = engine.start("test", 1).id;
    auto call = desk.give();
    std::jthread completes([&] { call.second.complete(2); });
    EXPECT_TRUE(engine.drain(60s));
    EXPECT_EQ(engine.show(id).output, "2");
}

TEST_F(Async, no_step_follows_once_a_drain_has_begun) {
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("ask"), step("a")}));
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    engine->begin_drain();
    desk.give().second.complete(2);
    EXPECT_EQ(engine->poll(), 0);
    EXPECT_TRUE(engine->drain(60s));
    EXPECT_TRUE(world.calls.empty());
    EXPECT_EQ(engine->show(id).steps.front().status, StepStatus::Completed);
    EXPECT_EQ(engine->show(id).summary.status, InstanceStatus::Running);
    EXPECT_THROW(engine->run(), Error);
}

TEST_F(Async, leases_are_kept_while_a_call_is_in_flight) {
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("ask")}));
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    const auto other = world.engine("w2");
    for (int i = 0; i < 60; ++i) {
        world.clock.advance(1s);
        engine->poll();
        EXPECT_EQ(other->poll(), 0) << "after " << i << " s";
    }
    desk.give().second.complete(2);
    engine->poll();
    EXPECT_EQ(engine->show(id).output, "2");
}

TEST_F(Async, no_more_are_in_flight_than_the_option_says) {
    EngineOptions options = world.options();
    options.in_flight_max = 5;
    Engine engine(*world.store, world.handlers, options);
    engine.register_workflow(workflow({step("ask")}));
    engine.start_all("test", std::vector<int>(20, 1));
    for (int done = 0; done < 20; ++done) {
        engine.poll();
        EXPECT_EQ(engine.counters().in_flight, std::min(5, 20 - done));
        EXPECT_EQ(desk.open.size(), static_cast<std::size_t>(std::min(5, 20 - done)));
        desk.give().second.complete(1);
    }
    engine.poll();
    EXPECT_EQ(engine.counters().finished, 20U);
}

TEST(AsyncThreads, ten_thousand_calls_are_in_flight_at_once) {
    constexpr int kCalls = 10'000;
    Desk desk;
    HandlerRegistry handlers;
    std::mutex mutex;
    std::set<std::thread::id> threads;
    handlers.add("ask", [&](int input, const Completion<int>& completion) {
        {
            const std::lock_guard lock(mutex);
            threads.insert(std::this_thread::get_id());
        }
        desk.take(input, completion);
    });
    const StorePtr store = open_memory_store();
    Engine engine(*store, handlers, {.threads = 2, .in_flight_max = kCalls});
    engine.register_workflow(WorkflowBuilder("test").step("ask").build());
    engine.run();
    std::vector<int> inputs(kCalls);
    for (int i = 0; i < kCalls; ++i) inputs[static_cast<std::size_t>(i)] = i;
    const auto started = engine.start_all("test", inputs);
    desk.wait_for(kCalls);  // all of them have begun, none has ended
    EXPECT_EQ(engine.counters().finished, 0U);
    EXPECT_LE(threads.size(), 2U);
    std::vector<std::jthread> completing;
    for (int i = 0; i < 4; ++i) {
        completing.emplace_back([&] {
            for (int done = 0; done < kCalls / 4; ++done) {
                const auto [input, completion] = desk.give();
                EXPECT_TRUE(completion.complete(input + 1));
            }
        });
    }
    for (int i = 0; i < kCalls; ++i) {
        EXPECT_EQ(engine.wait<int>(started[static_cast<std::size_t>(i)].id), i + 1);
    }
    completing.clear();
    EXPECT_TRUE(engine.drain(60s));
    EXPECT_LT(engine.counters().commits, static_cast<std::uint64_t>(kCalls))
        << "outcomes share commits";
}

TEST_F(Async, progress_is_written_with_the_next_heartbeat_the_newest_value_only) {
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("ask")}));
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    const Completion<int> completion = desk.give().second;
    for (int percent = 0; percent <= 40; ++percent) {
        completion.context().progress(Json{{"percent", percent}});
    }
    EXPECT_TRUE(engine->show(id).steps.at(0).progress.empty());
    world.clock.advance(1s);
    engine->poll();
    EXPECT_EQ(engine->show(id).steps.at(0).progress, R"({"percent":40})");
    world.clock.advance(1s);
    engine->poll();
    completion.context().progress(Json{{"percent", 99}});
    completion.complete(1);
    engine->poll();
    EXPECT_EQ(history_text(*engine, id), "started step_progressed:ask step_completed:ask completed")
        << "a step that has succeeded needs no more";
}

TEST_F(Async, a_long_call_leaves_a_few_hundred_progress_events_at_most) {
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("ask")}));
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    const Completion<int> completion = desk.give().second;
    for (int second = 0; second < 10'000; ++second) {
        completion.context().progress(second);
        world.clock.advance(1s);
        engine->poll();
    }
    EXPECT_LT(engine->history(id).size(), 350U);
    EXPECT_GT(engine->history(id).size(), 200U);
    completion.complete(1);
    engine->poll();
}

TEST_F(Async, a_failed_attempt_keeps_its_last_progress) {
    world.handlers.add("break", [](const StepContext& context) {
        context.progress("halfway");
        throw PermanentError("broken");
    });
    const auto engine = world.engine();
    engine->register_workflow(WorkflowBuilder("test").step("break").build());
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    EXPECT_EQ(engine->show(id).steps.at(0).progress, "\"halfway\"");
    EXPECT_EQ(status(*engine, id), "failed");
}

TEST_F(Async, a_progress_that_is_too_large_is_refused) {
    world.handlers.add("large", [](const StepContext& context) {
        context.progress(std::string(StepContext::kProgressBytesMax - 1, 'x'));
    });
    const auto engine = world.engine();
    engine->register_workflow(WorkflowBuilder("test").step("large").max_attempts(1).build());
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    EXPECT_NE(engine->show(id).error.find("The progress"), std::string::npos)
        << engine->show(id).error;
}

}  // namespace
}  // namespace ebb::test
