// The lines of a display, made from hand-written events: what happened, what goes on, and in which
// order they may become known.

#include "cli/progress.h"

#include "cli/progress_display.h"

namespace ebb::cli {
namespace {

using namespace std::chrono_literals;
using Mark = ProgressLine::Mark;

constexpr TimePoint kStart{1000s};

NodeIndexByName nodes() {
    return {
        {"pay", {.kind = "step", .handler = "pay", .compensation = "refund", .max_attempts = 3}},
        {"boss", {.kind = "decision", .roles = {"manager"}, .depth = 1}},
        {"call", {.kind = "signal", .signal = "answered"}},
    };
}

class CliProgress : public ::testing::Test {
 protected:
    std::optional<ProgressLine> read(
        std::string type, std::string node = {}, Payload payload = {}
    ) {
        return progress.read(HistoryEntry{
            .seq = ++seq_,
            .type = std::move(type),
            .node = std::move(node),
            .attempt = 1,
            .payload = std::move(payload),
            .started_at = kStart,
            .at = kStart + 2s,
        });
    }

    void call(bool is_compensation = false, TimePoint at = kStart, int attempt = 1) {
        progress.read(CallStarted{
            .node = "pay",
            .handler = is_compensation ? "refund" : "pay",
            .attempt = attempt,
            .max_attempts = 3,
            .is_compensation = is_compensation,
            .at = at,
        });
    }

    Progress progress{nodes()};

 private:
    std::int64_t seq_ = 0;
};

TEST_F(CliProgress, a_call_lives_until_its_end_is_read) {
    call();
    ASSERT_EQ(progress.live().size(), 1U);
    EXPECT_EQ(progress.live()[0].name, "pay");
    const auto line = read("step_completed", "pay");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->mark, Mark::Done);
    EXPECT_EQ(line->took, Duration(2s));
    EXPECT_TRUE(progress.live().empty());
}

TEST_F(CliProgress, a_next_call_that_is_known_before_the_last_end_stays) {
    call(false, kStart + 3s, 2);
    const auto line = read("step_retried", "pay", R"({"code":"http_503","message":"busy"})");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->text, "http_503: busy (attempt 1)");
    ASSERT_EQ(progress.live().size(), 1U);
    EXPECT_EQ(progress.live()[0].kind, LiveLine::Kind::Running);
    EXPECT_EQ(progress.live()[0].text, "attempt 2 of 3");
}

TEST_F(CliProgress, a_failure_that_is_on_the_screen_is_not_repeated) {
    const Payload busy = R"({"code":"http_503","message":"busy"})";
    EXPECT_EQ(read("step_retried", "pay", busy)->text, "http_503: busy (attempt 1)");
    EXPECT_EQ(read("step_retried", "pay", busy)->text, "http_503 again (attempt 1)");
    const Payload gone = R"({"code":"http_410","message":"gone"})";
    EXPECT_FALSE(progress.has_said(gone));
    EXPECT_EQ(read("step_failed", "pay", gone)->text, "http_410: gone");
    EXPECT_TRUE(progress.has_said(R"({"code":"http_410","message":"gone","step":"pay"})"));
}

TEST_F(CliProgress, a_retry_waits_until_its_call) {
    read("step_retried", "pay", R"({"code":"error"})");
    EXPECT_EQ(progress.live()[0].kind, LiveLine::Kind::Retrying);
    call(false, kStart + 3s, 2);
    EXPECT_EQ(progress.live()[0].kind, LiveLine::Kind::Running);
}

TEST_F(CliProgress, a_compensation_flows_back_under_its_handlers_name) {
    read("step_completed", "pay");
    call(true);
    ASSERT_EQ(progress.live().size(), 1U);
    EXPECT_EQ(progress.live()[0].kind, LiveLine::Kind::Undoing);
    EXPECT_EQ(progress.live()[0].name, "refund");
    const auto line = read("step_compensated", "pay");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->mark, Mark::Undone);
    EXPECT_EQ(line->name, "refund");
    EXPECT_EQ(line->text, "undoes pay");
    EXPECT_TRUE(progress.live().empty());
}

TEST_F(CliProgress, waits_say_for_what_and_end) {
    EXPECT_EQ(read("decision_awaited", "boss")->text, "waits for a decision of manager");
    EXPECT_EQ(read("signal_awaited", "call")->text, "waits for the signal \"answered\"");
    EXPECT_EQ(progress.live().size(), 2U);
    EXPECT_EQ(progress.live()[0].depth, 1);
    const auto vote = read("decision_made", "boss", R"({"by":"bob","verdict":"confirmed"})");
    EXPECT_EQ(vote->text, "confirmed by bob");
    EXPECT_EQ(progress.live().size(), 2U);
    read("decision_completed", "boss");
    read("signal_completed", "call");
    EXPECT_TRUE(progress.live().empty());
}

TEST_F(CliProgress, a_rollback_ends_all_waits) {
    read("decision_awaited", "boss");
    EXPECT_EQ(read("rollback_started", "", R"({"kind":"failure"})")->text, "rolls back");
    EXPECT_TRUE(progress.live().empty());
}

TEST_F(CliProgress, knows_the_end_and_reads_nothing_twice) {
    EXPECT_FALSE(progress.is_finished());
    read("failed");
    EXPECT_TRUE(progress.is_finished());
    EXPECT_FALSE(progress.read(HistoryEntry{.seq = 1, .type = "step_completed", .node = "pay"}));
}

class CliDisplay : public ::testing::Test {
 protected:
    CliDisplay() {
        streams.environment = [](const std::string& name) -> std::optional<std::string> {
            if (name == "LANG") return "C.UTF-8";
            return std::nullopt;
        };
        streams.err.write = [this](std::string_view text) { written += text; };
    }

    CliStreams streams;
    std::string written;
};

TEST_F(CliDisplay, off_a_terminal_every_event_is_a_plain_line) {
    ProgressDisplay display(streams.err, Style(streams.err, streams, ColorMode::Auto));
    display.add(ProgressLine{.mark = Mark::Done, .name = "pay", .took = 2s});
    const LiveLine live{.name = "ship", .since = kStart};
    display.draw({&live, 1}, kStart + 1s);
    EXPECT_EQ(written, "  ✓ pay (2.0s)\n");
}

TEST_F(CliDisplay, a_long_text_wraps_at_the_width_of_the_terminal) {
    streams.err.is_terminal = true;
    streams.err.columns = [] { return 31; };
    ProgressDisplay display(streams.err, Style(streams.err, streams, ColorMode::Never));
    const ProgressLine line{
        .mark = Mark::Failed, .name = "pay", .text = "http_503: the bank is busy right now"
    };
    EXPECT_EQ(
        display.text_of(line),
        "  ✗ pay\n"
        "    http_503: the bank is busy\n"
        "    right now"
    );
    streams.err.is_terminal = false;
    EXPECT_EQ(display.text_of(line), "  ✗ pay  http_503: the bank is busy right now");
}

TEST_F(CliDisplay, on_a_terminal_the_current_activity_is_redrawn_below_past_events) {
    streams.err.is_terminal = true;
    {
        ProgressDisplay display(streams.err, Style(streams.err, streams, ColorMode::Never));
        const LiveLine live{.name = "ship", .since = kStart};
        display.draw({&live, 1}, kStart + 1s);
        EXPECT_EQ(written, "\x1b[?25l  ⠙ ship  1.0s\n");
        written.clear();
        display.add(ProgressLine{.mark = Mark::Done, .name = "pay", .took = 2s});
        display.draw({&live, 1}, kStart + 2s);
        EXPECT_EQ(written, "\r\x1b[1A\x1b[0J  ✓ pay (2.0s)\n  ⠹ ship  2.0s\n");
        written.clear();
    }
    EXPECT_EQ(written, "\r\x1b[1A\x1b[0J\x1b[?25h");
}

TEST_F(CliDisplay, never_draws_more_lines_than_it_can_erase) {
    streams.err.is_terminal = true;
    streams.err.columns = [] { return 30; };
    ProgressDisplay display(streams.err, Style(streams.err, streams, ColorMode::Never));
    const std::vector<LiveLine> live(
        40, LiveLine{.name = "a_step_with_a_name_that_is_longer_than_a_line", .since = kStart}
    );
    display.draw(live, kStart);
    EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 13);
    EXPECT_NE(written.find("… and 28 more"), std::string::npos);
    EXPECT_NE(written.find("…"), std::string::npos);
}

}  // namespace
}  // namespace ebb::cli
