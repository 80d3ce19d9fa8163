// Workflows with rules: what follows on an exception, on a failure, on a final condition that does
// not wait, and when nothing is pending.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using Verdict = Decision::Verdict;

/// A hotel and a flight; `options` are members of the rules, `head` of the workflow.
Definition travel(std::string_view options, std::string_view head = "") {
    return parse_definition_json(fmt::format(
        R"({{"workflow": "w", {} "rules": {{{}
            "attributes": {{
                "hotel": {{"default": "wanted"}}, "air": {{"default": "wanted"}},
                "phase": {{"default": "open", "external": true}}
            }},
            "triggers": {{
                "hotel": {{"when": "hotel = 'wanted' and phase <> 'shut'",
                          "compensate": "free_hotel"}},
                "air": {{"when": "air = 'wanted'", "compensate": "free_air"}}
            }},
            "final": {{"booked": "hotel = 'booked' and air = 'booked'",
                      "stopped": "phase = 'stopped'"}},
            "exceptions": {{"full": "hotel = 'full'"}}
        }}}})",
        head,
        options
    ));
}

constexpr std::string_view kHandled = R"("on_exception": {"do": "repair", "max_attempts": 1},)";
constexpr std::string_view kStops = R"("final_while_pending": "stop",)";
constexpr std::string_view kWaits = R"("on_idle": "wait",)";
constexpr std::string_view kHolds = R"("on_error": "exception",)";
constexpr std::string_view kFreezes = R"("on_error": "dead_letter",)";

Invocation call_of(KernelWorld& world, std::string_view transition) {
    for (const Token& token : world.state.tokens) {
        if (world.program->node(token.node).name != transition) continue;
        if (auto call = world.claim(token.id)) return *call;
    }
    ADD_FAILURE() << transition << " is not pending: " << world.history_text();
    return {};
}

Verdict write(KernelWorld& world, std::string_view values, bool is_repair = false) {
    return world.apply(event::AttributesWritten{.values = Payload(values), .is_repair = is_repair});
}

std::string error_code(const KernelWorld& world) {
    return Json::parse(world.payload(world.state.error)).at("code").get<std::string>();
}

TEST(RulesHandler, gets_what_led_to_the_exception_and_lets_the_instance_go_on) {
    KernelWorld world(travel(kHandled), "{}");
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    world.complete(call_of(world, "hotel"), R"({"hotel": "full"})");
    EXPECT_EQ(world.status(), "running");
    EXPECT_NE(world.state.rules->exception, 0);
    const Invocation call = call_of(world, kExceptionStep);
    const Json input = Json::parse(world.payload(call.input));
    EXPECT_EQ(input.at("cause"), "full");
    EXPECT_EQ(input.at("message"), "The exception \"full\" holds: hotel = 'full'.");
    EXPECT_EQ(input.at("transition"), "hotel");
    EXPECT_EQ(input.at("state").at("hotel"), "full");
    EXPECT_EQ(input.at("fired_state").at("hotel"), "wanted");
    world.complete(call, R"({"hotel": "wanted"})");
    EXPECT_EQ(world.state.rules->exception, 0);
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesHandler, may_lead_to_an_exception_again_and_to_the_end) {
    KernelWorld world(travel(kHandled), R"({"air": "booked", "hotel": "full"})");
    world.complete(call_of(world, kExceptionStep), R"({"phase": "odd"})");
    const Invocation again = call_of(world, kExceptionStep);
    const Json input = Json::parse(world.payload(again.input));
    EXPECT_EQ(input.at("transition"), kExceptionStep);
    EXPECT_EQ(input.at("fired_state").at("phase"), "open");
    world.complete(again, R"({"phase": "stopped"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesHandler, that_changes_nothing_waits_for_an_operator_in_the_end) {
    KernelWorld world(travel(kHandled), R"({"air": "booked", "hotel": "full"})");
    for (int i = 0; i < RulesLimits::kIdleFiresMax; ++i) {
        ASSERT_EQ(world.status(), "running") << i;
        world.complete(call_of(world, kExceptionStep));
    }
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(error_code(world), "no_progress");
}

TEST(RulesHandler, that_fails_for_good_waits_for_an_operator_who_can_call_it_again) {
    KernelWorld world(travel(kHandled), R"({"air": "booked", "hotel": "full"})");
    world.fail(call_of(world, kExceptionStep));
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_TRUE(world.state.tokens.empty());
    EXPECT_EQ(world.apply(event::Requeued{}), Verdict::Changed);
    EXPECT_EQ(world.status(), "running");
    world.fail(call_of(world, kExceptionStep));
    // So does a write, because it may be what the handler needs.
    EXPECT_EQ(write(world, R"({"phase": "open again"})"), Verdict::Changed);
    world.complete(call_of(world, kExceptionStep), R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesHandler, is_called_once_while_transitions_beside_it_write) {
    KernelWorld world(travel(kHandled), "{}");
    const Invocation air = call_of(world, "air");
    world.complete(call_of(world, "hotel"), R"({"hotel": "full"})");
    const Invocation handler = call_of(world, kExceptionStep);
    world.complete(air, R"({"air": "booked"})");
    ASSERT_EQ(world.state.tokens.size(), 1U);
    world.complete(handler, R"({"hotel": "wanted"})");
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesHandler, ends_with_the_exception_when_a_write_of_another_resolves_it) {
    KernelWorld world(travel(kHandled), R"({"air": "booked", "hotel": "full"})");
    const Invocation handler = call_of(world, kExceptionStep);
    EXPECT_EQ(write(world, R"({"hotel": "wanted"})", true), Verdict::Changed);
    EXPECT_EQ(world.state.rules->exception, 0);
    ASSERT_EQ(world.state.tokens.size(), 1U);
    EXPECT_EQ(world.program->node(world.state.tokens.front().node).name, "hotel");
    EXPECT_NE(world.history_text().find("step_stopped"), std::string::npos) << world.history_text();
    world.complete(handler, R"({"phase": "too late"})");
    EXPECT_EQ(world.state.rules->values[2].json, "\"open\"");
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesHandler, stands_against_no_final_condition) {
    KernelWorld world(
        travel(std::string(kHandled) + R"("final_while_pending": "refuse",)"),
        R"({"air": "booked", "hotel": "full"})"
    );
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesHandler, stays_while_the_exception_does) {
    KernelWorld world(travel(kHandled), R"({"air": "booked", "hotel": "full"})");
    const TokenId handler = world.state.tokens.front().id;
    EXPECT_EQ(write(world, R"({"phase": "shut"})"), Verdict::Changed);
    // It is another one: nothing holds and nothing is pending.
    EXPECT_EQ(write(world, R"({"hotel": "wanted"})", true), Verdict::Changed);
    EXPECT_NE(world.state.rules->exception, 0);
    ASSERT_EQ(world.state.tokens.size(), 1U);
    EXPECT_EQ(world.state.tokens.front().id, handler);
}

TEST(RulesHandler, is_undone_by_a_cancel_like_a_transition) {
    KernelWorld world(
        travel(R"("on_exception": {"do": "repair", "compensate": "unrepair"},)"),
        R"({"air": "booked", "hotel": "full"})"
    );
    world.complete(call_of(world, kExceptionStep), R"({"hotel": "wanted"})");
    EXPECT_EQ(world.apply(event::CancelRequested{}), Verdict::Changed);
    world.run();
    EXPECT_EQ(world.status(), "cancelled");
    EXPECT_EQ(world.calls_text(), "repair unrepair");
    EXPECT_EQ(world.state.rules->values[0].json, "\"full\"");
}

TEST(RulesFailure, holds_the_trigger_back_and_the_others_go_on) {
    KernelWorld world(travel({}, kHolds), "{}");
    world.fail(call_of(world, "hotel"));
    EXPECT_EQ(world.status(), "running");
    ASSERT_EQ(world.state.tokens.size(), 1U);
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(error_code(world), "failed:hotel");
    EXPECT_EQ(
        Json::parse(world.payload(world.state.error)).at("message"),
        "The transition \"hotel\" has failed for good, and nothing else is pending."
    );
}

TEST(RulesFailure, is_forgotten_when_an_attribute_changes_that_the_condition_reads) {
    KernelWorld world(travel({}, kHolds), "{}");
    world.fail(call_of(world, "hotel"));
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    EXPECT_EQ(write(world, R"({"phase": "late"})"), Verdict::Changed);
    EXPECT_EQ(world.status(), "running");
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesFailure, is_forgotten_when_an_operator_requeues) {
    KernelWorld world(travel({}, kHolds), R"({"air": "booked"})");
    world.fail(call_of(world, "hotel"));
    EXPECT_EQ(error_code(world), "failed:hotel");
    EXPECT_EQ(world.apply(event::Requeued{}), Verdict::Changed);
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesFailure, of_a_transition_that_fires_once_does_not_count_as_its_firing) {
    KernelWorld world(
        parse_definition_json(R"({"workflow": "w", "on_error": "exception", "rules": {
            "attributes": {"a": "text"},
            "triggers": {"t": {"when": "a is null", "mode": "once"}},
            "final": {"end": "a is not null"}}})"),
        "{}"
    );
    world.fail(call_of(world, "t"));
    EXPECT_EQ(world.apply(event::Requeued{}), Verdict::Changed);
    world.complete(call_of(world, "t"), R"({"a": "done"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesFailure, of_an_edge_is_forgotten_as_if_its_condition_had_been_false) {
    KernelWorld world(
        parse_definition_json(R"({"workflow": "w", "on_error": "exception", "rules": {
            "attributes": {"a": {"default": "x", "external": true},
                           "b": {"type": "text", "external": true}},
            "triggers": {"t": {"when": "a is not null", "mode": "edge"},
                         "u": {"when": "b is null"}},
            "final": {"end": "b = 'end'"}}})"),
        "{}"
    );
    world.fail(call_of(world, "t"));
    EXPECT_EQ(write(world, R"({"b": "end"})"), Verdict::Changed);
    // The final condition no longer holds, so all conditions are asked.
    EXPECT_EQ(write(world, R"({"b": "go on"})"), Verdict::Changed);
    EXPECT_EQ(world.state.tokens.size(), 1U);
    EXPECT_EQ(write(world, R"({"a": "y"})"), Verdict::Changed);
    EXPECT_EQ(world.state.tokens.size(), 2U);
}

TEST(RulesFailure, may_be_handled) {
    KernelWorld world(travel(kHandled, kHolds), R"({"air": "booked"})");
    world.fail(call_of(world, "hotel"));
    const Invocation call = call_of(world, kExceptionStep);
    const Json input = Json::parse(world.payload(call.input));
    EXPECT_EQ(input.at("cause"), "failed:hotel");
    EXPECT_EQ(input.at("transition"), "hotel");
    world.complete(call, R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesFailure, while_a_final_condition_waits_completes_the_instance) {
    KernelWorld world(travel({}, kHolds), "{}");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    world.complete(call_of(world, "air"), "null");
    world.fail(call_of(world, "hotel"));
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesFailure, is_undone_by_a_cancel) {
    KernelWorld world(travel({}, kHolds), "{}");
    world.fail(call_of(world, "hotel"));
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    EXPECT_EQ(world.apply(event::CancelRequested{}), Verdict::Changed);
    world.run();
    EXPECT_EQ(world.calls_text(), "hotel! air free_air free_hotel");
}

TEST(RulesFailure, needs_rules) {
    EXPECT_THROW(
        parse_definition_json(
            R"({"workflow": "w", "on_error": "exception", "steps": [{"step": "s"}]})"
        ),
        DefinitionError
    );
}

TEST(
    RulesException, that_a_trigger_fires_too_often_does_not_count_what_would_have_fired_beside_it
) {
    KernelWorld world(
        parse_definition_json(R"({"workflow": "w", "rules": {
            "attributes": {"a": {"default": "x"}},
            "triggers": {"first": {"when": "a = 'y'", "mode": "once"},
                         "again": {"when": "a is not null", "max_fires": 1}},
            "final": {"end": "a = 'z'"}}})"),
        "{}"
    );
    world.complete(call_of(world, "again"), R"({"a": "y"})");
    EXPECT_EQ(error_code(world), "max_fires");
    EXPECT_EQ(world.state.rules->marks[0].fires, 0);
}

TEST(RulesException, ends_with_an_abort) {
    KernelWorld world(travel({}), R"({"hotel": "full"})");
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(world.apply(event::AbortRequested{}), Verdict::Changed);
    EXPECT_EQ(world.status(), "aborted");
    const std::string text = encode_state(world.state, *world.program);
    EXPECT_TRUE(decode_state(text, *world.program) == world.state);
}

TEST(RulesFinal, stops_what_is_pending_and_undoes_what_was_called) {
    KernelWorld world(travel(kStops), "{}");
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    const Invocation air = call_of(world, "air");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    EXPECT_EQ(world.status(), "running");
    EXPECT_EQ(write(world, R"({"phase": "open"})"), Verdict::Refused);
    EXPECT_EQ(world.last_refusal().code, "invalid_state");
    // Its result comes too late to be written.
    world.complete(air, R"({"air": "booked"})");
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.calls_text(), "hotel air free_air") << "what was completed before stays";
    EXPECT_EQ(world.result(), R"({"hotel":"booked","air":"wanted","phase":"stopped"})");
    EXPECT_FALSE(world.state.rules->is_finishing);
}

TEST(RulesFinal, calls_no_compensation_when_nothing_was_called) {
    KernelWorld world(travel(kStops), "{}");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.calls_text(), "");
}

TEST(RulesFinal, undoes_a_transition_that_was_frozen) {
    KernelWorld world(travel(kStops, kFreezes), R"({"air": "booked"})");
    world.fail(call_of(world, "hotel"));
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    EXPECT_EQ(world.status(), "running");
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.calls_text(), "hotel! free_hotel");
}

TEST(RulesFinal, stops_what_was_fired_while_an_operator_was_awaited) {
    KernelWorld world(travel(kStops, kFreezes), "{}");
    const Invocation air = call_of(world, "air");
    world.fail(call_of(world, "hotel"));
    world.complete(air, "{}");
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    world.run();
    EXPECT_EQ(world.status(), "completed") << world.history_text();
    EXPECT_EQ(world.calls_text(), "hotel! air free_hotel");
}

TEST(RulesFinal, waits_for_an_operator_when_a_compensation_fails) {
    KernelWorld world(travel(kStops), R"({"air": "booked"})");
    const Invocation hotel = call_of(world, "hotel");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    bool is_broken = true;
    world.script = [&](const Invocation&) {
        return KernelWorld::Outcome{
            .kind = is_broken ? KernelWorld::Outcome::Kind::FailForGood
                              : KernelWorld::Outcome::Kind::Complete
        };
    };
    world.complete(hotel);
    world.run();
    EXPECT_EQ(world.status(), "dead_letter");
    is_broken = false;
    EXPECT_EQ(world.apply(event::Requeued{}), Verdict::Changed);
    world.run();
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesFinal, gives_way_to_a_cancel) {
    KernelWorld world(travel(kStops), "{}");
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    const Invocation hotel = call_of(world, "hotel");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    EXPECT_EQ(world.apply(event::CancelRequested{}), Verdict::Changed);
    world.complete(hotel);
    world.run();
    EXPECT_EQ(world.status(), "cancelled");
    EXPECT_EQ(world.calls_text(), "air hotel free_hotel free_air");
}

TEST(RulesIdle, may_wait_for_a_write_from_outside) {
    KernelWorld world(travel(kWaits), R"({"hotel": null, "air": null})");
    EXPECT_EQ(world.status(), "running");
    EXPECT_TRUE(world.state.tokens.empty());
    EXPECT_EQ(write(world, R"({"phase": "shut"})"), Verdict::Changed);
    EXPECT_TRUE(world.state.tokens.empty());
    EXPECT_EQ(write(world, R"({"hotel": "wanted", "phase": "open"})", true), Verdict::Changed);
    world.complete(call_of(world, "hotel"), R"({"hotel": "asked"})");
    EXPECT_EQ(world.status(), "running");
    EXPECT_EQ(write(world, R"({"phase": "stopped"})"), Verdict::Changed);
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesIdle, is_an_exception_all_the_same_when_a_transition_has_failed) {
    KernelWorld world(travel(kWaits, kHolds), R"({"air": null})");
    world.fail(call_of(world, "hotel"));
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(error_code(world), "failed:hotel");
}

TEST(RulesIdle, may_be_paused_and_cancelled) {
    KernelWorld world(travel(kWaits), R"({"hotel": null, "air": null})");
    EXPECT_EQ(world.apply(event::Paused{}), Verdict::Changed);
    EXPECT_EQ(world.apply(event::Resumed{}), Verdict::Changed);
    EXPECT_EQ(world.apply(event::CancelRequested{}), Verdict::Changed);
    EXPECT_EQ(world.status(), "cancelled");
}

}  // namespace
}  // namespace ebb::test
