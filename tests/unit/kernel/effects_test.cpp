// What a decision writes beside the instance: waits and failures, and how failures are grouped.
// That all of them say what the state says is checked by KernelWorld after every event.

#include "support/flow.h"
#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using ::testing::ElementsAre;

std::string group(std::string_view message) {
    return failure_group("orders", "pay", "declined", message);
}

TEST(FailureGroup, ignores_what_differs_between_occurrences) {
    EXPECT_EQ(group("no order 4711"), group("no order 12"));
    EXPECT_EQ(
        group("no order 0190a5c0-1111-7000-8000-000000000001 here"),
        group("no order deadbeef0123 here")
    );
    EXPECT_EQ(group("no file /tmp/a.txt, sorry"), group("no file /srv/data/b, sorry"));
    EXPECT_EQ(group("no key \"a b\" in 'x'"), group("no key \"c\" in 'some other'"));
    EXPECT_EQ(group("at 2026-11-23T10:00:00Z"), group("at 2027-01-02T03:04:05Z"));
}

TEST(FailureGroup, keeps_what_tells_causes_apart) {
    EXPECT_NE(group("no order"), group("no customer"));
    EXPECT_NE(group("added"), group("decades"));
    EXPECT_NE(failure_group("a", "s", "c", "m"), failure_group("b", "s", "c", "m"));
    EXPECT_NE(failure_group("a", "s", "c", "m"), failure_group("a", "t", "c", "m"));
    EXPECT_NE(failure_group("a", "s", "c", "m"), failure_group("a", "s", "d", "m"));
    EXPECT_EQ(group("m").size(), 16U);
}

TEST(FailureGroup, an_apostrophe_opens_no_quoted_text) {
    EXPECT_EQ(normalized_message("can't open 'a'"), "can't open <text>");
    EXPECT_EQ(normalized_message("it's 'Bob's' turn"), "it's <text> turn");
    EXPECT_EQ(normalized_message("an open 'end"), "an open 'end");
}

TEST(FailureGroup, is_stable_over_versions_of_ebb) {
    EXPECT_EQ(failure_group("orders", "pay", "declined", "no order 1"), "be5633107442639d");
}

TEST(Effects, a_hop_has_none) {
    KernelWorld world(workflow({step("a"), step("b")}));
    const auto call = world.claim(1);
    const Decision decision = decide(
        *world.program,
        world.identity,
        world.state,
        event::StepCompleted{.attempt = call->attempt, .output = "1"},
        world,
        world.now
    );
    EXPECT_TRUE(decision.effects.is_empty());
    EXPECT_EQ(decision.effects.waits.capacity() + decision.effects.failures.capacity(), 0U);
}

TEST(Effects, a_failure_says_where_and_why_once_the_rollback_is_over) {
    KernelWorld world(workflow({step("a"), step("b")}));
    world.complete(*world.claim(1));
    const Failure failure{
        .code = "declined", .message = "no order 1\nand more", .is_permanent = true
    };
    world.apply(event::StepFailed{.attempt = world.claim(1)->attempt, .failure = failure});
    EXPECT_FALSE(world.failure.has_value()) << "it is rolled back first";
    world.run();
    ASSERT_EQ(world.status(), "failed");
    ASSERT_TRUE(world.failure.has_value());
    EXPECT_EQ(world.failure->status, InstanceStatus::Failed);
    EXPECT_EQ(world.failure->step, "b");
    EXPECT_EQ(world.failure->code, "declined");
    EXPECT_EQ(world.failure->message, "no order 1");
    EXPECT_EQ(world.failure->at, world.now);
    EXPECT_EQ(
        world.history.at(static_cast<std::size_t>(world.failure->event - 1)).type,
        HistoryType::StepFailed
    );
}

TEST(Effects, later_decisions_of_a_commit_have_the_last_word) {
    WaitChange begun{.token = 1, .wait = {}};
    begun.wait.node = "approve";
    const WaitChange over{.token = 1, .is_over = true, .wait = {}};
    const WaitChange other{.token = 2, .wait = {}};
    Effects effects{.waits = {begun}};
    merge(effects, {.waits = {other, over}, .failures = {{.is_over = true, .note = {}}}});
    EXPECT_THAT(effects.waits, ElementsAre(over, other));
    EXPECT_EQ(effects.failures.size(), 1U);
    merge(effects, {});
    EXPECT_EQ(effects.waits.size(), 2U);
}

}  // namespace
}  // namespace ebb::test
