// What is written in one transaction, or claimed at once, has bounds: so many instances or tasks,
// so many bytes. The commits and claims of an engine are weighed by its store.

#include <numeric>

#include <fmt/format.h>

#include "engine_world.h"
#include "support/store_counting.h"
#include "support/store_decorator.h"

namespace ebb::test {
namespace {

using testing::StoreDecorator;

class WeighingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    struct Load {
        std::size_t instances = 0;
        std::size_t bytes = 0;
    };

    std::vector<Load> loads;
    std::vector<std::vector<std::int64_t>> claimed;  // the bytes of each task, claim by claim

    std::vector<Claim> claim(const ClaimRequest& request) override {
        std::vector<Claim> claims = StoreDecorator::claim(request);
        claimed.emplace_back();
        for (const Claim& claim : claims) claimed.back().push_back(claim.bytes());
        return claims;
    }

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        Load load{.instances = commits.size()};
        for (const Commit& commit : commits) {
            load.bytes += commit.state.size();
            for (const HistoryEvent& event : commit.history) load.bytes += event.payload.size();
        }
        loads.push_back(load);
        return StoreDecorator::commit(commits);
    }
};

struct Batches : ::testing::Test {
    static constexpr std::size_t kInstances = 12;

    EngineWorld world;
    WeighingStore store{*world.memory};

    void SetUp() override {
        world.record({"a", "b"});
        world.store = &store;
    }

    /// Runs as many workflows of two steps, all at once, each with an input of 10,000 bytes.
    void run_all(const EngineOptions& options) {
        Engine engine(store, world.handlers, options);
        start_and_run(engine, engine);
    }

    /// The same, but another process starts them.
    void claim_all(const EngineOptions& options) {
        const HandlerRegistry none;
        Engine starting(store, none, world.options("starting"));
        Engine engine(store, world.handlers, options);
        start_and_run(starting, engine);
    }

    void start_and_run(Engine& starting, Engine& engine) {
        starting.register_workflow(workflow({step("a"), step("b")}));
        const Payload input = fmt::format(R"("{}")", std::string(9'998, 'x'));
        const std::vector<Payload> inputs(kInstances, input);
        const std::vector<StartedInstance> started = starting.start_all("test", inputs);
        world.run(engine);
        for (const StartedInstance& each : started) {
            EXPECT_EQ(status(engine, each.id), "completed");
        }
    }

    std::size_t largest() const {
        std::size_t most = 0;
        for (const auto& load : store.loads) most = std::max(most, load.instances);
        return most;
    }

    std::size_t largest_claim() const {
        std::size_t most = 0;
        for (const auto& tasks : store.claimed) most = std::max(most, tasks.size());
        return most;
    }
};

TEST_F(Batches, are_of_many_instances) {
    run_all(world.options());
    EXPECT_GT(largest(), kInstances / 2);
}

TEST_F(Batches, have_at_most_so_many_instances) {
    EngineOptions options = world.options();
    options.commit_batch_max = 5;
    run_all(options);
    EXPECT_EQ(largest(), 5U);
}

TEST_F(Batches, have_at_most_so_many_bytes) {
    EngineOptions options = world.options();
    options.commit_bytes_max = 100'000;
    run_all(options);
    for (const auto& load : store.loads) EXPECT_LE(load.bytes, options.commit_bytes_max);
    EXPECT_GT(largest(), 1U);
    EXPECT_LT(largest(), kInstances);
}

TEST_F(Batches, hold_one_instance_however_large) {
    EngineOptions options = world.options();
    options.commit_bytes_max = 1;
    run_all(options);
    EXPECT_EQ(largest(), 1U);
}

TEST_F(Batches, are_claimed_many_at_once) {
    claim_all(world.options());
    EXPECT_GT(largest_claim(), kInstances / 2);
}

TEST_F(Batches, are_claimed_at_most_so_many_at_once) {
    EngineOptions options = world.options();
    options.claim_batch_max = 5;
    claim_all(options);
    EXPECT_EQ(largest_claim(), 5U);
}

TEST_F(Batches, are_claimed_at_most_so_many_bytes_at_once) {
    EngineOptions options = world.options();
    options.claim_bytes_max = 50'000;
    claim_all(options);
    for (const auto& tasks : store.claimed) {
        if (tasks.empty()) continue;
        const auto before = std::accumulate(tasks.begin(), tasks.end() - 1, std::int64_t{0});
        EXPECT_LT(before, 50'000);
    }
    EXPECT_GT(largest_claim(), 1U);
    EXPECT_LT(largest_claim(), kInstances / 2);
}

TEST_F(Batches, are_claimed_one_by_one_however_large) {
    EngineOptions options = world.options();
    options.claim_bytes_max = 1;
    claim_all(options);
    EXPECT_EQ(largest_claim(), 1U);
}

TEST_F(Batches, are_made_without_reading_what_is_held) {
    testing::CountingStore counting(*world.memory);
    EngineOptions options = world.options();
    options.in_flight_max = 5'000;
    Engine engine(counting, world.handlers, options);
    engine.register_workflow(workflow({step("a"), step("b")}));
    const auto run = [&](std::size_t instances) {
        const std::vector<Payload> inputs(instances, "1");
        engine.start_all("test", inputs);
        world.run(engine);
    };
    // The handlers turn out to be quick, so more is held than there are threads.
    run(1);
    const auto claimed = engine.counters().tasks_claimed;
    run(5'000);
    EXPECT_EQ(engine.counters().finished, 5'001U);
    EXPECT_EQ(engine.counters().tasks_claimed, claimed) << "all were held from the start";
    EXPECT_EQ(counting.calls(testing::StoreVerb::Load), 0);
}

TEST_F(Batches, of_the_tasks_of_one_claim_the_highest_priority_runs_first) {
    const HandlerRegistry none;
    Engine starting(store, none, world.options("starting"));
    starting.register_workflow(workflow({step("a", {.is_compensated = false})}));
    std::vector<std::string> order;
    HandlerRegistry handlers;
    handlers.add_raw("a", [&](const Payload& input, const StepContext&) {
        order.push_back(input);
        return input;
    });
    for (const int priority : {-50, 0, 100, -100, 50}) {
        starting.start("test", priority, {.priority = priority});
    }
    starting.start("test", Payload::of("0, later"), {.priority = 0});
    EngineOptions options = world.options();
    options.threads = 8;  // so that it claims all of them at once
    Engine engine(store, handlers, options);
    engine.poll();
    EXPECT_EQ(order, (std::vector<std::string>{"100", "50", "0", R"("0, later")", "-50", "-100"}));
}

}  // namespace
}  // namespace ebb::test
