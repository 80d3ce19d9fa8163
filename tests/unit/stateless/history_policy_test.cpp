// What a snapshot keeps of the past: by policy what people see, and in any case what the workflow
// itself still needs.

#include <fmt/format.h>

#include <ebb/builder.h>

#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

Definition loop_of(std::int64_t turns) {
    WorkflowBuilder builder("test", 1);
    builder
        .loop_while(
            "again", fmt::format("input < {}", turns), [](BlockBuilder& body) { body.step("a"); }
        )
        .max_iterations(turns);
    return builder.build();
}

struct Looping : StatelessWorld {
    Looping() {
        acts["a"] = [](const Payload& input, const StepContext&) {
            return std::to_string(std::stoll(input) + 1);
        };
    }

    Snapshot after(std::int64_t turns, stateless::HistoryPolicy policy) {
        return engine(loop_of(turns), policy).execute(start(turns, policy), {.step_limit = turns});
    }

    Snapshot start(std::int64_t turns, stateless::HistoryPolicy policy) {
        return engine(loop_of(turns), policy).start("test", Payload::text("0"));
    }
};

TEST(HistoryPolicy, all_keeps_every_result) {
    Looping world;
    const Snapshot snapshot = world.after(1'000, {});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    const auto results = snapshot.results("a");
    ASSERT_EQ(results.size(), 1'000U);
    EXPECT_EQ(results[0].output, "1");
    EXPECT_EQ(results[999].output, "1000");
}

TEST(HistoryPolicy, last_keeps_the_newest_of_each_node) {
    Looping world;
    const Snapshot snapshot = world.after(1'000, {.keep = Keep::Last, .last = 3});
    const auto results = snapshot.results("a");
    ASSERT_EQ(results.size(), 3U);
    EXPECT_EQ(results[0].output, "998");
    EXPECT_EQ(snapshot.output(), "1000");
}

TEST(HistoryPolicy, a_loops_snapshot_does_not_grow_where_the_policy_bounds_it) {
    Looping world;
    for (const stateless::HistoryPolicy policy :
         {stateless::HistoryPolicy{.keep = Keep::Last, .last = 1},
          stateless::HistoryPolicy{.keep = Keep::ErrorsOnly}}) {
        const std::size_t few = world.after(10, policy).to_json().size();
        const std::size_t many = world.after(10'000, policy).to_json().size();
        EXPECT_LT(many, few + 64);
    }
}

TEST(HistoryPolicy, errors_only_keeps_failed_attempts) {
    StatelessWorld world;
    world.fails("b", 2);
    const auto engine = world.engine(
        workflow({step("a"), step("b", {.max_attempts = 3}), step("c")}), {.keep = Keep::ErrorsOnly}
    );
    Snapshot snapshot = engine.start("test");
    snapshot = engine.execute(std::move(snapshot), {.retry_now = true});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    EXPECT_TRUE(snapshot.results("a").empty());
    ASSERT_EQ(snapshot.results("b").size(), 2U);
    EXPECT_EQ(snapshot.results("b")[1].error, "boom");
    EXPECT_EQ(snapshot.results("b")[1].attempt, 2);
}

TEST(HistoryPolicy, an_output_that_an_expression_reads_is_kept_as_long_as_it_may_be_read) {
    StatelessWorld world;
    world.acts["a"] = [](const Payload&, const StepContext&) { return R"({"id":7})"; };
    for (const char* name : {"b", "c"}) {
        world.acts[name] = [](const Payload&, const StepContext&) { return Payload("null"); };
    }
    const auto engine = world.engine(
        workflow(
            {step("a", {.is_compensated = false}),
             step("b"),
             step("c"),
             step("d", {.input = "\"${steps.a.output.id}\""})}
        ),
        {.keep = Keep::ErrorsOnly}
    );
    Snapshot snapshot = engine.start("test");
    while (!snapshot.is_finished()) {
        snapshot = engine.step(engine.parse(snapshot.to_json()));
    }
    EXPECT_EQ(snapshot.output(), "7");
    EXPECT_TRUE(snapshot.results("a").empty()) << "not needed any more";
}

TEST(HistoryPolicy, what_a_compensation_needs_is_kept_until_it_has_run) {
    StatelessWorld world;
    std::vector<Payload> undone;
    world.acts["a"] = [n = 0](const Payload&, const StepContext&) mutable {
        return std::to_string(++n);
    };
    world.acts["~a"] = [&](const Payload& input, const StepContext&) {
        undone.push_back(input);
        return Payload("null");
    };
    world.fails("b", 1);
    WorkflowBuilder builder("test", 1);
    builder.loop_while("again", "input < 3", [](BlockBuilder& body) {
        body.step("a").compensate("~a");
    });
    builder.step("b").max_attempts(1);
    const auto engine = world.engine(builder.build(), {.keep = Keep::Last, .last = 1});
    Snapshot snapshot = engine.start("test", Payload::text("0"));
    while (!snapshot.is_finished()) {
        snapshot = engine.step(engine.parse(snapshot.to_json()));
    }
    const std::vector<Payload> wanted = {
        R"({"input":2,"output":3,"error":null,"outcome":"completed"})",
        R"({"input":1,"output":2,"error":null,"outcome":"completed"})",
        R"({"input":0,"output":1,"error":null,"outcome":"completed"})",
    };
    EXPECT_EQ(undone, wanted);
    EXPECT_EQ(snapshot.results("a").size(), 1U);
}

TEST(HistoryPolicy, the_instances_input_is_kept_when_a_step_that_had_it_was_compensated) {
    StatelessWorld world;
    for (const char* name : {"b", "c"}) {
        world.acts[name] = [](const Payload&, const StepContext&) { return Payload("null"); };
    }
    const Block winner = {
        node("soon", Delay{.duration = "1s"}), step("b", {.is_compensated = false})
    };
    const Block loser = {step("a"), node("late", Delay{.duration = "1h"})};
    const auto engine = world.engine(workflow(
        {parallel("race", {{"winner", winner}, {"loser", loser}}, 1),
         step("c"),
         step("d", {.input = R"("${workflow.input.id}")"})}
    ));
    Snapshot snapshot = engine.execute(engine.start("test", Payload::text(R"({"id":7})")));
    world.clock.advance(1s);
    snapshot = engine.execute(std::move(snapshot));
    EXPECT_EQ(world.calls, (std::vector<std::string>{"a", "b", "~a", "c", "d"}));
    EXPECT_EQ(snapshot.output(), "7");
}

TEST(HistoryPolicy, a_policy_that_keeps_nothing_of_a_node_is_refused) {
    StatelessWorld world;
    for (const int last : {0, 1'000'001}) {
        expect_error(ErrorCode::InvalidArgument, "allowed is 1 to 1000000", [&] {
            world.engine(workflow({step("a")}), {.keep = Keep::Last, .last = last});
        });
    }
    EXPECT_NO_THROW(world.engine(workflow({step("a")}), {.keep = Keep::Last, .last = 1'000'000}));
}

TEST(HistoryPolicy, another_policy_applies_from_the_next_reading_on) {
    Looping world;
    const Snapshot all = world.after(50, {});
    const auto engine = world.engine(loop_of(50), {.keep = Keep::Last, .last = 2});
    EXPECT_EQ(engine.parse(all.to_json()).results("a").size(), 2U);
}

}  // namespace
}  // namespace ebb::test
