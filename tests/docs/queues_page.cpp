// The C++ of docs/how-to/queues.md, compiled and called.

#include <iostream>

#include <gtest/gtest.h>

#include <ebb/ebb.h>

namespace {

using namespace std::chrono_literals;

//! [limits]
void limit_bank(ebb::Engine& engine) {
    engine.set_queue("bank", {.concurrency = 2, .rate = ebb::QueueRate{100, 1min}});
    for (const ebb::QueueView& queue : engine.queues()) {
        std::cout << queue.name << ": " << queue.running << " run, " << queue.waiting << " wait\n";
    }
}

//! [limits]

TEST(QueuesPage, sets_limits) {
    const ebb::StorePtr store = ebb::open_memory_store();
    const ebb::HandlerRegistry handlers;
    ebb::Engine engine(*store, handlers);
    limit_bank(engine);
    EXPECT_EQ(engine.queues().at(0).limits.concurrency, 2);
}

}  // namespace
