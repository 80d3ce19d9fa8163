// What people ask of an instance: from the process that runs it, and from one that runs nothing.

#include "engine_world.h"

namespace ebb::test {
namespace {

struct Steering : ::testing::Test {
    EngineWorld world;
    std::unique_ptr<Engine> worker;
    const HandlerRegistry none;
    std::unique_ptr<Engine> client;

    void SetUp() override {
        world.record({"a", "b"});
        worker = world.engine("worker");
        client = std::make_unique<Engine>(*world.store, none, world.options("client"));
        worker->register_workflow(
            workflow({step("a"), node("ask", HumanDecision{.roles = {"boss"}}), step("b")})
        );
    }

    InstanceId start_and_wait_for_a_decision() {
        const InstanceId id = worker->start("test").id;
        worker->poll();
        return id;
    }

    static ErrorCode code_of(const std::function<void()>& action) {
        try {
            action();
        } catch (const Error& error) {
            return error.code();
        }
        ADD_FAILURE() << "nothing was thrown";
        return ErrorCode::Internal;
    }
};

TEST_F(Steering, says_precisely_why_something_is_refused) {
    const InstanceId unknown{};
    EXPECT_EQ(code_of([&] { client->cancel(unknown); }), ErrorCode::InstanceNotFound);
    const InstanceId id = start_and_wait_for_a_decision();
    EXPECT_EQ(code_of([&] { client->decide(id, {.by = "ann"}); }), ErrorCode::NotAllowed);
    EXPECT_EQ(
        code_of([&] { client->decide(id, {.node = "other", .role = "boss"}); }),
        ErrorCode::NotWaiting
    );
    EXPECT_EQ(code_of([&] { client->signal(id, ""); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(
        code_of([&] { client->signal(id, "s", Payload::text("{")); }), ErrorCode::InvalidPayload
    );
    EXPECT_EQ(
        code_of([&] { client->signal(id, "s", Payload::text("1"), std::string(201, 'r')); }),
        ErrorCode::LimitExceeded
    );
    client->abort(id);
    EXPECT_EQ(code_of([&] { client->cancel(id); }), ErrorCode::InvalidState);
    EXPECT_EQ(code_of([&] { client->pause(id); }), ErrorCode::InvalidState);
    EXPECT_NO_THROW(client->abort(id)) << "repeating it changes nothing";
}

TEST_F(Steering, a_decision_lets_it_continue) {
    const InstanceId id = start_and_wait_for_a_decision();
    client->decide(id, {.by = "eve", .role = "boss", .comment = "fine"});
    client->decide(id, {.by = "eve", .role = "boss", .comment = "fine"});
    EXPECT_EQ(worker->poll(), 1);
    EXPECT_EQ(status(*client, id), "completed");
}

TEST_F(Steering, a_rejection_rolls_it_back) {
    const InstanceId id = start_and_wait_for_a_decision();
    client->decide(
        id,
        {.verdict = PersonalDecision::Verdict::Reject,
         .by = "eve",
         .role = "boss",
         .comment = "too dear"}
    );
    worker->poll();
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_EQ(status(*client, id), "failed");
    EXPECT_NE(client->why(id).find("too dear"), std::string::npos) << client->why(id);
}

TEST_F(Steering, a_cancel_ends_even_if_no_worker_is_alive) {
    worker->poll();
    const InstanceId id = client->start("test").id;  // no worker has it
    client->cancel(id, "ann");
    EXPECT_EQ(status(*client, id), "cancelled");
    EXPECT_EQ(
        history_text(*client, id),
        "started cancel_requested rollback_started step_skipped:a rollback_finished cancelled"
    );
    EXPECT_TRUE(world.memory->tasks(id).empty());
}

TEST_F(Steering, a_cancel_compensates_what_was_done) {
    const InstanceId id = start_and_wait_for_a_decision();
    client->cancel(id);
    EXPECT_EQ(status(*client, id), "compensating");
    EXPECT_EQ(worker->poll(), 1);
    EXPECT_EQ(world.calls_text(), "a ~a");
    EXPECT_EQ(status(*client, id), "cancelled");
}

TEST_F(Steering, a_paused_instance_does_nothing_until_it_is_resumed) {
    worker->poll();
    const InstanceId id = client->start("test").id;
    client->pause(id, "ann", "let me look");
    EXPECT_EQ(worker->poll(), 0);
    EXPECT_EQ(status(*client, id), "paused");
    const std::string by =
        "was paused at " + format_time(world.clock.now()) + " by ann (let me look)";
    EXPECT_NE(client->why(id).find(by + "; resume it"), std::string::npos) << client->why(id);
    EXPECT_NE(client->show(id).waiting_for.at(0).sentence.find(by), std::string::npos);
    client->pause(id);
    client->resume(id);
    client->resume(id);
    EXPECT_EQ(worker->poll(), 1);
    EXPECT_EQ(status(*client, id), "running");
}

TEST_F(Steering, a_pause_holds_back_what_this_process_holds_but_has_not_begun) {
    worker->poll();
    const InstanceId id = worker->start("test").id;
    ASSERT_EQ(world.memory->tasks(id).at(0).lease_owner, "worker");
    worker->pause(id);
    EXPECT_EQ(worker->poll(), 0);
    EXPECT_TRUE(world.memory->tasks(id).at(0).lease_owner.empty());
    worker->resume(id);
    EXPECT_EQ(worker->poll(), 1);
}

TEST_F(Steering, a_dead_letter_is_requeued_with_another_input) {
    world.handlers.add_raw("picky", [&](const Payload& input, const StepContext&) -> Payload {
        if (input == "1") throw PermanentError("not this one");
        return input;
    });
    Definition definition = workflow({step("picky", {.is_compensated = false})});
    definition.name = "letters";
    definition.on_error = Definition::OnError::DeadLetter;
    worker->register_workflow(definition);
    const InstanceId id = worker->start("letters", Payload::text("1")).id;
    worker->poll();
    EXPECT_EQ(status(*client, id), "dead_letter");
    EXPECT_NE(client->why(id).find("waits for an operator"), std::string::npos);
    EXPECT_EQ(code_of([&] { client->requeue(id, {.new_input = "{"}); }), ErrorCode::InvalidPayload);
    client->requeue(id, {.new_input = "2"});
    client->requeue(id);
    worker->poll();
    EXPECT_EQ(client->wait(id, 0s).output, "2");
}

TEST_F(Steering, lists_and_finds_instances) {
    const InstanceId first = start_and_wait_for_a_decision();
    const InstanceId second = client->start("test", Payload::text("1"), {.key = "k"}).id;
    EXPECT_EQ(client->list().size(), 2U);
    EXPECT_EQ(client->list({.key = "k"}).at(0).id, second);
    EXPECT_EQ(client->list({.before = second}).at(0).id, first);
    EXPECT_TRUE(client->list({.statuses = {InstanceStatus::Completed}}).empty());
    EXPECT_EQ(code_of([&] { client->list({.limit = 0}); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(code_of([&] { client->list({.limit = 1'001}); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(client->find(InstanceId{}), std::nullopt);
    EXPECT_EQ(code_of([&] { client->history(InstanceId{}); }), ErrorCode::InstanceNotFound);
    EXPECT_EQ(client->definition("test")->steps.size(), 3U);
}

TEST_F(Steering, acts_only_on_the_revision_that_was_expected) {
    const InstanceId id = start_and_wait_for_a_decision();
    const std::int64_t seen = client->find(id)->revision;
    EXPECT_EQ(
        code_of([&] { client->pause(id, {.by = "ann", .expected_revision = seen + 1}); }),
        ErrorCode::RevisionChanged
    );
    EXPECT_EQ(client->find(id)->revision, seen) << "nothing was changed";
    client->pause(id, {.by = "ann", .expected_revision = seen});
    EXPECT_EQ(client->find(id)->status, "paused");
    const PersonalDecision late{.role = "boss", .expected_revision = seen};
    EXPECT_EQ(code_of([&] { client->decide(id, late); }), ErrorCode::RevisionChanged);
    EXPECT_EQ(
        code_of([&] { client->cancel(id, {.expected_revision = seen}); }),
        ErrorCode::RevisionChanged
    );
    EXPECT_EQ(
        code_of([&] { client->requeue(id, {.expected_revision = seen}); }),
        ErrorCode::RevisionChanged
    );
    EXPECT_TRUE(client->resume(id, {.expected_revision = seen + 1}));
    client->decide(id, {.role = "boss", .expected_revision = client->find(id)->revision});
}

TEST_F(Steering, a_refused_revision_says_what_the_instance_is_now) {
    const InstanceId id = start_and_wait_for_a_decision();
    const std::int64_t seen = client->find(id)->revision;
    client->pause(id, "ann");
    try {
        client->abort(id, {.expected_revision = seen});
        FAIL() << "it was aborted";
    } catch (const Error& error) {
        EXPECT_EQ(
            std::string(error.what()),
            "The instance has revision " + std::to_string(seen + 1) + ", not " +
                std::to_string(seen) + " as expected, and is paused now. Nothing was changed."
        );
    }
}

}  // namespace
}  // namespace ebb::test
