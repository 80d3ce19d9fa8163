// Goal: what a process knows of the server's clock is right within the time that an answer takes,
// whatever its own date is. Method: answers with chosen times, and a real server.

#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/server_clock.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using postgres::ServerClock;

/// An answer on its way for `trip`, half of it each way.
void answer(ServerClock& clock, SteadyPoint sent, Duration trip, TimePoint server) {
    clock.learn(sent, server, sent + trip);
}

Duration offset_of(const ServerClock& clock) {
    return clock.now().time_since_epoch() - clock.steady_now().time_since_epoch();
}

/// The clocks run on while the test does, and a loaded machine may stop it between two looks.
void expect_near(Duration found, Duration expected, Duration tolerance) {
    EXPECT_LE(std::chrono::abs(found - expected), tolerance + 2s)
        << found.count() << " instead of " << expected.count();
}

TEST(ServerClock, is_the_system_clock_before_it_has_heard_of_the_server) {
    const ServerClock clock;
    EXPECT_LE(std::chrono::abs(clock.skew()), 1s);
}

TEST(ServerClock, is_that_of_the_server_however_wrong_this_machine_is) {
    ServerClock clock;
    const SteadyPoint now = clock.steady_now();
    answer(clock, now, 2ms, SystemClock().now() - 1h);
    EXPECT_GE(clock.skew(), 1h - 1s);
    EXPECT_LE(clock.skew(), 1h + 1s);
    EXPECT_EQ(clock.error(), 1ms);
}

TEST(ServerClock, believes_a_quick_answer_more_than_a_slow_one) {
    ServerClock clock;
    const SteadyPoint now = clock.steady_now();
    const TimePoint server = kStart;
    answer(clock, now, 2ms, server);
    const Duration first = offset_of(clock);
    // It took ten seconds, and says the same as before as far as one can know.
    answer(clock, now + 1s, 10s, server + 1s + 9s);
    expect_near(offset_of(clock), first, 0s);
    EXPECT_LT(clock.error(), 10ms);
}

TEST(ServerClock, follows_a_server_whose_clock_is_set) {
    ServerClock clock;
    const SteadyPoint now = clock.steady_now();
    answer(clock, now, 2ms, kStart);
    const Duration first = offset_of(clock);
    answer(clock, now + 1s, 400ms, kStart + 1s + 10min);
    expect_near(offset_of(clock), first + 10min, 400ms);
    answer(clock, now + 2s, 2ms, kStart + 2s);
    expect_near(offset_of(clock), first, 0s);
}

TEST(ServerClock, forgets_how_sure_it_was_as_clocks_drift) {
    ServerClock clock;
    const SteadyPoint now = clock.steady_now();
    answer(clock, now, 2ms, kStart);
    answer(clock, now + 1000s, 20ms, kStart + 1000s + 15ms);
    EXPECT_EQ(clock.error(), 10ms);
}

TEST(PostgresClock, of_the_store_is_that_of_the_server) {
    const StorePtr store =
        open_postgres_store({.url = postgres_server().url(), .schema = fresh_schema()});
    const auto server = [] {
        return TimePoint(std::chrono::microseconds(std::stoll(postgres_server().execute(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        ))));
    };
    const TimePoint before = server();
    const TimePoint now = store->now();
    const TimePoint after = server();
    // Each bound as far as the store may be wrong, which has heard it once.
    EXPECT_GE(now, before - 1s);
    EXPECT_LE(now, after + 1s);
    EXPECT_TRUE(store->take_notices().empty()) << "one machine, one clock";
}

}  // namespace
}  // namespace ebb::testing
