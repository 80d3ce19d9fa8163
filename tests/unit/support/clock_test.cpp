// Goal: times are written and read as RFC 3339 says, exactly, and nothing else is read as a time.
// Method: examples at the edges of the calendar, and a round trip over many moments.
#include "support/clock.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

TimePoint at(int year, unsigned month, unsigned day, Duration since_midnight = 0us) {
    const std::chrono::year_month_day date{
        std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)
    };
    return std::chrono::sys_days(date) + since_midnight;
}

TEST(FormatTime, writes_fractions_only_as_far_as_they_are_not_zero) {
    const TimePoint noon = at(2026, 11, 21, 12h + 5min + 9s);
    EXPECT_EQ(format_time(noon), "2026-11-21T12:05:09Z");
    EXPECT_EQ(format_time(noon + 123'456us), "2026-11-21T12:05:09.123456Z");
    EXPECT_EQ(format_time(noon + 120ms), "2026-11-21T12:05:09.12Z");
    EXPECT_EQ(format_time(noon + 1us), "2026-11-21T12:05:09.000001Z");
}

TEST(FormatTime, writes_times_before_the_epoch) {
    EXPECT_EQ(format_time(TimePoint{}), "1970-01-01T00:00:00Z");
    EXPECT_EQ(format_time(TimePoint{} - 1us), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(format_time(at(1, 2, 3)), "0001-02-03T00:00:00Z");
}

TEST(FormatTime, writes_the_nearest_year_of_four_digits_for_times_outside) {
    EXPECT_EQ(format_time(kNever), "9999-12-31T23:59:59.999999Z");
    EXPECT_EQ(format_time(TimePoint::min()), "0000-01-01T00:00:00Z");
}

TEST(ParseTime, reads_back_what_format_time_wrote) {
    for (Duration::rep i = 0; i < 2'000; ++i) {
        const TimePoint time(Duration(i * 7'919'333'777'331 - 5'000'000'000'000'000));
        ASSERT_EQ(parse_time(format_time(time)), time) << format_time(time);
    }
}

TEST(ParseTime, reads_offsets) {
    const TimePoint noon = at(2026, 11, 21, 12h);
    EXPECT_EQ(parse_time("2026-11-21T12:00:00Z"), noon);
    EXPECT_EQ(parse_time("2026-11-21t12:00:00z"), noon);
    EXPECT_EQ(parse_time("2026-11-21T13:00:00+01:00"), noon);
    EXPECT_EQ(parse_time("2026-11-21T06:15:00-05:45"), noon);
    EXPECT_EQ(parse_time("2026-11-22T01:00:00+13:00"), noon);
    EXPECT_EQ(parse_time("2026-11-21T12:00:00-00:00"), noon);
}

TEST(ParseTime, drops_digits_beyond_microseconds) {
    EXPECT_EQ(parse_time("1970-01-01T00:00:00.1234569999Z"), TimePoint(123'456us));
    EXPECT_EQ(parse_time("1970-01-01T00:00:00.5Z"), TimePoint(500ms));
}

TEST(ParseTime, knows_leap_days_and_leap_seconds) {
    EXPECT_EQ(parse_time("2024-02-29T00:00:00Z"), at(2024, 2, 29));
    EXPECT_EQ(parse_time("2023-02-29T00:00:00Z"), std::nullopt);
    EXPECT_EQ(parse_time("2000-02-29T00:00:00Z"), at(2000, 2, 29));
    EXPECT_EQ(parse_time("1900-02-29T00:00:00Z"), std::nullopt);
    EXPECT_EQ(parse_time("2016-12-31T23:59:60Z"), at(2017, 1, 1));
    EXPECT_EQ(parse_time("2017-01-01T00:59:60+01:00"), at(2017, 1, 1));
    EXPECT_EQ(parse_time("2016-12-31T23:58:60Z"), std::nullopt);
}

TEST(ParseTime, refuses_what_is_not_rfc_3339) {
    for (const std::string_view text :
         {"",
          "2026",
          "2026-11-21",
          "2026-11-21T12:00Z",
          "2026-11-21T12:00:00",
          "2026-11-21 12:00:00Z",
          "2026-11-21T24:00:00Z",
          "2026-11-21T12:60:00Z",
          "2026-11-21T12:00:61Z",
          "2026-13-01T00:00:00Z",
          "2026-00-01T00:00:00Z",
          "2026-04-31T00:00:00Z",
          "2026-11-21T12:00:00.Z",
          "2026-11-21T12:00:00Zx",
          "2026-11-21T12:00:00+1:00",
          "2026-11-21T12:00:00+01",
          "2026-11-21T12:00:00+24:00",
          "2026-11-21T12:00:00+01:60",
          "+026-11-21T12:00:00Z",
          "2026-1-21T12:00:00Z",
          "now",
          "26-11-21T12:00:00Z",
          " 2026-11-21T12:00:00Z",
          "2026-11-21T12:00:00Z "}) {
        EXPECT_EQ(parse_time(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_time(std::string_view("2026-11-21T12:00:00Z\0", 21)), std::nullopt);
}

TEST(ManualClock, moves_only_when_a_test_moves_it) {
    ManualClock clock(at(2026, 1, 1));
    EXPECT_EQ(clock.now(), at(2026, 1, 1));
    const SteadyPoint begun = clock.steady_now();
    clock.advance(90s);
    EXPECT_EQ(clock.now(), at(2026, 1, 1, 90s));
    EXPECT_EQ(clock.steady_now() - begun, 90s);
    clock.set(at(2026, 1, 1, 100s));
    EXPECT_EQ(clock.steady_now() - begun, 100s);
}

TEST(ManualClock, measures_no_time_when_it_is_set_to_another_date) {
    ManualClock clock(at(2026, 1, 1));
    const SteadyPoint begun = clock.steady_now();
    clock.set(at(2020, 1, 1));
    EXPECT_EQ(clock.now(), at(2020, 1, 1));
    clock.jump(1h);
    EXPECT_EQ(clock.now(), at(2020, 1, 1, 1h));
    clock.jump(-2h);
    EXPECT_EQ(clock.steady_now(), begun);
}

TEST(Clock, measures_by_its_date_unless_it_says_otherwise) {
    struct Fixed : Clock {
        TimePoint now() const override { return TimePoint(7s); }
    };

    EXPECT_EQ(Fixed().steady_now(), SteadyPoint(7s));
}

TEST(SystemClock, reads_the_time_of_this_century) {
    const SystemClock clock;
    const TimePoint first = clock.now();
    EXPECT_GT(first, at(2020, 1, 1));
    EXPECT_LT(first, at(2100, 1, 1));
}

TEST(SystemClock, measures_time_that_never_goes_back) {
    const SystemClock clock;
    SteadyPoint before = clock.steady_now();
    for (int i = 0; i < 1'000; ++i) {
        const SteadyPoint after = clock.steady_now();
        ASSERT_GE(after, before);
        before = after;
    }
}

}  // namespace
}  // namespace ebb
