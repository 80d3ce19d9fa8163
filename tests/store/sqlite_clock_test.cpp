// Goal: on SQLite, a clock that is set while workers live takes no lease from them, and does not
// keep a dead one's leases alive.
// Method: two stores on one file, as two processes have it, and a clock that the test sets. What a
// clock does to the engine is in tests/unit/engine/clock_test.cpp.

#include "store/conformance.h"
#include "store/sqlite/sqlite_store.h"
#include "support/boot.h"
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

TEST_P(SqliteClock, a_process_that_begins_after_the_clock_was_set_takes_nothing) {
    beat();
    clock.jump(GetParam());
    const StorePtr late = make_sqlite_store({.path = dir.file("ebb.db")}, clock);
    EXPECT_TRUE(late->maintain().workers_expired.empty());
    ASSERT_EQ(late->workers().size(), 1U);
    EXPECT_EQ(late->workers()[0].expires_at, clock.now() + kLease) << "in today's dates";
    clock.advance(kLease - 1s);
    EXPECT_TRUE(late->maintain().workers_expired.empty());
    clock.advance(1s);
    EXPECT_EQ(late->maintain().workers_expired.size(), 1U);
}

TEST_P(SqliteClock, a_process_that_begins_after_the_clock_was_set_knows_how_long_others_live) {
    beat();
    clock.jump(GetParam());
    const StorePtr late = make_sqlite_store({.path = dir.file("ebb.db")}, clock);
    const WorkerRow second{.id = "x", .host = "h", .pid = 2, .started_at = TimePoint(2s)};
    const HeartbeatResult result = late->heartbeat(second, kLease);
    EXPECT_EQ(result.others_live_for, kLease);
    EXPECT_EQ(result.others, 1);
}

TEST(SqliteBoots, of_which_another_one_wrote_the_leases_are_judged_by_their_dates) {
    ManualClock before(kStart);
    TempDir dir;
    const std::string path = dir.file("ebb.db");
    make_sqlite_store({.path = path}, before)
        ->heartbeat({.id = "w", .host = "h", .pid = 1, .started_at = TimePoint(1s)}, kLease);
    // Its steady time has nothing to do with the other's.
    ManualClock after(TimePoint(1h));
    after.jump(kStart - TimePoint(1h));
    const StorePtr store = make_sqlite_store({.path = path}, after);
    EXPECT_TRUE(store->maintain().workers_expired.empty());
    after.advance(kLease);
    EXPECT_EQ(store->maintain().workers_expired.size(), 1U);
}

TEST(SqliteBoots, are_the_same_for_all_system_clocks_of_a_machine) {
    EXPECT_EQ(frame_of(SystemClock()), frame_of(SystemClock()));
    const ManualClock manual(kStart);
    EXPECT_EQ(frame_of(manual), frame_of(manual));
    EXPECT_NE(frame_of(manual), frame_of(SystemClock()));
    EXPECT_NE(frame_of(manual), frame_of(ManualClock(kStart)));
}

}  // namespace
}  // namespace ebb::testing
