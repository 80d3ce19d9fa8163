// An engine goes by the clock of its store. With another one nothing would become due when it
// should, so it is refused.

#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/clock.h>
#include <ebb/engine.h>
#include <ebb/error.h>
#include <ebb/store.h>

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

TEST(StoreClock, drives_the_engine_whatever_day_it_is) {
    for (const int year : {1990, 2026, 2090}) {
        ManualClock clock(TimePoint(std::chrono::sys_days(std::chrono::year(year) / 3 / 1)));
        const StorePtr store = open_memory_store({.clock = &clock});
        HandlerRegistry handlers;
        handlers.add_raw("a", [](const Payload& input, const StepContext&) { return input; });
        Engine engine(*store, handlers);
        engine.register_workflow(WorkflowBuilder("w").deadline(1h).step("a").build());
        const InstanceId id = engine.start("w").id;
        engine.poll();
        const auto summary = engine.find(id);
        ASSERT_TRUE(summary);
        EXPECT_NE(summary->finished_at, TimePoint{}) << year;
        EXPECT_EQ(summary->created_at, clock.now()) << year;
    }
}

TEST(StoreClock, is_the_only_one_that_is_accepted) {
    ManualClock clock(TimePoint(std::chrono::hours(1)));
    const StorePtr store = open_memory_store();
    const HandlerRegistry handlers;
    try {
        Engine engine(*store, handlers, {.clock = &clock});
        FAIL() << "another clock was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        const std::string message = error.what();
        EXPECT_NE(message.find("open_memory_store({.clock = &clock})"), std::string::npos);
    }
    const SystemClock system;
    EXPECT_NO_THROW(Engine(*store, handlers, {.clock = &system})) << "all system clocks are one";
}

}  // namespace
}  // namespace ebb::test
