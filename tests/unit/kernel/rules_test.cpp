// Workflows with rules: what writes fire, how such an instance ends, and what is refused.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/state_text.h"
#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using Verdict = Decision::Verdict;

/// `rules` without its braces; `head` are members of the workflow.
Definition with_rules(std::string_view rules, std::string_view head = "") {
    return parse_definition_json(
        fmt::format(R"({{"workflow": "w", {} "rules": {{{}}}}})", head, rules)
    );
}

constexpr std::string_view kTravel = R"(
    "attributes": {
        "phase": {"default": "none", "external": true},
        "hotel": "text", "air": "text", "price": {"type": "integer", "default": 0, "external": true}
    },
    "triggers": {
        "validate": {"when": "phase = 'received'", "compensate": "unvalidate"},
        "hotel": {"when": "hotel = 'wanted'", "do": "book_hotel", "writes": ["hotel"],
                  "compensate": "free_hotel"},
        "air": {"when": "air = 'wanted'", "do": "book_air", "writes": ["air"]}
    },
    "final": {"booked": "hotel = 'booked' and air = 'booked'",
              "cancelled": "phase = 'cancelled'"},
    "exceptions": {"full": "hotel = 'full'"},
    "invariants": {"price": "price >= 0"})";

constexpr std::string_view kReceived = R"({"phase": "received"})";
constexpr std::string_view kWanted = R"({"phase": "valid", "hotel": "wanted", "air": "wanted"})";

Payload attributes(const KernelWorld& world) {
    return world.program->rules()->state_text(*world.state.rules);
}

/// The call of the transition's handler.
Invocation call_of(KernelWorld& world, std::string_view transition) {
    for (const Token& token : world.state.tokens) {
        if (world.program->node(token.node).name != transition) continue;
        if (auto call = world.claim(token.id)) return *call;
    }
    ADD_FAILURE() << transition << " is not pending: " << world.history_text();
    return {};
}

class KernelRules : public ::testing::Test {
 protected:
    KernelWorld world{with_rules(kTravel), Payload(kReceived)};

    void fire_both() { world.complete(call_of(world, "validate"), Payload(kWanted)); }
};

TEST_F(KernelRules, a_write_fires_every_transition_whose_condition_holds) {
    EXPECT_EQ(world.history_text(), "started state_written");
    fire_both();
    EXPECT_EQ(
        world.history_text(),
        "started state_written step_completed:validate attributes_written:validate state_written"
    );
    ASSERT_EQ(world.state.tokens.size(), 2U);
    EXPECT_EQ(world.state.tokens[0].id, 1) << "the first continues with the token that has ended";
    EXPECT_EQ(
        world.payload(world.state.tokens[1].input),
        R"({"phase":"valid","hotel":"wanted","air":"wanted","price":0})"
    );
}

TEST_F(KernelRules, a_final_condition_ends_it_with_the_attributes_as_output) {
    fire_both();
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    EXPECT_EQ(world.status(), "running");
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.result(), R"({"phase":"valid","hotel":"booked","air":"booked","price":0})");
}

TEST_F(KernelRules, what_a_sibling_wrote_meanwhile_stays) {
    fire_both();
    const Invocation hotel = call_of(world, "hotel");
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    // It hands back all that it was given, with its own value changed.
    world.complete(hotel, R"({"phase":"valid","hotel":"booked","air":"wanted","price":0})");
    EXPECT_EQ(world.status(), "completed");
}

TEST_F(KernelRules, a_write_from_outside_is_merged_and_may_end_it_when_nothing_is_pending) {
    fire_both();
    const event::AttributesWritten cancel{.values = R"({"phase": "cancelled"})", .by = "ada"};
    EXPECT_EQ(world.apply(cancel), Verdict::Changed);
    EXPECT_EQ(world.status(), "running");
    EXPECT_TRUE(world.state.rules->is_finishing);
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    world.complete(call_of(world, "air"), "null");
    EXPECT_EQ(world.status(), "completed");
}

TEST_F(KernelRules, a_write_that_is_repeated_or_changes_nothing_leaves_no_event) {
    const event::AttributesWritten once{.values = R"({"price": 7})", .request_id = "r1"};
    EXPECT_EQ(world.apply(once), Verdict::Changed);
    EXPECT_EQ(world.apply(once), Verdict::Ignored);
    EXPECT_EQ(world.apply(event::AttributesWritten{.values = R"({"price": 7})"}), Verdict::Ignored);
}

TEST_F(KernelRules, refuses_writes_that_are_not_allowed_and_changes_nothing) {
    const InstanceState before = world.state;
    const auto code_of = [&](std::string_view values) {
        EXPECT_EQ(
            world.apply(event::AttributesWritten{.values = Payload(values)}), Verdict::Refused
        );
        return world.last_refusal().code;
    };
    EXPECT_EQ(code_of(R"({"hotel": "booked"})"), "not_allowed");
    EXPECT_EQ(code_of(R"({"price": -1})"), "invariant_violated");
    EXPECT_EQ(code_of(R"({"price": "much"})"), "invalid_value");
    EXPECT_EQ(code_of(R"({"prize": 1})"), "unknown_attribute");
    EXPECT_EQ(code_of("7"), "invalid_output");
    EXPECT_TRUE(world.state == before);
}

TEST_F(KernelRules, a_start_that_fires_nothing_is_refused) {
    const KernelWorld idle(with_rules(kTravel), "{}");
    EXPECT_EQ(idle.last_refusal().code, "no_condition");
    EXPECT_EQ(idle.state.last_seq, 0);
    const KernelWorld wrong(with_rules(kTravel), R"({"phase": 7})");
    EXPECT_EQ(wrong.last_refusal().code, "invalid_value");
}

TEST_F(KernelRules, a_start_may_be_final_or_an_exception) {
    const KernelWorld done(with_rules(kTravel), R"({"phase": "cancelled"})");
    EXPECT_EQ(done.status(), "completed");
    const KernelWorld full(with_rules(kTravel), R"({"hotel": "full"})");
    EXPECT_EQ(full.status(), "dead_letter");
}

TEST_F(KernelRules, an_exception_waits_until_the_attributes_are_repaired) {
    fire_both();
    world.complete(call_of(world, "hotel"), R"({"hotel": "full"})");
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(
        world.payload(world.state.error),
        R"({"code":"full","message":"The exception \"full\" holds: hotel = 'full'."})"
    );
    EXPECT_EQ(world.apply(event::Requeued{}), Verdict::Refused) << "the attributes are the same";
    const event::AttributesWritten repair{.values = R"({"hotel": "wanted"})", .is_repair = true};
    EXPECT_EQ(world.apply(repair), Verdict::Changed);
    EXPECT_EQ(world.status(), "running");
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    world.complete(call_of(world, "air"), R"({"air": "booked"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST_F(KernelRules, what_ends_during_an_exception_is_written_and_may_end_it) {
    fire_both();
    const Invocation air = call_of(world, "air");
    world.complete(call_of(world, "hotel"), R"({"hotel": "full"})");
    world.complete(air, R"({"air": "booked"})");
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_TRUE(world.state.tokens.empty());
    const event::AttributesWritten repair{.values = R"({"hotel": "booked"})", .is_repair = true};
    EXPECT_EQ(world.apply(repair), Verdict::Changed);
    EXPECT_EQ(world.status(), "completed");
}

TEST_F(KernelRules, nothing_pending_and_nothing_true_is_an_exception) {
    world.complete(call_of(world, "validate"), R"({"phase": "odd"})");
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_TRUE(world.payload(world.state.error).starts_with(R"({"code":"no_condition")"));
    EXPECT_EQ(world.apply(event::CancelRequested{}), Verdict::Changed);
    world.run();
    EXPECT_EQ(world.status(), "cancelled");
    EXPECT_EQ(world.calls_text(), "validate unvalidate");
}

TEST_F(KernelRules, a_failure_rolls_back_and_gives_the_attributes_back) {
    fire_both();
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked"})");
    EXPECT_EQ(world.apply(event::AttributesWritten{.values = R"({"price": 9})"}), Verdict::Changed);
    world.fail(call_of(world, "air"));
    world.run();
    EXPECT_EQ(world.status(), "failed");
    EXPECT_EQ(world.calls_text(), "validate book_hotel book_air! free_hotel unvalidate");
    // What came from outside stays: no transition wrote it.
    EXPECT_EQ(attributes(world), R"({"phase":"received","hotel":null,"air":null,"price":9})");
}

TEST_F(KernelRules, an_undeclared_write_is_a_failure_for_good) {
    fire_both();
    world.complete(call_of(world, "hotel"), R"({"hotel": "booked", "price": 3})");
    EXPECT_EQ(world.status(), "compensating");
    EXPECT_TRUE(world.payload(world.state.error).starts_with(R"({"code":"undeclared_write")"));
}

TEST_F(KernelRules, a_write_while_it_is_paused_fires_what_begins_when_it_is_resumed) {
    EXPECT_EQ(world.apply(event::Paused{}), Verdict::Changed);
    const event::AttributesWritten repair{.values = R"({"air": "wanted"})", .is_repair = true};
    EXPECT_EQ(world.apply(repair), Verdict::Changed);
    EXPECT_TRUE(world.state.tokens.back().is_parked);
    EXPECT_EQ(world.apply(event::Resumed{}), Verdict::Changed);
    EXPECT_FALSE(world.state.tokens.back().is_parked);
}

TEST(KernelRulesOptions, an_exception_may_roll_back_at_once) {
    KernelWorld world(
        with_rules(R"("attributes": {"a": {"default": "x"}}, "on_exception": "compensate",
                      "triggers": {"t": {"when": "a = 'x'", "compensate": "undo_t"}},
                      "exceptions": {"bad": "a = 'bad'"})"),
        "{}"
    );
    world.complete(call_of(world, "t"), R"({"a": "bad"})");
    world.run();
    EXPECT_EQ(world.status(), "failed");
    EXPECT_EQ(world.calls_text(), "t undo_t");
    EXPECT_EQ(attributes(world), R"({"a":"x"})");
}

TEST(KernelRulesOptions, a_final_condition_may_refuse_until_the_others_have_ended) {
    KernelWorld world(
        with_rules(R"("attributes": {"a": "text", "b": "text"}, "final_while_pending": "refuse",
                      "triggers": {"s": {"when": "a is null"}, "t": {"when": "b is null"}},
                      "final": {"end": "a = 'done'"})"),
        "{}"
    );
    world.complete(call_of(world, "s"), R"({"a": "done"})");
    EXPECT_EQ(world.history.back().type, HistoryType::StepRetried);
    EXPECT_EQ(attributes(world), R"({"a":null,"b":null})");
    world.complete(call_of(world, "t"), R"({"b": "done"})");
    world.run(1);
    const Invocation again = call_of(world, "s");
    EXPECT_EQ(again.attempt.attempt, 2);
    world.complete(again, R"({"a": "done"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(KernelRulesOptions, dead_letters_freeze_a_transition_and_requeue_tries_it_again) {
    KernelWorld world(
        with_rules(
            R"("attributes": {"a": "text", "b": "text"},
                      "triggers": {"s": {"when": "a is null"}, "t": {"when": "b is null"}},
                      "final": {"end": "a is not null and b is not null"})",
            R"("on_error": "dead_letter",)"
        ),
        "{}"
    );
    world.fail(call_of(world, "s"));
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(world.apply(event::Requeued{}), Verdict::Changed);
    world.complete(call_of(world, "t"), R"({"b": "done"})");
    world.complete(call_of(world, "s"), R"({"a": "done"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(KernelRulesOptions, templates_make_input_attributes_and_output) {
    KernelWorld world(
        with_rules(
            R"("attributes": {"n": {"type": "integer", "default": 1}},
                      "triggers": {"t": {"when": "n < 3", "input": {"twice": "${ input.n * 2 }"},
                                         "set": {"n": "${ state.n + output }"}}},
                      "final": {"end": "n >= 3"})",
            R"("output": {"total": "${ input.n }"},)"
        ),
        "{}"
    );
    EXPECT_EQ(world.payload(world.state.tokens[0].input), R"({"twice":2})");
    world.complete(call_of(world, "t"), "1");
    world.complete(call_of(world, "t"), "1");
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.result(), R"({"total":3})");
}

TEST(KernelRulesOptions, a_transition_that_never_changes_anything_is_an_exception) {
    KernelWorld world(
        with_rules(R"("attributes": {"a": "text"}, "triggers": {"t": {"when": "a is null"}})"), "{}"
    );
    for (int i = 0; i < RulesLimits::kIdleFiresMax; ++i) world.complete(call_of(world, "t"));
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_TRUE(world.payload(world.state.error).starts_with(R"({"code":"no_progress")"));
    EXPECT_EQ(world.apply(event::Requeued{}), Verdict::Changed);
    EXPECT_EQ(world.status(), "running");
}

TEST(KernelRulesOptions, workflows_with_steps_have_no_attributes) {
    KernelWorld world(
        parse_definition_json(R"({"workflow": "w", "steps": [{"step": "s"}]})"), "{}"
    );
    EXPECT_EQ(world.apply(event::AttributesWritten{.values = "{}"}), Verdict::Refused);
    EXPECT_EQ(encode_state(world.state, *world.program).find("rules"), std::string::npos);
}

TEST_F(KernelRules, a_text_that_is_not_its_state_is_corrupt) {
    const std::string text = encode_state(world.state, *world.program);
    const auto replaced = [&](std::string_view what, std::string_view by) {
        std::string changed = text;
        const std::size_t at = changed.find(what);
        EXPECT_NE(at, std::string::npos) << text;
        return changed.replace(at, what.size(), by);
    };
    EXPECT_TRUE(decode_state(text, *world.program) == world.state);
    for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
             {R"("format":1)", R"("format":2)"},
             {R"("price":0)", R"("price":"0")"},
             {R"("price":0)", R"("price":0.0)"},
             {R"(,"price":0)", ""},
             {R"("air":null)", R"("ear":null)"},
             {R"("branch":1)", R"("branch":2)"},
             {R"("phase":1)", R"("phase":99)"},
             {R"("marks":{)", R"("marks":{"nothing":{})"},
             {R"("marks":{})", R"("marks":{},"exception":1)"},
         }) {
        EXPECT_THROW(decode_state(replaced(what, by), *world.program), Error) << by;
    }
}

}  // namespace
}  // namespace ebb::test
