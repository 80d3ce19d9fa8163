// Goal: expressions can read how the attempts of a step went, and only workflows that do so pay for
// it. Method: one instance is driven through `decide` alone; the input of a later step shows what
// the expression saw.

#include "support/flow.h"
#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using Outcome = KernelWorld::Outcome;

/// Fails the first calls of each of these steps; everything else completes.
auto failing_first(std::map<std::string, int> failures) {
    return [left = std::move(failures)](const Invocation& call) mutable {
        Outcome outcome;
        const auto found = left.find(call.node);
        if (!call.is_compensation && found != left.end() && found->second-- > 0) {
            outcome = {.kind = Outcome::Kind::Fail, .output = "null", .message = "boom"};
        }
        return outcome;
    };
}

Node reader(const std::string& input) {
    return step("look", {.is_compensated = false, .input = input});
}

Json input_of(const KernelWorld& world, const std::string& node) {
    for (auto event = world.history.rbegin(); event != world.history.rend(); ++event) {
        if (event->type == HistoryType::InputResolved && event->node == node) {
            return Json::parse(event->payload);
        }
    }
    return {};
}

TEST(Attempts, of_a_step_that_failed_before_it_completed) {
    KernelWorld world(workflow(
        {step("pay", {.max_attempts = 3}),
         reader(R"({"n": "${ steps.pay.attempts }", "error": "${ steps.pay.error }",
                    "code": "${ steps.pay.error.code }"})")}
    ));
    world.script = failing_first({{"pay", 2}});
    world.run();
    EXPECT_EQ(world.status(), "completed");
    const Json input = input_of(world, "look");
    EXPECT_EQ(input["n"], 3);
    EXPECT_EQ(input["code"], "error");
    EXPECT_EQ(input["error"]["message"], "boom");
}

TEST(Attempts, of_a_step_without_a_failure_have_no_error) {
    KernelWorld world(workflow(
        {step("pay"),
         reader(R"({"n": "${ steps.pay.attempts }", "failed": "${ has(steps.pay.error) }",
                    "known": "${ has(steps.pay.attempts) }"})")}
    ));
    world.run();
    EXPECT_EQ(input_of(world, "look"), Json::parse(R"({"n":1,"failed":false,"known":true})"));
}

TEST(Attempts, of_a_step_that_has_not_run_yet_are_none) {
    Loop loop;
    loop.until_expression = "steps.late.attempts == 1";
    loop.steps = {
        reader(R"({"n": "${ steps.late.attempts }", "failed": "${ has(steps.late.error) }"})"),
        step("late", {.is_compensated = false})
    };
    KernelWorld world(workflow({node("again", loop)}));
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(input_of(world, "look"), Json::parse(R"({"n":0,"failed":false})"));
}

TEST(Attempts, of_a_step_that_failed_for_good_are_seen_behind_its_error_edge) {
    NodeGraph graph;
    graph.nodes = {
        step("pay", {.is_compensated = false, .max_attempts = 2}),
        reader(R"({"n": "${ steps.pay.attempts }", "code": "${ steps.pay.error.code }",
                   "done": "${ 'pay' in steps }"})")
    };
    graph.edges = {{.from = "pay", .handle = "error", .to = "look"}};
    KernelWorld world(workflow({node("g", graph)}));
    world.script = failing_first({{"pay", 9}});
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(input_of(world, "look"), Json::parse(R"({"n":2,"code":"error","done":false})"));
}

TEST(Attempts, are_those_of_the_last_visit) {
    Loop loop;
    loop.while_expression = "!('look' in steps) || steps.look.output.turn < 2";
    loop.steps = {
        step("pay", {.is_compensated = false, .max_attempts = 3}),
        reader(R"({"n": "${ steps.pay.attempts }", "failed": "${ has(steps.pay.error) }"})")
    };
    KernelWorld world(workflow({node("again", loop)}));
    auto pay = failing_first({{"pay", 1}});
    int turn = 0;
    std::vector<Json> seen;
    world.script = [&](const Invocation& call) {
        Outcome outcome = pay(call);
        if (call.node == "look") {
            seen.push_back(input_of(world, "look"));
            outcome.output = Json({{"turn", ++turn}}).dump();
        }
        return outcome;
    };
    world.run();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], Json::parse(R"({"n":2,"failed":true})"));
    EXPECT_EQ(seen[1], Json::parse(R"({"n":1,"failed":false})"));
    EXPECT_EQ(world.state.records.size(), 1U) << "one record a step, however many turns";
}

TEST(Attempts, cost_nothing_where_no_expression_reads_them) {
    KernelWorld world(workflow({step("pay", {.max_attempts = 3}), step("b")}));
    world.script = failing_first({{"pay", 2}});
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_TRUE(world.state.records.empty());
}

TEST(Attempts, of_a_compensation_are_not_those_of_its_step) {
    KernelWorld world(workflow(
        {step("a", {.compensation_attempts = 3}),
         step("b", {.is_compensated = false, .input = R"("${ steps.a.attempts }")"})}
    ));
    world.script = [calls = 0](const Invocation& call) mutable {
        Outcome outcome;
        if (call.handler == "b") outcome.kind = Outcome::Kind::FailForGood;
        if (call.handler == "~a" && ++calls < 3) outcome.kind = Outcome::Kind::Fail;
        return outcome;
    };
    world.run();
    EXPECT_EQ(world.status(), "failed");
    ASSERT_EQ(world.state.records.size(), 1U);
    EXPECT_EQ(world.state.records[0].attempts, 1);
    EXPECT_EQ(world.state.records[0].failure, 0);
}

TEST(Attempts, in_a_state_that_a_person_has_changed_are_found_out) {
    KernelWorld world(
        workflow({step("pay", {.max_attempts = 2}), reader("\"${ steps.pay.attempts }\"")})
    );
    world.script = failing_first({{"pay", 1}});
    world.run(1);
    const Program& program = *world.program;
    ASSERT_EQ(world.state.records.size(), 1U);
    EXPECT_EQ(decode_state(encode_state(world.state, program), program), world.state);
    InstanceState wrong = world.state;
    wrong.records.push_back(wrong.records[0]);
    EXPECT_THROW(decode_state(encode_state(wrong, program), program), Error) << "twice";
    wrong = world.state;
    wrong.records[0].failure = wrong.last_seq + 1;
    EXPECT_THROW(decode_state(encode_state(wrong, program), program), Error) << "no such event";
}

}  // namespace
}  // namespace ebb::test
