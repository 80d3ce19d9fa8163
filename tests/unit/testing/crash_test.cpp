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
using ::testing::Not;

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
    EXPECT_EQ(report.calls, 4);
    EXPECT_EQ(report.plays, 3 * report.points + 2 * report.calls);
}

TEST(TestingCrash, a_saga_that_is_undone_ends_alike_wherever_its_process_dies) {
    crash_everywhere([](World& world) {
        world.on("ship").fails_for_good("no address", "no_address");
        buy(world);
    });
}

TEST(TestingCrash, an_output_may_contain_the_id_of_its_instance) {
    const auto report = crash_everywhere([](World& world) {
        std::string key;
        world.handlers().add("charge", [&](const StepContext& context) {
            key = context.idempotency_key;
            return "charge-" + key;
        });
        world.add(ebb::WorkflowBuilder("order").step("charge").max_attempts(3).build());
        world.start("order").to_end();
        return key;
    });
    EXPECT_GT(report.plays, 3);
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
        EXPECT_THAT(error.what(), HasSubstr("Undisturbed:\norder: completed"));
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

/// The message of crash_everywhere, which has to find something.
template <typename Scenario>
std::string found_by_crash_everywhere(Scenario scenario) {
    try {
        crash_everywhere(scenario, {.shown_max = 100});
    } catch (const ExpectationFailed& error) {
        return error.what();
    }
    ADD_FAILURE() << "it was not found";
    return {};
}

TEST(TestingCrash, finds_a_step_with_one_attempt_whose_answer_is_lost) {
    const auto message = found_by_crash_everywhere([](World& world) {
        world.add(ebb::WorkflowBuilder("mail").step("send").non_idempotent().build());
        world.start("mail").to_end();
    });
    EXPECT_THAT(
        message,
        HasSubstr("If call 1 of a handler (send) succeeds, but its answer is lost:\n"
                  "mail: failed with answer_lost; effects: send\n")
    );
    // The workflow says that it ends with the first failure.
    EXPECT_THAT(message, Not(HasSubstr("(send) fails")));
}

TEST(TestingCrash, finds_a_handler_that_acts_twice_if_its_answer_is_lost) {
    const auto scenario = [](World& world) {
        int charges = 0;
        world.handlers().add("charge", [&] { ++charges; });
        world.add(ebb::WorkflowBuilder("order").step("charge").build());
        world.start("order").to_end();
        return charges;
    };
    const auto message = found_by_crash_everywhere(scenario);
    EXPECT_THAT(
        message,
        HasSubstr("If call 1 of a handler (charge) succeeds, but its answer is lost:\n"
                  "order: completed, output null; effects: charge\nreturned 2\n")
    );
    EXPECT_THAT(message, Not(HasSubstr("(charge) fails")));
}

TEST(TestingCrash, finds_a_handler_that_remembers_a_call_that_failed) {
    const auto message = found_by_crash_everywhere([](World& world) {
        int calls_seen_by_bank = 0;
        world.add(ebb::WorkflowBuilder("order").step("ask").step("charge").build());
        world.handlers().add("charge", [&](const StepContext& context) {
            calls_seen_by_bank = context.attempt;
        });
        world.start("order").to_end();
        return calls_seen_by_bank;
    });
    EXPECT_THAT(message, HasSubstr("If call 2 of a handler (charge) fails:"));
    EXPECT_THAT(message, Not(HasSubstr("(ask) fails")));
}

TEST(TestingCrash, an_answer_of_a_compensation_that_is_lost_undoes_twice) {
    const auto message = found_by_crash_everywhere([](World& world) {
        int refunds = 0;
        world.handlers().add("refund", [&] { ++refunds; });
        world.on("ship").fails_for_good("no address", "no_address");
        world.add(
            ebb::WorkflowBuilder("order").step("charge").compensate("refund").step("ship").build()
        );
        world.start("order").to_end();
        return refunds;
    });
    EXPECT_THAT(message, HasSubstr("If call 3 of a handler (~charge) succeeds, but its answer"));
}

TEST(TestingCrash, an_asynchronous_call_fails_and_loses_its_answer_too) {
    const auto scenario = [](bool knows_keys) {
        return [knows_keys](World& world) {
            std::multiset<std::string> charges;
            world.handlers().add("pay", [&](const ebb::Completion<int>& done) {
                const std::string& key = done.context().idempotency_key;
                if (!knows_keys || !charges.contains(key)) charges.insert(key);
                done.complete(7);
            });
            world.add(ebb::WorkflowBuilder("order").step("pay").build());
            world.start("order").to_end();
            return charges.size();
        };
    };
    const auto report = crash_everywhere(scenario(true));
    EXPECT_EQ(report.calls, 1);
    EXPECT_THAT(
        found_by_crash_everywhere(scenario(false)),
        HasSubstr("If call 1 of a handler (pay) succeeds, but its answer is lost:")
    );
}

TEST(TestingCrash, failed_calls_can_be_left_out) {
    const auto report = crash_everywhere(
        [](World& world) {
            world.add(ebb::WorkflowBuilder("order").step("charge").max_attempts(1).build());
            world.start("order").to_end();
        },
        {.fails_calls = false}
    );
    EXPECT_EQ(report.plays, 3 * report.points);
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
