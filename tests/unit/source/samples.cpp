// Workflows in the ways in which people write them. This file is compiled and scanned, and both
// must find the same.

#include "samples.h"

#include <chrono>
#include <string>

#include <ebb/builder.h>

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

constexpr int kAttempts = 4;
constexpr auto kSlow = 90s;
const std::string kBank = "bank";
const Backoff kSoon{.strategy = Backoff::Strategy::Fixed, .initial = 10ms, .jitter = 0};

Definition chain() {
    return ebb::WorkflowBuilder("chain")
        .step("book_hotel")
        .compensate("cancel_hotel")
        .step("book_flight")
        .max_attempts(5)
        .timeout(10s)
        .build();
}

Definition head() {
    return WorkflowBuilder("head", 3)
        .description(
            "All that there is: \"quotes\", \xC3\xBCmlauts\nand "
            "lines"
        )
        .on_error(Definition::OnError::DeadLetter)
        .deadline(std::chrono::hours(49))
        .priority(-7)
        .step_budget(5'000)
        .input_schema(R"({"type": "object", "properties": {"amount": {"type": "number"}}})")
        .output(R"json({"id": "${ string(input.id) }"})json")
        .handler_spec("charge", R"({"exec": ["./charge", "--fast"], "timeout": "5s"})")
        .step("charge")
        .build();
}

Definition options() {
    return WorkflowBuilder("options", 0x10)
        .defaults({.attempts = {.max_attempts = 7, .timeout = 5s}, .queue = "slow"})
        .step("a", {.compensate = "undo"})
        .step("b", {.attempts = {.max_attempts = 2}, .queue = "q"})
        .step("c", {.non_idempotent = true})
        .step("d", {.attempts = {.max_attempts = 3, .timeout = 0s}})
        .compensate("undo", {.max_attempts = 3, .backoff = {.initial = 1min + 30s}})
        .step(
            "e", {.handler = "f", .input = R"({"x": 1})", .description = "about", .metadata = "{}"}
        )
        .build();
}

Definition constants() {
    return WorkflowBuilder("constants")
        .step("a")
        .max_attempts(kAttempts)
        .timeout(kSlow)
        .queue(kBank)
        .backoff(kSoon)
        .delay("rest", 24h * 14)
        .step("b" + std::string("_two"))
        .build();
}

Definition blocks() {
    return WorkflowBuilder("blocks")
        .condition(
            "big",
            "input.amount > 100",
            [](BlockBuilder& then) { then.decision("approve").roles({"boss", "auditor"}); },
            [](auto& otherwise) { otherwise.step("small").step("tiny"); }
        )
        .switch_on(
            "kind",
            {{"input.kind == 'a'", [](BlockBuilder& one) { one.step("one"); }},
             {"input.kind == 'b'", [](BlockBuilder& two) { two.fail("stop", "because"); }}},
            [](BlockBuilder& other) { other.step("other"); }
        )
        .parallel(
            "ship",
            {
                {"parcel", [](ebb::BlockBuilder& branch) { branch.step("pack"); }},
                {"letter", [](ebb::BlockBuilder& branch) { branch.step("print").step("post"); }},
            }
        )
        .join(1)
        .keep_losers()
        .build();
}

Definition loops() {
    WorkflowBuilder builder("loops");
    builder.loop_while(
               "again", "input < 3", [](BlockBuilder& body) { body.step("a"); }
    ).max_iterations(9);
    builder.loop_until("until", "steps.b.output > 3", [](BlockBuilder& body) {
        body.step("b");
        body.delay("pause", "1m");
    });
    builder.delay_until("later", "2030-01-01T00:00:00Z");
    return builder.build();
}

Definition waits() {
    WorkflowBuilder builder("waits");
    builder.decision("ask")
        .quorum(2)
        .deadline(48h, HumanDecision::OnDeadline::Reject)
        .on_reject([](BlockBuilder& rejected) { rejected.step("say_no"); })
        .description("two people");
    builder.decision("quiet").on_reject({});
    builder.signal("paid").signal_name("payment").deadline(1h, Signal::OnDeadline::Continue);
    builder.savepoint("mark").resume(5);
    builder.savepoint("other");
    builder.step("end").non_idempotent().step_timeout(1min).concurrency_key("input.who");
    return builder.build();
}

Definition graph() {
    WorkflowBuilder builder("graph");
    builder
        .graph(
            "g",
            [](BlockBuilder& nodes) {
                nodes.step("a").next("output.way").metadata(R"({"position": {"x": 1}})");
                nodes.delay("wait", std::chrono::seconds(5));
            }
        )
        .edge("a", "later", "wait")
        .edge("wait", "a")
        .entry("a")
        .complete_unmatched();
    return builder.build();
}

void add_shipping(BlockBuilder& block, const std::string& name) {
    block.step(name).queue("truck");
    block.step("label");
}

Definition functions() {
    WorkflowBuilder builder("functions");
    const auto packing = [](BlockBuilder& block) { block.step("pack"); };
    builder.condition("gift", "input.gift", packing);
    add_shipping(builder, "ship");
    for (const char* name : {"one", "two"}) builder.step(name, {.handler = "work"});
    return builder.build();
}

Definition references() {
    WorkflowBuilder builder("references");
    StepBuilder first = builder.step("first");
    builder.step("second");
    first.max_attempts(7);
    auto&& last = builder.step("third");
    last.description("the last one");
    return builder.build();
}

Definition continued() {
    auto builder = WorkflowBuilder("continued");
    builder.step("a");
    {
        const int attempts = 2;
        builder.step("b").max_attempts(attempts);
    }
    return builder.build();
}

Definition comments() {
    return WorkflowBuilder("comments")  // a word, "quoted"
        /* .step("no") */
        .step("yes")
#if 0
        .step("never")
#else
        .step("always")
#endif
        .build();
}

Definition policies() {
    return WorkflowBuilder("policies")
        .step("a")
        .attempts(
            {.max_attempts = 7,
             .backoff =
                 {.strategy = Backoff::Strategy::Linear,
                  .initial = std::chrono::milliseconds(1500),
                  .factor = 1.5,
                  .max = std::chrono::hours(1),
                  .jitter = 0.25},
             .timeout = 30s,
             .step_timeout = std::chrono::minutes{5}}
        )
        .build();
}

}  // namespace

std::vector<CppSample> cpp_samples() {
    std::vector<CppSample> all;
    for (Definition& definition : std::vector<Definition>{
             chain(),
             head(),
             options(),
             constants(),
             blocks(),
             loops(),
             waits(),
             graph(),
             functions(),
             references(),
             continued(),
             comments(),
             policies(),
         }) {
        all.push_back({definition.name, std::move(definition)});
    }
    return all;
}

}  // namespace ebb::test
