// The C++ of docs/how-to/throughput.md, compiled and called.

#include <iostream>

#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

using namespace std::chrono_literals;

//! [many]
/// Returns how many of the orders are new.
std::size_t start_orders(ebb::Engine& engine, const std::vector<ebb::Payload>& orders) {
    std::size_t is_new = 0;
    for (const ebb::StartedInstance& started : engine.start_all("order", orders)) {
        is_new += started.is_new ? 1 : 0;
    }
    return is_new;
}

//! [many]

//! [share]
/// How many steps share a transaction, on average: 1 with nothing to do, hundreds under load.
double steps_per_transaction(const ebb::Engine& engine) {
    const ebb::EngineCounters counters = engine.counters();
    return static_cast<double>(counters.steps) /
           static_cast<double>(std::max<std::uint64_t>(counters.commits, 1));
}

//! [share]

TEST(ThroughputPage, starts_many_and_tells_how_they_share) {
    const ebb::StorePtr store = ebb::open_memory_store();
    ebb::HandlerRegistry handlers;
    handlers.add("pay", [](int cents) { return cents; });
    ebb::EngineOptions options;
    options.threads = 8;
    ebb::Engine engine(*store, handlers, options);
    engine.register_workflow(ebb::WorkflowBuilder("order").step("pay").build());
    EXPECT_EQ(start_orders(engine, std::vector<ebb::Payload>(100, "7")), 100U);
    engine.run();
    while (engine.counters().finished < 100) std::this_thread::yield();
    EXPECT_TRUE(engine.drain(10s));
    EXPECT_GE(steps_per_transaction(engine), 1.0);
}

}  // namespace
