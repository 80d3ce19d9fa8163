// Goal: on SQLite, a clock that is set while workers live takes no lease from them, and does not
// keep a dead one's leases alive.
// Method: two stores on one file, as two processes have it, and a clock that the test sets. What a
// clock does to the engine is in tests/unit/engine/clock_test.cpp.

#include "store/conformance.h"
#include "store/sqlite/sqlite_store.h"
#include "support/clock.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLease = 10s;

struct SqliteClock : ::testing::TestWithParam<Duration> {
    ManualClock clock{TimePoint(std::chrono::hours(24 * 365 * 50))};
    TempDir dir;
    StorePtr one = make_sqlite_store({.path = dir.file("ebb.db")}, clock);
    StorePtr other = make_sqlite_store({.path = dir.file("ebb.db")}, clock);

    void beat() {
        one->heartbeat({.id = "w", .host = "h", .pid = 1, .started_at = TimePoint(1s)}, kLease);
    }

    std::size_t dead() { return other->maintain().workers_expired.size(); }
};

INSTANTIATE_TEST_SUITE_P(SetBy, SqliteClock, ::testing::Values<Duration>(-1h, -1min, 1min, 1h));

TEST_P(SqliteClock, a_worker_that_beats_lives) {
    beat();
    EXPECT_EQ(dead(), 0U);
    clock.jump(GetParam());
    EXPECT_EQ(dead(), 0U) << "before its next heartbeat";
    for (int second = 0; second < 30; ++second) {
        clock.advance(1s);
        beat();
        EXPECT_EQ(dead(), 0U);
    }
}

TEST_P(SqliteClock, a_worker_that_does_not_is_dead_within_two_leases) {
    beat();
    EXPECT_EQ(dead(), 0U);
    clock.jump(GetParam());
    std::size_t found = 0;
    for (int second = 0; second < 2 * (kLease / 1s) + 1; ++second) {
        found += dead();
        clock.advance(1s);
    }
    EXPECT_EQ(found, 1U);
}

}  // namespace
}  // namespace ebb::testing
