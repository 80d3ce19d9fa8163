#pragma once

#include <chrono>

#include <ebb/builder.h>

namespace ebb::test {

inline AttemptPolicy everything_of_a_policy() {
    using std::chrono::hours;
    using std::chrono::milliseconds;
    using std::chrono::minutes;
    using std::chrono::seconds;
    return {
        .max_attempts = 7,
        .backoff =
            {.strategy = Backoff::Strategy::Linear,
             .initial = milliseconds(1500),
             .factor = 1.5,
             .max = hours(1),
             .jitter = 0.25},
        .timeout = seconds(30),
        .step_timeout = minutes(5),
    };
}

/// Every field of the model with a value that is not its default.
inline Definition everything() {
    using std::chrono::hours;
    using std::chrono::milliseconds;

    const AttemptPolicy policy = everything_of_a_policy();
    return WorkflowBuilder("everything", 3)
        .description("All that there is: \"quotes\", ümlauts\nand lines")
        .on_error(Definition::OnError::DeadLetter)
        .deadline(hours(49))
        .priority(-7)
        .step_budget(5'000)
        .input_schema(R"({"type": "object", "properties": {"amount": {"type": "number"}}})")
        .output(R"({"id": "${ steps.pay.output.id }", "list": [1, 2.5, null, true]})")
        .handler_spec("charge", R"({"exec": ["./charge", "--fast"], "timeout": "5s"})")
        .step("reserve")
        .step("pay")
        .handler("charge")
        .description("Takes the money")
        .input(R"({"order": "${ workflow.input.id }", "b": 1, "a": [2]})")
        .compensate("refund", AttemptOptions::of(policy))
        .attempts(policy)
        .queue("slow")
        .step("notify", {.compensate = "unsay", .non_idempotent = true})
        .savepoint("booked")
        .resume(5)
        .condition(
            "big",
            "input.amount > 100",
            [](BlockBuilder& then) { then.step("check"); },
            [](BlockBuilder& otherwise) { otherwise.fail("small", "only ${ input.amount }"); }
        )
        .switch_on(
            "route",
            {{"input.kind == 'a'", [](BlockBuilder& b) { b.step("by_a"); }},
             {"input.kind == 'b'", {}}},
            [](BlockBuilder& b) { b.step("by_default"); }
        )
        .parallel(
            "prepare",
            {{"z", [](BlockBuilder& b) { b.step("z1"); }},
             {"a", [](BlockBuilder& b) { b.step("a1").step("a2"); }},
             {"m", [](BlockBuilder& b) { b.delay("m1", milliseconds(1)); }}}
        )
        .join(2)
        .keep_losers()
        .parallel(
            "race",
            {{"one", [](BlockBuilder& b) { b.step("r1"); }},
             {"two", [](BlockBuilder& b) { b.step("r2"); }}}
        )
        .join_any()
        .loop_while("poll", "input.more", [](BlockBuilder& b) { b.step("next"); })
        .max_iterations(12)
        .loop_until("settle", "input.done", [](BlockBuilder& b) { b.step("look"); })
        .delay("pause", "${ input.seconds }")
        .delay_until("morning", TimePoint(hours(24 * 20'000)))
        .decision("approve")
        .quorum(2)
        .roles({"boss", "owner"})
        .deadline(hours(48), HumanDecision::OnDeadline::Reject)
        .on_reject([](BlockBuilder& b) { b.fail("refused"); })
        .decision("again")
        .on_reject({})
        .signal("paid")
        .signal_name("payment")
        .deadline(hours(1), Signal::OnDeadline::Continue)
        .build();
}

}  // namespace ebb::test
