// The words of `ebb history`: no event of Ebb itself is shown as raw JSON.

#include "cli/event_text.h"

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::optional<std::string> words(std::string type, std::string payload) {
    HistoryEntry event;
    event.type = std::move(type);
    event.payload = Payload::text(std::move(payload));
    return event_text(event, {.times = Times::Utc, .value_max = 12});
}

TEST(EventText, says_why_and_how_far_a_rollback_goes) {
    EXPECT_EQ(words("rollback_started", R"({"kind":"failure"})"), "after a failure, to the start");
    EXPECT_EQ(
        words("rollback_started", R"({"kind":"failure","savepoint":"paid"})"),
        "after a failure, to the savepoint \"paid\""
    );
    EXPECT_EQ(words("rollback_started", R"({"kind":"cancel"})"), "cancelled, to the start");
    EXPECT_EQ(words("rollback_started", R"({"kind":"recover"})"), "an operator takes it back");
    EXPECT_EQ(
        words("rollback_started", R"({"kind":"losers"})"), "undoes the branches that are not needed"
    );
    EXPECT_EQ(
        words("rollback_started", R"({"kind":"final","output":{"a":1}})"),
        "a final condition holds, output {\"a\":1}"
    );
}

TEST(EventText, names_the_author_and_the_reason_of_a_request) {
    for (const char* type :
         {"cancel_requested", "abort_requested", "paused", "unpaused", "requeued"}) {
        EXPECT_EQ(words(type, R"({"by":"ann","reason":"too late"})"), "by ann (too late)") << type;
        EXPECT_EQ(words(type, R"({"by":"ann","reason":""})"), "by ann") << type;
        EXPECT_EQ(words(type, R"({"by":"","reason":"too late"})"), "(too late)") << type;
    }
    EXPECT_EQ(
        words(
            "decision_made", R"({"verdict":"rejected","by":"bob","role":"board","comment":"no"})"
        ),
        "rejected by bob as board: no"
    );
    EXPECT_EQ(
        words("recover_requested", R"({"to":3,"then":"stop","by":"ann"})"),
        "to the event 3 by ann; then an operator must act"
    );
    EXPECT_EQ(words("moved", R"({"by":"ann","from":"running"})"), "by ann; it was running");
    EXPECT_EQ(words("arrived", R"({"workflow_id":"w","by":"ann"})"), "from a snapshot by ann");
}

TEST(EventText, says_when_where_and_with_which_outcome) {
    EXPECT_EQ(
        words("timer_started", R"({"due":"2031-01-02T03:04:05Z"})"), "until 2031-01-02 03:04:05Z"
    );
    EXPECT_EQ(words("branch_taken", R"({"branch":"then"})"), "takes \"then\"");
    EXPECT_EQ(words("step_stopped", R"({"outcome":"unknown"})"), "it may have taken effect");
    EXPECT_EQ(
        words("compensation_stopped", R"({"outcome":"failed","error":{"code":"c","message":"m"}})"),
        "outcome: failed; c: m"
    );
    EXPECT_EQ(words("lease_lost", ""), "its worker stopped");
    EXPECT_EQ(
        words("lease_lost", R"({"of":"compensation"})"), "the worker of the compensation stopped"
    );
    EXPECT_EQ(words("step_failed", R"({"code":"exit_1","message":"no"})"), "exit_1: no");
    EXPECT_EQ(words("exception_raised", R"({"code":"over","message":"no"})"), "over: no");
}

TEST(EventText, shows_the_attributes_of_rules) {
    EXPECT_EQ(
        words(
            "attributes_written",
            R"({"values":{"a":1,"note":"a text that is long"},"was":{"a":[null,0]},)"
            R"("fired":["x","y"],"final":"done","by":"ann"})"
        ),
        "a = 1, note = \"a text t...; by ann; fires x, y; final condition done"
    );
    EXPECT_EQ(
        words("attributes_written", R"({"values":{},"was":{},"fired":[]})"), "changes nothing"
    );
    EXPECT_EQ(words("state_restored", R"({"values":{"a":null}})"), "a = null");
    EXPECT_EQ(
        words("migrated", R"({"from":1,"to":2,"values":{"b":0}})"),
        "from version 1 to version 2; b = 0"
    );
}

TEST(EventText, leaves_the_payloads_of_the_application_and_hidden_ones_alone) {
    EXPECT_EQ(words("step_completed", R"({"by":"ann"})"), std::nullopt);
    EXPECT_EQ(words("signal_received", R"({"kind":"failure"})"), std::nullopt);
    EXPECT_EQ(words("rollback_started", R"({"$hidden":true,"bytes":18})"), std::nullopt);
    EXPECT_EQ(words("step_failed", R"({"$truncated":true,"bytes":18})"), std::nullopt);
    EXPECT_EQ(words("paused", ""), std::nullopt);
    EXPECT_EQ(words("paused", "{"), std::nullopt) << "a payload that is not JSON";
}

TEST(EventText, history_shows_words_and_payloads_on_request) {
    CliWorld world;
    std::string id = world.run_db({"start", world.file("saga.yaml", kSaga)}).out;
    id.pop_back();
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    const std::string text = world.run_db({"history", id}).out;
    EXPECT_THAT(text, HasSubstr("after a failure, to the start"));
    EXPECT_THAT(text, Not(HasSubstr("\"kind\"")));
    const std::string raw = world.run_db({"history", id, "--payloads"}).out;
    EXPECT_THAT(raw, HasSubstr(R"({"kind":"failure"})"));
}

}  // namespace
}  // namespace ebb::cli::testing
