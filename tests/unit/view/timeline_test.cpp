// The timeline of an instance: spans of attempts, waits and compensations.

#include "view/timeline.h"

#include <gmock/gmock.h>

#include "support/clock.h"

namespace ebb::view {
namespace {

using ::testing::ElementsAre;

TimePoint at(int milliseconds) {
    return TimePoint(std::chrono::hours(24) + std::chrono::milliseconds(milliseconds));
}

/// `begin`: 0 = the event ends nothing that has begun before.
HistoryEntry event(
    std::int64_t seq, const std::string& type, const std::string& node, int time, int begin = 0
) {
    return {
        .seq = seq,
        .type = type,
        .node = node,
        .visit = node.empty() ? 0 : 7,
        .attempt = begin == 0 ? 0 : 1,
        .started_at = begin == 0 ? TimePoint{} : at(begin),
        .at = at(time),
    };
}

/// `kind from..to` in milliseconds of each row, with `+` if it is open.
std::vector<std::string> rows(const Timeline& timeline) {
    std::vector<std::string> texts;
    const Json json = timeline.json();
    for (const Json& row : json["items"]) {
        const auto time = [&](const char* name) {
            const auto since = *parse_time(row[name].get<std::string>()) - at(0);
            return std::to_string(since / std::chrono::milliseconds(1));
        };
        texts.push_back(
            row["node"].get<std::string>() + " " + row["kind"].get<std::string>() + " " +
            time("from") + " " + time("to") + (row["is_open"].get<bool>() ? "+" : "")
        );
    }
    return texts;
}

TEST(Timeline, shows_the_queue_the_attempts_and_the_pause_between_them) {
    Timeline timeline;
    timeline.add(event(1, "started", "", 0), "");
    HistoryEntry failed = event(2, "step_retried", "charge", 300, 100);
    failed.ref = 1;
    failed.worker = "w";
    timeline.add(failed, "http_503");
    HistoryEntry completed = event(3, "step_completed", "charge", 900, 500);
    completed.attempt = 2;
    timeline.add(completed, "");
    timeline.finish({}, at(5'000), true);
    EXPECT_THAT(
        rows(timeline),
        ElementsAre(
            "charge queue 0 100",
            "charge failed 100 300",
            "charge retry 300 500",
            "charge attempt 500 900"
        )
    );
    const Json json = timeline.json();
    EXPECT_EQ(json["spans"], 4);
    EXPECT_EQ(json["is_aggregated"], false);
    EXPECT_EQ(json["items"][0]["worker"], nullptr);
    EXPECT_EQ(json["items"][1]["code"], "http_503");
    EXPECT_EQ(json["items"][1]["worker"], "w");
    EXPECT_EQ(json["items"][2]["code"], nullptr);
    EXPECT_EQ(json["items"][3]["attempt"], 2);
    EXPECT_EQ(json["items"][3]["seconds"], 0.4);
}

TEST(Timeline, a_wait_ends_with_its_event_or_goes_on) {
    Timeline timeline;
    timeline.add(event(1, "decision_awaited", "approve", 100), "");
    timeline.add(event(2, "signal_awaited", "paid", 200), "");
    timeline.add(event(3, "decision_completed", "approve", 400), "");
    Timeline ended = timeline;
    timeline.finish({}, at(1'000), false);
    EXPECT_THAT(rows(timeline), ElementsAre("approve wait 100 400", "paid wait 200 1000+"));
    ended.finish({}, at(1'000), true);
    EXPECT_THAT(rows(ended), ElementsAre("approve wait 100 400", "paid wait 200 400"));
}

TEST(Timeline, shows_what_runs_and_the_way_back) {
    Timeline timeline;
    timeline.add(event(1, "step_completed", "book", 200, 100), "");
    timeline.add(event(2, "compensation_retried", "book", 500, 400), "http_503");
    timeline.add(event(3, "step_compensated", "book", 800, 700), "");
    const std::vector<StepView> steps{
        {.node = "pack", .visit = 9, .status = StepStatus::Running, .started_at = at(850)}
    };
    timeline.finish(steps, at(1'000), false);
    EXPECT_THAT(
        rows(timeline),
        ElementsAre(
            "book attempt 100 200",
            "book undo_failed 400 500",
            "book retry 500 700",
            "book undo 700 800",
            "pack running 850 1000+"
        )
    );
    std::vector<bool> is_back;
    const Json json = timeline.json();
    for (const Json& row : json["items"]) {
        is_back.push_back(row["is_compensation"].get<bool>());
    }
    EXPECT_THAT(is_back, ElementsAre(false, true, true, true, false));
}

TEST(Timeline, adds_up_more_than_2000_spans) {
    Timeline timeline;
    for (int turn = 0; turn < 1'500; ++turn) {
        HistoryEntry pack = event(2 * turn + 1, "step_completed", "pack", turn + 2, turn + 1);
        pack.visit = 2 * turn + 1;
        timeline.add(pack, "");
        HistoryEntry ship = event(2 * turn + 2, "step_failed", "ship", turn + 2, turn + 1);
        ship.visit = 2 * turn + 2;
        timeline.add(ship, "gone");
    }
    timeline.finish({}, at(9'000), true);
    const Json json = timeline.json();
    EXPECT_EQ(json["spans"], 3'000);
    EXPECT_EQ(json["is_aggregated"], true);
    ASSERT_EQ(json["items"].size(), 2U);
    EXPECT_THAT(rows(timeline), ElementsAre("pack attempt 1 1501", "ship failed 1 1501"));
    EXPECT_EQ(json["items"][0]["spans"], 1'500);
    EXPECT_EQ(json["items"][0]["seconds"], 1.5);
    EXPECT_EQ(json["items"][0]["visit"], nullptr);
}

}  // namespace
}  // namespace ebb::view
