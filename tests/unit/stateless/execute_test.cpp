// Driving an instance without a store: what one call does, when it stops, and that the version
// rises with every transition.

#include <stop_token>

#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

TEST(Stateless, runs_a_sequence_to_its_end) {
    StatelessWorld world;
    world.acts["b"] = [](const Payload&, const StepContext&) { return R"({"n":2})"; };
    const auto engine = world.engine(workflow({step("a"), step("b")}));
    const Snapshot snapshot = engine.execute(engine.start("test", Payload::text(R"({"n":1})")));
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    EXPECT_EQ(snapshot.output(), R"({"n":2})");
    EXPECT_EQ(snapshot.current_node(), "");
    EXPECT_EQ(snapshot.next_due(), kNever);
    EXPECT_EQ(world.calls_text(), "a b");
}

TEST(Stateless, start_calls_no_handler) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({step("a")}));
    const Snapshot snapshot = engine.start("test");
    EXPECT_EQ(world.calls_text(), "");
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Active);
    EXPECT_EQ(snapshot.current_node(), "a");
    EXPECT_EQ(snapshot.version(), 0);
    EXPECT_EQ(snapshot.next_due(), TimePoint{});
}

TEST(Stateless, a_step_is_one_call) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({step("a"), step("b")}));
    const Snapshot snapshot = engine.step(engine.start("test"));
    EXPECT_EQ(world.calls_text(), "a");
    EXPECT_EQ(snapshot.current_node(), "b");
    EXPECT_EQ(snapshot.version(), 1);
}

TEST(Stateless, the_step_limit_is_an_outcome_that_can_be_resumed) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({step("a"), step("b"), step("c")}));
    Snapshot snapshot = engine.execute(engine.start("test"), {.step_limit = 2});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Active);
    EXPECT_EQ(snapshot.current_node(), "c");
    snapshot = engine.execute(std::move(snapshot), {.step_limit = 1});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
}

TEST(Stateless, a_step_limit_below_one_is_refused) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({step("a")}));
    expect_error(ErrorCode::InvalidArgument, "step_limit is 0", [&] {
        engine.execute(engine.start("test"), {.step_limit = 0});
    });
}

TEST(Stateless, executing_what_has_ended_changes_nothing) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({step("a")}));
    const Snapshot done = engine.execute(engine.start("test"));
    EXPECT_EQ(engine.execute(done).to_json(), done.to_json());
    EXPECT_EQ(world.calls_text(), "a");
}

TEST(Stateless, a_failed_attempt_is_retried_when_its_time_has_come_and_not_before) {
    StatelessWorld world;
    world.fails("a", 1);
    const auto engine = world.engine(workflow({step("a", {.max_attempts = 2})}));
    Snapshot snapshot = engine.execute(engine.start("test"));
    ASSERT_EQ(snapshot.status(), SnapshotStatus::Error);
    const auto retry = snapshot.retry_state();
    ASSERT_TRUE(retry.has_value());
    EXPECT_EQ(retry->node, "a");
    EXPECT_EQ(retry->attempts, 1);
    EXPECT_EQ(retry->next_retry_at, world.clock.now() + 1s);
    EXPECT_EQ(snapshot.next_due(), retry->next_retry_at);
    EXPECT_EQ(snapshot.version(), 1) << "a failed attempt is a transition as well";

    snapshot = engine.execute(std::move(snapshot));
    EXPECT_EQ(snapshot.version(), 1) << "too early";
    EXPECT_EQ(world.calls.size(), 1U);

    world.clock.advance(1s);
    snapshot = engine.execute(std::move(snapshot));
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    EXPECT_FALSE(snapshot.retry_state().has_value());
}

TEST(Stateless, a_retry_can_be_made_at_once) {
    StatelessWorld world;
    world.fails("a", 1);
    const auto engine = world.engine(workflow({step("a", {.max_attempts = 2})}));
    const Snapshot snapshot = engine.execute(engine.start("test"));
    const Snapshot retried = engine.execute(snapshot, {.retry_now = true});
    EXPECT_EQ(retried.status(), SnapshotStatus::Completed);
}

TEST(Stateless, the_time_can_be_given) {
    StatelessWorld world;
    const auto engine =
        world.engine(workflow({node("wait", Delay{.duration = "2h", .until = {}}), step("a")}));
    const TimePoint start{std::chrono::seconds(1'000)};
    const Snapshot waiting =
        engine.execute(engine.start("test", Payload::text("1"), {.now = start}), {.now = start});
    EXPECT_EQ(waiting.status(), SnapshotStatus::Paused);
    EXPECT_EQ(waiting.next_due(), start + 2h);
    EXPECT_EQ(engine.execute(waiting, {.now = start + 1h}).status(), SnapshotStatus::Paused);
    EXPECT_EQ(engine.execute(waiting, {.now = start + 2h}).status(), SnapshotStatus::Completed);
}

TEST(Stateless, a_payload_goes_to_the_signal_that_is_awaited) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({node("paid", Signal{}), step("a")}));
    const Snapshot waiting = engine.execute(engine.start("test"));
    ASSERT_EQ(waiting.status(), SnapshotStatus::Paused);
    ASSERT_EQ(waiting.waiting_for().size(), 1U);
    EXPECT_EQ(waiting.waiting_for()[0].kind, "signal");
    const Snapshot done = engine.execute(waiting, {.payload = "0"});
    EXPECT_EQ(done.output(), "0") << "a falsy payload is a payload";
    EXPECT_EQ(done.version(), waiting.version() + 2) << "the signal, and the step";
}

TEST(Stateless, a_payload_that_nothing_waits_for_is_refused_and_changes_nothing) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({node("ok", HumanDecision{}), step("a")}));
    const Snapshot start = engine.start("test");
    expect_error(ErrorCode::NotWaiting, "decision \"ok\"", [&] {
        engine.execute(start, {.payload = "1"});
    });
    const Snapshot done = engine.execute(engine.decide(start, {.by = "ann"}));
    expect_error(ErrorCode::NotWaiting, "waits for no signal", [&] {
        engine.execute(done, {.payload = "1"});
    });
}

TEST(Stateless, branches_take_turns_and_roll_back_together) {
    StatelessWorld world;
    world.fails("d", 1);
    const auto engine = world.engine(
        workflow({parallel("p", {{"x", {step("a"), step("b")}}, {"y", {step("c")}}}), step("d")})
    );
    const Snapshot snapshot = engine.execute(engine.start("test"));
    EXPECT_EQ(world.calls_text(), "a c b d ~d ~b ~c ~a");
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Failed);
    EXPECT_EQ(snapshot.instance_status(), "failed");
    EXPECT_EQ(snapshot.current_node(), "d");
    EXPECT_EQ(Json::parse(snapshot.error()).at("message"), "boom");
}

TEST(Stateless, every_transition_of_every_kind_raises_the_version_by_one) {
    StatelessWorld world;
    world.fails("a", 1);
    const auto engine = world.engine(workflow(
        {step("a", {.max_attempts = 2}),
         node("ok", HumanDecision{}),
         node("go", Signal{}),
         step("b")}
    ));
    Snapshot snapshot = engine.start("test");
    std::int64_t version = 0;
    const auto expect_next = [&](Snapshot next, const char* what) {
        EXPECT_EQ(next.version(), ++version) << what;
        snapshot = std::move(next);
    };
    expect_next(engine.step(snapshot), "a failed attempt");
    expect_next(engine.step(snapshot, {.retry_now = true}), "a completed step");
    expect_next(engine.pause(snapshot, "ann"), "a pause");
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Paused);
    expect_next(engine.resume(snapshot), "a resume");
    expect_next(engine.decide(snapshot, {.by = "ann"}), "a decision");
    expect_next(engine.signal(snapshot, "go", Payload::text("1")), "a signal");
    Snapshot edited = snapshot;
    edited.set_metadata(R"({"seen":true})");
    expect_next(edited, "metadata");
    expect_next(engine.cancel(snapshot, "ann"), "a cancel");
    EXPECT_EQ(snapshot.instance_status(), "compensating");
    expect_next(engine.step(snapshot), "a step that is not begun any more");
    expect_next(engine.step(snapshot), "a compensation");
    EXPECT_EQ(snapshot.instance_status(), "cancelled");
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Failed);
}

TEST(Stateless, a_repeated_request_changes_nothing) {
    StatelessWorld world;
    const auto engine = world.engine(workflow({node("go", Signal{}), node("wait", Signal{})}));
    const Snapshot once = engine.signal(engine.start("test"), "go", Payload::text("1"), "r1");
    EXPECT_EQ(engine.signal(once, "go", Payload::text("1"), "r1").to_json(), once.to_json());
}

TEST(Stateless, dead_letters_are_requeued) {
    StatelessWorld world;
    world.fails("a", 1);
    Definition definition = workflow({step("a")});
    definition.on_error = Definition::OnError::DeadLetter;
    const auto engine = world.engine(definition);
    const Snapshot dead = engine.execute(engine.start("test", Payload::text("1")));
    EXPECT_EQ(dead.status(), SnapshotStatus::Paused);
    EXPECT_EQ(dead.instance_status(), "dead_letter");
    EXPECT_EQ(dead.waiting_for().at(0).kind, "operator");
    const Snapshot again = engine.execute(engine.requeue(dead, {.new_input = "2"}));
    EXPECT_EQ(again.output(), "2");
}

TEST(Stateless, what_fails_because_it_was_stopped_is_as_if_never_called) {
    StatelessWorld world;
    std::stop_source stop;
    world.acts["a"] = [&](const Payload&, const StepContext& context) -> Payload {
        stop.request_stop();
        EXPECT_TRUE(context.stop.stop_requested());
        throw std::runtime_error("stopped");
    };
    const auto engine = world.engine(workflow({step("a")}));
    const Snapshot start = engine.start("test");
    EXPECT_EQ(engine.execute(start, {.stop = stop.get_token()}).to_json(), start.to_json());
}

TEST(Stateless, a_handler_sees_the_circumstances_of_its_call) {
    StatelessWorld world;
    StepContext seen;
    Payload undone;
    world.acts["a"] = [&](const Payload& input, const StepContext& context) {
        seen = context;
        return input;
    };
    world.fails("b", 1);
    world.acts["~a"] = [&](const Payload& input, const StepContext& context) {
        undone = input;
        EXPECT_EQ(context.compensates->idempotency_key, seen.idempotency_key);
        EXPECT_NE(context.idempotency_key, seen.idempotency_key);
        return Payload("null");
    };
    Definition definition = workflow({step("a"), step("b")});
    std::get<Step>(definition.steps[0].kind).attempts.timeout = 5s;
    const auto engine = world.engine(definition);
    engine.execute(
        engine.start("test", Payload::text("7"), {.workflow_id = "order-17", .key = "17"})
    );
    EXPECT_EQ(seen.workflow, "test");
    EXPECT_EQ(seen.step, "a");
    EXPECT_EQ(seen.attempt, 1);
    EXPECT_EQ(seen.deadline, world.clock.now() + 5s);
    EXPECT_EQ(undone, R"({"input":7,"output":7,"error":null,"outcome":"completed"})");
}

TEST(Stateless, a_workflow_needs_its_handlers) {
    StatelessWorld world({"a"});
    expect_error(ErrorCode::HandlerNotFound, "\"b\"", [&] {
        world.engine(workflow({step("a"), step("b")}));
    });
}

TEST(Stateless, a_function_that_runs_some_handlers_stops_before_the_others) {
    StatelessWorld world({"a"});
    auto options = world.options();
    options.require_handlers = false;
    stateless::Engine engine(world.handlers, options);
    engine.add(workflow({step("a"), step("b")}));
    const Snapshot snapshot = engine.execute(engine.start("test"));
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Active);
    EXPECT_EQ(snapshot.current_node(), "b");
    EXPECT_EQ(world.calls_text(), "a");
}

TEST(Stateless, a_definition_that_changed_without_a_new_version_is_refused) {
    StatelessWorld world;
    auto engine = world.engine(workflow({step("a")}));
    engine.add(workflow({step("a")}));
    expect_error(ErrorCode::WorkflowConflict, "version 1", [&] {
        engine.add(workflow({step("b")}));
    });
}

TEST(Stateless, the_newest_version_is_started_unless_one_is_named) {
    StatelessWorld world;
    auto engine = world.engine(workflow({step("a")}));
    Definition second = workflow({step("b")});
    second.version = 2;
    engine.add(second);
    EXPECT_EQ(engine.start("test").workflow_version(), 2);
    EXPECT_EQ(engine.start("test", {}, {.version = 1}).workflow_version(), 1);
    expect_error(ErrorCode::WorkflowNotFound, "version 3", [&] {
        engine.start("test", {}, {.version = 3});
    });
}

TEST(Stateless, the_time_in_handlers_is_summed_up_and_the_last_call_counts) {
    StatelessWorld world;
    for (const char* name : {"a", "b"}) {
        world.acts[name] = [&](const Payload& input, const StepContext&) {
            world.clock.advance(100ms);
            return input;
        };
    }
    const auto engine = world.engine(workflow({step("a"), step("b")}));
    Snapshot snapshot = engine.step(engine.start("test"));
    world.clock.advance(1h);
    const TimePoint second = world.clock.now();
    snapshot = engine.step(std::move(snapshot));
    EXPECT_EQ(snapshot.total_execution_time(), 200ms) << "and not the hour between";
    EXPECT_EQ(snapshot.last_started_at(), second);
}

}  // namespace
}  // namespace ebb::test
