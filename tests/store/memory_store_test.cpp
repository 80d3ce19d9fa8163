// Goal: the memory store does what every store must, and stays fast with many waiting instances.
// Method: the conformance suite, and one case of its own size.

#include "store/memory/memory_store.h"

#include "store/conformance.h"
#include "store/instantiate.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

EBB_INSTANTIATE_STORE_TESTS(Memory, (StoreKind{"memory", [](const Clock& clock, const TempDir&) {
                                                   return make_memory_store(clock);
                                               }}));

TEST(MemoryStore, holds_a_hundred_thousand_waiting_instances) {
    constexpr int kInstances = 100'000;
    ManualClock clock(kStart);
    const StorePtr store = make_memory_store(clock);
    std::vector<NewInstance> batch;
    for (int n = 1; n <= kInstances; ++n) {
        batch.push_back(instance_of(n, {put(1, "pay", kStart + 1h + Duration(n % 977))}));
    }
    store->start(batch);
    EXPECT_TRUE(claim(*store, "w1").empty());
    clock.advance(2h);
    int claimed = 0;
    while (true) {
        const int count = static_cast<int>(claim(*store, "w1").size());
        if (count == 0) break;
        claimed += count;
    }
    EXPECT_EQ(claimed, kInstances);
}

TEST(MemoryStore, opens_through_the_public_function) {
    const StorePtr store = open_memory_store();
    EXPECT_EQ(store->traits().name, "memory");
    EXPECT_FALSE(store->traits().is_durable);
}

}  // namespace
}  // namespace ebb::testing
