// The recipes of docs/how-to/cookbook.md, run.

#include <ebb/builder.h>

#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

TEST(Cookbook, an_approval) {
    StatelessWorld world({"book", "pay"});
    WorkflowBuilder builder("expense");
    builder.step("book").compensate("~book");
    builder.decision("approval").roles({"board"}).deadline(std::chrono::hours(72));
    builder.step("pay");
    const auto engine = world.engine(builder.build());

    const Snapshot waiting = engine.execute(engine.start("expense", R"({"amount":1200})"));
    EXPECT_EQ(waiting.status(), SnapshotStatus::Paused);
    EXPECT_EQ(waiting.current_node(), "approval");
    expect_error(ErrorCode::NotAllowed, "board", [&] { engine.decide(waiting, {.by = "bob"}); });

    const Snapshot paid =
        engine.execute(engine.decide(waiting, {.by = "eve", .role = "board", .comment = "fine"}));
    EXPECT_EQ(paid.status(), SnapshotStatus::Completed);
    EXPECT_EQ(Json::parse(paid.output()).at("decision").at("comment"), "fine");

    const Snapshot rejected = engine.execute(engine.decide(
        waiting, {.verdict = PersonalDecision::Verdict::Reject, .by = "eve", .role = "board"}
    ));
    EXPECT_EQ(rejected.status(), SnapshotStatus::Failed);
    EXPECT_EQ(world.calls.back(), "~book");

    world.clock.advance(std::chrono::hours(72));
    EXPECT_EQ(engine.execute(waiting).status(), SnapshotStatus::Failed) << "nobody answered";
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
    WorkflowBuilder builder("mailing");
    builder
        .loop_while(
            "each", "input.next < size(input.people)", [](BlockBuilder& body) { body.step("send"); }
        )
        .max_iterations(1'000);
    const auto engine = world.engine(builder.build(), {.keep = Keep::Last, .last = 1});
    const Snapshot done = engine.execute(
        engine.start("mailing", R"({"people":["ann","bob","eve"],"next":0})"), {.retry_now = true}
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
    WorkflowBuilder builder("profile");
    builder.parallel(
        "fetch",
        {
            {"user", [](BlockBuilder& branch) { branch.step("get_user"); }},
            {"orders", [](BlockBuilder& branch) { branch.step("get_orders"); }},
        }
    );
    builder.step("combine");
    const auto engine = world.engine(builder.build());
    Snapshot snapshot = engine.execute(engine.start("profile"));
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Error);
    world.clock.set(snapshot.next_due());
    snapshot = engine.execute(std::move(snapshot));
    EXPECT_EQ(snapshot.output(), R"({"user":"ann","orders":[17]})");
    EXPECT_EQ(world.calls_text(), "get_user get_orders get_orders combine");
}

}  // namespace
}  // namespace ebb::test
