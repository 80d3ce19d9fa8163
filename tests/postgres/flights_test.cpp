// Goal: with two commits under way at once nothing is lost, done twice or decided on what is not
// written yet.
// Method: instances with branches, whose outcomes come together, while others are cancelled and
// paused; then every call and every history is counted.

#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/postgres/postgres_store.h"
#include "support/flow.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kInstances = 300;

struct Flights : ::testing::Test {
    StorePtr store =
        open_postgres_store({.url = postgres_server().url(), .schema = fresh_schema()});
    HandlerRegistry handlers;
    std::mutex mutex;
    std::map<std::string, int> calls;  // by idempotency key

    void SetUp() override {
        for (const char* name : {"a", "b", "c", "~a", "~b", "~c"}) {
            handlers.add_raw(name, [this](const Payload& input, const StepContext& context) {
                const std::lock_guard lock(mutex);
                ++calls[context.idempotency_key];
                return input;
            });
        }
    }

    static std::map<std::string, int> events(Engine& engine, const InstanceId& id) {
        std::map<std::string, int> counts;
        for (const HistoryEntry& entry : engine.history(id))
            ++counts[entry.type + " " + entry.node];
        return counts;
    }
};

void ignore_refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error&) {
        // It has already ended.
    }
}

TEST_F(Flights, of_two_at_once_lose_nothing_and_repeat_nothing) {
    EngineOptions options;
    options.threads = 4;
    options.commit_batch_max = 16;
    Engine engine(*store, handlers, options);
    engine.register_workflow(test::workflow(
        {test::parallel("both", {{"left", {test::step("a")}}, {"right", {test::step("b")}}}),
         test::step("c")}
    ));
    engine.run();
    const std::vector<Payload> inputs(kInstances, "1");
    const std::vector<StartedInstance> started = engine.start_all("test", inputs);
    std::jthread operating([&] {
        for (std::size_t i = 0; i < started.size(); i += 5) {
            ignore_refusal([&] { engine.cancel(started[i].id, "me", ""); });
        }
    });
    std::jthread pausing([&] {
        for (std::size_t i = 1; i < started.size(); i += 5) {
            ignore_refusal([&] { engine.pause(started[i].id, "me", ""); });
            ignore_refusal([&] { engine.resume(started[i].id, "me"); });
        }
    });
    for (std::size_t i = 0; i < started.size(); ++i) {
        const InstanceStatus status = engine.wait(started[i].id, 100s).status;
        const bool may_be_cancelled = i % 5 == 0;
        EXPECT_TRUE(status == "completed" || (may_be_cancelled && status == "cancelled")) << status;
        const auto happened = events(engine, started[i].id);
        for (const auto& [event, count] : happened) {
            if (event.starts_with("step_")) {
                EXPECT_EQ(count, 1) << event;
            }
        }
        if (status != "completed") continue;
        for (const char* step : {"a", "b", "c"}) {
            EXPECT_TRUE(happened.contains(std::string("step_completed ") + step)) << step;
        }
    }
    EXPECT_TRUE(engine.drain(30s));
    const std::lock_guard lock(mutex);
    for (const auto& [key, times] : calls) EXPECT_EQ(times, 1) << key;
}

}  // namespace
}  // namespace ebb::testing
