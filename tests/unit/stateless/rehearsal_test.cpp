// Rehearsals: a workflow is played with scripted outcomes. Checked: which steps run and are undone
// in which order, what stays, who answers what, that time passes only in the rehearsal, and that
// every limit holds.

#include <ebb/error.h>
#include <ebb/rehearsal.h>

#include "support/flow.h"
#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

using Kind = RehearsedOutcome::Kind;

/// The nodes that did something, in order: `a`, `a!` for a failed attempt, `~a` for its undoing.
std::string told(const Rehearsal& rehearsal) {
    std::string text;
    for (const HistoryEntry& event : rehearsal.events) {
        std::string word;
        if (event.type == "step_completed") word = event.node;
        if (event.type == "step_retried" || event.type == "step_failed") word = event.node + "!";
        if (event.type == "step_compensated") word = "~" + event.node;
        if (event.type == "compensation_failed") word = "~" + event.node + "!";
        if (event.type == "decision_completed" || event.type == "signal_completed") {
            word = event.node + "?";
        }
        if (!word.empty()) text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

RehearsalOptions with(const std::string& node, RehearsedOutcome outcome) {
    RehearsalOptions options;
    options.outcomes[node] = std::move(outcome);
    return options;
}

TEST(Rehearsal, without_outcomes_everything_completes) {
    const Rehearsal played = rehearse(workflow({step("a"), step("b")}), {.input = R"({"n":1})"});
    EXPECT_EQ(played.status, InstanceStatus::Completed);
    EXPECT_EQ(played.output, R"({"n":1})");
    EXPECT_EQ(told(played), "a b");
    EXPECT_EQ(played.left, std::vector<std::string>{});
    EXPECT_EQ(played.took, 2s);
    EXPECT_FALSE(played.is_cut);
}

TEST(Rehearsal, a_failure_shows_what_is_undone_and_what_stays) {
    const Definition definition =
        workflow({step("a"), step("mail", {.is_compensated = false}), step("b"), step("c")});
    const Rehearsal played = rehearse(
        definition, with("c", {.kind = Kind::FailForGood, .code = "declined", .message = "No."})
    );
    EXPECT_EQ(played.status, InstanceStatus::Failed);
    EXPECT_EQ(told(played), "a mail b c! ~c ~b ~a");
    EXPECT_EQ(played.left, std::vector<std::string>{"mail"});
    EXPECT_NE(played.error.find("declined"), std::string::npos) << played.error;
}

TEST(Rehearsal, an_outcome_that_is_used_up_completes) {
    const Definition definition = workflow({step("a", {.max_attempts = 3})});
    const Rehearsal played = rehearse(definition, with("a", {.kind = Kind::Fail, .times = 2}));
    EXPECT_EQ(played.status, InstanceStatus::Completed);
    EXPECT_EQ(told(played), "a! a! a");
    // Three calls, and the pauses between them.
    EXPECT_GT(played.took, 3s);
}

TEST(Rehearsal, a_compensation_that_fails_is_a_dead_letter) {
    RehearsalOptions options = with("b", {.kind = Kind::FailForGood});
    options.compensations["a"] = {.kind = Kind::FailForGood};
    const Rehearsal played = rehearse(workflow({step("a"), step("b")}), options);
    EXPECT_EQ(played.status, InstanceStatus::DeadLetter);
    EXPECT_EQ(told(played), "a b! ~b ~a!");
    EXPECT_EQ(played.left, std::vector<std::string>{"a"});
}

TEST(Rehearsal, people_confirm_until_the_quorum_is_there) {
    const Definition definition =
        workflow({node("approve", HumanDecision{.quorum = 2, .roles = {"boss", "cfo"}}), step("a")}
        );
    const Rehearsal played = rehearse(definition);
    EXPECT_EQ(played.status, InstanceStatus::Completed);
    EXPECT_EQ(told(played), "approve? a");
    EXPECT_EQ(played.took, 2min + 1s);
}

TEST(Rehearsal, a_rejection_undoes_what_was_done) {
    const Definition definition = workflow({step("a"), node("approve", HumanDecision{})});
    const Rehearsal played = rehearse(definition, with("approve", {.kind = Kind::FailForGood}));
    EXPECT_EQ(played.status, InstanceStatus::Failed);
    EXPECT_EQ(told(played), "a approve! ~a");
}

TEST(Rehearsal, a_deadline_passes_if_no_person_answers) {
    const Definition definition =
        workflow({step("a"), node("approve", HumanDecision{.deadline = 1h})});
    const Rehearsal played = rehearse(definition, with("approve", {.kind = Kind::Never}));
    EXPECT_EQ(played.status, InstanceStatus::Failed);
    EXPECT_EQ(told(played), "a approve! ~a");
    EXPECT_EQ(played.took, 1h + 2s);
}

TEST(Rehearsal, says_what_it_waits_for_if_nothing_answers) {
    const Definition definition = workflow({step("a"), node("paid", Signal{})});
    const Rehearsal played = rehearse(definition, with("paid", {.kind = Kind::Never}));
    EXPECT_EQ(played.status, InstanceStatus::Running);
    ASSERT_EQ(played.waiting_for.size(), 1U);
    EXPECT_EQ(played.waiting_for.front().node, "paid");
    EXPECT_EQ(played.left, std::vector<std::string>{"a"});
}

TEST(Rehearsal, a_signal_brings_its_payload) {
    const Definition definition = workflow({node("paid", Signal{.signal = "payment"})});
    const Rehearsal played = rehearse(definition, with("paid", {.output = R"({"by":"card"})"}));
    EXPECT_EQ(played.output, R"({"by":"card"})");
}

TEST(Rehearsal, a_cancel_comes_after_its_node) {
    RehearsalOptions options;
    options.cancel_after = "b";
    const Rehearsal played = rehearse(workflow({step("a"), step("b"), step("c")}), options);
    EXPECT_EQ(played.status, InstanceStatus::Cancelled);
    EXPECT_EQ(told(played), "a b ~b ~a");
}

TEST(Rehearsal, a_step_without_an_answer_runs_into_its_timeout) {
    Node slow = step("a");
    std::get<Step>(slow.kind).attempts.timeout = 30s;
    const Rehearsal played = rehearse(workflow({slow}), with("a", {.kind = Kind::Never}));
    EXPECT_EQ(played.status, InstanceStatus::Failed);
    EXPECT_NE(played.error.find("timeout"), std::string::npos) << played.error;
}

TEST(Rehearsal, a_workflow_that_does_not_end_is_cut) {
    const Definition definition = workflow({node(
        "again",
        Loop{.while_expression = "input.n > 0", .steps = {step("a")}, .max_iterations = 1'000'000}
    )});
    const Rehearsal played = rehearse(definition, {.input = R"({"n":1})"});
    EXPECT_TRUE(played.is_cut);
    EXPECT_EQ(played.status, InstanceStatus::Running);
}

TEST(Rehearsal, the_same_arguments_give_the_same_events) {
    const Definition definition = workflow({step("a", {.max_attempts = 2}), step("b")});
    const RehearsalOptions options = with("a", {.kind = Kind::Fail, .times = 1});
    const Rehearsal one = rehearse(definition, options);
    const Rehearsal other = rehearse(definition, options);
    ASSERT_EQ(one.events.size(), other.events.size());
    for (std::size_t i = 0; i < one.events.size(); ++i) {
        EXPECT_EQ(one.events[i].type, other.events[i].type);
        EXPECT_EQ(one.events[i].payload, other.events[i].payload);
        EXPECT_EQ(one.events[i].at, other.events[i].at);
    }
}

TEST(Rehearsal, refuses_outcomes_that_do_not_fit) {
    const Definition definition =
        workflow({step("a", {.is_compensated = false}), node("approve", HumanDecision{})});
    const auto message = [&](const RehearsalOptions& options) -> std::string {
        try {
            rehearse(definition, options);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(
        message(with("b", {})), "The workflow \"test\" has no node \"b\", which outcomes names."
    );
    EXPECT_EQ(
        message(with("approve", {.kind = Kind::Fail})),
        "\"fail\" is not an outcome of the decision \"approve\". Allowed: complete, fail_for_good "
        "(a "
        "person rejects it) or never."
    );
    RehearsalOptions undo;
    undo.compensations["a"] = {};
    EXPECT_EQ(message(undo), "The node \"a\" has no compensation.");
    RehearsalOptions cancel;
    cancel.cancel_after = "z";
    EXPECT_EQ(
        message(cancel), "The workflow \"test\" has no node \"z\", which cancel_after names."
    );
    EXPECT_THROW(
        rehearse(
            definition, {.input = Payload(std::string(Rehearsal::kPayloadBytesMax, ' ') + "1")}
        ),
        Error
    );
}

TEST(Rehearsal, every_kind_has_a_name) {
    for (const Kind kind : {Kind::Complete, Kind::Fail, Kind::FailForGood, Kind::Never}) {
        EXPECT_EQ(parse_rehearsed_kind(to_string(kind)), kind);
    }
    EXPECT_EQ(parse_rehearsed_kind("explode"), std::nullopt);
}

}  // namespace
}  // namespace ebb::test
