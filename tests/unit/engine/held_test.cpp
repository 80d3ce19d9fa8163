// Goal: a held task passes only through the states that docs/engine.md has. Method: each legal
// transition once; each other one must end the process.

#include "engine/held.h"

#include <gtest/gtest.h>

namespace ebb::test {
namespace {

using engine::Attempt;
using engine::AttemptPtr;
using engine::HeldState;

AttemptPtr some_attempt() {
    return std::make_shared<Attempt>(Attempt::Call{});
}

HeldState called() {
    HeldState state;
    state.call(some_attempt());
    return state;
}

HeldState deciding() {
    HeldState state;
    state.decide();
    return state;
}

TEST(HeldState, goes_from_a_call_over_its_outcome_to_the_next_review) {
    HeldState state;
    EXPECT_TRUE(state.is_idle());
    const AttemptPtr attempt = some_attempt();
    state.call(attempt);
    EXPECT_TRUE(state.is_called());
    EXPECT_EQ(state.attempt(), attempt);
    state.take_outcome();
    EXPECT_TRUE(state.is_deciding());
    EXPECT_EQ(state.attempt(), nullptr);
    EXPECT_EQ(state.returned(), attempt);
    state.end_decision();
    EXPECT_TRUE(state.is_idle());
    state.decide_again();
    EXPECT_TRUE(state.is_deciding()) << "the commit has lost a race";
    state.end_decision();
    state.forget_returned();
    EXPECT_EQ(state.returned(), nullptr);
}

TEST(HeldState, is_idle_after_a_call_that_never_began) {
    HeldState state = called();
    EXPECT_TRUE(state.withdraw());
    EXPECT_TRUE(state.is_idle());
    state.call(some_attempt());
    ASSERT_TRUE(state.attempt()->begin({}));
    EXPECT_FALSE(state.withdraw()) << "its handler runs";
    EXPECT_TRUE(state.is_called());
    state.end_call();
    EXPECT_TRUE(state.is_idle());
}

TEST(HeldState, is_not_changed_by_a_commit_that_did_not_decide_on_it) {
    HeldState state = called();
    state.end_decision();
    EXPECT_TRUE(state.is_called());
}

TEST(HeldStateDeathTest, has_no_other_transitions) {
    EXPECT_DEATH(called().call(some_attempt()), "nothing else is under way");
    EXPECT_DEATH(deciding().call(some_attempt()), "nothing else is under way");
    EXPECT_DEATH(called().decide(), "one decision at a time");
    EXPECT_DEATH(deciding().decide(), "one decision at a time");
    EXPECT_DEATH(called().decide_again(), "not being decided on");
    EXPECT_DEATH(deciding().take_outcome(), "only a call has an outcome");
    EXPECT_DEATH(HeldState().end_call(), "only a call can end");
    EXPECT_DEATH(static_cast<void>(HeldState().withdraw()), "only a call can be withdrawn");
}

}  // namespace
}  // namespace ebb::test
