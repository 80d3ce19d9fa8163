// Workers that die, hang or are slow: several engines over one store, each driven on its own, in
// virtual time. A worker "dies" when the test stops polling it.

#include "engine_world.h"
#include "store_racing.h"
#include "support/store_faulty.h"

namespace ebb::test {
namespace {

struct Leases : ::testing::Test {
    EngineWorld world;
    std::function<void()> during_a;  ///< runs inside the handler of a
    std::vector<int> attempts;

    void SetUp() override {
        world.handlers.add_raw("a", [this](const Payload& input, const StepContext& context) {
            attempts.push_back(context.attempt);
            if (during_a) std::exchange(during_a, nullptr)();
            return input;
        });
        world.record({"b", "c"});
    }

    static Definition a_then_b(bool non_idempotent = false) {
        Node a = step("a", {.is_compensated = false, .max_attempts = 1});
        std::get<Step>(a.kind).non_idempotent = non_idempotent;
        return workflow({a, step("b")});
    }
};

TEST_F(Leases, work_of_a_dead_worker_is_taken_over_within_its_lease_and_a_second) {
    const auto dead = world.engine("dead");
    const auto alive = world.engine("alive");
    dead->register_workflow(a_then_b());
    dead->poll();
    const InstanceId id = dead->start("test").id;  // leased to it at once
    EXPECT_EQ(alive->poll(), 0);
    const TimePoint died = world.clock.now();
    while (status(*alive, id) == "running") {
        world.clock.advance(250ms);
        alive->poll();
        ASSERT_LT(world.clock.now() - died, 20s);
    }
    EXPECT_EQ(status(*alive, id), "completed");
    EXPECT_LE(world.clock.now() - died, 10s + 1s);
    EXPECT_EQ(
        history_text(*alive, id), "started lease_lost:a step_completed:a step_completed:b completed"
    );
    EXPECT_EQ(attempts, (std::vector<int>{2}));
}

TEST_F(Leases, a_step_whose_first_attempt_was_lost_began_when_it_became_due) {
    const auto dead = world.engine("dead");
    const auto alive = world.engine("alive");
    dead->register_workflow(a_then_b());
    dead->poll();
    const TimePoint started = world.clock.now();
    const InstanceId id = dead->start("test").id;
    world.clock.advance(11s);
    alive->poll();
    const StepView a = alive->show(id).steps.front();
    EXPECT_EQ(a.attempts, 2);
    EXPECT_EQ(a.started_at, started);
}

TEST_F(Leases, a_branch_whose_first_attempt_was_lost_began_when_its_block_was_opened) {
    const auto slow = world.engine("slow");
    const auto other = world.engine("other");
    const Node pause = node("pause", Delay{.duration = "5s"});
    slow->register_workflow(
        workflow({pause, parallel("p", {{"x", {step("a")}}, {"y", {step("c")}}})})
    );
    const InstanceId id = slow->start("test").id;
    TimePoint opened;
    during_a = [&] {
        opened = world.clock.now();
        other->poll();
        world.clock.advance(11s);
        world.run(*other, 30s);
    };
    world.run(*slow, 60s);
    for (const StepView& view : other->show(id).steps) {
        if (view.node != "a") continue;
        EXPECT_EQ(view.attempts, 2);
        EXPECT_EQ(view.started_at, opened);
    }
    EXPECT_EQ(status(*other, id), "completed");
}

TEST_F(Leases, of_a_long_lease_too) {
    EngineOptions options = world.options("dead");
    options.lease = 5min;
    Engine dead(*world.store, world.handlers, options);
    options.worker_id = "alive";
    Engine alive(*world.store, world.handlers, options);
    dead.register_workflow(a_then_b());
    dead.poll();
    const InstanceId id = dead.start("test").id;
    alive.poll();
    world.clock.advance(5min - 1s);
    alive.poll();
    EXPECT_EQ(status(alive, id), "running");
    for (int i = 0; i < 8; ++i) {
        world.clock.advance(250ms);
        alive.poll();
    }
    EXPECT_EQ(status(alive, id), "completed");
}

TEST_F(Leases, the_late_result_of_a_worker_that_was_declared_dead_changes_nothing) {
    const auto slow = world.engine("slow");
    const auto other = world.engine("other");
    slow->register_workflow(a_then_b());
    slow->poll();
    const InstanceId id = slow->start("test").id;
    during_a = [&] {
        // While the handler hangs, its lease runs out and the other does all the work.
        other->poll();
        world.clock.advance(11s);
        world.run(*other, 30s);
        EXPECT_EQ(status(*other, id), "completed");
    };
    world.run(*slow, 30s);
    EXPECT_EQ(
        history_text(*other, id), "started lease_lost:a step_completed:a step_completed:b completed"
    );
    EXPECT_EQ(slow->counters().steps, 0U);
    EXPECT_EQ(slow->counters().in_flight, 0);
}

TEST_F(Leases, a_result_that_comes_before_a_takeover_is_used) {
    const auto slow = world.engine("slow");
    slow->register_workflow(a_then_b());
    slow->poll();
    const InstanceId id = slow->start("test").id;
    during_a = [&] {
        world.clock.advance(11s);
        world.memory->maintain();  // the lease is gone, and no worker has claimed the task
    };
    world.run(*slow, 30s);
    EXPECT_EQ(history_text(*slow, id), "started step_completed:a step_completed:b completed");
}

TEST_F(Leases, a_non_idempotent_step_is_not_called_again_after_a_loss) {
    const auto slow = world.engine("slow");
    const auto other = world.engine("other");
    slow->register_workflow(a_then_b(true));
    slow->poll();
    const InstanceId id = slow->start("test").id;
    during_a = [&] {
        other->poll();
        world.clock.advance(11s);
        world.run(*other, 30s);
    };
    world.run(*slow, 30s);
    EXPECT_EQ(attempts, (std::vector<int>{1}));
    EXPECT_EQ(status(*other, id), "failed");
    EXPECT_NE(other->show(id).error.find("in_doubt"), std::string::npos);
}

TEST_F(Leases, a_step_that_kills_every_worker_fails_in_the_end) {
    const auto first = world.engine("first");
    first->register_workflow(a_then_b());
    first->poll();
    const InstanceId id = first->start("test").id;
    // Each of these starts when its predecessor is dead, records the loss, calls the handler and
    // dies before it can commit the outcome.
    std::vector<std::unique_ptr<testing::FaultyStore>> stores;
    std::vector<std::unique_ptr<Engine>> victims;
    for (int i = 0; i < 8 && status(*first, id) == "running"; ++i) {
        world.clock.advance(11s);
        stores.push_back(std::make_unique<testing::FaultyStore>(*world.memory));
        world.store = stores.back().get();
        victims.push_back(world.engine("victim" + std::to_string(i)));
        during_a = [&] {
            stores.back()->plan({.kind = testing::Fault::Kind::CrashBefore, .nth = 1, .verb = {}});
        };
        try {
            world.run(*victims.back(), 30s);
        } catch (const testing::SimulatedCrash&) {
            continue;
        }
    }
    EXPECT_EQ(status(*first, id), "failed");
    EXPECT_EQ(attempts, (std::vector<int>{2, 3, 4, 5}));
    EXPECT_NE(first->show(id).error.find("worker_lost"), std::string::npos);
}

TEST_F(Leases, a_cancel_reaches_a_handler_in_another_worker_with_the_next_heartbeat) {
    const auto worker = world.engine("worker");
    const HandlerRegistry none;
    Engine client(*world.store, none, world.options("client"));
    worker->register_workflow(a_then_b());
    worker->poll();
    const InstanceId id = worker->start("test").id;
    during_a = [&] { client.cancel(id, "ann", "changed my mind"); };
    world.run(*worker, 30s);
    EXPECT_EQ(status(*worker, id), "cancelled");
    EXPECT_EQ(world.calls_text(), "") << "b was never called";
    EXPECT_NE(worker->why(id).find(" by ann (changed my mind)"), std::string::npos);
}

TEST_F(Leases, a_task_that_another_service_must_run_is_routed_to_it) {
    HandlerRegistry only_a;
    only_a.add_raw("a", [](const Payload& input, const StepContext&) { return input; });
    HandlerRegistry only_b;
    int calls = 0;
    only_b.add_raw("b", [&](const Payload& input, const StepContext&) {
        ++calls;
        return input;
    });
    Engine has_a(*world.store, only_a, world.options("has_a"));
    Engine has_b(*world.store, only_b, world.options("has_b"));
    has_a.register_workflow(a_then_b());
    const InstanceId id = has_a.start("test").id;
    EXPECT_EQ(has_b.poll(), 0);
    EXPECT_EQ(has_a.poll(), 1);
    EXPECT_NE(
        has_a.why(id).find("waits for a free worker with the handler \"b\""), std::string::npos
    ) << has_a.why(id);
    EXPECT_EQ(has_b.poll(), 1);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(status(has_b, id), "completed");
}

TEST_F(Leases, a_row_that_names_an_earlier_step_is_corrected) {
    // A worker with both handlers keeps its lease over a and dies in b: the row still says a.
    HandlerRegistry both;
    Engine* killed = nullptr;
    both.add_raw("a", [](const Payload& input, const StepContext&) { return input; });
    both.add_raw("b", [](const Payload& input, const StepContext&) { return input; });
    auto first = std::make_unique<Engine>(*world.store, both, world.options("first"));
    killed = first.get();
    killed->register_workflow(a_then_b());
    killed->poll();
    const InstanceId id = killed->start("test").id;
    EXPECT_TRUE(killed->run_one());
    EXPECT_EQ(world.memory->tasks(id).at(0).handler, "a");
    // From here on it is not polled. The one that finds the row cannot run b.
    HandlerRegistry only_a;
    only_a.add_raw("a", [](const Payload& input, const StepContext&) { return input; });
    Engine second(*world.store, only_a, world.options("second"));
    second.poll();
    world.clock.advance(11s);
    world.run(second, 20s);
    EXPECT_EQ(world.memory->tasks(id).at(0).handler, "b");
    EXPECT_TRUE(world.memory->tasks(id).at(0).lease_owner.empty());
    EXPECT_NE(second.why(id).find("no living worker has the handler \"b\""), std::string::npos);
}

TEST_F(Leases, without_a_valid_lease_no_handler_is_started_and_nothing_is_kept) {
    const auto engine = world.engine();
    engine->register_workflow(a_then_b());
    engine->poll();
    const InstanceId id = engine->start("test").id;
    during_a = [&] { world.clock.advance(60s); };
    EXPECT_TRUE(engine->run_one());
    EXPECT_EQ(world.calls_text(), "");
    world.run(*engine, 30s);
    EXPECT_EQ(status(*engine, id), "completed") << "after the next heartbeat it continues";
    EXPECT_EQ(world.calls_text(), "b");
}

TEST_F(Leases, a_worker_that_comes_back_under_its_name_knows_that_calls_were_lost) {
    auto first = world.engine("same");
    first->register_workflow(a_then_b(true));
    first->poll();
    const InstanceId id = first->start("test").id;
    ASSERT_EQ(world.memory->tasks(id).at(0).lease_owner, "same");
    // The first one is never polled again: its process died, and another took its name at once.
    const auto second = world.engine("same");
    world.run(*second, 1s);
    EXPECT_EQ(status(*second, id), "failed") << "the only call may already have been made";
    EXPECT_TRUE(attempts.empty());
}

TEST_F(Leases, a_living_worker_gives_way_to_one_that_takes_its_name) {
    const auto first = world.engine("same");
    first->register_workflow(a_then_b());
    first->poll();
    const InstanceId id = first->start("test").id;
    world.clock.advance(1s);
    const auto second = world.engine("same");
    during_a = [&] {
        // While the first is in its handler, the second takes the name and calls the handler again.
        world.run(*second, 5s);
        EXPECT_EQ(status(*second, id), "completed");
        EXPECT_FALSE(first->is_displaced()) << "it has not heard of it";
    };
    world.run(*first, 5s);
    world.clock.advance(1s);
    first->poll();
    EXPECT_TRUE(first->is_displaced());
    EXPECT_FALSE(second->is_displaced());
    EXPECT_EQ(attempts, (std::vector<int>{1, 2}));
    EXPECT_EQ(
        history_text(*second, id),
        "started lease_lost:a step_completed:a step_completed:b completed"
    );
    EXPECT_EQ(first->counters().in_flight, 0);

    const InstanceId unwanted = first->start("test").id;
    const InstanceId next = first->start("test").id;
    first->abort(unwanted);
    EXPECT_EQ(status(*second, unwanted), "aborted") << "starting and steering need no lease";
    EXPECT_EQ(first->poll(), 0) << "it never works again";
    EXPECT_TRUE(first->drain(1s));
    EXPECT_EQ(world.memory->workers().size(), 1U) << "the name is the other's";
    world.run(*second, 5s);
    EXPECT_EQ(status(*second, next), "completed");
}

TEST_F(Leases, what_a_displaced_worker_took_before_it_knew_counts_as_called) {
    const auto first = world.engine("same");
    first->register_workflow(a_then_b());
    first->poll();
    world.clock.advance(100ms);
    const auto second = world.engine("same");
    second->poll();
    const InstanceId id = first->start("test").id;
    during_a = [&] {
        for (int seconds = 0; seconds < 10; ++seconds) {
            world.clock.advance(1s);
            second->poll();
        }
        EXPECT_EQ(status(*second, id), "completed");
    };
    first->poll();
    EXPECT_EQ(attempts, (std::vector<int>{1, 2}));
    EXPECT_EQ(
        history_text(*second, id),
        "started lease_lost:a step_completed:a step_completed:b completed"
    );
}

TEST_F(Leases, a_worker_that_comes_back_learns_of_lost_calls_from_the_first_answer_it_gets) {
    auto first = world.engine("same");
    first->register_workflow(a_then_b(true));
    first->poll();
    const InstanceId id = first->start("test").id;
    testing::FaultyStore faulty(*world.memory);
    world.store = &faulty;
    faulty.plan(
        {.kind = testing::Fault::Kind::Busy, .nth = 1, .verb = testing::StoreVerb::Heartbeat}
    );
    const auto second = world.engine("same");
    second->poll();
    EXPECT_TRUE(faulty.is_exhausted());
    world.clock.advance(1s);
    world.run(*second, 5s);
    EXPECT_EQ(status(*second, id), "failed") << "the only call may already have been made";
}

TEST_F(Leases, a_timer_that_another_worker_has_fired_does_not_fire_the_next_one) {
    const auto fast = world.engine("fast");
    fast->register_workflow(workflow(
        {node("short", Delay{.duration = "1s", .until = {}}),
         node("long", Delay{.duration = "10m", .until = {}})}
    ));
    const InstanceId id = fast->start("test").id;
    world.clock.advance(1s);
    RacingStore racing(*world.memory);
    racing.race = [&] {
        // Its lease runs out between its claim and its commit.
        world.clock.advance(11s);
        world.memory->maintain();
        world.run(*fast, 1s);
    };
    world.store = &racing;
    const auto late = world.engine("late");
    late->poll();
    EXPECT_EQ(
        history_text(*fast, id), "started timer_started:short timer_fired:short timer_started:long"
    );
    EXPECT_EQ(status(*fast, id), "running");
    world.run(*fast);
    EXPECT_EQ(status(*fast, id), "completed");
}

TEST_F(Leases, a_row_that_another_process_has_removed_is_written_again) {
    Definition definition = a_then_b();
    std::get<Step>(definition.steps[0].kind).attempts.step_timeout = 5s;
    definition.on_error = Definition::OnError::DeadLetter;
    const auto other = world.engine("other");
    const auto slow = world.engine("slow");
    slow->register_workflow(definition);
    slow->poll();
    const InstanceId id = slow->start("test").id;
    during_a = [&] {
        world.clock.advance(7s);
        other->poll();
        ASSERT_EQ(status(*other, id), "dead_letter");
        slow->requeue(id);  // by the very worker that still holds the task that is gone
    };
    slow->run_one();
    for (int i = 0; i < 20; ++i) {
        world.clock.advance(1s);
        slow->poll();
    }
    EXPECT_EQ(status(*slow, id), "completed");
}

TEST_F(Leases, an_old_commit_does_not_take_back_what_was_lost_since) {
    const auto dead = world.engine("dead");
    dead->register_workflow(a_then_b());
    dead->poll();
    const InstanceId id = dead->start("test").id;
    testing::FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto late = world.engine("late");
    world.store = world.memory.get();
    const auto other = world.engine("other");
    late->poll();
    world.clock.advance(11s);
    // It claims the task and cannot write that the first attempt was lost.
    faulty.plan({.kind = testing::Fault::Kind::Unavailable, .verb = testing::StoreVerb::Commit});
    late->poll();
    ASSERT_TRUE(faulty.is_exhausted());
    ASSERT_EQ(world.memory->tasks(id).at(0).lease_owner, "late");
    other->signal(id, "b");  // what it wrote down is no longer what is there
    world.clock.advance(11s);
    int calls_by_late = 0;
    during_a = [&] { calls_by_late = late->poll(); };
    world.run(*other, 30s);
    EXPECT_EQ(calls_by_late, 0) << "the other runs this attempt";
    EXPECT_EQ(attempts, (std::vector<int>{2}));
    EXPECT_EQ(
        history_text(*other, id),
        "started signal_received:b lease_lost:a step_completed:a step_completed:b completed"
    );
}

TEST_F(Leases, a_commit_without_an_answer_is_not_mistaken_for_another_that_led_to_the_same_state) {
    Node a = step("a", {.is_compensated = true});
    world.handlers.add_raw("~a", [](const Payload& input, const StepContext&) { return input; });
    testing::FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto slow = world.engine("slow");
    slow->register_workflow(workflow({a}));
    slow->poll();
    const InstanceId id = slow->start("test").id;
    const HandlerRegistry nothing;  // so that it leaves the compensation to others
    Engine other(*world.memory, nothing, world.options("other"));
    during_a = [&] {
        slow->cancel(id);
        faulty.plan({.kind = testing::Fault::Kind::NeverArrived, .verb = testing::StoreVerb::Commit}
        );
    };
    slow->poll();
    ASSERT_TRUE(faulty.is_exhausted());
    other.poll();
    world.clock.advance(11s);
    other.poll();
    const std::string stopped = "started cancel_requested rollback_started step_stopped:a";
    ASSERT_EQ(history_text(other, id), stopped);
    world.run(*slow, 30s);
    EXPECT_EQ(slow->counters().steps, 1U) << "the compensation; its result of a came too late";
    EXPECT_EQ(history_text(other, id), stopped + " step_compensated:a rollback_finished cancelled");
}

TEST_F(Leases, a_timer_that_lost_the_race_leaves_the_task_to_the_winner) {
    Definition definition = workflow(
        {node(
             "ok", HumanDecision{.deadline = 5s, .on_deadline = HumanDecision::OnDeadline::Confirm}
         ),
         step("b")}
    );
    const auto winner = world.engine("winner");
    winner->register_workflow(definition);
    winner->poll();
    const InstanceId id = winner->start("test").id;
    winner->poll();
    RacingStore racing(*world.memory);
    world.store = &racing;
    const auto loser = world.engine("loser");
    loser->poll();
    world.clock.advance(6s);
    // It has claimed the decision's deadline when the decision comes after all.
    racing.race = [&] { winner->decide(id, {.by = "ann"}); };
    EXPECT_EQ(loser->poll(), 0);
    EXPECT_EQ(world.memory->tasks(id).at(0).lease_owner, "winner");
    EXPECT_EQ(winner->poll(), 1);
    EXPECT_EQ(world.calls_text(), "b");
    EXPECT_EQ(status(*winner, id), "completed");
}

TEST_F(Leases, forked_branches_are_shared_by_the_workers) {
    std::vector<Parallel::Branch> branches;
    for (int i = 0; i < 6; ++i) {
        const std::string name = "b" + std::to_string(i);
        Node each = step(name, {.is_compensated = false});
        std::get<Step>(each.kind).handler = "b";
        branches.push_back({name, {each}});
    }
    const auto one = world.engine("one");
    const auto two = world.engine("two");
    one->register_workflow(workflow({parallel("all", branches)}));
    const InstanceId id = one->start("test").id;
    for (int i = 0; i < 10 && status(*one, id) == "running"; ++i) {
        one->run_one();
        two->run_one();
    }
    EXPECT_EQ(status(*one, id), "completed");
    EXPECT_EQ(world.calls.size(), 6U);
    EXPECT_GT(one->counters().steps, 0U);
    EXPECT_GT(two->counters().steps, 0U);
}

}  // namespace
}  // namespace ebb::test
