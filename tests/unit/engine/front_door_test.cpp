// What a C++ program meets first: one clock, values, and what the engine says of itself.

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/ebb.h>
#include <ebb/format.h>

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

TEST(FrontDoor, the_engine_goes_by_the_clock_of_its_store) {
    for (const int year : {1990, 2026, 2090}) {
        ManualClock clock(TimePoint(std::chrono::sys_days(std::chrono::year(year) / 3 / 1)));
        const StorePtr store = open_memory_store({.clock = &clock});
        HandlerRegistry handlers;
        handlers.add("a", [] { return 1; });
        Engine engine(*store, handlers);
        engine.register_workflow(WorkflowBuilder("w").deadline(1h).step("a").build());
        EXPECT_EQ(engine.wait<int>(engine.start("w").id, 0s), 1) << year;
    }
}

TEST(FrontDoor, refuses_a_clock_that_is_not_the_stores) {
    ManualClock clock(TimePoint(std::chrono::hours(1)));
    const StorePtr store = open_memory_store();
    const HandlerRegistry handlers;
    try {
        Engine engine(*store, handlers, {.clock = &clock});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        EXPECT_NE(
            std::string(error.what()).find("open_memory_store({.clock = &clock})"),
            std::string::npos
        );
    }
    const SystemClock system;
    EXPECT_NO_THROW(Engine(*store, handlers, {.clock = &system}));
}

TEST(FrontDoor, lists_what_exists_and_what_is_missing) {
    const StorePtr store = open_memory_store();
    HandlerRegistry handlers;
    handlers.add("a", [](int value) { return value + 1; });
    Engine engine(*store, handlers);
    const auto first = engine.register_workflow(WorkflowBuilder("w").step("a").build());
    EXPECT_TRUE(first.unserved_handlers.empty());
    const auto second = engine.register_workflow(
        WorkflowBuilder("v").step("b", {.compensate = "undo"}).step("a").build()
    );
    EXPECT_EQ(second.unserved_handlers, (std::vector<std::string>{"b", "undo"}));
    ASSERT_EQ(engine.workflows().size(), 2U);
    EXPECT_EQ(engine.workflows()[1].name, "w");
    EXPECT_EQ(engine.wait<int>(engine.start("w", 6).id, 1s), 7);
    EXPECT_EQ(
        engine.stats(),
        (std::vector<InstanceCount>{
            {.workflow = "w", .status = InstanceStatus::Completed, .count = 1}
        })
    );
}

TEST(FrontDoor, ids_and_statuses_print_format_and_parse) {
    const auto id = InstanceId::parse("0193b7c2-0000-7000-8000-000000000001").value();
    std::ostringstream out;
    out << id << ' ' << InstanceStatus::DeadLetter;
    EXPECT_EQ(out.str(), "0193b7c2-0000-7000-8000-000000000001 dead_letter");
    EXPECT_EQ(fmt::format("{} {:>9}", id, InstanceStatus::Failed), id.to_string() + "    failed");
    EXPECT_EQ(Payload::of(id).as<InstanceId>(), id);
    EXPECT_EQ(Payload::of(InstanceStatus::Paused), R"("paused")");
    EXPECT_THROW(static_cast<void>(Payload::of("x").as<InstanceId>()), Error);
    EXPECT_EQ(parse_status("moved"), InstanceStatus::Moved);
}

TEST(FrontDoor, defaults_are_for_all_steps_that_do_not_say_otherwise) {
    const Definition definition =
        WorkflowBuilder("w")
            .defaults({.attempts = {.max_attempts = 7, .timeout = 5s}, .queue = "slow"})
            .step("a", {.compensate = "undo"})
            .step("b", {.attempts = {.max_attempts = 2}, .queue = "q"})
            .step("c", {.non_idempotent = true})
            .step("d", {.attempts = {.max_attempts = 3, .timeout = 0s}})
            .compensate("undo", {.max_attempts = 3})
            .build();
    const auto step = [&](std::size_t i) { return std::get<Step>(definition.steps.at(i).kind); };
    EXPECT_EQ(step(0).attempts.max_attempts, 7);
    EXPECT_EQ(step(0).attempts.timeout, 5s);
    EXPECT_EQ(step(0).compensate->attempts.max_attempts, 7);
    EXPECT_EQ(step(0).queue, "slow");
    EXPECT_EQ(step(1).attempts.max_attempts, 2);
    EXPECT_EQ(step(1).attempts.timeout, 5s);
    EXPECT_EQ(step(1).queue, "q");
    EXPECT_EQ(step(2).attempts.max_attempts, 1);
    // A value that is also Ebb's own default is a step's own value if it is given.
    EXPECT_EQ(step(3).attempts.max_attempts, 3);
    EXPECT_EQ(step(3).attempts.timeout, 0s);
    EXPECT_EQ(step(3).compensate->attempts.max_attempts, 3);
    EXPECT_EQ(step(3).compensate->attempts.timeout, 5s);
}

TEST(FrontDoor, a_steps_metadata_is_for_its_handler_and_its_templates) {
    const StorePtr store = open_memory_store();
    HandlerRegistry handlers;
    handlers.add("a", [](const Json& input, const StepContext& context) {
        return Json{{"input", input}, {"team", context.metadata.as<Json>().at("team")}};
    });
    Engine engine(*store, handlers);
    engine.register_workflow(
        WorkflowBuilder("w")
            .step("a", {.input = R"("${ metadata.team }")", .metadata = R"({"team":"ops"})"})
            .build()
    );
    const Json output = engine.wait<Json>(engine.start("w").id, 1s);
    EXPECT_EQ(output, (Json{{"input", "ops"}, {"team", "ops"}}));
}

}  // namespace
}  // namespace ebb::test
