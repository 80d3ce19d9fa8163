// crash_everywhere, effects() and dies(): what a crash at any point leaves, seen by the user's
// test.

#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/ebb.h>
#include <ebb/testing.h>

namespace {

using namespace std::chrono_literals;
using ebb::InstanceStatus;
using ebb::StepContext;
using ebb::testing::crash_everywhere;
using ebb::testing::Effect;
using ebb::testing::ExpectationFailed;
using ebb::testing::Instance;
using ebb::testing::World;
using ::testing::HasSubstr;

ebb::Definition order_workflow() {
    return ebb::WorkflowBuilder("order")
        .step("reserve", {.compensate = "release"})
        .step("charge", {.compensate = "refund"})
        .backoff({.initial = 1h, .max = 1h})
        .decision("approve")
        .roles({"boss"})
        .signal("paid")
        .step("ship")
        .build();
}

void buy(World& world) {
    world.add(order_workflow());
    const Instance order = world.start("order", 7);
    order.to_end().decide({.by = "eve", .role = "boss"});
    order.signal("paid").to_end();
}

TEST(TestingCrash, a_workflow_ends_alike_wherever_its_process_dies) {
    const auto report = crash_everywhere([](World& world) {
        world.on("charge").fails("the bank is closed").returns(7);
        buy(world);
    });
    EXPECT_GT(report.points, 8);
    EXPECT_EQ(report.plays, 3 * report.points);
}

TEST(TestingCrash, a_saga_that_is_undone_ends_alike_wherever_its_process_dies) {
    crash_everywhere([](World& world) {
        world.on("ship").fails_for_good("no address", "no_address");
        buy(world);
    });
}

TEST(TestingCrash, finds_a_handler_that_acts_twice) {
    const auto scenario = [](bool knows_keys) {
        return [knows_keys](World& world) {
            std::multiset<std::string> charges;
            world.handlers().add("charge", [&](const StepContext& context) {
                const bool is_new = !charges.contains(context.idempotency_key);
                if (is_new || !knows_keys) charges.insert(context.idempotency_key);
            });
            buy(world);
            return charges.size();
        };
    };
    crash_everywhere(scenario(true));
    try {
        crash_everywhere(scenario(false));
        FAIL() << "it was not found";
    } catch (const ExpectationFailed& error) {
        EXPECT_THAT(error.what(), HasSubstr("crash_test.cpp:"));
        EXPECT_THAT(error.what(), HasSubstr("If the process dies before call "));
        EXPECT_THAT(error.what(), HasSubstr("(commit):\norder: completed"));
        EXPECT_THAT(error.what(), HasSubstr("returned 2\n"));
        EXPECT_THAT(error.what(), HasSubstr("Without a crash:\norder: completed"));
    }
}

TEST(TestingCrash, finds_a_step_that_must_not_be_called_twice) {
    try {
        crash_everywhere([](World& world) {
            world.add(ebb::WorkflowBuilder("mail").step("send").non_idempotent().build());
            world.start("mail").to_end();
        });
        FAIL() << "it was not found";
    } catch (const ExpectationFailed& error) {
        EXPECT_THAT(error.what(), HasSubstr("mail: failed with in_doubt"));
    }
}

TEST(TestingCrash, says_that_a_scenario_fails_without_a_crash) {
    try {
        crash_everywhere([](World& world) {
            world.add(ebb::WorkflowBuilder("mail").step("send").build());
            world.start("mail").expect(InstanceStatus::Failed);
        });
        FAIL() << "it was not found";
    } catch (const ExpectationFailed& error) {
        EXPECT_THAT(error.what(), HasSubstr("The scenario fails without any crash"));
    }
}

TEST(TestingCrash, another_worker_takes_over_from_one_that_dies) {
    World world(order_workflow());
    world.on("reserve").dies().dies().returns(7);
    world.start("order")
        .to_end()
        .expect_calls("reserve! reserve! reserve charge")
        .expect_waiting("approve");
    const auto effects = world.effects();
    ASSERT_EQ(effects.size(), 2U);
    EXPECT_EQ(effects[0].step, "reserve");
    EXPECT_EQ(effects[0].calls, 1);
    EXPECT_FALSE(effects[0].is_undone);
}

TEST(TestingCrash, a_worker_that_dies_in_a_compensation_is_replaced) {
    World world(order_workflow());
    world.on("charge").fails_for_good();
    world.on("release").dies().passes_on();
    const Instance order = world.start("order").to_end().expect(InstanceStatus::Failed);
    const auto effects = world.effects();
    ASSERT_EQ(effects.size(), 1U);
    EXPECT_EQ(effects[0], (Effect{order.id(), "reserve", effects[0].idempotency_key, 1, true}));
}

TEST(TestingCrash, a_process_that_ends_leaves_an_asynchronous_call_to_its_successor) {
    std::vector<ebb::Completion<int>> calls;
    World world(ebb::WorkflowBuilder("w").step("pay").build());
    world.handlers().add("pay", [&](ebb::Completion<int> call) { calls.push_back(call); });
    const Instance run = world.start("w");
    ASSERT_EQ(calls.size(), 1U);
    world.restart();
    world.poll();
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_FALSE(calls[0].complete(1));
    EXPECT_TRUE(calls[1].complete(2));
    world.poll();
    EXPECT_EQ(run.output<int>(), 2);
}

}  // namespace
