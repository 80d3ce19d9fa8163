// The same workflow said in C++, YAML and JSON is the same definition, and the builder tells all
// problems at once.

#include <ebb/builder.h>
#include <ebb/yaml.h>

#include "support/json.h"

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

Definition built() {
    return WorkflowBuilder("order", 2)
        .description("Takes an order")
        .deadline(24h)
        .output(R"({"id": "${ steps.charge.output.id }"})")
        .step("reserve", {.handler = "reserve_stock", .compensate = "release"})
        .step("charge")
        .compensate("refund", {.max_attempts = 9})
        .max_attempts(5)
        .backoff({.strategy = Backoff::Strategy::Fixed, .initial = 2s})
        .timeout(30s)
        .step_timeout(5min)
        .savepoint("booked")
        .resume(2)
        .condition(
            "big",
            "input.amount > 100",
            [](BlockBuilder& then) {
                then.decision("approve")
                    .roles({"boss"})
                    .quorum(1)
                    .deadline(48h, HumanDecision::OnDeadline::Reject)
                    .on_reject([](BlockBuilder& rejected) {
                        rejected.fail("too_big", "too big: ${ input.amount }");
                    });
            },
            [](auto& otherwise) { otherwise.delay("wait", 5min); }
        )
        .parallel(
            "ship",
            {{"parcel", [](BlockBuilder& branch) { branch.step("pack").queue("warehouse"); }},
             {"letter", [](BlockBuilder& branch) { branch.step("print").step("post"); }}}
        )
        .join_any()
        .keep_losers()
        .loop_until(
            "poll",
            "steps.look.output.done",
            [](BlockBuilder& body) { body.delay("pause", "${ input.seconds }").step("look"); }
        )
        .max_iterations(10)
        .switch_on(
            "tell",
            {{"input.mail != ''", [](BlockBuilder& c) { c.step("mail"); }}},
            [](BlockBuilder& otherwise) { otherwise.step("call").non_idempotent(); }
        )
        .signal("paid")
        .signal_name("payment")
        .deadline(1h, Signal::OnDeadline::Continue)
        .build();
}

constexpr std::string_view kYaml = R"(
workflow: order
version: 2
description: Takes an order
deadline: 1d
output: {id: "${ steps.charge.output.id }"}
steps:
  - step: reserve
    handler: reserve_stock
    compensate: release
  - step: charge
    compensate: {handler: refund, max_retries: 8}
    max_attempts: 5
    backoff: {strategy: fixed, initial: 2s}
    timeout: 30s
    step_timeout: 5m
  - savepoint: booked
    on_rollback: resume
    max_resumes: 2
  - condition: big
    when: input.amount > 100
    then:
      - decision: approve
        roles: [boss]
        deadline: 2d
        on_deadline: reject
        on_reject:
          - fail: too_big
            message: "too big: ${ input.amount }"
    else:
      - {delay: wait, for: 5m}
  - parallel: ship
    branches:
      parcel:
        - step: pack
          queue: warehouse
      letter: [print, post]
    join: any
    losers: keep
  - loop: poll
    until: steps.look.output.done
    max_iterations: 10
    do:
      - {delay: pause, for: "${ input.seconds }"}
      - look
  - switch: tell
    cases:
      - {when: input.mail != '', do: [mail]}
    default:
      - {step: call, non_idempotent: true}
  - signal: paid
    name: payment
    deadline: 1h
    on_deadline: continue
)";

TEST(Builder, yaml_and_json_say_the_same) {
    const Definition definition = built();
    EXPECT_EQ(parse_definition_yaml(kYaml), definition);
    EXPECT_EQ(parse_definition_json(definition_to_json(definition).dump()), definition);
    EXPECT_EQ(definition_checksum(parse_definition_yaml(kYaml)), definition_checksum(definition));
}

TEST(Builder, tells_all_problems_at_once) {
    const WorkflowBuilder builder("no name", 0);
    try {
        builder.build();
        FAIL();
    } catch (const DefinitionError& error) {
        ASSERT_EQ(error.diagnostics().size(), 3u);
        EXPECT_EQ(error.diagnostics()[0].code, "invalid_name");
        EXPECT_EQ(error.diagnostics()[1].code, "out_of_range");
        EXPECT_EQ(error.diagnostics()[2].code, "empty_block");
    }
}

TEST(Builder, can_be_built_again_and_continued) {
    WorkflowBuilder builder("w");
    builder.step("a");
    const Definition first = builder.build();
    EXPECT_EQ(builder.build(), first);
    builder.step("b").step("c");
    EXPECT_EQ(first.steps.size(), 1u);
    EXPECT_EQ(builder.build().steps.size(), 3u);
}

TEST(Builder, says_more_about_the_node_it_belongs_to) {
    WorkflowBuilder builder("w");
    StepBuilder a = builder.step("a");
    builder.step("b");
    a.max_attempts(7);
    const Definition definition = builder.build();
    EXPECT_EQ(std::get<Step>(definition.steps[0].kind).attempts.max_attempts, 7);
    EXPECT_EQ(std::get<Step>(definition.steps[1].kind).attempts.max_attempts, 3);
}

TEST(Builder, refuses_to_build_inside_a_block) {
    WorkflowBuilder builder("w");
    const auto build_inside = [&] {
        builder.condition("c", "input.x", [](BlockBuilder& then) { then.step("a").build(); });
    };
    EXPECT_THROW(build_inside(), Error);
}

TEST(Builder, keeps_payloads_in_canonical_form) {
    const Definition definition =
        WorkflowBuilder("w").step("a").input(" {\"b\": 1,\n \"a\": 2} ").build();
    EXPECT_EQ(std::get<Step>(definition.steps[0].kind).input, R"({"a":2,"b":1})");
}

TEST(Builder, leaves_what_is_not_json_for_the_diagnostics) {
    WorkflowBuilder builder("w");
    builder.step("a").input("{");
    EXPECT_THROW(builder.build(), DefinitionError);
}

TEST(Builder, a_join_of_no_branches_is_not_a_join_of_all) {
    WorkflowBuilder builder("w");
    builder
        .parallel(
            "p",
            {{"x", [](BlockBuilder& b) { b.step("a"); }},
             {"y", [](BlockBuilder& b) { b.step("b"); }}}
        )
        .join(0);
    EXPECT_THROW(builder.build(), DefinitionError);
}

TEST(Builder, takes_nodes_that_were_made_by_hand) {
    const Node node{.name = "a", .description = "by hand", .kind = Step{.handler = "b"}};
    EXPECT_EQ(WorkflowBuilder("w").add(node).build().steps.at(0), node);
}

TEST(Builder, delays_until_a_time) {
    const Definition definition =
        WorkflowBuilder("w").delay_until("d", TimePoint(std::chrono::seconds(86'400))).build();
    EXPECT_EQ(std::get<Delay>(definition.steps[0].kind).until, "1970-01-02T00:00:00Z");
}

}  // namespace
}  // namespace ebb::test
