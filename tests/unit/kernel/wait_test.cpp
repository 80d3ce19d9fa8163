// Waiting for time, people, signals and operators; retries and deadlines; dead-letter mode.

#include <algorithm>

#include "support/flow.h"
#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using Outcome = KernelWorld::Outcome;
using std::chrono::seconds;

auto failing(std::set<std::string> names, Outcome::Kind kind = Outcome::Kind::FailForGood) {
    return [names = std::move(names), kind](const Invocation& call) {
        Outcome outcome;
        if (names.contains(call.handler)) outcome.kind = kind;
        return outcome;
    };
}

TEST(Retry, waits_by_exponential_backoff_and_gives_up_after_max_attempts) {
    KernelWorld world(workflow({step("a", {.max_attempts = 4})}));
    world.script = failing({"a"}, Outcome::Kind::Fail);
    const TimePoint start = world.now;
    world.run();
    EXPECT_EQ(world.calls_text(), "a! a! a! a! ~a");
    EXPECT_EQ(world.now - start, seconds(1 + 2 + 4));
    EXPECT_EQ(world.status(), "failed");
}

TEST(Retry, keeps_the_idempotency_key_over_attempts_and_changes_it_per_visit) {
    KernelWorld world(workflow({step("a", {.max_attempts = 3}), step("b")}));
    std::vector<std::string> keys;
    world.script = [&](const Invocation& call) {
        keys.push_back(call.idempotency_key);
        Outcome outcome;
        if (keys.size() == 1) outcome.kind = Outcome::Kind::Fail;
        return outcome;
    };
    world.run();
    ASSERT_EQ(keys.size(), 3U);
    EXPECT_EQ(keys[0], keys[1]);
    EXPECT_NE(keys[1], keys[2]);
}

TEST(Retry, refuses_the_late_result_of_an_earlier_attempt) {
    KernelWorld world(workflow({step("a", {.max_attempts = 3})}));
    const auto first = world.claim(1);
    world.fail(*first, false);
    EXPECT_EQ(
        world.apply(event::StepCompleted{.attempt = first->attempt, .output = "1"}),
        Decision::Verdict::Ignored
    );
}

TEST(Retry, jitter_spreads_the_delay_but_is_the_same_for_the_same_attempt) {
    Node node = step("a", {.max_attempts = 2});
    std::get<Step>(node.kind).attempts.backoff.jitter = 0.5;
    const auto wait = [&] {
        KernelWorld world(workflow({node}));
        world.fail(*world.claim(1), false);
        return world.tasks.at(1).due - world.now;
    };
    EXPECT_EQ(wait(), wait());
    EXPECT_NE(wait(), seconds(1));
    EXPECT_GE(wait(), std::chrono::milliseconds(500));
    EXPECT_LE(wait(), std::chrono::milliseconds(1'500));
}

TEST(LostLease, runs_the_step_again_without_using_up_an_attempt) {
    KernelWorld world(workflow({step("a")}));
    int calls = 0;
    world.script = [&](const Invocation&) {
        Outcome outcome;
        if (++calls <= 2) outcome.kind = Outcome::Kind::LoseLease;
        return outcome;
    };
    world.run();
    EXPECT_EQ(world.calls_text(), "a? a? a");
    EXPECT_EQ(world.status(), "completed");
}

TEST(LostLease, a_step_that_always_loses_its_worker_fails_and_is_compensated) {
    KernelWorld world(workflow({step("a")}));
    world.script = failing({"a"}, Outcome::Kind::LoseLease);
    world.run();
    EXPECT_EQ(world.calls_text(), "a? a? a? a? a? ~a");
    EXPECT_EQ(world.status(), "failed");
    EXPECT_NE(world.payload(world.state.error).find("worker_lost"), std::string::npos);
}

TEST(LostLease, a_step_that_loses_its_workers_waits_longer_each_time) {
    KernelWorld world(workflow({step("a")}));
    world.script = failing({"a"}, Outcome::Kind::LoseLease);
    const TimePoint begun = world.now;
    world.run();
    EXPECT_EQ(world.now - begun, kLossDelay * (1 + 4 + 16));
}

TEST(LostLease, a_non_idempotent_step_is_in_doubt_and_not_called_again) {
    Node a = step("a");
    std::get<Step>(a.kind).non_idempotent = true;
    KernelWorld world(workflow({a}));
    world.script = failing({"a"}, Outcome::Kind::LoseLease);
    world.run();
    EXPECT_EQ(world.calls_text(), "a? ~a");
    EXPECT_NE(world.payload(world.state.error).find("in_doubt"), std::string::npos);
}

TEST(Timer, waits_without_a_call_and_passes_its_input_on) {
    KernelWorld world(workflow({node("d", Delay{.duration = "90s"}), step("a")}), "7");
    const TimePoint start = world.now;
    world.run();
    EXPECT_EQ(world.now - start, seconds(90));
    EXPECT_EQ(world.result(), "7");
}

TEST(Deadline, of_the_instance_rolls_back_wherever_it_stands) {
    Definition definition = workflow({step("a"), node("wait", HumanDecision{})});
    definition.deadline = seconds(60);
    KernelWorld world(definition);
    world.run();
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_EQ(world.status(), "failed");
    EXPECT_NE(world.payload(world.state.error).find("deadline_exceeded"), std::string::npos);
}

TEST(Deadline, of_a_step_that_no_worker_runs) {
    Node a = step("a");
    std::get<Step>(a.kind).attempts.step_timeout = seconds(5);
    KernelWorld world(workflow({a}));
    world.tasks.at(1).is_leased = true;
    world.run();
    EXPECT_EQ(world.calls_text(), "~a");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Decision, confirm_adds_the_decision_to_the_input) {
    KernelWorld world(workflow({node("ok", HumanDecision{})}), R"({"n":1})");
    world.apply(event::DecisionMade{.is_confirmed = true, .by = "ann", .comment = "fine"});
    EXPECT_EQ(world.status(), "completed");
    const Json result = Json::parse(world.result());
    EXPECT_EQ(result["n"], 1);
    EXPECT_EQ(result["decision"]["verdict"], "confirmed");
    EXPECT_EQ(result["decision"]["by"], Json::array({"ann"}));
}

TEST(Decision, reject_rolls_the_saga_back) {
    KernelWorld world(workflow({step("a"), node("ok", HumanDecision{})}));
    world.run();
    world.apply(event::DecisionMade{.by = "ann", .comment = "too dear"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_EQ(world.status(), "failed");
    EXPECT_NE(world.payload(world.state.error).find("rejected"), std::string::npos);
}

TEST(Decision, reject_may_take_a_branch_instead) {
    KernelWorld world(
        workflow({node("ok", HumanDecision{.on_reject = Block{step("other")}}), step("end")})
    );
    world.apply(event::DecisionMade{.by = "ann"});
    world.run();
    EXPECT_EQ(world.calls_text(), "other end");
}

TEST(Decision, names_who_rejected_and_not_who_had_confirmed_before) {
    KernelWorld world(workflow(
        {node("ok", HumanDecision{.quorum = 3, .on_reject = Block{step("other")}}), step("end")}
    ));
    world.apply(event::DecisionMade{.is_confirmed = true, .by = "ann"});
    world.apply(event::DecisionMade{.by = "bob", .comment = "no"});
    world.run();
    const Json output = Json::parse(world.payload(world.state.result));
    EXPECT_EQ(output.at("decision").at("by"), Json::array({"bob"}));
    EXPECT_EQ(output.at("decision").at("comment"), "no");
}

TEST(Decision, a_quorum_needs_different_people) {
    KernelWorld world(workflow({node("ok", HumanDecision{.quorum = 2})}));
    world.apply(event::DecisionMade{.is_confirmed = true, .by = "ann"});
    EXPECT_EQ(
        world.apply(event::DecisionMade{.is_confirmed = true, .by = "ann"}),
        Decision::Verdict::Ignored
    );
    EXPECT_EQ(world.status(), "running");
    world.apply(event::DecisionMade{.is_confirmed = true, .by = "bob"});
    EXPECT_EQ(world.status(), "completed");
}

TEST(Decision, is_refused_to_people_without_the_role) {
    KernelWorld world(workflow({node("ok", HumanDecision{.roles = {"boss"}})}));
    EXPECT_EQ(
        world.apply(event::DecisionMade{.is_confirmed = true, .by = "ann", .role = "clerk"}),
        Decision::Verdict::Refused
    );
    EXPECT_EQ(world.last_refusal().code, "not_allowed");
    EXPECT_EQ(
        world.last_refusal().message,
        "The decision \"ok\" needs the role boss, and the request has the role \"clerk\"."
    );
}

TEST(Decision, repeating_it_changes_nothing_and_a_new_one_is_refused) {
    KernelWorld world(workflow({node("ok", HumanDecision{}), node("wait", Signal{})}));
    world.apply(event::DecisionMade{.node = "ok", .is_confirmed = true, .by = "ann"});
    EXPECT_EQ(
        world.apply(event::DecisionMade{.node = "ok", .is_confirmed = true, .by = "ann"}),
        Decision::Verdict::Ignored
    );
    EXPECT_EQ(
        world.apply(event::DecisionMade{.node = "ok", .by = "bob"}), Decision::Verdict::Refused
    );
    EXPECT_EQ(world.last_refusal().code, "not_waiting");
}

TEST(Decision, its_deadline_has_the_outcome_that_it_says) {
    for (const auto& [outcome, status] : std::map<HumanDecision::OnDeadline, std::string>{
             {HumanDecision::OnDeadline::Fail, "failed"},
             {HumanDecision::OnDeadline::Reject, "failed"},
             {HumanDecision::OnDeadline::Confirm, "completed"}
         }) {
        KernelWorld world(
            workflow({node("ok", HumanDecision{.deadline = seconds(9), .on_deadline = outcome})})
        );
        world.run();
        EXPECT_EQ(world.status(), status);
    }
}

TEST(Signal, wakes_the_waiting_token_and_its_payload_is_the_output) {
    KernelWorld world(workflow({node("paid", Signal{})}));
    world.apply(event::SignalReceived{.name = "paid", .payload = "42"});
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.result(), "42");
}

TEST(Signal, that_comes_early_is_kept) {
    KernelWorld world(workflow({step("a"), node("paid", Signal{})}));
    world.apply(event::SignalReceived{.name = "paid", .payload = "42"});
    world.run();
    EXPECT_EQ(world.result(), "42");
}

TEST(Signal, whose_payload_does_not_conform_is_refused_and_the_token_keeps_waiting) {
    KernelWorld world(workflow({node("paid", Signal{.schema = R"({"required":["amount"]})"})}));
    const InstanceState before = world.state;
    EXPECT_EQ(
        world.apply(event::SignalReceived{.name = "paid", .payload = "{}", .request_id = "r1"}),
        Decision::Verdict::Refused
    );
    EXPECT_EQ(world.last_refusal().code, "invalid_payload");
    const std::string& message = world.last_refusal().message;
    EXPECT_TRUE(message.starts_with("The payload of the signal \"paid\" does not conform to"));
    EXPECT_NE(message.find("the property \"amount\" is missing"), std::string::npos) << message;
    EXPECT_EQ(world.state, before);
    // The request id of a refused signal is not used up.
    world.apply(
        event::SignalReceived{.name = "paid", .payload = R"({"amount":1})", .request_id = "r1"}
    );
    EXPECT_EQ(world.status(), "completed");
}

TEST(Signal, that_comes_early_is_checked_by_the_schema_of_the_node_that_will_wait) {
    const Signal paid{.signal = "payment", .schema = R"({"type":"object"})"};
    KernelWorld world(workflow({step("a"), node("paid", paid)}));
    EXPECT_EQ(
        world.apply(event::SignalReceived{.name = "payment", .payload = "1"}),
        Decision::Verdict::Refused
    );
    EXPECT_TRUE(world.state.signals.empty());
    EXPECT_EQ(
        world.apply(event::SignalReceived{.name = "payment", .payload = "{}"}),
        Decision::Verdict::Changed
    );
}

TEST(Signal, too_many_early_ones_are_refused_and_repeated_ones_ignored) {
    KernelWorld world(workflow({step("a"), node("x", Signal{})}));
    for (std::size_t i = 0; i < kBufferedSignalsMax; ++i) {
        EXPECT_EQ(
            world.apply(event::SignalReceived{.name = "x", .payload = "1"}),
            Decision::Verdict::Changed
        );
    }
    EXPECT_EQ(
        world.apply(event::SignalReceived{.name = "x", .payload = "1"}), Decision::Verdict::Refused
    );
    EXPECT_EQ(world.last_refusal().code, "limit_exceeded");

    KernelWorld other(workflow({step("a"), node("x", Signal{})}));
    other.apply(event::SignalReceived{.name = "x", .payload = "1", .request_id = "r1"});
    EXPECT_EQ(
        other.apply(event::SignalReceived{.name = "x", .payload = "1", .request_id = "r1"}),
        Decision::Verdict::Ignored
    );
}

TEST(StepPause, an_outcome_of_the_call_that_paused_is_stale_after_the_resume) {
    KernelWorld world(workflow({step("a")}));
    const auto paused = world.claim(1);
    world.apply(event::StepPaused{.attempt = paused->attempt, .worker = "w"});
    world.apply(event::SignalReceived{.name = "a", .payload = "1", .request_id = {}});
    const auto resumed = world.claim(1);
    EXPECT_EQ(resumed->attempt.attempt, paused->attempt.attempt) << "a pause is not an attempt";
    EXPECT_NE(resumed->attempt, paused->attempt);
    EXPECT_EQ(resumed->idempotency_key, paused->idempotency_key) << "it is the same visit";
    const Event late[] = {
        event::StepPaused{.attempt = paused->attempt, .worker = "w"},
        event::StepCompleted{.attempt = paused->attempt, .output = "1"},
        event::StepFailed{.attempt = paused->attempt, .failure = {}},
        event::LeaseLost{.attempt = paused->attempt, .worker = "w"},
    };
    for (const Event& each : late) EXPECT_EQ(world.apply(each), Decision::Verdict::Ignored);
    world.complete(*resumed);
    EXPECT_EQ(world.status(), "completed");
}

TEST(StepPause, the_limits_count_from_the_resume) {
    KernelWorld world(workflow({step("a", {.max_attempts = 2})}));
    world.script = failing({"a"}, Outcome::Kind::Fail);
    world.run_one();
    world.now += seconds(10);
    const auto call = world.claim(1);
    world.apply(event::StepPaused{.attempt = call->attempt, .worker = "w"});
    world.apply(event::SignalReceived{.name = "a", .payload = "1", .request_id = {}});
    world.run();
    EXPECT_EQ(world.calls_text(), "a! a! a! ~a") << "one before the pause, two after it";
}

TEST(StepPause, what_was_resumed_and_not_called_again_is_in_doubt) {
    KernelWorld world(workflow({step("a")}));
    const auto call = world.claim(1);
    world.apply(event::StepPaused{.attempt = call->attempt, .worker = "w"});
    world.apply(event::Paused{});
    world.apply(event::SignalReceived{.name = "a", .payload = "1", .request_id = {}});
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "~a") << "it was called, so it is compensated";
    const auto stopped =
        std::find_if(world.history.begin(), world.history.end(), [](const HistoryEvent& event) {
            return event.type == HistoryType::StepStopped;
        });
    ASSERT_NE(stopped, world.history.end());
    EXPECT_EQ(outcome_of(*stopped), ebb::Outcome::Unknown);
}

TEST(Pause, starts_nothing_and_resume_continues_where_it_was) {
    KernelWorld world(workflow({step("a"), step("b")}));
    const auto call = world.claim(1);
    world.apply(event::Paused{.by = "ann"});
    world.complete(*call);
    EXPECT_EQ(world.status(), "paused");
    EXPECT_FALSE(world.run_one());
    world.apply(event::Resumed{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b");
    EXPECT_EQ(world.status(), "completed");
}

TEST(Pause, holds_timers_and_compensations_too) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.script = failing({"b"});
    world.run_one();
    world.run_one();
    world.apply(event::Paused{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b!");
    EXPECT_EQ(world.status(), "paused");
    world.apply(event::Resumed{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b! ~b ~a");
}

TEST(Pause, a_paused_instance_can_be_cancelled) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.run_one();
    world.apply(event::Paused{});
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(DeadLetter, freezes_all_branches_and_requeue_resumes_each_where_it_stood) {
    Definition definition = workflow(
        {parallel("p", {{"x", {step("a"), step("a2")}}, {"y", {step("b"), step("b2")}}}),
         step("end")}
    );
    definition.on_error = Definition::OnError::DeadLetter;
    KernelWorld world(definition);
    const auto a = world.claim(2);
    const auto b = world.claim(3);
    world.fail(*a);
    EXPECT_EQ(world.status(), "dead_letter");
    world.complete(*b);
    EXPECT_FALSE(world.run_one()) << "b2 may not start";
    world.apply(event::Requeued{.new_input = R"({"fixed":true})"});
    const auto again = world.claim(2);
    EXPECT_EQ(world.payload(again->input), R"({"fixed":true})");
    world.complete(*again);
    world.run();
    EXPECT_EQ(world.calls_text(), "a! b a a2 b2 end");
    EXPECT_EQ(world.status(), "completed");
}

TEST(DeadLetter, a_cancel_compensates_what_was_done) {
    Definition definition = workflow({step("a"), step("b")});
    definition.on_error = Definition::OnError::DeadLetter;
    KernelWorld world(definition);
    world.script = failing({"b"});
    world.run();
    EXPECT_EQ(world.status(), "dead_letter");
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a b! ~b ~a");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(DeadLetter, a_step_that_was_requeued_is_compensated_once) {
    Definition definition = workflow({step("a"), step("b"), step("c")});
    definition.on_error = Definition::OnError::DeadLetter;
    KernelWorld world(definition);
    world.fail(*world.claim(1));
    world.apply(event::Requeued{});
    world.run_one();
    world.run_one();
    world.fail(*world.claim(1));
    world.apply(event::Requeued{});
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "a! a b c! ~c ~b ~a");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(Loop, runs_while_its_condition_holds_and_compensates_every_turn_in_reverse) {
    KernelWorld world(
        workflow({node("l", Loop{.while_expression = "input < 3", .steps = {step("a")}}), step("b")}
        ),
        "0"
    );
    world.script = [](const Invocation& call) {
        Outcome outcome{.output = std::to_string(call.attempt.visit / 2)};
        if (call.handler == "b") outcome.kind = Outcome::Kind::FailForGood;
        return outcome;
    };
    world.run();
    EXPECT_EQ(world.calls_text(), "a a a b! ~b ~a ~a ~a");
}

TEST(Loop, fails_when_it_would_need_more_turns_than_allowed) {
    KernelWorld world(workflow({node(
        "l",
        Loop{.while_expression = "workflow.version == 1", .steps = {step("a")}, .max_iterations = 3}
    )}));
    world.run();
    EXPECT_EQ(world.calls_text(), "a a a ~a ~a ~a");
    EXPECT_NE(world.payload(world.state.error).find("max_iterations"), std::string::npos);
}

TEST(Loop, without_any_step_is_bounded_by_the_step_budget) {
    Definition definition = workflow({node(
        "l",
        Loop{
            .while_expression = "workflow.version == 1",
            .steps = {condition("c", "workflow.version == 2", {step("never")})},
            .max_iterations = 1'000'000'000
        }
    )});
    definition.step_budget = 1'000;
    KernelWorld world(definition);
    EXPECT_EQ(world.status(), "failed");
    EXPECT_NE(world.payload(world.state.error).find("step_budget"), std::string::npos);
}

TEST(Loop, without_any_step_does_not_make_one_commit_of_a_million_visits) {
    Definition definition = workflow(
        {step("a"),
         node(
             "l",
             Loop{
                 .while_expression = "workflow.version == 1",
                 .steps = {condition("c", "workflow.version == 2", {step("never")})},
                 .max_iterations = 1'000'000'000
             }
         )}
    );
    KernelWorld world(definition);
    world.run();
    EXPECT_EQ(world.status(), "failed");
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_EQ(
        world.payload(world.state.error),
        R"({"code":"step_budget","message":"The instance would visit more than 10000 nodes )"
        R"(one after another without a step or a wait."})"
    );
    EXPECT_LE(world.state.last_visit, 1 + 10'000 + 2);
}

/// A block in a loop whose first branch passes on what it gets, and the second one does this.
Definition growing(const Node& second, int join) {
    const Node pass = condition("c", "workflow.version == 2", {step("never")});
    const Node block =
        parallel("p", {{"x", {pass}}, {"y", {second}}}, join, Parallel::Losers::Keep);
    return workflow(
        {step("a"), node("l", Loop{.while_expression = "workflow.version == 1", .steps = {block}})}
    );
}

TEST(Parallel, whose_output_would_be_too_large_fails) {
    KernelWorld world(growing(condition("d", "workflow.version == 2", {step("neither")}), 0));
    world.run();
    EXPECT_EQ(world.status(), "failed");
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_NE(world.payload(world.state.error).find("payload_too_large"), std::string::npos);
    EXPECT_NE(world.payload(world.state.error).find("16777216 are allowed"), std::string::npos);
}

TEST(Parallel, whose_output_would_be_nested_too_deep_fails) {
    KernelWorld world(growing(node("d", Delay{.duration = "1h"}), 1));
    world.run();
    EXPECT_EQ(world.status(), "failed");
    EXPECT_EQ(
        world.payload(world.state.error),
        R"({"code":"payload_too_large","message":"The output of the block is nested 129 deep; )"
        R"(128 are allowed."})"
    );
}

TEST(Fail, is_a_permanent_failure_with_its_message) {
    KernelWorld world(workflow({step("a"), node("stop", Fail{.message = "no more"})}));
    world.run();
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_EQ(world.payload(world.state.error), R"({"code":"failed","message":"no more"})");
}

TEST(Signal, that_no_node_waits_for_is_refused) {
    KernelWorld world(workflow({step("a"), node("paid", Signal{})}));
    EXPECT_EQ(
        world.apply(event::SignalReceived{.name = "piad", .payload = "1"}),
        Decision::Verdict::Refused
    );
    EXPECT_EQ(world.last_refusal().code, "not_waiting");
    EXPECT_EQ(
        world.last_refusal().message,
        "No node of test v1 waits for the signal \"piad\". Did you mean \"paid\"?"
    );
}

TEST(Operators, are_refused_on_what_is_finished_and_ignored_when_repeated) {
    KernelWorld world(workflow({step("a")}));
    world.run();
    EXPECT_EQ(world.apply(event::CancelRequested{}), Decision::Verdict::Refused);
    EXPECT_EQ(
        world.last_refusal().message,
        "The instance has already completed, so it can no longer be cancelled."
    );
    EXPECT_EQ(world.apply(event::Requeued{}), Decision::Verdict::Refused);
    EXPECT_EQ(
        world.apply(event::SignalReceived{.name = "x", .payload = "1"}), Decision::Verdict::Refused
    );

    KernelWorld other(workflow({step("a")}));
    other.apply(event::AbortRequested{});
    EXPECT_EQ(other.apply(event::AbortRequested{}), Decision::Verdict::Ignored);
    EXPECT_EQ(other.apply(event::CancelRequested{}), Decision::Verdict::Refused);
}

}  // namespace
}  // namespace ebb::test
