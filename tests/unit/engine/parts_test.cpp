// Small parts of the engine on their own: how much work to hold, when to wake, whom to stop.

#include "engine/claim_signals.h"
#include "engine/pace.h"
#include "engine/ready_queue.h"
#include "engine/waiters.h"
#include "engine/watchdog.h"
#include "engine_world.h"

namespace ebb::engine {
namespace {

using namespace std::chrono_literals;

TEST(Pace, holds_one_task_a_thread_until_it_knows_better) {
    const Pace pace(4, 256);
    EXPECT_EQ(pace.in_flight_target(), 4);
}

TEST(Pace, leaves_slow_work_to_others_and_hoards_fast_work) {
    Pace slow(4, 256);
    slow.record(10s);
    EXPECT_EQ(slow.in_flight_target(), 4);
    Pace fast(4, 256);
    fast.record(10us);
    EXPECT_EQ(fast.in_flight_target(), 256);
    Pace middling(4, 256);
    middling.record(10ms);
    EXPECT_EQ(middling.in_flight_target(), 4 * 6);
}

TEST(Pace, follows_when_the_work_changes) {
    Pace pace(2, 100);
    pace.record(0us);
    EXPECT_EQ(pace.in_flight_target(), 100);
    for (int i = 0; i < 50; ++i) pace.record(10s);
    EXPECT_EQ(pace.in_flight_target(), 2);
}

TEST(Waiters, know_whose_end_this_engine_will_see) {
    Waiters waiters;
    const InstanceId id{.bytes = {1}};
    EXPECT_FALSE(waiters.is_expected(id));
    waiters.expect(id);
    EXPECT_TRUE(waiters.is_expected(id));
    EXPECT_FALSE(waiters.end(id)) << "no thread waits";
    EXPECT_FALSE(waiters.is_expected(id)) << "a later caller must look into the store";
}

TEST(Waiters, are_notified_of_an_end_once_they_are_there) {
    Waiters waiters;
    const InstanceId id{.bytes = {1}};
    waiters.expect(id);
    Waiters::Waiter waiter(waiters, id);
    EXPECT_TRUE(waiters.is_expected(id));
    EXPECT_TRUE(waiters.end(id));
    waiters.notify(
        id, {.status = InstanceStatus::Completed, .is_finished = true, .output = {}, .error = {}}
    );
    EXPECT_EQ(waiter.wait(0s).value().status, "completed");
}

TEST(Waiters, remember_a_bounded_number) {
    Waiters waiters;
    const auto id_of = [](int n) {
        return InstanceId{
            .bytes = {static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n & 0xff)}
        };
    };
    for (int n = 0; n < 4'096; ++n) waiters.expect(id_of(n));
    EXPECT_TRUE(waiters.is_expected(id_of(0)));
    waiters.expect(id_of(4'096));
    EXPECT_FALSE(waiters.is_expected(id_of(0)));
    EXPECT_TRUE(waiters.is_expected(id_of(4'096)));
}

TEST(ClaimSignals, know_the_next_time_and_forget_what_is_past) {
    ClaimSignals signals;
    const TimePoint start{1s};
    signals.note_due(kNever);
    EXPECT_EQ(signals.next_due(), kNever);
    signals.note_due(start + 5s);
    signals.note_due(start + 2s);
    EXPECT_EQ(signals.next_due(), start + 2s);
    signals.forget_until(start + 2s);
    EXPECT_EQ(signals.next_due(), start + 5s);
}

TEST(ClaimSignals, keep_the_earliest_times_when_there_are_too_many) {
    ClaimSignals signals;
    for (std::size_t i = 0; i <= ClaimSignals::kDuesMax; ++i) {
        signals.note_due(TimePoint(Duration(2'000 - static_cast<std::int64_t>(i))));
    }
    EXPECT_EQ(signals.next_due(), TimePoint(Duration(2'000 - 1'024)));
    signals.forget_until(TimePoint(Duration(1'999)));
    EXPECT_EQ(signals.next_due(), kNever) << "the latest one, 2000, was not remembered";
}

struct Bounds {
    Duration timeout{0};
    TimePoint deadline = kNever;
};

AttemptPtr make_attempt(Bounds bounds, const std::string& handler = {}, std::int64_t rank = 0) {
    Attempt::Call call;
    call.invocation.timeout = bounds.timeout;
    call.invocation.deadline = bounds.deadline;
    call.invocation.handler = handler;
    call.rank = rank;
    return std::make_shared<Attempt>(std::move(call));
}

struct WatchdogTest : ::testing::Test {
    test::EngineWorld world;
    Environment environment{*world.store, world.handlers, world.options()};
    std::vector<AttemptPtr> given_up;
    Watchdog watchdog{environment, [this](const AttemptPtr& a) { given_up.push_back(a); }};

    AttemptPtr begin(
        Duration timeout, TimePoint deadline = kNever, const std::string& handler = {}
    ) {
        AttemptPtr attempt = make_attempt({.timeout = timeout, .deadline = deadline}, handler);
        EXPECT_TRUE(attempt->begin(environment.moment()));
        watchdog.watch(attempt);
        return attempt;
    }
};

TEST_F(WatchdogTest, asks_at_the_deadline_and_gives_up_after_the_grace) {
    const AttemptPtr attempt = begin(10s);
    const SteadyPoint start = world.clock.steady_now();
    EXPECT_EQ(watchdog.tick(start), start + 10s);
    EXPECT_FALSE(attempt->stop_token().stop_requested());
    EXPECT_EQ(watchdog.tick(start + 10s), start + 15s);
    EXPECT_TRUE(attempt->stop_token().stop_requested());
    EXPECT_EQ(attempt->stop_reason(), Attempt::StopReason::Timeout);
    EXPECT_EQ(watchdog.tick(start + 15s), kSteadyNever);
    EXPECT_EQ(given_up.size(), 1U);
    EXPECT_FALSE(attempt->finish()) << "its result comes too late";
}

TEST_F(WatchdogTest, forgets_what_has_returned) {
    const AttemptPtr attempt = begin(10s);
    EXPECT_TRUE(attempt->finish());
    watchdog.forget(*attempt);
    EXPECT_EQ(watchdog.tick(world.clock.steady_now()), kSteadyNever);
    EXPECT_FALSE(attempt->stop_token().stop_requested());
}

TEST_F(WatchdogTest, does_not_watch_what_nothing_bounds) {
    begin(0s);
    EXPECT_EQ(watchdog.tick(world.clock.steady_now()), kSteadyNever);
}

TEST_F(WatchdogTest, wakes_its_thread_for_the_earliest_limit_and_not_for_each_attempt) {
    int rings = 0;
    watchdog.alarm().set_echo([&] { ++rings; });
    const SteadyPoint start = world.clock.steady_now();
    for (int i = 0; i < 10; ++i) {
        const AttemptPtr quick = begin(10s);
        begin(0s);
        EXPECT_TRUE(quick->finish());
        watchdog.forget(*quick);
    }
    EXPECT_EQ(rings, 1);
    begin(5s);
    EXPECT_EQ(rings, 2);
    EXPECT_EQ(watchdog.tick(start + 1s), start + 5s);
    begin(30s);
    EXPECT_EQ(rings, 2);
}

TEST(Moment, has_no_steady_time_for_a_date_that_never_comes) {
    const Moment now{.date = TimePoint{24h * 365 * 56}, .steady = SteadyPoint{1h}};
    EXPECT_EQ(now.at(kNever), kSteadyNever);
    EXPECT_EQ(now.at(kSteadyNever), kNever);
    EXPECT_EQ(now.at(now.date + 10s), now.steady + 10s);
    EXPECT_EQ(now.at(kNever - 1s), kSteadyNever - 1s - (now.date.time_since_epoch() - 1h));
}

TEST_F(WatchdogTest, measures_a_timeout_whatever_the_date_becomes) {
    const AttemptPtr attempt = begin(10s);
    const SteadyPoint start = world.clock.steady_now();
    world.clock.jump(1h);
    EXPECT_EQ(watchdog.tick(start), start + 10s);
    EXPECT_FALSE(attempt->stop_token().stop_requested());
    world.clock.jump(-2h);
    watchdog.tick(start + 10s);
    EXPECT_EQ(attempt->stop_reason(), Attempt::StopReason::Timeout);
}

TEST_F(WatchdogTest, waits_for_the_date_of_a_deadline_when_the_clock_is_set_back) {
    const AttemptPtr attempt = begin(0s, world.clock.now() + 10s);
    const SteadyPoint start = world.clock.steady_now();
    world.clock.jump(-5min);
    world.clock.advance(10s);
    EXPECT_EQ(watchdog.tick(start + 10s), start + 10s + 5min);
    EXPECT_FALSE(attempt->stop_token().stop_requested());
    world.clock.advance(5min);
    watchdog.tick(start + 10s + 5min);
    EXPECT_EQ(attempt->stop_reason(), Attempt::StopReason::Timeout);
    EXPECT_TRUE(attempt->finish());
    watchdog.forget(*attempt);
}

TEST_F(WatchdogTest, gives_a_handler_its_own_grace_where_that_is_longer) {
    const auto pass = [](const Payload& input, const StepContext&) { return input; };
    world.handlers.add_raw("program", pass).set_grace("program", 10min);
    world.handlers.add_raw("quick", pass).set_grace("quick", 1s);
    const SteadyPoint start = world.clock.steady_now();
    begin(10s, kNever, "program");
    watchdog.tick(start + 10s);
    EXPECT_EQ(watchdog.tick(start + 10s + 10min), start + 10s + 10min + 1s)
        << "a program that has to be killed is still to be collected";
    EXPECT_TRUE(given_up.empty());
    watchdog.tick(start + 10s + 10min + 1s);
    EXPECT_EQ(given_up.size(), 1U);
    EXPECT_EQ(environment.grace_of("quick"), 5s) << "not shorter than stop_grace";
    EXPECT_EQ(environment.grace_of("unknown"), 5s);
    EXPECT_EQ(environment.longest_grace(), 10min + 1s);
}

TEST_F(WatchdogTest, the_first_reason_to_stop_stays) {
    const AttemptPtr attempt = begin(10s);
    watchdog.stop(attempt, Attempt::StopReason::Unwanted);
    watchdog.tick(world.clock.steady_now());
    watchdog.stop(attempt, Attempt::StopReason::Shutdown);
    watchdog.tick(world.clock.steady_now() + 10s);
    EXPECT_EQ(attempt->stop_reason(), Attempt::StopReason::Unwanted);
    EXPECT_EQ(given_up.size(), 1U);
}

TEST(ReadyQueue, hands_out_in_order_and_lets_waiting_threads_go_when_closed) {
    ReadyQueue queue;
    const AttemptPtr first = make_attempt({});
    const AttemptPtr second = make_attempt({});
    queue.push({first, second});
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(queue.try_pop(), first);
    EXPECT_EQ(queue.pop(), second);
    EXPECT_EQ(queue.try_pop(), nullptr);
    queue.close();
    EXPECT_EQ(queue.pop(), nullptr);
}

TEST(ReadyQueue, hands_out_the_lowest_rank_first_and_of_equal_ones_the_first_that_came) {
    ReadyQueue queue;
    std::vector<AttemptPtr> attempts;
    for (const std::int64_t rank : {5, 3, 5, -7, 3}) attempts.push_back(make_attempt({}, {}, rank));
    queue.push({attempts[0], attempts[1], attempts[2]});
    queue.push({attempts[3], attempts[4]});
    for (const std::size_t next : {3U, 1U, 4U, 0U, 2U}) EXPECT_EQ(queue.try_pop(), attempts[next]);
    EXPECT_EQ(queue.try_pop(), nullptr);
}

TEST(Attempt, goes_forward_only_and_each_step_is_taken_once) {
    const AttemptPtr attempt = make_attempt({});
    const Moment now{TimePoint{1s}, SteadyPoint{1s}};
    EXPECT_TRUE(attempt->begin(now));
    EXPECT_FALSE(attempt->withdraw());
    EXPECT_TRUE(attempt->give_up());
    EXPECT_FALSE(attempt->give_up());
    EXPECT_FALSE(attempt->finish());
    const AttemptPtr other = make_attempt({});
    EXPECT_TRUE(other->withdraw());
    EXPECT_FALSE(other->begin(now));
}

}  // namespace
}  // namespace ebb::engine
