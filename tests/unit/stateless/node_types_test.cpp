// Goal: what a type says of attempts is for steps that say nothing themselves, and who runs the
// workflows has the last word on what a failure means. Method: types over the stateless engine.

#include <ebb/builder.h>
#include <ebb/node_types.h>

#include "call/completion.h"
#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

AttemptPolicy fixed(int attempts, Duration wait) {
    return {
        .max_attempts = attempts,
        .backoff = {.strategy = Backoff::Strategy::Fixed, .initial = wait, .jitter = 0}
    };
}

const Step& step(const Definition& definition, std::size_t at) {
    return std::get<Step>(definition.steps.at(at).kind);
}

TEST(NodeTypesRetry, is_for_steps_that_say_nothing_themselves) {
    NodeTypes types;
    const Handler nothing = [](const Payload& input, const StepContext&) { return input; };
    types.add_raw("fetch", {.retry = fixed(5, 2s)}, nothing);
    types.add_raw("undo", {.retry = fixed(7, 1s)}, nothing);
    WorkflowBuilder builder("w");
    builder.step("fetch").compensate("undo");
    builder.step("own").handler("fetch").max_attempts(2);
    builder.step("other");
    builder.graph("g", [](BlockBuilder& nodes) { nodes.step("inside").handler("fetch"); });
    const Definition definition = types.with_retries(builder.build());
    EXPECT_EQ(step(definition, 0).attempts, fixed(5, 2s));
    EXPECT_EQ(step(definition, 0).compensate->attempts, fixed(7, 1s));
    EXPECT_EQ(step(definition, 1).attempts.max_attempts, 2);
    EXPECT_EQ(step(definition, 2).attempts, AttemptPolicy{});
    const auto& graph = std::get<NodeGraph>(definition.steps.at(3).kind);
    EXPECT_EQ(std::get<Step>(graph.nodes.at(0).kind).attempts, fixed(5, 2s));
}

/// How a call ended.
struct Ended final : AsyncCall {
    bool end(End its_end, const StepContext& context) noexcept override {
        if (its_end.error) {
            try {
                std::rethrow_exception(its_end.error);
            } catch (const std::exception& error) {
                text = error.what();
            }
        } else {
            text = its_end.output + " " + context.choice->handle;
        }
        return true;
    }

    void log(LogLevel, std::string_view, std::span<const LogField>) const noexcept override {}

    void progress(Payload) const override {}

    std::string text;
};

TEST(NodeTypesAsync, keep_the_contract_without_a_thread_that_waits) {
    NodeTypes types({
        .secrets = [](const StepContext&) { return R"({"key":"tops3cret"})"; },
    });
    std::vector<Completion<Payload>> pending;
    types.add(
        "pay",
        {.input_schema = R"({"type":"number"})", .output_schema = R"({"type":"string"})"},
        [&](int, Completion<Payload> completion) { pending.push_back(completion); }
    );
    HandlerRegistry handlers;
    types.add_to(handlers);
    const AsyncHandler* pay = handlers.find_async("pay");
    ASSERT_NE(pay, nullptr);
    const auto begin = [&](const Payload& input) {
        const auto ended = std::make_shared<Ended>();
        StepContext context;
        context.step = "pay";
        begin_async(*pay, input, context, ended);
        return ended;
    };
    EXPECT_THAT(begin("true")->text, HasSubstr("does not fit its type"));
    EXPECT_TRUE(pending.empty());

    const auto good = begin("5");
    ASSERT_EQ(pending.size(), 1U);
    EXPECT_EQ(good->text, "") << "begin_async has returned before the end";
    EXPECT_TRUE(pending[0].complete(StepResult{R"("paid with tops3cret")", {.handle = "ok"}}));
    EXPECT_EQ(good->text, R"("paid with [redacted]" ok)");
    EXPECT_FALSE(pending[0].complete(Payload("1"))) << "it has ended";

    const auto wrong = begin("6");
    pending[1].complete(Payload("7"));
    EXPECT_THAT(wrong->text, HasSubstr("The output of \"pay\" does not fit its type \"pay\""));
    const auto failed = begin("8");
    pending[2].fail("the bank refused the key tops3cret of this shop");
    EXPECT_THAT(failed->text, HasSubstr("[redacted]"));
    EXPECT_THAT(failed->text, ::testing::Not(HasSubstr("tops3cret")));
}

/// One step whose handler throws what the test sets.
struct Failing {
    explicit Failing(NodeTypesOptions options) : types(std::move(options)) {
        types.add_raw("fail", {}, [this](const Payload&, const StepContext&) -> Payload {
            ++calls;
            if (throws == "permanent") throw PermanentError("no account", "no_account");
            if (throws == "later") throw RetryAfter("busy", 60s);
            throw std::runtime_error("the key is tops3cret");
        });
        types.add_to(handlers);
    }

    stateless::Snapshot run() {
        WorkflowBuilder builder("w");
        builder.step("fail").max_attempts(3).backoff(
            {.strategy = Backoff::Strategy::Fixed, .initial = 5s, .jitter = 0}
        );
        stateless::EngineOptions options;
        options.clock = &clock;
        stateless::Engine engine(handlers, options);
        engine.add(builder.build());
        return engine.execute(engine.start("w"));
    }

    std::string throws;
    int calls = 0;
    NodeTypes types;
    HandlerRegistry handlers;
    ManualClock clock{TimePoint(1'000h)};
};

using Kind = ErrorVerdict::Kind;

TEST(NodeTypesOnError, has_the_last_word) {
    std::vector<std::string> seen;
    ErrorVerdict verdict;
    Failing world({
        .secrets = [](const StepContext&) { return R"({"key":"tops3cret"})"; },
        .on_error =
            [&](const HandlerFailure& failure, const StepContext& context) {
                seen.push_back(context.step + " " + failure.options().code + ": " + failure.what());
                return verdict;
            },
    });
    EXPECT_EQ(world.run().status(), stateless::SnapshotStatus::Error);
    EXPECT_EQ(seen.back(), "fail error: the key is [redacted]");
    verdict.kind = Kind::GiveUp;
    EXPECT_EQ(world.run().status(), stateless::SnapshotStatus::Failed);
    verdict = {.kind = Kind::Retry, .delay = 90s};
    world.throws = "permanent";
    EXPECT_EQ(world.run().retry_state()->next_retry_at, world.clock.now() + 90s);
    EXPECT_EQ(seen.back(), "fail no_account: no account");
    verdict = {.kind = Kind::Retry};
    world.throws = "later";
    EXPECT_EQ(world.run().retry_state()->next_retry_at, world.clock.now() + 5s);
    verdict = {};
    EXPECT_EQ(world.run().retry_state()->next_retry_at, world.clock.now() + 60s);
    world.throws = "permanent";
    EXPECT_EQ(world.run().status(), stateless::SnapshotStatus::Failed);
}

TEST(NodeTypesOnError, changes_nothing_when_it_fails_itself) {
    Failing world({.on_error = [](const auto&, const auto&) -> ErrorVerdict {
        throw std::logic_error("broken");
    }});
    const stateless::Snapshot snapshot = world.run();
    EXPECT_EQ(snapshot.status(), stateless::SnapshotStatus::Error);
    EXPECT_THAT(snapshot.results("fail").at(0).error, HasSubstr("tops3cret"));
}

}  // namespace
}  // namespace ebb::test
