// Goal: an engine that does its regular work differs from one that is stuck, whatever the database
// does. Method: a clock that the test moves, and a store that fails.

#include "cli/beating_store.h"

#include <gtest/gtest.h>

#include <ebb/engine.h>

namespace ebb::cli {
namespace {

using namespace std::chrono_literals;

/// Its heartbeats look whether they count as such, and fail.
class AwayStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    HeartbeatResult heartbeat(const WorkerRow& /*worker*/, Duration /*lease*/) override {
        during = beating->is_beating(0s);
        throw Error(ErrorCode::StoreUnavailable, "away");
    }

    const BeatingStore* beating = nullptr;
    bool during = false;
};

class BeatingStoreTest : public ::testing::Test {
 protected:
    ManualClock clock_{TimePoint{1'760'000'000s}};
    StorePtr memory_ = open_memory_store({.clock = &clock_});
    HandlerRegistry handlers_;
};

TEST_F(BeatingStoreTest, KnowsAnEngineThatDoesItsRegularWork) {
    BeatingStore store(*memory_, clock_);
    EXPECT_FALSE(store.is_beating(10s)) << "nothing has come yet";
    Engine engine(store, handlers_, {.clock = &clock_});
    engine.poll();
    EXPECT_TRUE(store.is_beating(10s));
    clock_.advance(10s);
    EXPECT_FALSE(store.is_beating(10s)) << "nothing has come since";
    engine.poll();
    EXPECT_TRUE(store.is_beating(10s));
}

TEST_F(BeatingStoreTest, AFailingDatabaseIsNoFaultOfTheEngine) {
    AwayStore away(*memory_);
    BeatingStore store(away, clock_);
    away.beating = &store;
    EXPECT_THROW(store.heartbeat({}, 10s), Error);
    EXPECT_TRUE(away.during) << "a call that waits for the database counts";
    EXPECT_TRUE(store.is_beating(10s));
}

}  // namespace
}  // namespace ebb::cli
