// Parallel blocks: joins, losers, failures in branches, nesting, and every interleaving of them by
// chance.

#include "support/flow.h"
#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using Outcome = KernelWorld::Outcome;

auto failing(std::set<std::string> names) {
    return [names = std::move(names)](const Invocation& call) {
        Outcome outcome{.output = "\"" + call.handler + "\""};
        if (names.contains(call.handler)) outcome.kind = Outcome::Kind::FailForGood;
        return outcome;
    };
}

TEST(Parallel, joins_the_outputs_of_all_branches_by_name) {
    KernelWorld world(
        workflow({parallel("p", {{"x", {step("a")}}, {"y", {step("b"), step("c")}}}), step("d")})
    );
    world.script = [](const Invocation& call) {
        Outcome outcome{.output = "\"" + call.handler + "\""};
        if (call.handler == "d") outcome.output = "null";
        return outcome;
    };
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.result(), R"({"x":"a","y":"c"})");
}

TEST(Parallel, rolls_back_across_branches_in_reverse_order_of_completion) {
    KernelWorld world(workflow(
        {step("s"), parallel("p", {{"x", {step("a"), step("a2")}}, {"y", {step("b"), step("b2")}}})}
    ));
    world.script = failing({"b2"});
    world.run_one();
    const auto a = world.claim(2);
    const auto b = world.claim(3);
    world.complete(*b);
    world.complete(*a);
    const auto a2 = world.claim(2);
    const auto b2 = world.claim(3);
    world.fail(*b2);
    EXPECT_EQ(world.status(), "compensating");
    world.complete(*a2);
    world.run();
    EXPECT_EQ(world.calls_text(), "s b a b2! a2 ~b2 ~a2 ~a ~b ~s");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Parallel, does_not_start_a_sibling_that_no_worker_has_begun) {
    KernelWorld world(workflow({parallel("p", {{"x", {step("a")}}, {"y", {step("b")}}})}));
    world.script = failing({"a"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a! ~a");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Parallel, any_continues_with_the_first_and_compensates_the_losers) {
    KernelWorld world(workflow(
        {parallel("p", {{"x", {step("a")}}, {"y", {step("b"), step("b2")}}}, 1), step("after")}
    ));
    const auto b = world.claim(3);
    world.complete(*b);
    const auto b2 = world.claim(3);
    const auto a = world.claim(2);
    world.complete(*a, "7");
    world.fail(*b2);
    world.run();
    EXPECT_EQ(world.calls_text(), "b a b2! ~b2 ~b after");
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.result(), R"({"x":7})");
}

TEST(Parallel, any_may_keep_what_the_losers_did_and_does_not_wait_for_them) {
    KernelWorld world(workflow(
        {parallel(
             "p", {{"x", {step("a")}}, {"y", {step("b"), step("b2")}}}, 1, Parallel::Losers::Keep
         ),
         step("after")}
    ));
    world.complete(*world.claim(3));
    const auto b2 = world.claim(3);
    world.complete(*world.claim(2));
    world.run();
    EXPECT_EQ(world.calls_text(), "b a after");
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(
        world.apply(event::StepCompleted{.attempt = b2->attempt, .output = "1"}),
        Decision::Verdict::Ignored
    );
}

TEST(Parallel, kept_losers_are_compensated_when_the_instance_ebbs_back) {
    KernelWorld world(workflow(
        {parallel(
             "p", {{"x", {step("a")}}, {"y", {step("b"), step("b2")}}}, 1, Parallel::Losers::Keep
         ),
         step("after")}
    ));
    world.script = failing({"after"});
    world.complete(*world.claim(3));
    world.claim(3);
    world.complete(*world.claim(2));
    world.run();
    EXPECT_EQ(world.calls_text(), "b a after! ~after ~b2 ~a ~b");
}

TEST(Parallel, a_kept_loser_that_was_already_stopping_is_not_forgotten) {
    const Node inner = parallel("inner", {{"i", {step("i1")}}, {"j", {step("j1")}}}, 1);
    KernelWorld world(workflow(
        {parallel("outer", {{"x", {inner}}, {"y", {step("b")}}}, 1, Parallel::Losers::Keep),
         step("after")}
    ));
    world.script = failing({"after"});
    const auto i1 = world.claim(4);
    const auto j1 = world.claim(5);
    const auto b = world.claim(3);
    world.complete(*i1);
    EXPECT_TRUE(world.state.find_token(j1->attempt.token)->stopping);
    world.complete(*b);
    world.run();
    EXPECT_EQ(world.calls_text(), "i1 b after! ~after ~j1 ~b ~i1") << "j1 was called";
}

TEST(Parallel, any_tolerates_the_failure_of_a_branch_while_another_can_still_win) {
    KernelWorld world(workflow(
        {parallel("p", {{"x", {step("a0"), step("a")}}, {"y", {step("b")}}}, 1), step("after")}
    ));
    world.script = failing({"a"});
    world.run();
    EXPECT_EQ(world.calls_text(), "a0 a! b ~a ~a0 after");
    EXPECT_EQ(world.status(), "completed");
}

TEST(Parallel, any_fails_when_the_last_branch_has_failed) {
    KernelWorld world(
        workflow({step("s"), parallel("p", {{"x", {step("a")}}, {"y", {step("b")}}}, 1)})
    );
    world.script = failing({"a", "b"});
    world.run();
    EXPECT_EQ(world.calls_text(), "s a! b! ~b ~a ~s");
    EXPECT_EQ(world.status(), "failed");
}

TEST(Parallel, n_of_m_joins_when_n_have_completed) {
    KernelWorld world(workflow(
        {parallel("p", {{"x", {step("a")}}, {"y", {step("b")}}, {"z", {step("c")}}}, 2),
         step("after")}
    ));
    world.run();
    EXPECT_EQ(world.calls_text(), "a b after");
}

TEST(Parallel, nests_and_a_failure_inside_a_loser_stays_inside) {
    const Node inner = parallel("inner", {{"i", {step("i1")}}, {"j", {step("j1")}}});
    KernelWorld world(
        workflow({parallel("outer", {{"x", {inner}}, {"y", {step("b")}}}, 1), step("after")})
    );
    world.complete(*world.claim(4));
    world.fail(*world.claim(5));
    EXPECT_EQ(world.status(), "running") << "the outer join can still be had by y";
    world.run();
    EXPECT_EQ(world.calls_text(), "i1 j1! b ~j1 ~i1 after");
    EXPECT_EQ(world.status(), "completed");
}

TEST(Parallel, compensates_losers_of_a_join_before_the_instance_continues) {
    KernelWorld world(workflow(
        {parallel("p", {{"x", {step("a")}}, {"y", {step("b"), step("b2")}}}, 1), step("after")}
    ));
    world.complete(*world.claim(3));
    world.complete(*world.claim(2));
    world.run();
    EXPECT_EQ(world.calls_text(), "b a ~b after");
    EXPECT_EQ(world.status(), "completed");
}

TEST(Parallel, an_empty_branch_completes_at_once) {
    KernelWorld world(
        workflow({parallel(
            "p",
            {{"x", {condition("c", "workflow.version == 2", {step("never")})}}, {"y", {step("b")}}}
        )}),
        "5"
    );
    world.run();
    EXPECT_EQ(world.status(), "completed");
    EXPECT_EQ(world.result(), R"({"x":5,"y":5})");
}

/// Each completed step is compensated at most once, and after a failed instance exactly once,
/// newest first.
void expect_consistent(const KernelWorld& world, std::uint64_t seed) {
    std::vector<std::string> done;
    for (const std::string& call : world.calls) {
        if (call.ends_with("?") || call.ends_with("!")) continue;
        if (!call.starts_with("~")) {
            done.push_back(call);
            continue;
        }
        std::erase(done, call.substr(1));
    }
    if (world.status() == "failed" || world.status() == "cancelled") {
        EXPECT_TRUE(done.empty()) << "seed " << seed << ": " << world.calls_text() << "\n"
                                  << world.history_text();
    }
    EXPECT_TRUE(is_terminal(world.state.status))
        << "seed " << seed << " hangs: " << world.history_text();
}

TEST(Parallel, every_interleaving_ends_with_everything_undone_or_completed) {
    const Node inner = parallel(
        "inner", {{"i", {step("i1"), step("i2")}}, {"j", {step("j1", {.max_attempts = 3})}}}, 1
    );
    const Definition definition = workflow(
        {step("s"),
         parallel(
             "outer",
             {{"x", {step("x1"), inner, step("x2")}},
              {"y", {step("y1"), step("y2")}},
              {"z", {step("z1")}}},
             2
         ),
         step("end")}
    );
    for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
        std::mt19937_64 random(seed);
        KernelWorld world(definition);
        world.script = [&](const Invocation& call) {
            Outcome outcome;
            const auto dice = random() % 12;
            if (dice == 0) outcome.kind = Outcome::Kind::LoseLease;
            if (dice == 1 && !call.is_compensation) outcome.kind = Outcome::Kind::FailForGood;
            if (dice == 2 && !call.is_compensation) outcome.kind = Outcome::Kind::Fail;
            return outcome;
        };
        if (seed % 3 == 0) {
            world.run_randomly(random, static_cast<int>(random() % 12));
            if (!is_terminal(world.state.status)) world.apply(event::CancelRequested{});
        }
        world.run_randomly(random);
        expect_consistent(world, seed);
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << world.calls_text();
    }
}

}  // namespace
}  // namespace ebb::test
