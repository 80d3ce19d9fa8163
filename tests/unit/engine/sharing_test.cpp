// How many commits of one worker are under way at once, by how many workers share the store. The
// store holds each commit back until every handler has been called: by then as many are under way
// as may be, unless a heartbeat came between.

#include <condition_variable>
#include <mutex>

#include "engine_world.h"
#include "support/store_decorator.h"

namespace ebb::test {
namespace {

using testing::StoreDecorator;

constexpr int kInstances = 6;
// So many that all instances of one round are held at the same time while those of the last are
// released.
constexpr int kThreads = 2 * kInstances;
constexpr int kRounds = 20;

class GatedStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    int commits_at_once = 4;

    StoreTraits traits() const override {
        StoreTraits traits = StoreDecorator::traits();
        traits.commits_at_once = commits_at_once;
        return traits;
    }

    /// Until so many handlers have been called.
    void close(int calls) {
        const std::lock_guard lock(mutex_);
        calls_ = calls;
        most_ = 0;
    }

    void note_call() {
        const std::lock_guard lock(mutex_);
        --calls_;
        changed_.notify_all();
    }

    /// The most commits that were under way at once since the gate was closed.
    int most() {
        const std::lock_guard lock(mutex_);
        return most_;
    }

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        {
            std::unique_lock lock(mutex_);
            most_ = std::max(most_, ++under_way_);
            changed_.wait_for(lock, 60s, [this] { return calls_ <= 0; });
            --under_way_;
        }
        return StoreDecorator::commit(commits);
    }

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int calls_ = 0;
    int under_way_ = 0;
    int most_ = 0;
};

struct Sharing : ::testing::Test {
    SystemClock clock;
    StorePtr memory = make_memory_store(clock);
    GatedStore store{*memory};
    HandlerRegistry handlers;

    void SetUp() override {
        handlers.add_raw("a", [this](const Payload& input, const StepContext&) {
            store.note_call();
            return input;
        });
    }

    void add_others(int count) {
        for (int i = 0; i < count; ++i) {
            memory->heartbeat({.id = "other" + std::to_string(i)}, 1h);
        }
    }

    /// A transaction for each instance, and more threads than commits wait.
    static EngineOptions options() {
        EngineOptions options;
        options.threads = kThreads;
        options.commit_batch_max = 1;
        return options;
    }

    /// The most commits that were under way at once in several rounds.
    int most_at_once(Engine& engine) {
        int most = 0;
        for (int round = 0; round < kRounds; ++round) {
            store.close(kInstances);
            const std::vector<Payload> inputs(kInstances, "1");
            for (const StartedInstance& started : engine.start_all("test", inputs)) {
                EXPECT_EQ(engine.wait(started.id, 120s).status, "completed");
            }
            most = std::max(most, store.most());
        }
        return most;
    }

    bool comes_to(Engine& engine, int expected) {
        const auto start = std::chrono::steady_clock::now();
        while (most_at_once(engine) != expected) {
            if (std::chrono::steady_clock::now() - start > 60s) return false;
        }
        return true;
    }

    bool comes_to(int expected) {
        Engine engine(store, handlers, options());
        engine.register_workflow(workflow({step("a")}));
        engine.run();
        return comes_to(engine, expected);
    }
};

TEST_F(Sharing, a_worker_alone_commits_as_much_at_once_as_the_store_takes) {
    EXPECT_TRUE(comes_to(4));
}

TEST_F(Sharing, so_do_two) {
    add_others(1);
    EXPECT_TRUE(comes_to(4));
}

TEST_F(Sharing, four_commit_half_of_it) {
    add_others(3);
    EXPECT_TRUE(comes_to(2));
}

TEST_F(Sharing, however_many_there_are_one_commit_is_under_way_while_another_is_prepared) {
    add_others(99);
    EXPECT_TRUE(comes_to(2));
}

TEST_F(Sharing, a_store_that_takes_one_at_a_time_gets_one_at_a_time) {
    store.commits_at_once = 1;
    add_others(3);
    EXPECT_TRUE(comes_to(1));
}

TEST_F(Sharing, follows_the_number_of_workers) {
    Engine engine(store, handlers, options());
    engine.register_workflow(workflow({step("a")}));
    engine.run();
    EXPECT_TRUE(comes_to(engine, 4));
    add_others(3);
    EXPECT_TRUE(comes_to(engine, 2));
    memory->sign_off({"other0", {}});
    memory->sign_off({"other1", {}});
    EXPECT_TRUE(comes_to(engine, 4));
}

}  // namespace
}  // namespace ebb::test
