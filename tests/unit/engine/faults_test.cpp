// The store fails, lies about it, or another worker wins the race: nothing is lost, nothing is done
// twice. Faults are planned; conflicts are forced by changing the instance right before a commit.

#include <fmt/format.h>

#include "engine/core.h"
#include "engine_world.h"
#include "store_racing.h"
#include "support/store_counting.h"
#include "support/store_faulty.h"

namespace ebb::test {
namespace {

using testing::Fault;
using testing::FaultyStore;
using testing::StoreDecorator;
using testing::StoreVerb;

/// Refuses commits that contain a text, for good.
class PickyStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::string refused = "poison";

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        for (const Commit& commit : commits) {
            for (const HistoryEvent& event : commit.history) {
                if (event.payload.find(refused) == std::string::npos) continue;
                throw Error(ErrorCode::StoreError, "The store does not like this payload.");
            }
        }
        return StoreDecorator::commit(commits);
    }
};

/// Another worker writes exactly the same as the first commit, which gets no answer, and continues
/// with b.
class EchoStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        if (std::exchange(has_echoed_, true)) return StoreDecorator::commit(commits);
        const TaskChange next{.token = 1, .handler = "b", .is_continued = true};
        std::vector<Commit> echoes(commits.begin(), commits.end());
        for (Commit& echo : echoes) {
            echo.tasks = {&next, 1};
            echo.lease_owner = "another worker";
        }
        StoreDecorator::commit(echoes);
        throw Error(ErrorCode::StoreInDoubt, "The connection broke before the answer came.");
    }

 private:
    bool has_echoed_ = false;
};

/// An administrator revokes the privilege to write.
class DenyingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    bool denies = false;
    int refused = 0;

    void check_rights() override {
        if (denies) throw Error(ErrorCode::StoreDenied, "GRANT INSERT ON history TO worker;");
    }

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        if (!denies) return StoreDecorator::commit(commits);
        ++refused;
        throw Error(ErrorCode::StoreDenied, "permission denied for table history");
    }
};

/// Keeps what is logged about rights.
class RightsLog : public LogSink {
 public:
    std::string text;

    bool is_enabled(LogLevel level) const noexcept override { return level >= LogLevel::Info; }

    void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept override {
        if (event != "worker_denied" && event != "worker_allowed") return;
        text += fmt::format("{} {}", to_string(level), event);
        for (const LogField& field : fields) text += fmt::format(" {}={}", field.key, field.value);
        text += "\n";
    }
};

/// Answers no question about the past.
class DeafStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    bool is_deaf = false;

    std::vector<HistoryEvent> history(const HistoryQuery& query) override {
        if (is_deaf) throw Error(ErrorCode::StoreUnavailable, "The past is out of reach.");
        return StoreDecorator::history(query);
    }
};

struct Faults : ::testing::Test {
    EngineWorld world;

    Definition three_steps() { return workflow({step("a"), step("b"), step("c")}); }

    void SetUp() override { world.record({"a", "b", "c"}); }
};

TEST_F(Faults, a_commit_that_failed_is_repeated_after_a_pause) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    faulty.plan({.kind = Fault::Kind::Unavailable, .nth = 2, .verb = StoreVerb::Commit});
    engine->poll();
    EXPECT_EQ(status(*engine, id), "running");
    EXPECT_GT(engine->next_due(), world.clock.now());
    EXPECT_LT(engine->next_due(), world.clock.now() + 1s);
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(world.calls_text(), "a b c") << "no handler is called twice";
    EXPECT_GE(engine->counters().store_errors, 1U);
}

TEST_F(Faults, a_right_that_is_taken_away_loses_nothing_and_is_reported_with_its_remedy) {
    DenyingStore store(*world.memory);
    world.store = &store;
    RightsLog log;
    EngineOptions options = world.options();
    options.log = &log;
    Engine engine(*world.store, world.handlers, options);
    engine.register_workflow(three_steps());
    const InstanceId id = engine.start("test").id;
    const auto poll = [&](int seconds) {
        for (int second = 0; second < seconds; ++second) {
            engine.poll();
            world.clock.advance(1s);
        }
    };
    store.denies = true;
    poll(1);
    const InstanceId later = world.engine("other")->start("test").id;
    constexpr int kSeconds = 150;
    poll(kSeconds);
    EXPECT_EQ(world.calls_text(), "a") << "nothing is begun that could not be written";
    EXPECT_LE(store.refused, kSeconds / 5 + 1) << "it is asked at a slow pace";
    const std::string line =
        "error worker_denied worker=w1 what=commit_delayed error=GRANT INSERT ON history TO "
        "worker;\n";
    EXPECT_EQ(log.text, line + line + line) << "at once, and once a minute";
    store.denies = false;
    poll(20);
    EXPECT_EQ(log.text, line + line + line + "info worker_allowed worker=w1\n");
    EXPECT_EQ(status(engine, id), "completed");
    EXPECT_EQ(status(engine, later), "completed");
    EXPECT_EQ(world.calls_text(), "a b c a b c") << "what had been called is not called again";
}

TEST_F(Faults, a_worker_without_rights_does_not_begin) {
    DenyingStore store(*world.memory);
    world.store = &store;
    const auto engine = world.engine();
    store.denies = true;
    try {
        engine->run();
        FAIL() << "it runs";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreDenied);
        EXPECT_STREQ(error.what(), "GRANT INSERT ON history TO worker;");
    }
    EXPECT_TRUE(world.memory->workers().empty());
    store.denies = false;
    engine->run();
}

TEST_F(Faults, a_commit_whose_answer_was_lost_is_recognized_as_done) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    for (const int nth : {1, 2, 3}) {
        faulty.plan({.kind = Fault::Kind::InDoubt, .nth = nth, .verb = StoreVerb::Commit});
    }
    world.run(*engine);
    EXPECT_TRUE(faulty.is_exhausted());
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(world.calls_text(), "a b c");
    EXPECT_EQ(
        history_text(*engine, id),
        "started step_completed:a step_completed:b step_completed:c completed"
    );
}

TEST_F(Faults, a_failing_write_anywhere_loses_nothing_and_repeats_nothing) {
    for (const auto kind : {Fault::Kind::Unavailable, Fault::Kind::InDoubt}) {
        for (int nth = 1; nth <= 14; ++nth) {
            EngineWorld fresh;
            fresh.record({"a", "b", "c"});
            FaultyStore faulty(*fresh.memory);
            fresh.store = &faulty;
            const auto engine = fresh.engine();
            engine->register_workflow(workflow(
                {step("a"), node("rest", Delay{.duration = "5s", .until = {}}), step("b"), step("c")
                }
            ));
            const InstanceId id = engine->start("test").id;
            faulty.plan({.kind = kind, .nth = nth, .verb = {}});
            fresh.run(*engine);
            // What a lost claim left leased is found by a heartbeat or two.
            for (int i = 0; i < 5 && status(*engine, id) != "completed"; ++i) {
                fresh.clock.advance(1s);
                fresh.run(*engine);
            }
            EXPECT_EQ(status(*engine, id), "completed") << "write " << nth;
            EXPECT_EQ(fresh.calls_text(), "a b c") << "write " << nth;
        }
    }
}

TEST_F(Faults, a_request_that_waits_for_another_commit_is_answered_when_that_one_fails) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    Engine::Core core(*world.store, world.handlers, world.options());
    core.environment.worker.is_driven = true;
    core.keeper.tick(world.clock.steady_now());
    core.register_workflow(
        workflow({step("a"), parallel("p", {{"x", {step("b")}}, {"y", {step("c")}}})})
    );
    const Payload input = "null";
    const InstanceId id = core.start_all("test", {&input, 1}, {}).front().id;
    core.executor.run(core.ready.try_pop());
    // The outcome makes the tasks that the cancel stops: they cannot share a commit.
    faulty.plan({.kind = Fault::Kind::Unavailable, .nth = 1, .verb = StoreVerb::Commit});
    EXPECT_THROW(core.request(id, event::CancelRequested{}), Error);
    world.clock.advance(1s);
    core.poll();
    EXPECT_EQ(world.calls_text(), "a b c");
}

TEST_F(Faults, a_request_is_answered_when_what_was_decided_with_it_meets_a_failing_store) {
    DeafStore deaf(*world.memory);
    world.store = &deaf;
    const auto starter = world.engine("starter");
    starter->register_workflow(workflow({step("a"), node("ask", HumanDecision{})}));
    const std::vector<Payload> inputs = {"1", "2"};
    const auto started = starter->start_all("test", inputs);
    starter->poll();
    Engine::Core core(*world.store, world.handlers, world.options());
    std::vector<std::shared_ptr<engine::Reply>> replies;
    const auto post = [&](std::size_t which, Event event) {
        replies.push_back(std::make_shared<engine::Reply>());
        auto live = engine::make_live(core.load(started[which].id), core.programs);
        core.committer.post(engine::item::Request{std::move(event), live, replies.back()});
    };
    // A cancel looks into the past for what must be undone.
    post(1, event::Paused{});
    post(0, event::CancelRequested{});
    deaf.is_deaf = true;
    core.committer.combine(engine::Committer::Role::Guest);
    for (const auto& reply : replies) {
        ASSERT_TRUE(reply->is_given());
        EXPECT_TRUE(reply->wait().error);
    }
    deaf.is_deaf = false;
    world.clock.advance(1s);
    core.committer.combine(engine::Committer::Role::Owner);
    EXPECT_EQ(status(*starter, started[1].id), "running") << "no pause behind our back";
}

TEST_F(Faults, an_input_that_cannot_be_read_now_is_read_later) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto starter = world.engine("starter");
    starter->register_workflow(three_steps());
    const InstanceId id = starter->start("test").id;
    starter->signal(
        id, "c", Payload::text("1")
    );  // of an instance that has moved, a claim brings no input
    const auto engine = world.engine();
    faulty.plan({.kind = Fault::Kind::Unavailable, .nth = 1, .verb = StoreVerb::History});
    world.run(*engine);
    EXPECT_TRUE(faulty.is_exhausted());
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(world.calls_text(), "a b c");
}

TEST_F(Faults, who_loses_the_race_decides_again_on_the_fresh_state) {
    RacingStore racing(*world.memory);
    world.store = &racing;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    const HandlerRegistry none;
    Engine other(*world.memory, none, world.options("other"));
    racing.race = [&] { other.signal(id, "c", Payload::text("1")); };
    engine->poll();
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(world.calls_text(), "a b c");
    EXPECT_EQ(engine->counters().conflicts, 1U);
    EXPECT_EQ(
        history_text(*engine, id),
        "started signal_received:c step_completed:a step_completed:b step_completed:c completed"
    );
}

TEST_F(Faults, a_result_that_comes_after_a_cancel_is_recorded_and_compensated) {
    RacingStore racing(*world.memory);
    world.store = &racing;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    const HandlerRegistry none;
    Engine other(*world.memory, none, world.options("other"));
    racing.race = [&] { other.cancel(id, "ann"); };
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "cancelled");
    EXPECT_EQ(world.calls_text(), "a ~a");
}

TEST_F(Faults, a_result_that_comes_after_an_abort_is_dropped) {
    RacingStore racing(*world.memory);
    world.store = &racing;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    const HandlerRegistry none;
    Engine other(*world.memory, none, world.options("other"));
    racing.race = [&] { other.abort(id); };
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "aborted");
    EXPECT_EQ(world.calls_text(), "a");
    EXPECT_EQ(engine->counters().in_flight, 0);
}

TEST_F(Faults, a_pause_that_wins_the_race_holds_the_next_step_back) {
    RacingStore racing(*world.memory);
    world.store = &racing;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    const HandlerRegistry none;
    Engine other(*world.memory, none, world.options("other"));
    racing.race = [&] { other.pause(id); };
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "paused");
    EXPECT_EQ(world.calls_text(), "a");
    EXPECT_EQ(engine->counters().in_flight, 0);
    other.resume(id);
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(world.calls_text(), "a b c");
}

TEST_F(Faults, what_another_worker_has_written_in_the_same_way_does_not_make_its_leases_ours) {
    EchoStore echo(*world.memory);
    WorkerRow somebody;
    somebody.id = "another worker";
    world.memory->heartbeat(somebody, 1h);
    world.store = &echo;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    engine->poll();
    for (int i = 0; i < 100; ++i) {
        world.clock.advance(50ms);  // before a heartbeat says what is held
        engine->poll();
    }
    EXPECT_EQ(history_text(*engine, id), "started step_completed:a");
    EXPECT_EQ(world.memory->tasks(id).at(0).lease_owner, "another worker");
    EXPECT_EQ(world.calls_text(), "a") << "the other one calls b";
}

TEST_F(Faults, one_instance_that_the_store_refuses_does_not_hold_up_the_others) {
    PickyStore picky(*world.memory);
    world.store = &picky;
    world.handlers.add_raw("odd", [](const Payload& input, const StepContext&) {
        return input == "3" ? Payload("\"poison\"") : input;
    });
    const auto engine = world.engine();
    engine->register_workflow(workflow({step("odd", {.is_compensated = false})}));
    const std::vector<Payload> inputs = {"1", "2", "3", "4"};
    const auto started = engine->start_all("test", inputs);
    engine->poll();
    EXPECT_EQ(engine->counters().finished, 3U);
    EXPECT_EQ(status(*engine, started[2].id), "running");
    picky.refused = "no longer";
    world.run(*engine, std::chrono::minutes(2));
    EXPECT_EQ(status(*engine, started[2].id), "completed");
    EXPECT_NE(history_text(*engine, started[2].id).find("lease_lost:odd"), std::string::npos)
        << "that it was called before is not forgotten";
}

TEST_F(Faults, a_call_whose_outcome_was_refused_is_not_forgotten_when_its_worker_ends) {
    PickyStore picky(*world.memory);
    world.store = &picky;
    world.handlers.add_raw("odd", [&](const Payload&, const StepContext&) {
        world.calls.push_back("odd");
        return Payload("\"poison\"");
    });
    const auto engine = world.engine();
    Node odd = step("odd", {.is_compensated = false});
    std::get<Step>(odd.kind).non_idempotent = true;
    engine->register_workflow(workflow({odd}));
    const InstanceId id = engine->start("test").id;
    engine->poll();
    // Its leases may have run out, and nothing says that they come back.
    world.clock.advance(5min);
    engine->drain(0s);
    picky.refused = "no longer";
    const auto other = world.engine("other");
    world.run(*other, std::chrono::minutes(5));
    EXPECT_EQ(status(*other, id), "failed") << "the only call was already made";
    EXPECT_EQ(world.calls_text(), "odd");
}

TEST_F(Faults, an_instance_that_cannot_be_understood_is_put_off_and_the_others_run) {
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId good = engine->start("test").id;
    const InstanceId bad = engine->start("test").id;
    InstanceRow row = *world.memory->load(bad);
    const Commit garbage{
        .instance = bad,
        .expected_revision = row.revision,
        .status = row.status,
        .state = "{rubbish",
        .history = {},
        .tasks = {},
        .lease_owner = {},
        .now = world.clock.now(),
    };
    world.memory->commit({&garbage, 1});
    engine->poll();
    EXPECT_EQ(status(*engine, good), "completed");
    EXPECT_EQ(world.memory->tasks(bad).at(0).due, world.clock.now() + 5min);
    EXPECT_TRUE(engine->why(bad).starts_with("The instance was set aside"));
    const Commit repaired{
        .instance = bad,
        .expected_revision = world.memory->load(bad)->revision,
        .status = row.status,
        .state = row.state,
        .history = {},
        .tasks = {},
        .lease_owner = {},
        .now = world.clock.now(),
    };
    world.memory->commit({&repaired, 1});
    world.clock.advance(5min);
    engine->poll();
    EXPECT_EQ(status(*engine, bad), "completed");
}

TEST_F(Faults, a_request_is_refused_while_the_store_is_down_and_leaves_nothing_behind) {
    FaultyStore faulty(*world.memory);
    world.store = &faulty;
    const auto engine = world.engine();
    engine->register_workflow(three_steps());
    const InstanceId id = engine->start("test").id;
    faulty.plan({.kind = Fault::Kind::Unavailable, .nth = 1, .verb = StoreVerb::Commit});
    EXPECT_THROW(engine->pause(id), Error);
    world.clock.advance(5s);
    engine->poll();
    EXPECT_EQ(status(*engine, id), "completed") << "the pause was not done behind our back";
}

}  // namespace
}  // namespace ebb::test
