// Goal: a bulk operation acts once on each instance that its filter or its list names, whatever
// breaks off in between, and says what it did. Method: an engine that the test polls, on a memory
// store with a clock of the test.

#include "engine/bulk.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "engine/system_workflows.h"
#include "engine_world.h"
#include "support/uuid.h"
#include "view/bulks.h"

namespace ebb::test {
namespace {

using engine::BulkAction;
using engine::BulkJob;
using engine::BulkProgress;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct BulkTest : ::testing::Test {
    PredictableIds ids{1};
    EngineWorld world;
    std::unique_ptr<Engine> engine;
    bool is_broken = true;  ///< the handler "charge" fails

    void SetUp() override {
        world.record({"a"});
        world.handlers.add_raw("charge", [this](const Payload& input, const StepContext&) {
            if (is_broken) throw PermanentError("no funds");
            return input;
        });
        engine::add_bulk_handler(world.handlers, *world.store, [this]() -> Engine& {
            return *engine;
        });
        engine = world.engine();
        register_waiting("waits");
        register_waiting("others");
        Definition sad = workflow({step("charge", {.is_compensated = false})});
        sad.name = "sad";
        sad.on_error = Definition::OnError::DeadLetter;
        engine->register_workflow(sad);
        Definition fails = workflow({step("charge", {.is_compensated = false})});
        fails.name = "fails";
        engine->register_workflow(fails);
    }

    /// The instance that was started for `old` in its place.
    InstanceId rerun_of(const InstanceId& old) {
        return engine->find_key("fails", "rerun:" + old.to_string()).value();
    }

    void register_waiting(const std::string& name) {
        Definition definition = workflow({step("a"), {.name = "go", .kind = Signal{}}});
        definition.name = name;
        engine->register_workflow(definition);
    }

    std::vector<InstanceId> start(const std::string& workflow, int count) {
        const std::vector<Payload> inputs(static_cast<std::size_t>(count), Payload::text("1"));
        std::vector<InstanceId> started;
        for (const StartedInstance& each : engine->start_all(workflow, inputs)) {
            started.push_back(each.id);
        }
        engine->poll();
        world.clock.advance(1ms);
        return started;
    }

    BulkJob job(BulkAction action) const {
        return {
            .action = action,
            .before = lowest_id_of(world.clock.now() + 1ms),
            .at = world.clock.now(),
            .by = "ann",
            .reason = "tidy up",
        };
    }

    InstanceId begin(const BulkJob& job) { return engine::start_bulk(*world.store, job).id; }

    /// All that is due now and in the next hour.
    void run() { world.run(*engine, 1h); }

    BulkProgress progress(const InstanceId& bulk) {
        const auto events = world.store->history(
            {.instance = bulk,
             .limit = 1,
             .order = HistoryQuery::Order::Backward,
             .types = {HistoryType::StepCompleted}}
        );
        return engine::parse_bulk_progress(events.at(0).payload);
    }

    int count(const std::string& status) {
        int count = 0;
        for (const InstanceSummary& each : engine->list({.limit = 1'000})) {
            count += to_string(each.status) == status;
        }
        return count;
    }

    int requeues(const InstanceId& id) {
        return static_cast<int>(
            world.store->history({.instance = id, .types = {HistoryType::Requeued}}).size()
        );
    }
};

TEST_F(BulkTest, acts_on_what_the_filter_finds_and_on_nothing_that_was_started_later) {
    const std::vector<InstanceId> wanted = start("waits", 3);
    const std::vector<InstanceId> others = start("others", 2);
    BulkJob cancel = job(BulkAction::Cancel);
    cancel.where = "workflow == \"waits\"";
    const InstanceId bulk = begin(cancel);
    world.clock.advance(2ms);
    const std::vector<InstanceId> later = start("waits", 1);
    run();
    EXPECT_EQ(status(*engine, bulk), "completed");
    for (const InstanceId& id : wanted) EXPECT_EQ(status(*engine, id), "cancelled");
    EXPECT_EQ(status(*engine, others.at(0)), "running");
    EXPECT_EQ(status(*engine, later.at(0)), "running");
    EXPECT_EQ(progress(bulk).matched, 3);
    EXPECT_EQ(progress(bulk).done, 3);
    EXPECT_TRUE(progress(bulk).is_done);
}

TEST(BulkLimit, is_above_what_was_started_before_also_if_the_clock_has_gone_back) {
    ManualClock clock(TimePoint(std::chrono::hours(24 * 365 * 50)));
    const InstanceId started = make_instance_id(clock);
    clock.jump(-std::chrono::seconds(1));
    const InstanceId limit = engine::bulk_limit(clock, clock.now());
    const InstanceId started_later = make_instance_id(clock);
    EXPECT_LT(started, limit);
    EXPECT_LT(limit, started_later);
}

TEST_F(BulkTest, histories_name_the_author_the_bulk_and_the_reason) {
    const InstanceId id = start("waits", 1).at(0);
    const InstanceId bulk = begin(job(BulkAction::Pause));
    run();
    const auto events = world.store->history({.instance = id, .types = {HistoryType::Paused}});
    ASSERT_THAT(events, SizeIs(1));
    const Json payload = Json::parse(events.at(0).payload);
    EXPECT_EQ(payload.at("by"), "ann (bulk " + bulk.to_string() + ")");
    EXPECT_EQ(payload.at("reason"), "tidy up");
    EXPECT_EQ(engine->find(bulk)->labels.at("by").text(), "ann");
}

TEST_F(BulkTest, goes_through_many_in_turns) {
    start("waits", 700);
    start("waits", 500);
    const InstanceId bulk = begin(job(BulkAction::Abort));
    run();
    EXPECT_EQ(progress(bulk).done, 1'200);
    EXPECT_EQ(status(*engine, bulk), "completed");
    const auto turns = world.store->history(
        {.instance = bulk, .types = {HistoryType::StepCompleted}, .node = "turn"}
    );
    EXPECT_GE(turns.size(), 3U);
    EXPECT_EQ(count("aborted"), 1'000);  // the limit of one list
}

TEST_F(BulkTest, an_instance_that_changes_before_the_commit_is_read_again) {
    const std::vector<InstanceId> ids = start("waits", 2);
    // The two requests for the same instance name the same revision, and are committed together.
    BulkJob pause = job(BulkAction::Pause);
    pause.ids = {ids.at(0), ids.at(0), ids.at(1)};
    const InstanceId bulk = begin(pause);
    run();
    EXPECT_EQ(status(*engine, bulk), "completed");
    EXPECT_EQ(progress(bulk).done, 3);
    EXPECT_EQ(progress(bulk).failed, 0);
    for (const InstanceId& id : ids) {
        EXPECT_THAT(
            world.store->history({.instance = id, .types = {HistoryType::Paused}}), SizeIs(1)
        );
    }
}

TEST_F(BulkTest, a_turn_that_is_repeated_acts_on_nothing_again) {
    const std::vector<InstanceId> failed = start("sad", 5);
    const InstanceId bulk = begin(job(BulkAction::Requeue));
    const Handler& handler = *world.handlers.find("ebb:bulk");
    const StepContext context{.instance = bulk, .step = "turn"};
    const Payload first = engine::to_payload(BulkProgress{.matched = 5});
    const BulkProgress before = engine::parse_bulk_progress(handler(first, context));
    // They fail again, so requeueing them again would be possible.
    world.clock.advance(30s);
    engine->poll();
    ASSERT_EQ(status(*engine, failed.at(0)), "dead_letter");
    const BulkProgress again = engine::parse_bulk_progress(handler(first, context));
    EXPECT_EQ(before.done, 5);
    EXPECT_EQ(again.done, 5);
    for (const InstanceId& id : failed) EXPECT_EQ(requeues(id), 1);
}

TEST_F(BulkTest, says_why_it_left_an_instance_alone) {
    const InstanceId ended = start("waits", 1).at(0);
    engine->abort(ended);
    const InstanceId foreign = start("others", 1).at(0);
    const InstanceId good = start("waits", 1).at(0);
    BulkJob pause = job(BulkAction::Pause);
    pause.workflows = "waits";
    pause.ids = {good, ended, foreign, *InstanceId::parse("019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d")};
    const InstanceId bulk = begin(pause);
    run();
    const BulkProgress result = progress(bulk);
    EXPECT_EQ(result.done, 1);
    EXPECT_EQ(result.skipped, 3);
    EXPECT_EQ(status(*engine, foreign), "running");
    ASSERT_THAT(result.skips, SizeIs(3));
    EXPECT_EQ(result.skips.at(0).id, ended);
    EXPECT_THAT(result.skips.at(0).message, HasSubstr("already aborted"));
    EXPECT_EQ(result.skips.at(1).code, "instance_not_found");
}

TEST_F(BulkTest, a_list_names_nothing_that_was_started_later) {
    const InstanceId before = start("waits", 1).at(0);
    BulkJob cancel = job(BulkAction::Cancel);
    world.clock.advance(2ms);
    const InstanceId later = start("waits", 1).at(0);
    cancel.ids = {before, later};
    const view::BulkPreview preview = view::preview_bulk(*world.store, cancel);
    EXPECT_EQ(preview.matched, 1);
    ASSERT_THAT(preview.samples, SizeIs(1));
    EXPECT_EQ(preview.samples.at(0).id, before);
    const InstanceId bulk = begin(cancel);
    run();
    EXPECT_EQ(status(*engine, before), "cancelled");
    EXPECT_EQ(status(*engine, later), "running");
    const BulkProgress result = progress(bulk);
    EXPECT_EQ(result.done, 1);
    ASSERT_THAT(result.skips, SizeIs(1));
    EXPECT_EQ(result.skips.at(0).id, later);
    EXPECT_EQ(result.skips.at(0).code, "instance_not_found");
}

TEST_F(BulkTest, an_instance_of_ebb_itself_does_not_exist_for_it) {
    const InstanceId first = begin(job(BulkAction::Pause));
    BulkJob abort = job(BulkAction::Abort);
    abort.ids = {first};
    const InstanceId second = begin(abort);
    run();
    EXPECT_EQ(status(*engine, first), "completed");
    EXPECT_EQ(progress(second).skips.at(0).code, "instance_not_found");
}

TEST_F(BulkTest, what_had_nothing_to_do_is_counted_apart) {
    start("waits", 2);
    const InstanceId bulk = begin(job(BulkAction::Resume));
    run();
    EXPECT_EQ(progress(bulk).unchanged, 2);
    EXPECT_THAT(progress(bulk).skips.at(0).message, HasSubstr("not paused"));
    const InstanceId first = begin(job(BulkAction::Pause));
    run();
    EXPECT_EQ(progress(first).done, 2);
    world.clock.advance(1min);
    const InstanceId second = begin(job(BulkAction::Pause));
    run();
    EXPECT_EQ(progress(second).unchanged, 2);
    EXPECT_THAT(progress(second).skips.at(0).message, HasSubstr("already paused"));
}

TEST_F(BulkTest, keeps_its_rate) {
    start("waits", 25);
    BulkJob pause = job(BulkAction::Pause);
    pause.rate = engine::BulkRate{.count = 10, .period = 1min};
    const InstanceId bulk = begin(pause);
    engine->poll();
    EXPECT_EQ(progress(bulk).done, 10);
    world.clock.advance(30s);
    engine->poll();
    EXPECT_EQ(progress(bulk).done, 10);
    world.clock.advance(31s);
    engine->poll();
    EXPECT_EQ(progress(bulk).done, 20);
    run();
    EXPECT_EQ(progress(bulk).done, 25);
    EXPECT_EQ(status(*engine, bulk), "completed");
}

TEST_F(BulkTest, is_paused_resumed_and_cancelled_as_any_instance) {
    start("waits", 25);
    BulkJob pause = job(BulkAction::Pause);
    pause.rate = engine::BulkRate{.count = 10, .period = 1min};
    const InstanceId bulk = begin(pause);
    engine->poll();
    engine->pause(bulk, "ann");
    run();
    EXPECT_EQ(progress(bulk).done, 10);
    engine->resume(bulk, "ann");
    engine->poll();
    EXPECT_EQ(progress(bulk).done, 20);
    engine->cancel(bulk, "ann");
    run();
    EXPECT_EQ(status(*engine, bulk), "cancelled");
    EXPECT_EQ(count("paused"), 20);
}

TEST_F(BulkTest, a_canary_that_fails_again_stops_the_others_until_an_operator_continues) {
    const std::vector<InstanceId> failed = start("sad", 12);
    BulkJob requeue = job(BulkAction::Requeue);
    requeue.canary = engine::BulkCanary{};
    const InstanceId bulk = begin(requeue);
    run();
    int requeued = 0;
    for (const InstanceId& id : failed) requeued += requeues(id);
    EXPECT_EQ(requeued, 1);
    EXPECT_EQ(status(*engine, bulk), "running");
    is_broken = false;
    engine->signal(bulk, engine::kBulkTurn, Payload::text("{}"));
    run();
    EXPECT_EQ(status(*engine, bulk), "completed");
    EXPECT_EQ(count("completed"), 11);
    EXPECT_EQ(count("dead_letter"), 1);
}

TEST_F(BulkTest, a_canary_that_completes_lets_the_others_follow) {
    start("sad", 12);
    is_broken = false;
    BulkJob requeue = job(BulkAction::Requeue);
    requeue.canary = engine::BulkCanary{.count = 2};
    const InstanceId bulk = begin(requeue);
    run();
    EXPECT_EQ(status(*engine, bulk), "completed");
    EXPECT_EQ(count("completed"), 12);
    EXPECT_THAT(progress(bulk).canaries, SizeIs(2));
}

TEST_F(BulkTest, a_rerun_starts_what_has_failed_again_with_all_that_it_was_started_with) {
    const InstanceId old =
        engine
            ->start(
                "fails",
                Payload::text("12345678901234567890.5"),
                {.key = "order-1", .priority = 7, .labels = {{"tenant", "acme"}, {"total", 2.5}}}
            )
            .id;
    engine->poll();
    ASSERT_EQ(status(*engine, old), "failed");
    world.clock.advance(1ms);
    Definition repaired = workflow({step("a", {.is_compensated = false})});
    repaired.name = "fails";
    repaired.version = 2;
    engine->register_workflow(repaired);
    BulkJob rerun = job(BulkAction::Rerun);
    rerun.where = "status == \"failed\"";
    const InstanceId bulk = begin(rerun);
    run();
    const InstanceView again = engine->show(rerun_of(old));
    EXPECT_EQ(again.summary.status, InstanceStatus::Completed);
    EXPECT_EQ(again.summary.version, 2);
    EXPECT_EQ(again.summary.priority, 7);
    EXPECT_EQ(
        again.summary.labels,
        (Labels{{"ebb.rerun_of", old.to_string()}, {"tenant", "acme"}, {"total", 2.5}})
    );
    EXPECT_EQ(again.input, "12345678901234567890.5");
    EXPECT_EQ(
        world.store->history({.instance = again.summary.id, .limit = 1}).at(0).worker,
        engine::bulk_author(rerun, bulk)
    );
    EXPECT_EQ(status(*engine, old), "failed");
    EXPECT_EQ(engine->find_key("fails", "order-1"), old);
    EXPECT_EQ(progress(bulk).done, 1);
}

TEST_F(BulkTest, a_rerun_starts_the_work_of_an_instance_once_however_often_it_is_repeated) {
    const std::vector<InstanceId> failed = start("fails", 3);
    const InstanceId bulk = begin(job(BulkAction::Rerun));
    world.clock.advance(2ms);
    const Handler& handler = *world.handlers.find("ebb:bulk");
    const StepContext context{.instance = bulk, .step = "turn"};
    const Payload first = engine::to_payload(BulkProgress{.matched = 3});
    EXPECT_EQ(engine::parse_bulk_progress(handler(first, context)).done, 3);
    EXPECT_EQ(engine::parse_bulk_progress(handler(first, context)).done, 3);
    engine->poll();
    EXPECT_EQ(count("failed"), 6);
    world.clock.advance(1min);
    // What was started again has failed, too: only that is started once more.
    const InstanceId second = begin(job(BulkAction::Rerun));
    run();
    const BulkProgress result = progress(second);
    EXPECT_EQ(result.done, 3);
    EXPECT_EQ(result.unchanged, 3);
    EXPECT_EQ(count("failed"), 9);
    ASSERT_THAT(result.skips, SizeIs(3));
    EXPECT_EQ(
        result.skips.at(0).message,
        "It was rerun before, as " + rerun_of(failed.at(2)).to_string() + "."
    );
}

TEST_F(BulkTest, a_rerun_leaves_alone_what_it_has_started_itself) {
    start("fails", 3);
    const InstanceId bulk = begin(job(BulkAction::Rerun));
    const Handler& handler = *world.handlers.find("ebb:bulk");
    const StepContext context{.instance = bulk, .step = "turn"};
    const Payload first = engine::to_payload(BulkProgress{.matched = 3});
    handler(first, context);
    // By the clock, which stands still, they are as old as the bulk.
    engine->poll();
    const BulkProgress again = engine::parse_bulk_progress(handler(first, context));
    EXPECT_EQ(again.done, 3);
    EXPECT_EQ(again.skipped, 3);
    EXPECT_EQ(again.skips.at(0).message, "This operation has started it.");
    EXPECT_EQ(count("failed"), 6);
}

TEST_F(BulkTest, a_rerun_leaves_alone_what_has_not_failed) {
    const InstanceId running = start("waits", 1).at(0);
    const InstanceId dead = start("sad", 1).at(0);
    is_broken = false;
    const InstanceId completed = engine->start("fails", Payload::text("1"), {.key = "k1"}).id;
    engine->poll();
    const InstanceId cancelled = start("waits", 1).at(0);
    engine->cancel(cancelled);
    run();
    world.clock.advance(1ms);
    BulkJob rerun = job(BulkAction::Rerun);
    rerun.ids = {running, dead, completed, cancelled};
    const InstanceId bulk = begin(rerun);
    run();
    const BulkProgress result = progress(bulk);
    EXPECT_EQ(result.done, 1);
    EXPECT_EQ(result.skipped, 3);
    ASSERT_THAT(result.skips, SizeIs(3));
    EXPECT_THAT(result.skips.at(0).message, HasSubstr("It is running."));
    EXPECT_THAT(result.skips.at(1).message, HasSubstr("A requeue continues it."));
    EXPECT_THAT(result.skips.at(2).message, HasSubstr("It is completed."));
    EXPECT_EQ(result.skips.at(2).key, "k1");
    EXPECT_EQ(result.skips.at(2).code, "invalid_state");
    EXPECT_TRUE(engine->find_key("waits", "rerun:" + cancelled.to_string()));
}

TEST_F(BulkTest, a_rerun_whose_input_the_newest_version_refuses_is_skipped) {
    start("fails", 2);
    Definition strict = workflow({step("a")});
    strict.name = "fails";
    strict.version = 2;
    strict.input_schema = Payload::text(R"({"type": "object"})");
    engine->register_workflow(strict);
    const InstanceId bulk = begin(job(BulkAction::Rerun));
    run();
    EXPECT_EQ(status(*engine, bulk), "completed");
    EXPECT_EQ(progress(bulk).skipped, 2);
    EXPECT_EQ(progress(bulk).skips.at(0).code, "invalid_payload");
}

TEST_F(BulkTest, a_canary_of_a_rerun_is_what_was_started) {
    start("fails", 12);
    BulkJob rerun = job(BulkAction::Rerun);
    rerun.canary = engine::BulkCanary{};
    const InstanceId bulk = begin(rerun);
    run();
    EXPECT_EQ(count("failed"), 13);
    is_broken = false;
    engine->signal(bulk, engine::kBulkTurn, Payload::text("{}"));
    run();
    EXPECT_EQ(status(*engine, bulk), "completed");
    EXPECT_EQ(count("completed"), 11);
    EXPECT_EQ(count("failed"), 13);
}

TEST_F(BulkTest, a_skip_names_the_key_of_the_instance) {
    const InstanceId ended = engine->start("waits", Payload::text("1"), {.key = "order-17"}).id;
    engine->abort(ended);
    world.clock.advance(1ms);
    const InstanceId hidden = engine->start("others", Payload::text("1"), {.key = "secret"}).id;
    world.clock.advance(1ms);
    BulkJob pause = job(BulkAction::Pause);
    pause.workflows = "waits";
    pause.ids = {ended, hidden};
    const InstanceId bulk = begin(pause);
    run();
    ASSERT_THAT(progress(bulk).skips, SizeIs(2));
    EXPECT_EQ(progress(bulk).skips.at(0).key, "order-17");
    EXPECT_EQ(progress(bulk).skips.at(1).key, "");
    EXPECT_EQ(
        view::bulk_json(*world.store, *engine->find(bulk)).at("skips").at(0).at("key"), "order-17"
    );
}

TEST_F(BulkTest, has_the_id_that_its_request_has_chosen) {
    const InstanceId id = make_instance_id(world.clock);
    const BulkJob pause = job(BulkAction::Pause);
    EXPECT_EQ(engine::start_bulk(*world.store, pause, "~k", id).id, id);
    EXPECT_EQ(engine::start_bulk(*world.store, pause, "~k").id, id);
}

TEST_F(BulkTest, a_key_names_one_bulk) {
    const BulkJob pause = job(BulkAction::Pause);
    const StartedInstance first = engine::start_bulk(*world.store, pause, "~k");
    const StartedInstance again = engine::start_bulk(*world.store, pause, "~k");
    EXPECT_EQ(again.id, first.id);
    EXPECT_FALSE(again.is_new);
}

TEST_F(BulkTest, limits_that_an_operator_has_set_stay) {
    begin(job(BulkAction::Pause));
    engine->set_queue(engine::kBulkQueue, {.concurrency = 7});
    begin(job(BulkAction::Pause));
    EXPECT_EQ(
        world.store->queues({.name = std::string(engine::kBulkQueue)})
            .at(0)
            .view.limits.concurrency,
        7
    );
}

TEST(BulkJobText, is_read_back_as_it_was) {
    const InstanceId id = *InstanceId::parse("019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d");
    const BulkJob job{
        .action = BulkAction::Requeue,
        .ids = {id},
        .workflows = "a,b",
        .before = id,
        .at = TimePoint(std::chrono::hours(24 * 365 * 50)),
        .by = "ann",
        .reason = "say \"why\"",
        .rate = engine::BulkRate{100, 1s},
        .canary = engine::BulkCanary{3, 5min},
    };
    EXPECT_EQ(engine::parse_bulk_job(engine::to_payload(job)), job);
    const BulkProgress progress{
        .matched = 7,
        .done = 1,
        .unchanged = 2,
        .skipped = 3,
        .failed = 4,
        .skips = {{id, "order-17", "invalid_state", "It has ended."}},
        .before = id,
        .next = 5,
        .canaries = {id},
        .canaries_until = job.at,
        .has_passed_canary = true,
        .is_done = true,
        .pause = 1.5,
    };
    EXPECT_EQ(engine::parse_bulk_progress(engine::to_payload(progress)), progress);
    EXPECT_THROW(engine::parse_bulk_job(Payload::text("[]")), Error);
    EXPECT_THROW(engine::parse_bulk_progress(Payload::text("{\"done\": \"x\"}")), Error);
}

TEST(BulkJobText, a_rate_is_a_number_in_a_time) {
    EXPECT_EQ(engine::parse_bulk_rate("100/1s"), (engine::BulkRate{100, 1s}));
    EXPECT_EQ(engine::parse_bulk_rate("6/1h30m"), (engine::BulkRate{6, 90min}));
    for (const char* wrong :
         {"", "100", "100/", "/1s", "0/1s", "-1/1s", "1.5/1s", "10/0s", "10/x"}) {
        EXPECT_EQ(engine::parse_bulk_rate(wrong), std::nullopt) << wrong;
    }
}

TEST(BulkJobText, a_long_name_leaves_the_mark_of_the_bulk) {
    const InstanceId id = *InstanceId::parse("019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d");
    const std::string author = engine::bulk_author({.by = std::string(300, 'x')}, id);
    EXPECT_EQ(author.size(), 256U);
    EXPECT_TRUE(author.ends_with("(bulk 019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d)"));
}

}  // namespace
}  // namespace ebb::test
