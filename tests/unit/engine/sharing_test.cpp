// How many commits of one worker are under way at once, by how many workers share the store. The
// store runs the engine's next handler inside of each commit, so commits nest as deep as they may.

#include "engine_world.h"
#include "support/store_decorator.h"

namespace ebb::test {
namespace {

using testing::StoreDecorator;

class NestingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    int commits_at_once = 4;
    Engine* engine = nullptr;
    int most = 0;

    StoreTraits traits() const override {
        StoreTraits traits = StoreDecorator::traits();
        traits.commits_at_once = commits_at_once;
        return traits;
    }

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        most = std::max(most, ++depth_);
        while (engine->run_one()) {
        }
        --depth_;
        return StoreDecorator::commit(commits);
    }

 private:
    int depth_ = 0;
};

struct Sharing : ::testing::Test {
    EngineWorld world;
    NestingStore store{*world.memory};

    void SetUp() override { world.record({"a", "b"}); }

    void add_others(int count) {
        for (int i = 0; i < count; ++i) {
            world.memory->heartbeat({.id = "other" + std::to_string(i)}, 1h);
        }
    }

    /// The most commits under way at once while `engine` runs a dozen workflows.
    int most_at_once(Engine& engine) {
        store.engine = &engine;
        store.most = 0;
        engine.register_workflow(workflow({step("a"), step("b")}));
        const std::vector<Payload> inputs(12, "1");
        const std::vector<StartedInstance> started = engine.start_all("test", inputs);
        world.run(engine, 10s);
        for (const StartedInstance& each : started) {
            EXPECT_EQ(status(engine, each.id), "completed");
        }
        return store.most;
    }

    int most_beside(int others, int commits_at_once = 4) {
        store.commits_at_once = commits_at_once;
        add_others(others);
        Engine engine(store, world.handlers, world.options());
        return most_at_once(engine);
    }
};

TEST_F(Sharing, a_worker_alone_commits_as_much_at_once_as_the_store_takes) {
    EXPECT_EQ(most_beside(0), 4);
}

TEST_F(Sharing, so_do_two) {
    EXPECT_EQ(most_beside(1), 4);
}

TEST_F(Sharing, four_commit_half_of_it) {
    EXPECT_EQ(most_beside(3), 2);
}

TEST_F(Sharing, however_many_there_are_one_commit_is_under_way_while_another_is_prepared) {
    EXPECT_EQ(most_beside(99), 2);
}

TEST_F(Sharing, a_store_that_takes_one_at_a_time_gets_one_at_a_time) {
    EXPECT_EQ(most_beside(0, 1), 1);
    EXPECT_EQ(most_beside(3, 1), 1);
}

TEST_F(Sharing, follows_the_number_of_workers) {
    Engine engine(store, world.handlers, world.options());
    EXPECT_EQ(most_at_once(engine), 4);
    add_others(3);
    world.clock.advance(2s);
    EXPECT_EQ(most_at_once(engine), 2);
    world.memory->sign_off("other0");
    world.memory->sign_off("other1");
    world.clock.advance(2s);
    EXPECT_EQ(most_at_once(engine), 4);
}

}  // namespace
}  // namespace ebb::test
