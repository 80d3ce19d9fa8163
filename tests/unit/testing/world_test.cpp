// ebb::testing: time passes only when the test says so, and handlers do what is scripted.

#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/ebb.h>
#include <ebb/testing.h>

namespace {

using namespace std::chrono_literals;
using ebb::InstanceStatus;
using ebb::Payload;
using ebb::StepStatus;
using ebb::testing::ExpectationFailed;
using ebb::testing::Instance;
using ebb::testing::World;

ebb::Definition order_workflow() {
    return ebb::WorkflowBuilder("order")
        .step("reserve", {.compensate = "release"})
        .step("charge", {.compensate = "refund"})
        .max_attempts(3)
        .backoff({.initial = 1h, .max = 1h})
        .delay("cool_off", 24h * 14)
        .step("ship")
        .max_attempts(1)
        .build();
}

TEST(TestingWorld, handlers_pass_their_input_on_unless_they_are_scripted) {
    World world(order_workflow());
    Instance run = world.start("order", 7).to_end();
    run.expect(InstanceStatus::Completed).expect_calls("reserve charge ship");
    EXPECT_EQ(run.output<int>(), 7);
    EXPECT_EQ(world.now() - world.clock().now(), 0s);
}

TEST(TestingWorld, time_passes_only_when_the_test_says_so) {
    World world(order_workflow());
    const ebb::TimePoint start = world.now();
    Instance run = world.start("order", 7);
    run.expect_calls("reserve charge").expect_waiting("cool_off");
    EXPECT_EQ(world.now(), start);
    run.after(24h * 13).expect_waiting("cool_off");
    run.after(24h).expect(InstanceStatus::Completed);
    EXPECT_EQ(world.now() - start, 24h * 14);
}

TEST(TestingWorld, a_script_goes_call_by_call_and_stays_at_its_end) {
    World world(order_workflow());
    world.on("charge").fails("busy").times(2).returns(std::string("paid"));
    world.on("ship").fails_for_good("no address", "no_address");
    Instance run = world.start("order").to_end();
    run.expect(InstanceStatus::Failed)
        .expect_calls("reserve charge! charge! charge ship! ~charge ~reserve")
        .expect_compensated({"charge", "reserve"})
        .expect_step("ship", StepStatus::Failed)
        .expect_step("charge", StepStatus::Compensated);
}

TEST(TestingWorld, a_call_that_takes_too_long_times_out) {
    World world(ebb::WorkflowBuilder("w").step("slow").timeout(1min).max_attempts(1).build());
    world.on("slow").fails("late").takes(2min);
    Instance run = world.start("w").to_end();
    run.expect(InstanceStatus::Failed);
    EXPECT_NE(run.show().error.find("timeout"), std::string::npos) << run;
    run.expect_calls("slow!");
    world.on("slow").returns(1).takes(2min);
    world.start("w").to_end().expect(InstanceStatus::Failed).expect_calls("slow!");
}

TEST(TestingWorld, refuses_a_script_that_says_nothing) {
    World world(order_workflow());
    EXPECT_THROW(world.on("charge").takes(1min), ebb::Error);
    EXPECT_THROW(world.on("charge").times(2), ebb::Error);
    EXPECT_THROW(world.on("charge").returns(1).times(0), ebb::Error);
    EXPECT_THROW(world.on("charge").returns(1).takes(-1min), ebb::Error);
    EXPECT_THROW(world.advance(-1min), ebb::Error);
}

TEST(TestingWorld, says_what_an_open_asynchronous_call_needs) {
    World world(ebb::WorkflowBuilder("w").step("ask").build());
    std::vector<ebb::Completion<int>> open;
    world.handlers().add("ask", [&](const ebb::Completion<int>& call) { open.push_back(call); });
    const Instance run = world.start("w").to_end();
    try {
        run.expect(InstanceStatus::Completed);
        ADD_FAILURE() << "it was completed";
    } catch (const ExpectationFailed& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("An asynchronous call is open"));
    }
    open.front().complete(7);
    world.poll();
    EXPECT_EQ(run.output<int>(), 7);
}

TEST(TestingWorld, real_handlers_are_called_and_can_be_scripted_over) {
    World world(ebb::WorkflowBuilder("w").step("double").build());
    world.handlers().add("double", [](int value) { return 2 * value; });
    EXPECT_EQ(world.start("w", 4).output<int>(), 8);
    world.on("double").returns(1);
    EXPECT_EQ(world.start("w", 4).output<int>(), 1);
}

TEST(TestingWorld, people_and_signals_are_waited_for_and_deadlines_pass_only_by_advance) {
    const auto workflow = ebb::WorkflowBuilder("w")
                              .decision("approve")
                              .deadline(48h, ebb::HumanDecision::OnDeadline::Reject)
                              .signal("paid")
                              .build();
    World world(workflow);
    Instance late = world.start("w").to_end();
    late.expect_waiting("approve").after(48h).expect(InstanceStatus::Failed);
    Instance good = world.start("w").decide({.by = "eve"});
    good.to_end().expect_waiting("paid");
    good.signal("paid", 7).expect(InstanceStatus::Completed);
    EXPECT_EQ(good.output<int>(), 7);
}

TEST(TestingWorld, an_instance_survives_a_restart) {
    World world(order_workflow());
    Instance run = world.start("order", 7);
    world.restart();
    run.to_end().expect(InstanceStatus::Completed).expect_calls("reserve charge ship");
}

TEST(TestingWorld, a_failed_expectation_says_what_and_where_and_shows_the_timeline) {
    World world(order_workflow());
    world.on("ship").fails_for_good("no address", "no_address");
    const Instance run = world.start("order", 7).to_end();
    try {
        run.expect(InstanceStatus::Completed);
        FAIL() << "it was not completed";
    } catch (const ExpectationFailed& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("world_test.cpp:"), std::string::npos) << text;
        EXPECT_NE(text.find("The instance is failed, not completed."), std::string::npos) << text;
        EXPECT_NE(text.find("no_address"), std::string::npos) << text;
        EXPECT_NE(text.find("calls: reserve charge ship! ~charge ~reserve"), std::string::npos)
            << text;
    }
    EXPECT_THROW(run.expect_calls("reserve"), ExpectationFailed);
    EXPECT_THROW(run.expect_compensated({}), ExpectationFailed);
    EXPECT_THROW(run.expect_waiting("ship"), ExpectationFailed);
    EXPECT_THROW(run.expect_step("reserve", StepStatus::Completed), ExpectationFailed);
    EXPECT_THROW(run.expect_step("nothing", StepStatus::Completed), ExpectationFailed);
    EXPECT_THROW(run.output<int>(), ExpectationFailed);
    world.on("ship").returns("sent");
    const Instance sent = world.start("order", 7).to_end();
    try {
        sent.output<int>();
        FAIL() << "it is an int";
    } catch (const ExpectationFailed& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("world_test.cpp:"));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("is not of the asked type"));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("calls: reserve charge ship"));
    }
}

TEST(TestingWorld, a_strict_world_refuses_what_is_neither_added_nor_scripted) {
    World world(order_workflow(), {.is_strict = true});
    EXPECT_THROW(world.start("order"), ebb::Error);
}

TEST(TestingWorld, refuses_a_script_of_a_handler_that_no_workflow_calls) {
    World world(order_workflow());
    world.on("chrage").fails("no money");
    try {
        world.start("order");
        ADD_FAILURE() << "it was started";
    } catch (const ebb::Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("\"chrage\" is scripted, but no workflow"));
    }
}

TEST(TestingWorld, names_the_handler_if_a_script_names_the_step) {
    World world(ebb::WorkflowBuilder("w").step("pay", {.handler = "charge"}).build());
    world.on("pay").fails("no money");
    try {
        world.start("w");
        ADD_FAILURE() << "it was started";
    } catch (const ebb::Error& error) {
        EXPECT_THAT(
            error.what(), ::testing::HasSubstr("The step \"pay\" calls the handler \"charge\".")
        );
    }
}

TEST(TestingWorld, has_ids_of_its_own_date_and_leaves_those_of_others_alone) {
    const auto late = ebb::TimePoint(std::chrono::sys_days(std::chrono::year(9000) / 1 / 1));
    World future(order_workflow(), {.start = late});
    const ebb::InstanceId of_future = future.start("order").id();
    World present(order_workflow());
    EXPECT_LT(present.start("order").id(), of_future);
    const ebb::StorePtr store = ebb::open_memory_store();
    const ebb::HandlerRegistry none;
    ebb::Engine real(*store, none);
    real.register_workflow(ebb::WorkflowBuilder("real").signal("go").build());
    EXPECT_LT(real.start("real").id, of_future);
    future.restart();
    EXPECT_LT(of_future, future.start("order").id()) << "no time has passed";
}

TEST(TestingWorld, ignores_what_day_it_is) {
    for (const int year : {1999, 2027, 2090}) {
        const auto day = ebb::TimePoint(std::chrono::sys_days(std::chrono::year(year) / 6 / 1));
        World world(order_workflow(), {.start = day});
        world.start("order").to_end().expect(InstanceStatus::Completed);
    }
}

}  // namespace
