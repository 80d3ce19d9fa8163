// What happens when something throws in the middle of a round of the committer: the process ends,
// or nothing is lost. Nothing in between.

#include <cstdlib>

#include "engine_world.h"
#include "support/store_decorator.h"

namespace ebb::test {
namespace {

/// Throws once, at its nth reading.
class BreakingClock : public Clock {
 public:
    explicit BreakingClock(const Clock& truth) : truth_(truth) {}

    TimePoint now() const override {
        if (--left_ == 0) throw std::runtime_error("the clock is broken");
        return truth_.now();
    }

    SteadyPoint steady_now() const override { return SteadyPoint(now().time_since_epoch()); }

    const Clock& source() const override { return truth_.source(); }

    void break_at(int reading) { left_ = reading; }

    /// Did it throw?
    bool is_broken() const { return left_ <= 0; }

 private:
    const Clock& truth_;
    mutable int left_ = 0;
};

struct BrokenRounds : ::testing::Test {
    EngineWorld world;
    BreakingClock broken{world.clock};

    void SetUp() override { world.record({"a", "b", "c"}); }

    EngineOptions options() {
        EngineOptions options = world.options();
        options.clock = &broken;
        return options;
    }

    /// Ends the process: 0 when everything was done, 1 when something was lost, 2 when the clock
    /// was not read so often.
    [[noreturn]] void run_and_exit(int reading) {
        Engine engine(*world.store, world.handlers, options());
        engine.register_workflow(
            workflow({step("a"), parallel("p", {{"x", {step("b")}}, {"y", {step("c")}}})})
        );
        const InstanceId id = engine.start("test").id;
        broken.break_at(reading);
        for (int i = 0; i < 60; ++i) {
            try {
                engine.poll();
            } catch (const std::runtime_error&) {
                // Outside of a round: the caller knows of it.
            }
            world.clock.advance(1s);
        }
        if (!broken.is_broken()) std::_Exit(2);
        std::_Exit(status(engine, id) == "completed" ? 0 : 1);
    }
};

TEST_F(BrokenRounds, lose_nothing_or_end_the_process) {
    GTEST_FLAG_SET(death_test_style, "fast");
    const auto is_as_it_must_be = [](int status) {
        const bool has_aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        return has_aborted || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
    };
    for (int reading = 1; reading <= 60; ++reading) {
        EXPECT_EXIT(run_and_exit(reading), is_as_it_must_be, "") << "reading " << reading;
    }
}

/// A store that loses the result of the last commit.
class Forgetful : public testing::StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        auto results = StoreDecorator::commit(commits);
        results.pop_back();
        return results;
    }
};

TEST_F(BrokenRounds, a_commit_that_the_store_does_not_answer_for_ends_the_process) {
    GTEST_FLAG_SET(death_test_style, "fast");
    Forgetful store(*world.memory);
    Engine engine(store, world.handlers, world.options());
    engine.register_workflow(workflow({step("a")}));
    engine.start("test");
    EXPECT_DEATH(engine.poll(), "the store answers for every commit");
}

}  // namespace
}  // namespace ebb::test
