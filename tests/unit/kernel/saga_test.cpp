// Sequences and the way back: who is called in which order, and where a rollback ends.
// Each test drives one instance through `decide` alone and looks at the calls that ended.

#include "support/flow.h"
#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using Outcome = KernelWorld::Outcome;

/// Fails the named handlers for good; everything else completes.
auto failing(std::set<std::string> names) {
    return [names = std::move(names)](const Invocation& call) {
        Outcome outcome;
        if (names.contains(call.handler)) outcome.kind = Outcome::Kind::FailForGood;
        return outcome;
    };
}

TEST(Sequence, hands_each_output_to_the_next_step) {
    KernelWorld world(workflow({step("a"), step("b")}), R"({"n":1})");
    world.script = [](const Invocation& call) {
        return Outcome{.output = "\"from " + call.node + "\""};
    };
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.result(), "\"from b\"");
    EXPECT_EQ(world.payload(world.history[2].ref), "\"from a\"") << "the input of b";
    EXPECT_EQ(world.history_text(), "started step_completed:a step_completed:b completed");
}

TEST(Sequence, writes_one_history_row_per_step_and_keeps_the_state_small) {
    Block steps;
    for (int i = 0; i < 200; ++i) steps.push_back(step("s" + std::to_string(i)));
    KernelWorld world(workflow(steps));
    for (int i = 0; i < 150; ++i) world.run_one();
    EXPECT_EQ(world.history.size(), 151U);
    EXPECT_LT(encode_state(world.state, *world.program).size(), 200U);
}

TEST(Saga, compensates_the_failed_step_first_and_then_in_reverse_order_of_completion) {
    KernelWorld world(workflow({step("a"), step("b"), step("c"), step("d")}));
    world.script = failing({"c"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b ~a");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Saga, skips_steps_without_compensation) {
    KernelWorld world(workflow({step("a"), step("b", {.is_compensated = false}), step("c")}));
    world.script = failing({"c"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~a");
}

TEST(Saga, is_compensating_and_not_failed_while_compensations_run) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.script = failing({"b"});
    world.run_one();
    world.run_one();
    EXPECT_EQ(world.status(), "compensating");
    world.run_one();
    EXPECT_EQ(world.status(), "compensating");
    world.run_one();
    EXPECT_EQ(world.status(), "failed");
}

TEST(Saga, stops_at_the_nearest_savepoint) {
    KernelWorld world(workflow({step("a"), savepoint("sp"), step("b"), step("c")}));
    world.script = failing({"c"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Saga, resumes_from_a_savepoint_as_often_as_it_says) {
    KernelWorld world(workflow(
        {step("a"),
         savepoint("sp", {.on_rollback = Savepoint::OnRollback::Resume, .max_resumes = 2}),
         step("b"),
         step("c")}
    ));
    world.script = failing({"c"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b b c! ~c ~b b c! ~c ~b");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Saga, completes_after_a_resume_that_succeeds) {
    KernelWorld world(workflow(
        {step("a"),
         savepoint("sp", {.on_rollback = Savepoint::OnRollback::Resume}),
         step("b"),
         step("c")}
    ));
    int tries = 0;
    world.script = [&](const Invocation& call) {
        Outcome outcome;
        if (call.handler == "c" && ++tries == 1) outcome.kind = Outcome::Kind::FailForGood;
        return outcome;
    };
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b b c");
    EXPECT_EQ(world.status(), "completed");
}

TEST(Saga, cancel_ignores_savepoints) {
    KernelWorld world(workflow({step("a"), savepoint("sp"), step("b"), step("c")}));
    world.run_one();
    world.run_one();
    world.apply(event::CancelRequested{.by = "ann"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b ~b ~a");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(Saga, a_cancel_during_a_rollback_continues_to_the_start) {
    KernelWorld world(workflow({step("a"), savepoint("sp"), step("b"), step("c")}));
    world.script = failing({"c"});
    for (int i = 0; i < 4; ++i) world.run_one();
    EXPECT_EQ(world.calls_text(), "a b c! ~c");
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b ~a");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(Saga, compensates_what_a_running_handler_completes_after_the_cancel) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.run_one();
    const auto call = world.claim(1);
    world.apply(event::CancelRequested{});
    EXPECT_EQ(world.status(), "compensating");
    EXPECT_FALSE(world.run_one()) << "nothing may start before the running handler has ended";
    world.complete(*call);
    world.run();
    EXPECT_EQ(world.calls_text(), "a b ~b ~a");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(Saga, compensates_a_stopped_step_of_unknown_outcome_when_its_worker_was_lost) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.run_one();
    world.claim(1);
    world.apply(event::CancelRequested{});
    world.tasks.at(1).is_leased = false;
    world.tasks.at(1).was_lost = true;
    world.run();
    EXPECT_EQ(world.calls_text(), "a ~b ~a");
    const auto stopped =
        std::find_if(world.history.begin(), world.history.end(), [](const HistoryEvent& event) {
            return event.type == HistoryType::StepStopped;
        });
    ASSERT_NE(stopped, world.history.end());
    EXPECT_EQ(outcome_of(*stopped), ebb::Outcome::Unknown);
}

TEST(Saga, does_not_compensate_a_step_that_was_never_called) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.run_one();
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_NE(world.history_text().find("step_skipped:b"), std::string::npos);
}

TEST(Saga, an_exhausted_compensation_dead_letters_and_never_fails_silently) {
    KernelWorld world(workflow({step("a"), step("b", {.compensation_attempts = 2}), step("c")}));
    world.script = [](const Invocation& call) {
        Outcome outcome;
        if (call.handler == "c") outcome.kind = Outcome::Kind::FailForGood;
        if (call.handler == "~b") outcome.kind = Outcome::Kind::Fail;
        return outcome;
    };
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b! ~b!");
    EXPECT_EQ(world.status(), "dead_letter");

    world.script = nullptr;
    world.apply(event::Requeued{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b! ~b! ~b ~a");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Saga, an_operator_may_skip_an_exhausted_compensation) {
    KernelWorld world(workflow({step("a"), step("b"), step("c")}));
    world.script = failing({"c", "~b"});
    world.run();
    ASSERT_EQ(world.status(), "dead_letter");
    world.apply(event::Requeued{.skip_compensation = true});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b! ~a");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Saga, a_cancel_of_a_dead_letter_tries_the_compensation_again) {
    KernelWorld world(workflow({step("a"), step("b"), step("c")}));
    world.script = failing({"c", "~b"});
    world.run();
    world.script = nullptr;
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b c! ~c ~b! ~b ~a");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(Saga, the_outcome_of_a_call_that_was_ended_or_not_seen_to_its_end_is_unknown) {
    const auto outcome_of_code = [](const std::string& code) {
        HistoryEvent event;
        event.type = HistoryType::StepFailed;
        event.payload = R"({"code":")" + code + R"(","message":"m"})";
        return outcome_of(event);
    };
    for (const std::string code : {"output_too_large", "exit_unknown", "response_too_large"}) {
        EXPECT_EQ(outcome_of_code(code), ebb::Outcome::Unknown) << code;
    }
    for (const std::string code : {"exit_1", "signal_9", "http_500"}) {
        EXPECT_EQ(outcome_of_code(code), ebb::Outcome::Failed) << code;
    }
}

TEST(Saga, abort_stops_at_once_and_compensates_nothing) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.run_one();
    const auto call = world.claim(1);
    world.apply(event::AbortRequested{.by = "ann"});
    EXPECT_EQ(world.status(), "aborted");
    EXPECT_EQ(
        world.apply(event::StepCompleted{.attempt = call->attempt, .output = "1"}),
        Decision::Verdict::Ignored
    );
    EXPECT_EQ(world.status(), "aborted");
}

}  // namespace
}  // namespace ebb::test
