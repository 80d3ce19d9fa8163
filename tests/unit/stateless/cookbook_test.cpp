// The recipes of docs/how-to/cookbook.md, and the first example of docs/reference/snapshot.md, run.

#include <stop_token>

#include <ebb/builder.h>

#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

TEST(Cookbook, an_approval) {
    StatelessWorld world({"book", "pay"});
    //! [approval]
    ebb::WorkflowBuilder builder("expense");
    builder.step("book").compensate("~book");
    builder.decision("approval").roles({"board"}).deadline(std::chrono::hours(72));
    builder.step("pay");
    //! [approval]
    const auto engine = world.engine(builder.build());

    //! [wait]
    auto snapshot = engine.execute(engine.start("expense", Payload::text(R"({"amount": 1200})")));
    // Its status is "paused", its currentNodeId "approval". Save it.
    //! [wait]
    const Snapshot waiting = snapshot;
    EXPECT_EQ(waiting.status(), SnapshotStatus::Paused);
    EXPECT_EQ(waiting.current_node(), "approval");
    expect_error(ErrorCode::NotAllowed, "board", [&] { engine.decide(waiting, {.by = "bob"}); });

    //! [decide]
    snapshot = engine.decide(snapshot, {.by = "eve", .role = "board", .comment = "fine"});
    snapshot = engine.execute(snapshot);
    //! [decide]
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    EXPECT_EQ(Json::parse(snapshot.output()).at("decision").at("comment"), "fine");

    const Snapshot rejected = engine.execute(engine.decide(
        waiting, {.verdict = PersonalDecision::Verdict::Reject, .by = "eve", .role = "board"}
    ));
    EXPECT_EQ(rejected.status(), SnapshotStatus::Failed);
    EXPECT_EQ(world.calls.back(), "~book");

    world.clock.advance(std::chrono::hours(72));
    EXPECT_EQ(engine.execute(waiting).status(), SnapshotStatus::Failed) << "no one answered";
}

TEST(Cookbook, a_loop_over_items_repeats_the_failed_one_and_skips_none) {
    StatelessWorld world({"send"});
    std::vector<std::string> sent;
    world.acts["send"] = [&, calls = 0](const Payload& input, const StepContext&) mutable {
        Json data = Json::parse(input);
        if (++calls == 2) throw std::runtime_error("the post office is closed");
        const auto next = data.at("next").get<std::size_t>();
        sent.push_back(data.at("people").at(next).get<std::string>());
        data["next"] = next + 1;
        return data.dump();
    };
    //! [loop]
    ebb::WorkflowBuilder builder("mailing");
    const auto body = [](ebb::BlockBuilder& block) { block.step("send"); };
    builder.loop_while("each", "input.next < size(input.people)", body).max_iterations(1'000);
    //! [loop]
    const auto engine = world.engine(builder.build(), {.keep = Keep::Last, .last = 1});
    const Snapshot done = engine.execute(
        engine.start("mailing", Payload::text(R"({"people":["ann","bob","eve"],"next":0})")),
        {.retry_now = true}
    );
    EXPECT_EQ(done.status(), SnapshotStatus::Completed);
    EXPECT_EQ(sent, (std::vector<std::string>{"ann", "bob", "eve"}));
}

TEST(Cookbook, several_services_at_once) {
    StatelessWorld world({"get_user", "get_orders", "combine"});
    world.acts["get_user"] = [](const Payload&, const StepContext&) { return R"("ann")"; };
    world.acts["get_orders"] = [failed = false](const Payload&, const StepContext&) mutable {
        if (!std::exchange(failed, true)) throw std::runtime_error("busy");
        return Payload("[17]");
    };
    //! [parallel]
    ebb::WorkflowBuilder builder("profile");
    builder.parallel(
        "fetch",
        {
            {"user", [](ebb::BlockBuilder& branch) { branch.step("get_user"); }},
            {"orders", [](ebb::BlockBuilder& branch) { branch.step("get_orders"); }},
        }
    );
    builder.step("combine");
    //! [parallel]
    const auto engine = world.engine(builder.build());
    Snapshot snapshot = engine.execute(engine.start("profile"));
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Error);
    world.clock.set(snapshot.next_due());
    snapshot = engine.execute(std::move(snapshot));
    EXPECT_EQ(snapshot.output(), R"({"user":"ann","orders":[17]})");
    EXPECT_EQ(world.calls_text(), "get_user get_orders get_orders combine");
}

TEST(Cookbook, several_steps_per_call_and_a_time_limit) {
    StatelessWorld world;
    std::stop_source near_the_end;
    world.acts["b"] = [&](const Payload& input, const StepContext&) {
        near_the_end.request_stop();
        return input;
    };
    const auto engine = world.engine(workflow({step("a"), step("b"), step("c")}));
    Snapshot snapshot = engine.start("test");
    int calls = 0;
    const auto call_me_again = [&] { ++calls; };
    //! [limits]
    snapshot =
        engine.execute(std::move(snapshot), {.step_limit = 50, .stop = near_the_end.get_token()});
    if (snapshot.status() == ebb::stateless::SnapshotStatus::Active) call_me_again();
    //! [limits]
    EXPECT_EQ(world.calls_text(), "a b");
    EXPECT_EQ(calls, 1);
}

TEST(Cookbook, a_snapshot_goes_from_process_to_process) {
    StatelessWorld world({"reserve", "ship"});
    const HandlerRegistry& handlers = world.handlers;
    Definition definition = workflow({step("reserve"), node("paid", Signal{}), step("ship")});
    definition.name = "order";
    std::string kept;
    const auto save = [&](std::string text) { kept = std::move(text); };
    const auto load = [&] { return kept; };
    //! [snapshot]
    ebb::stateless::Engine engine(handlers);  // the same handlers as for ebb::Engine
    engine.add(definition);

    auto snapshot =
        engine.start("order", Payload::text(R"({"cents": 4200})"), {.workflow_id = "order-17"});
    snapshot =
        engine.execute(std::move(snapshot));  // until it waits, ends, or 1,000 steps are done
    save(snapshot.to_json());                 // anywhere

    // Later, in another process:
    snapshot = engine.execute(engine.parse(load()), {.payload = R"({"approved": true})"});
    //! [snapshot]
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    EXPECT_EQ(snapshot.output(), R"({"approved": true})");
}

}  // namespace
}  // namespace ebb::test
