// Workflows with rules: transitions that wait for their time or run blocks of nodes, savepoints,
// and instances that are taken back to an earlier write.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/kernel_world.h"

namespace ebb::test {
namespace {

using Verdict = Decision::Verdict;
using namespace std::chrono_literals;

Verdict write(KernelWorld& world, std::string_view values) {
    return world.apply(event::AttributesWritten{.values = Payload(values), .is_repair = true});
}

Json attributes(const KernelWorld& world) {
    return Json::parse(world.program->rules()->state_text(*world.state.rules));
}

KernelWorld::Script says(std::map<std::string, std::string> outputs) {
    return [outputs = std::move(outputs)](const Invocation& call) {
        const auto found = outputs.find(call.handler);
        KernelWorld::Outcome outcome;
        if (found == outputs.end()) return outcome;
        if (found->second == "fail") outcome.kind = KernelWorld::Outcome::Kind::FailForGood;
        if (found->second != "fail") outcome.output = Payload(found->second);
        return outcome;
    };
}

/// A reminder every minute while the order is open.
Definition reminder(std::string_view more = "") {
    return parse_definition_json(fmt::format(
        R"({{"workflow": "w", "rules": {{
            "attributes": {{"status": {{"default": "open"}},
                           "sent": {{"type": "integer", "default": 0}},
                           "note": "text"}},
            "triggers": {{"remind": {{"when": "status = 'open'", "after": "1m" {}}}}},
            "final": {{"closed": "status = 'closed'"}},
            "exceptions": {{"odd": "note = 'odd'"}},
            "on_idle": "wait"
        }}}})",
        more
    ));
}

const std::string kCount = R"({"sent": {"$expr": "state.sent + 1"}})";

/// Runs what is due until `end`.
void run_until(KernelWorld& world, Duration end) {
    const TimePoint last = TimePoint(std::chrono::seconds(1'000'000)) + end;
    while (true) {
        while (world.run_one()) {
        }
        TimePoint next = last;
        for (const auto& [token, row] : world.tasks) next = std::min(next, row.due);
        if (next >= last) break;
        world.now = next;
    }
    world.now = last;
}

TEST(RulesAfter, fires_when_the_condition_was_true_for_long_enough_and_again) {
    KernelWorld world(reminder(), "{}");
    world.script = says({{"remind", kCount}});
    run_until(world, 59s);
    EXPECT_EQ(world.calls_text(), "");
    run_until(world, 61s);
    EXPECT_EQ(world.calls_text(), "remind");
    run_until(world, 150s);
    EXPECT_EQ(attributes(world).at("sent"), 2);
    EXPECT_EQ(world.broken_invariant(), "");
}

TEST(RulesAfter, a_write_that_makes_the_condition_false_disarms) {
    KernelWorld world(reminder(), "{}");
    EXPECT_EQ(write(world, R"({"status": "busy"})"), Verdict::Changed);
    EXPECT_TRUE(world.state.tokens.empty());
    EXPECT_TRUE(world.tasks.empty());
    run_until(world, 30s);
    write(world, R"({"status": "open"})");
    run_until(world, 89s);
    EXPECT_EQ(world.calls_text(), "");
    run_until(world, 91s);
    EXPECT_EQ(world.calls_text(), "remind");
}

TEST(RulesAfter, a_final_condition_does_not_wait_for_it) {
    KernelWorld world(reminder(), "{}");
    write(world, R"({"status": "closed"})");
    EXPECT_EQ(world.status(), "completed");
    EXPECT_TRUE(world.tasks.empty());
}

TEST(RulesAfter, an_exception_disarms_and_its_end_begins_the_time_again) {
    KernelWorld world(reminder(), "{}");
    run_until(world, 30s);
    write(world, R"({"note": "odd"})");
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_TRUE(world.state.tokens.empty());
    write(world, R"({"note": "fine"})");
    run_until(world, 80s);
    EXPECT_EQ(world.calls_text(), "");
    run_until(world, 91s);
    EXPECT_EQ(world.calls_text(), "remind");
}

TEST(RulesAfter, once_counts_what_has_fired) {
    KernelWorld world(reminder(R"(, "mode": "once")"), "{}");
    write(world, R"({"status": "busy"})");
    write(world, R"({"status": "open"})");
    run_until(world, 200s);
    EXPECT_EQ(world.calls_text(), "remind");
}

TEST(RulesAfter, the_handler_gets_the_attributes_of_its_time) {
    KernelWorld world(reminder(), "{}");
    write(world, R"({"note": "later"})");
    world.now += 60s;
    ASSERT_TRUE(world.run_one());
    const auto call = world.claim(world.state.tokens.front().id);
    ASSERT_TRUE(call);
    EXPECT_EQ(Json::parse(world.payload(call->input)).at("note"), "later");
}

TEST(RulesAfter, a_hundred_reminders_without_a_change_raise_no_exception) {
    KernelWorld world(reminder(), "{}");
    world.script = says({{"remind", "null"}});
    run_until(world, 2h + 30min + 1s);
    EXPECT_EQ(world.calls.size(), 150U);
    EXPECT_EQ(world.status(), "running");
}

/// A person approves, and then a block with two branches books.
Definition trip(std::string_view head = "") {
    return parse_definition_json(fmt::format(
        R"({{"workflow": "w", {} "rules": {{
            "attributes": {{"approved": "text", "room": "text", "car": "text"}},
            "triggers": {{
                "approve": {{"when": "approved is null", "steps": [{{"decision": "boss"}}],
                            "set": {{"approved": "${{output.decision.verdict}}"}}}},
                "book": {{"when": "approved = 'confirmed' and room is null", "steps": [
                    {{"step": "reserve", "compensate": "unreserve"}},
                    {{"parallel": "both", "branches": {{
                        "room": [{{"step": "take_room", "compensate": "free_room"}}],
                        "car": [{{"delay": "lunch", "for": "10s"}},
                                {{"step": "take_car", "compensate": "free_car", "max_attempts": 1}}]
                    }}}}],
                    "set": {{"room": "${{output.room}}", "car": "${{output.car}}"}}}},
                "pay": {{"when": "room is not null", "mode": "once"}}
            }},
            "final": {{"done": "room = '12' and car = 'paid'"}}
        }}}})",
        head
    ));
}

const std::map<std::string, std::string> kTrip = {
    {"take_room", "\"12\""}, {"take_car", "\"B-1\""}, {"pay", R"({"car": "paid"})"}
};

void approve(KernelWorld& world) {
    world.apply(event::DecisionMade{.node = "boss", .is_confirmed = true, .by = "ada"});
}

TEST(RulesSteps, run_a_decision_and_branches_and_write_their_output) {
    KernelWorld world(trip(), "{}");
    world.script = says(kTrip);
    world.run();
    EXPECT_EQ(world.status(), "running");
    approve(world);
    world.run();
    EXPECT_EQ(world.status(), "completed") << world.history_text();
    EXPECT_EQ(world.calls_text(), "reserve take_room take_car pay");
    const Json expected{{"approved", "confirmed"}, {"room", "12"}, {"car", "paid"}};
    EXPECT_EQ(Json::parse(world.result()), expected);
}

TEST(RulesSteps, that_fail_are_undone_with_what_was_written_before) {
    KernelWorld world(trip(), "{}");
    auto outputs = kTrip;
    outputs["take_car"] = "fail";
    world.script = says(outputs);
    approve(world);
    world.run();
    EXPECT_EQ(world.status(), "failed") << world.history_text();
    EXPECT_EQ(world.calls_text(), "reserve take_room take_car! free_car free_room unreserve");
    EXPECT_TRUE(attributes(world).at("approved").is_null());
}

TEST(RulesSteps, are_undone_by_a_cancel_after_their_write) {
    KernelWorld world(trip(), "{}");
    auto outputs = kTrip;
    outputs["pay"] = R"({"car": "open"})";
    world.script = says(outputs);
    approve(world);
    world.run();
    EXPECT_EQ(world.status(), "dead_letter");
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.status(), "cancelled");
    EXPECT_EQ(world.calls_text(), "reserve take_room take_car pay free_car free_room unreserve");
    EXPECT_TRUE(attributes(world).at("room").is_null());
}

TEST(RulesSteps, that_are_held_back_leave_no_token_and_begin_again) {
    KernelWorld world(trip(R"("on_error": "exception",)"), "{}");
    auto outputs = kTrip;
    outputs["take_car"] = "fail";
    world.script = says(outputs);
    approve(world);
    world.run();
    EXPECT_EQ(world.status(), "dead_letter") << world.history_text();
    EXPECT_TRUE(world.state.tokens.empty());
    EXPECT_TRUE(world.state.scopes.empty());
    world.script = says(kTrip);
    world.apply(event::Requeued{});
    world.run();
    EXPECT_EQ(world.status(), "completed") << world.history_text();
    EXPECT_EQ(world.calls_text(), "reserve take_room take_car! reserve take_room take_car pay");
}

TEST(RulesSteps, freeze_inside_and_go_on_there) {
    KernelWorld world(trip(R"("on_error": "dead_letter",)"), "{}");
    auto outputs = kTrip;
    outputs["take_car"] = "fail";
    world.script = says(outputs);
    approve(world);
    world.run();
    EXPECT_EQ(world.status(), "dead_letter");
    world.script = says(kTrip);
    world.apply(event::Requeued{});
    world.run();
    EXPECT_EQ(world.calls_text(), "reserve take_room take_car! take_car pay");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesSteps, whose_write_is_refused_fail_and_only_the_write_is_tried_again) {
    KernelWorld world(trip(R"("on_error": "dead_letter",)"), "{}");
    auto outputs = kTrip;
    outputs["take_room"] = "12";
    world.script = says(outputs);
    approve(world);
    world.run();
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(Json::parse(world.payload(world.state.error)).at("code"), "invalid_value");
    world.apply(event::Requeued{});
    world.run();
    EXPECT_EQ(world.calls_text(), "reserve take_room take_car");
    EXPECT_EQ(world.status(), "dead_letter");
}

/// Three transitions with a savepoint after the first.
Definition order(std::string_view savepoint) {
    return parse_definition_json(fmt::format(
        R"({{"workflow": "w", "rules": {{
            "attributes": {{"phase": {{"default": "ordered", "external": true}}, "paid": "text",
                           "sent": "text", "note": {{"external": true}}}},
            "triggers": {{
                "charge": {{"when": "phase = 'ordered' and paid is null", "compensate": "refund",
                           "mode": "once"}},
                "pack": {{"when": "paid is not null and phase = 'ordered'", "compensate": "unpack",
                         "mode": "once"}},
                "send": {{"when": "phase = 'packed' and sent is null", "compensate": "recall"}}
            }},
            "final": {{"done": "phase = 'done'"}},
            "on_idle": "wait" {}
        }}}})",
        savepoint
    ));
}

const std::map<std::string, std::string> kOrder = {
    {"charge", R"({"paid": "yes"})"},
    {"pack", R"({"phase": "packed"})"},
    {"send", R"({"sent": "today"})"}
};

constexpr std::string_view kResumes = R"(, "savepoints": {"paid": {"when": "paid is not null", )"
                                      R"("on_rollback": "resume", "max_resumes": 2}})";

TEST(RulesSavepoint, bounds_the_rollback_and_resumes_from_it) {
    KernelWorld world(order(kResumes), "{}");
    auto outputs = kOrder;
    outputs["send"] = "fail";
    world.script = says(outputs);
    world.run();
    EXPECT_EQ(world.status(), "failed") << world.history_text();
    const std::string once = "pack send! recall unpack";
    EXPECT_EQ(world.calls_text(), "charge " + once + " " + once + " " + once);
    EXPECT_EQ(attributes(world).at("paid"), "yes");
    EXPECT_EQ(attributes(world).at("phase"), "ordered");
}

TEST(RulesSavepoint, is_ignored_by_a_cancel) {
    KernelWorld world(order(kResumes), "{}");
    world.script = says(kOrder);
    world.run();
    world.apply(event::CancelRequested{});
    world.run();
    EXPECT_EQ(world.calls_text(), "charge pack send recall unpack refund");
    EXPECT_EQ(world.status(), "cancelled");
}

TEST(RulesRecover, undoes_and_asks_all_conditions_again) {
    KernelWorld world(order(""), "{}");
    world.script = says(kOrder);
    world.run();
    write(world, R"({"note": "kept"})");
    EXPECT_EQ(world.apply(event::RecoverRequested{.to = 1, .by = "ada"}), Verdict::Changed);
    EXPECT_EQ(world.status(), "compensating");
    world.run();
    EXPECT_EQ(world.status(), "running") << world.history_text();
    EXPECT_EQ(world.calls_text(), "charge pack send recall unpack refund charge pack send");
    EXPECT_EQ(attributes(world).at("note"), "kept");
    EXPECT_EQ(attributes(world).at("sent"), "today");
    write(world, R"({"phase": "done"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesRecover, may_stop_for_an_operator) {
    KernelWorld world(order(""), "{}");
    world.script = says(kOrder);
    world.run();
    world.apply(event::RecoverRequested{.to = 1, .stops = true});
    world.run();
    EXPECT_EQ(world.status(), "dead_letter");
    EXPECT_EQ(Json::parse(world.payload(world.state.error)).at("code"), "recovered");
    write(world, R"({"phase": "done"})");
    EXPECT_EQ(world.status(), "completed");
}

TEST(RulesRecover, stops_what_is_pending) {
    KernelWorld world(order(""), "{}");
    const auto call = world.claim(world.state.tokens.front().id);
    ASSERT_TRUE(call);
    world.apply(event::RecoverRequested{.to = 1});
    EXPECT_EQ(world.status(), "compensating");
    world.complete(*call, kOrder.at("charge"));
    world.script = says(kOrder);
    world.run();
    EXPECT_EQ(world.status(), "running") << world.history_text();
    EXPECT_EQ(world.calls_text(), "charge refund charge pack send");
}

TEST(RulesRecover, is_refused_where_there_is_nothing_to_go_back_to) {
    KernelWorld world(order(""), "{}");
    EXPECT_EQ(world.apply(event::RecoverRequested{.to = 2}), Verdict::Refused);
    EXPECT_EQ(world.last_refusal().code, "invalid_argument");
    EXPECT_EQ(world.apply(event::RecoverRequested{.to = 99}), Verdict::Refused);
    world.apply(event::CancelRequested{});
    EXPECT_EQ(world.apply(event::RecoverRequested{.to = 1}), Verdict::Refused);
    EXPECT_EQ(world.last_refusal().code, "invalid_state");
}

TEST(RulesRecover, a_repeated_request_changes_nothing) {
    KernelWorld world(order(""), "{}");
    world.script = says(kOrder);
    world.run();
    const event::RecoverRequested request{.to = 1, .request_id = "r1"};
    EXPECT_EQ(world.apply(request), Verdict::Changed);
    world.run();
    EXPECT_EQ(world.apply(request), Verdict::Ignored);
}

}  // namespace
}  // namespace ebb::test
