// What people see: the visits of an instance's steps, and plain sentences about what it waits for.

#include "engine_world.h"
#include "support/store_counting.h"

namespace ebb::test {
namespace {

struct View : ::testing::Test {
    EngineWorld world;
    std::unique_ptr<Engine> engine;

    void SetUp() override { world.record({"a", "b", "c"}); }

    InstanceId start(Block steps) {
        engine = world.engine();
        engine->register_workflow(workflow(std::move(steps)));
        engine->poll();
        const InstanceId id = engine->start("test", Payload::text("1")).id;
        return id;
    }

    /// `node=status` of every visit.
    std::string steps_text(const InstanceId& id) {
        std::string text;
        for (const StepView& step : engine->show(id).steps) {
            if (!text.empty()) text += ' ';
            text += step.node + "=" + std::string(to_string(step.status));
        }
        return text;
    }

    void expect_why(const InstanceId& id, const std::string& part) {
        EXPECT_NE(engine->why(id).find(part), std::string::npos) << engine->why(id);
    }
};

TEST_F(View, shows_a_step_from_running_to_completed) {
    const InstanceId id = start({step("a")});
    EXPECT_EQ(steps_text(id), "a=running") << "its lease is held here";
    expect_why(id, "runs the handler \"a\" in worker w1 (attempt 1)");
    engine->poll();
    const InstanceView view = engine->show(id);
    ASSERT_EQ(view.steps.size(), 1U);
    const StepView& step = view.steps[0];
    EXPECT_EQ(step.status, StepStatus::Completed);
    EXPECT_EQ(step.kind, "step");
    EXPECT_EQ(step.attempts, 1);
    EXPECT_EQ(step.input, "1");
    EXPECT_EQ(step.output, "1");
    EXPECT_EQ(step.worker, "w1");
    EXPECT_EQ(step.finished_at, world.clock.now());
    EXPECT_EQ(view.output, "1");
    EXPECT_EQ(view.summary.status, "completed");
    EXPECT_TRUE(view.waiting_for.empty());
    expect_why(id, "The instance completed at ");
}

TEST_F(View, reads_the_workers_only_because_of_tasks) {
    testing::CountingStore counting(*world.memory);
    world.store = &counting;
    const InstanceId id = start({step("a")});
    counting.reset();
    engine->show(id);
    EXPECT_EQ(counting.calls(testing::StoreVerb::Workers), 1);
    engine->poll();
    counting.reset();
    EXPECT_EQ(engine->show(id).summary.status, "completed");
    EXPECT_EQ(counting.calls(testing::StoreVerb::Workers), 0);
    engine.reset();
}

TEST_F(View, reports_that_the_worker_of_a_step_is_dead_and_whether_another_takes_it_over) {
    const InstanceId id = start({step("a")});
    const TimePoint died = world.clock.now() + 10s;
    world.clock.set(died);
    EXPECT_EQ(steps_text(id), "a=pending");
    expect_why(
        id,
        "Step \"a\" was running the handler \"a\" in worker w1 (attempt 1), which is dead since " +
            format_time(died) +
            "; no living worker takes it over: none has the handler \"a\" for the queue "
            "\"default\"."
    );
    EXPECT_EQ(engine->show(id).waiting_for.at(0).kind, "worker");
    EXPECT_EQ(engine->show(id).steps.at(0).worker, "w1");
    world.store->heartbeat({.id = "w2", .handlers = {"a"}}, 10s);
    expect_why(id, "is dead since " + format_time(died) + "; a living worker takes it over.");
    EXPECT_EQ(engine->show(id).waiting_for.at(0).kind, "handler");
}

TEST_F(View, names_the_handler_that_no_worker_has) {
    const InstanceId id = start({step("missing", {.is_compensated = false})});
    engine->poll();
    EXPECT_EQ(steps_text(id), "missing=pending");
    expect_why(id, "no living worker has the handler \"missing\" for the queue \"default\"");
    ASSERT_EQ(engine->show(id).waiting_for.size(), 1U);
    EXPECT_EQ(engine->show(id).waiting_for[0].kind, "worker");
}

TEST_F(View, says_that_no_process_of_ebb_lives_which_decides_what_is_due) {
    const std::string due = "no living process of Ebb can process it: start `ebb worker`.";
    const InstanceId id = start({node("nap", Delay{.duration = "5s", .until = {}})});
    engine->poll();
    EXPECT_EQ(engine->why(id).find(due), std::string::npos) << "it is not due";
    world.clock.advance(1h);
    WorkerRow in_sql{.id = "sql", .handlers = {"a"}, .is_keeper = false};
    world.store->heartbeat(in_sql, 10s);
    expect_why(id, due);
    EXPECT_EQ(engine->show(id).waiting_for.back().kind, "worker");
    world.store->heartbeat({.id = "w2"}, 10s);
    EXPECT_EQ(engine->why(id).find(due), std::string::npos) << engine->why(id);
}

TEST_F(View, reports_when_and_why_a_step_is_retried) {
    world.handlers.add_raw("shaky", [](const Payload&, const StepContext&) -> Payload {
        throw std::runtime_error("no route");
    });
    const InstanceId id = start({step("shaky", {.is_compensated = false, .max_attempts = 3})});
    engine->poll();
    EXPECT_EQ(steps_text(id), "shaky=retrying");
    expect_why(id, "is retried (attempt 2) at " + format_time(world.clock.now() + 1s));
    expect_why(id, "error: no route");
    world.run(*engine);
    EXPECT_EQ(steps_text(id), "shaky=failed");
    expect_why(id, "step \"shaky\" failed for good after 3 attempts with error: no route");
}

TEST_F(View, ends_with_one_full_stop_even_if_the_message_of_a_failure_has_its_own) {
    world.handlers.add_raw("shaky", [](const Payload&, const StepContext&) -> Payload {
        throw std::runtime_error("The stock is empty.");
    });
    const InstanceId id = start({step("shaky", {.is_compensated = false, .max_attempts = 2})});
    engine->poll();
    EXPECT_TRUE(engine->why(id).ends_with("error: The stock is empty.")) << engine->why(id);
    EXPECT_TRUE(engine->show(id).waiting_for.at(0).sentence.ends_with("The stock is empty."));
    world.run(*engine);
    EXPECT_TRUE(engine->why(id).ends_with("error: The stock is empty.")) << engine->why(id);
}

TEST_F(View, reports_the_roles_that_may_decide_and_the_deadline) {
    const InstanceId id =
        start({node("ask", HumanDecision{.quorum = 2, .roles = {"boss", "chief"}, .deadline = 1h})}
        );
    engine->poll();
    EXPECT_EQ(steps_text(id), "ask=waiting");
    expect_why(id, "waits for the role boss or chief to confirm or reject (0 of 2 have confirmed)");
    expect_why(id, "until " + format_time(world.clock.now() + 1h));
}

TEST_F(View, shows_branches_by_the_names_of_their_blocks) {
    const InstanceId id = start({parallel(
        "both", {{"left", {step("a")}}, {"right", {node("wait", Signal{.signal = "go"})}}}
    )});
    engine->poll();
    EXPECT_EQ(steps_text(id), "both=running wait=waiting a=completed");
    const auto steps = engine->show(id).steps;
    EXPECT_EQ(steps[2].path, "both:left");
    EXPECT_EQ(steps[1].path, "both:right");
    expect_why(id, "waits for the signal \"go\"");
    engine->signal(id, "go");
    engine->poll();
    EXPECT_EQ(steps_text(id), "both=completed wait=completed a=completed");
}

TEST_F(View, shows_what_was_compensated_and_what_could_not_be) {
    world.handlers.add_raw("bad", [](const Payload&, const StepContext&) -> Payload {
        throw PermanentError("no");
    });
    world.handlers.add_raw("~bad", [](const Payload&, const StepContext&) -> Payload {
        throw PermanentError("cannot undo");
    });
    const InstanceId id = start({step("a"), step("bad")});
    engine->poll();
    EXPECT_EQ(status(*engine, id), "dead_letter");
    EXPECT_EQ(steps_text(id), "a=completed bad=compensation_failed");
    expect_why(id, "the compensation of step \"bad\" failed for good after 1 attempt");
    expect_why(id, "requeue it and skip the compensation");
    engine->requeue(id, {.skip_compensation = true});
    engine->poll();
    EXPECT_EQ(status(*engine, id), "failed");
    EXPECT_EQ(steps_text(id), "a=compensated bad=compensation_failed")
        << "no compensation succeeded";
    const std::vector<StepView> steps = engine->show(id).steps;
    EXPECT_NE(steps[1].error.find("\"no\""), std::string::npos) << "its own: " << steps[1].error;
    EXPECT_TRUE(steps[0].error.empty());
}

TEST_F(View, counts_every_visit_of_a_loop_on_its_own) {
    int turns = 0;
    world.handlers.add_raw("count", [&](const Payload&, const StepContext&) {
        return std::to_string(++turns);
    });
    Loop loop;
    loop.until_expression = "input == 2";
    loop.steps = {step("count", {.is_compensated = false})};
    const InstanceId id = start({node("again", loop)});
    engine->poll();
    EXPECT_EQ(steps_text(id), "count=completed count=completed again=completed");
}

TEST_F(View, shows_the_history_page_by_page) {
    const InstanceId id = start({step("a"), step("b")});
    engine->poll();
    const auto first = engine->history(id, 0, 2);
    ASSERT_EQ(first.size(), 2U);
    const auto rest = engine->history(id, first.back().seq);
    ASSERT_EQ(rest.size(), 2U);
    EXPECT_EQ(rest[0].type, "step_completed");
    EXPECT_EQ(rest[0].node, "b");
    EXPECT_EQ(rest[0].ref, 2);
    EXPECT_EQ(rest[0].worker, "w1");
}

}  // namespace
}  // namespace ebb::test
