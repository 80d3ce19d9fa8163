// Durations are written in the shortest usual form and read back exactly; other texts are refused.

#include <limits>

#include "support/clock.h"

namespace ebb::test {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Duration, is_written_in_its_usual_units) {
    EXPECT_EQ(format_duration(Duration(0)), "0s");
    EXPECT_EQ(format_duration(seconds(90)), "1m30s");
    EXPECT_EQ(format_duration(minutes(90)), "1h30m");
    EXPECT_EQ(format_duration(hours(48)), "2d");
    EXPECT_EQ(format_duration(hours(49) + milliseconds(1)), "2d1h0.001s");
    EXPECT_EQ(format_duration(milliseconds(100)), "100ms");
    EXPECT_EQ(format_duration(milliseconds(2500)), "2.5s");
    EXPECT_EQ(format_duration(microseconds(1500)), "1.5ms");
    EXPECT_EQ(format_duration(microseconds(7)), "7us");
    EXPECT_EQ(format_duration(microseconds(1'000'001)), "1.000001s");
    EXPECT_EQ(format_duration(seconds(-5)), "-5s");
    EXPECT_EQ(format_duration(Duration::min()).front(), '-');
}

TEST(Duration, reads_what_people_write) {
    EXPECT_EQ(parse_duration("0"), Duration(0));
    EXPECT_EQ(parse_duration("90s"), seconds(90));
    EXPECT_EQ(parse_duration("1h30m"), minutes(90));
    EXPECT_EQ(parse_duration("100ms"), milliseconds(100));
    EXPECT_EQ(parse_duration("2d"), hours(48));
    EXPECT_EQ(parse_duration("1.5h"), minutes(90));
    EXPECT_EQ(parse_duration("1m5ms"), minutes(1) + milliseconds(5));
    EXPECT_EQ(parse_duration("0.000001s"), microseconds(1));
    EXPECT_EQ(parse_duration("PT1H30M"), minutes(90));
    EXPECT_EQ(parse_duration("P1DT0.5S"), hours(24) + milliseconds(500));
    EXPECT_EQ(parse_duration("P2W"), hours(24 * 14));
}

TEST(Duration, refuses_everything_else) {
    for (const char* text :
         {"",         "90",   "s",    "1x",     "-5s",  "+5s",   "1 h",        "1h 30m",
          "30m1h",    "1h1h", "1.s",  ".5s",    "1e3s", "1S",    "P",          "PT",
          "P1Y",      "P1M",  "1h30", "PT1H30", "P1DT", "0.5us", "0.0000001s", "1,5s",
          "infinite", "P-1D", "1w",   "PT1H1H", "P1D2W"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
}

TEST(Duration, refuses_what_does_not_fit) {
    constexpr auto kMax = std::numeric_limits<Duration::rep>::max();
    EXPECT_EQ(parse_duration(std::to_string(kMax / 1'000) + "ms"), milliseconds(kMax / 1'000));
    EXPECT_EQ(parse_duration(std::to_string(kMax) + "us"), std::nullopt);
    EXPECT_EQ(parse_duration("999999999999999999d"), std::nullopt);
    EXPECT_EQ(parse_duration("106751991d5h"), std::nullopt);
    std::string long_number(100'000, '1');
    long_number += 's';
    EXPECT_EQ(parse_duration(long_number), std::nullopt);
}

TEST(Duration, of_any_length_survives_the_text) {
    for (Duration::rep value = 1; value > 0 && value < (Duration::rep{1} << 59);
         value = value * 7 + 3) {
        EXPECT_EQ(parse_duration(format_duration(Duration(value))), Duration(value));
    }
}

}  // namespace
}  // namespace ebb::test
