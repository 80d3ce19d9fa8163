// The JSON views that the command, REST and SSE share: values that are absent are null, and
// payloads keep their shape.

#include <ebb/clock.h>

#include "view/instance_json.h"
#include "view/problem_json.h"
#include "view/retention_json.h"
#include "view/worker_json.h"
#include "view/workflow_json.h"

namespace ebb::view {
namespace {

constexpr TimePoint kNoon = TimePoint(std::chrono::seconds(1'800'000'000));

TEST(View, a_payload_is_its_value) {
    EXPECT_EQ(payload_json(""), nullptr);
    EXPECT_EQ(payload_json("null"), nullptr);
    EXPECT_EQ(payload_json(R"({"b": 1, "a": [2]})").dump(), R"({"b":1,"a":[2]})");
    EXPECT_EQ(payload_json("{").dump(), R"("{")");
}

TEST(View, a_document_is_written_with_all_digits_of_its_numbers) {
    const Payload given = R"({"a":[1234567890.12345678901,-1.5e-7,18446744073709551616],"b":0.5})";
    const Json json = payload_json(given);
    EXPECT_EQ(
        json_text(json), R"({"a":[1234567890.12345678901,-1.5e-07,18446744073709551616],"b":0.5})"
    );
    EXPECT_EQ(json_text(Json::array({json["a"][2]}), 1), "[\n 18446744073709551616\n]");
    EXPECT_EQ(
        with_all_digits("n: " + json["a"][0].get<std::string>() + "\n"),
        "n: 1234567890.12345678901\n"
    );
}

TEST(View, no_time_and_never_are_null) {
    EXPECT_EQ(time_json({}), nullptr);
    EXPECT_EQ(time_json(kNever), nullptr);
    EXPECT_EQ(time_json(kNoon), "2027-01-15T08:00:00Z");
}

TEST(View, an_instance_has_the_members_of_its_summary) {
    InstanceView view;
    view.summary.workflow = "order";
    view.summary.created_at = kNoon;
    view.waiting_for.push_back({.kind = "signal", .node = "paid", .what = "paid"});
    const Json json = instance_json(view);
    const Json summary = summary_json(view.summary);
    for (const auto& [name, value] : summary.items()) EXPECT_EQ(json.at(name), value) << name;
    EXPECT_EQ(json.at("key"), nullptr);
    EXPECT_EQ(json.at("finished_at"), nullptr);
    EXPECT_EQ(json.at("waiting_for").at(0).at("kind"), "signal");
    EXPECT_EQ(json.at("waiting_for").at(0).at("until"), nullptr);
}

TEST(View, a_problem_points_into_the_definition) {
    const std::vector<Diagnostic> problems{
        {.code = "unknown_handler",
         .path = "/steps/2/compensate",
         .message = "m",
         .line = 7,
         .column = 19},
        {.code = "no_steps", .path = "", .message = "m"},
    };
    const Json json = problems_json(problems);
    EXPECT_EQ(json.at(0).at("pointer"), "/steps/2/compensate");
    EXPECT_EQ(json.at(0).at("line"), 7);
    EXPECT_EQ(json.at(1).at("line"), nullptr);
    EXPECT_EQ(json.at(1).at("column"), nullptr);
}

TEST(View, a_queue_without_limits_has_nulls) {
    QueueView queue;
    queue.name = "mail";
    EXPECT_EQ(queue_json(queue).at("concurrency"), nullptr);
    EXPECT_EQ(queue_json(queue).at("rate"), nullptr);
    queue.limits.rate = QueueRate{100, std::chrono::minutes(1)};
    EXPECT_EQ(queue_json(queue).at("rate").dump(), R"({"starts":100,"period":"1m"})");
}

TEST(View, how_long_is_kept_is_shown_in_days) {
    EXPECT_EQ(kept_text({}), "forever");
    EXPECT_EQ(kept_text(std::chrono::hours(36)), "1d12h");
    EXPECT_EQ(kept_text(std::chrono::minutes(5)), "5m");
    EXPECT_EQ(retention_json({.workflow = "*"}, {}).at("partitioned_by"), nullptr);
}

TEST(View, counts_of_a_version_and_of_all_versions) {
    const std::vector<VersionCount> counts{
        {.workflow = "order", .version = 1, .status = InstanceStatus::Failed, .count = 2},
        {.workflow = "order", .version = 2, .status = InstanceStatus::Failed, .count = 3},
        {.workflow = "other", .version = 2, .status = InstanceStatus::Failed, .count = 5},
    };
    const Json json = workflow_json({.name = "order", .version = 2}, counts);
    EXPECT_EQ(json.at("instances").dump(), R"({"failed":3})");
    EXPECT_EQ(json.at("instances_of_all_versions").dump(), R"({"failed":5})");
}

}  // namespace
}  // namespace ebb::view
