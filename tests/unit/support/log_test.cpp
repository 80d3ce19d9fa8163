// Goal: log lines are one line each whatever the values are, bounded, and nothing is written
// without a sink. Method: format_logfmt on hostile values; a recording sink behind a Log.
#include "support/log.h"

namespace ebb {
namespace {

std::string line_of(std::initializer_list<LogField> fields) {
    return format_logfmt(
        TimePoint{}, LogLevel::Warning, "lease_lost", {fields.begin(), fields.size()}
    );
}

TEST(Logfmt, writes_time_level_event_and_fields) {
    EXPECT_EQ(
        line_of({{"instance", "abc"}, {"attempt", 3}, {"is_last", true}}),
        "time=1970-01-01T00:00:00Z level=warning event=lease_lost instance=abc attempt=3 "
        "is_last=true"
    );
}

TEST(Logfmt, quotes_and_escapes_values_so_that_none_can_forge_a_line) {
    EXPECT_EQ(
        line_of({{"a", "two words"}, {"b", "x\ny=\"1\""}, {"c", ""}, {"d", "\xff"}}),
        "time=1970-01-01T00:00:00Z level=warning event=lease_lost a=\"two words\" "
        "b=\"x\\ny=\\\"1\\\"\" "
        "c=\"\" d=\"\xEF\xBF\xBD\""
    );
}

TEST(Logfmt, keeps_a_line_at_the_limit_and_cuts_one_above) {
    const std::size_t frame = line_of({{"text", "x"}}).size() - 1;
    const std::string fits(kLogLineBytesMax - 1 - frame, 'x');
    EXPECT_EQ(line_of({{"text", fits}}).size(), kLogLineBytesMax - 1);
    EXPECT_TRUE(line_of({{"text", fits}}).ends_with("xxxx"));
    EXPECT_EQ(line_of({{"text", fits + "x"}}).size(), kLogLineBytesMax - 1);
    EXPECT_TRUE(line_of({{"text", fits + "x"}}).ends_with("x..."));
}

class RecordingSink : public LogSink {
 public:
    bool is_enabled(LogLevel level) const noexcept override { return level >= LogLevel::Info; }

    void write(LogLevel, std::string_view event, std::span<const LogField>) noexcept override {
        events.emplace_back(event);
    }

    std::vector<std::string> events;
};

TEST(Log, drops_everything_without_a_sink) {
    const Log log;
    EXPECT_FALSE(log.is_enabled(LogLevel::Error));
    log.error("worker_failed");
}

TEST(Log, asks_the_sink_for_the_level) {
    const auto sink = std::make_shared<RecordingSink>();
    const Log log(sink);
    log.debug("claimed");
    log.info("started");
    log.error("failed", {{"code", "x"}});
    EXPECT_EQ(sink->events, (std::vector<std::string>{"started", "failed"}));
}

TEST(StderrLog, writes_lines_of_its_level_to_stderr) {
    const ManualClock clock(TimePoint{});
    testing::internal::CaptureStderr();
    const Log log(make_stderr_log(clock, LogLevel::Warning));
    log.info("started");
    log.warning("lease_lost", {{"worker", "w1"}, {"a b\n=", 1}});
    EXPECT_EQ(
        testing::internal::GetCapturedStderr(),
        "time=1970-01-01T00:00:00Z level=warning event=lease_lost worker=w1 a_b__=1\n"
    );
    testing::internal::CaptureStderr();
    const Log timed(make_stderr_log());
    timed.info("started");
    EXPECT_NE(testing::internal::GetCapturedStderr().find("event=started\n"), std::string::npos);
}

}  // namespace
}  // namespace ebb
