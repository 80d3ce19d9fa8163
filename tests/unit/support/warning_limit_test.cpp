// Goal: a failure that repeats fills no log, and no warning is lost without a trace. Method: a
// recording sink, and a clock that the test moves.
#include "support/warning_limit.h"

#include <string>
#include <vector>

namespace ebb {
namespace {

class Lines : public LogSink {
 public:
    bool is_enabled(LogLevel) const noexcept override { return true; }

    void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept override {
        lines.push_back(format_logfmt(TimePoint{}, level, event, fields));
    }

    std::vector<std::string> lines;
};

struct WarningLimits : ::testing::Test {
    void warn(std::string_view event, int times) {
        for (int i = 0; i < times; ++i) limit.write(LogLevel::Warning, event, {});
    }

    Lines sink;
    ManualClock clock{TimePoint{}};
    WarningLimit limit{sink, clock, std::chrono::seconds(1)};
};

TEST_F(WarningLimits, writes_ten_warnings_of_one_name_in_a_period) {
    warn("auth_failed", 11);
    EXPECT_EQ(sink.lines.size(), 10);
}

TEST_F(WarningLimits, the_first_warning_of_the_next_period_says_how_many_were_dropped) {
    warn("auth_failed", 15);
    clock.advance(std::chrono::milliseconds(999));
    warn("auth_failed", 1);
    EXPECT_EQ(sink.lines.size(), 10);
    clock.advance(std::chrono::milliseconds(1));
    warn("auth_failed", 2);
    ASSERT_EQ(sink.lines.size(), 12);
    EXPECT_THAT(sink.lines.at(10), ::testing::HasSubstr("dropped=6"));
    EXPECT_THAT(sink.lines.at(11), ::testing::Not(::testing::HasSubstr("dropped")));
}

TEST_F(WarningLimits, names_have_limits_of_their_own) {
    warn("auth_failed", 20);
    warn("http_refused", 1);
    EXPECT_THAT(sink.lines.back(), ::testing::HasSubstr("http_refused"));
}

TEST_F(WarningLimits, a_clock_that_is_set_to_another_date_changes_nothing) {
    warn("auth_failed", 10);
    clock.jump(std::chrono::hours(24));
    warn("auth_failed", 1);
    EXPECT_EQ(sink.lines.size(), 10);
}

TEST_F(WarningLimits, other_levels_are_never_dropped) {
    for (int i = 0; i < 20; ++i) limit.write(LogLevel::Error, "store_failed", {});
    EXPECT_EQ(sink.lines.size(), 20);
}

}  // namespace
}  // namespace ebb
