// Goal: of two processes that drive one stored snapshot, exactly one wins each version, whatever
// the transition; the loser knows who won and loses nothing but its own result. Method: for every
// kind of transition two forked children load the same version and save at the same moment.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/error.h>
#include <ebb/stored_run.h>

#include "store/conformance.h"
#include "support/postgres_server.h"
#include "support/store_process.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using stateless::Snapshot;
using stateless::SnapshotStatus;
using stateless::SnapshotStorePtr;
using stateless::StoredRun;
using ::testing::HasSubstr;

constexpr int kSaved = 10;
constexpr int kLost = 11;

/// One kind of transition: how the snapshot comes before it, and what the racers do to it.
struct RaceCase {
    std::string name;
    Payload input;
    std::function<Snapshot(const stateless::Engine&, Snapshot)> prepare;
    std::function<Snapshot(const stateless::Engine&, Snapshot)> race;
    std::string status_after;
    std::string workflow = "order";
};

Snapshot step(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.step(std::move(snapshot), {.retry_now = true});
}

Snapshot run(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.execute(std::move(snapshot), {.retry_now = true});
}

Snapshot stay(const stateless::Engine&, Snapshot snapshot) {
    return snapshot;
}

Snapshot decide(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.decide(std::move(snapshot), {.by = "ann"});
}

Snapshot reject(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.decide(
        std::move(snapshot), {.verdict = PersonalDecision::Verdict::Reject, .by = "ann"}
    );
}

Snapshot signal(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.signal(std::move(snapshot), "paid", Payload::text("1"));
}

Snapshot pause(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.pause(std::move(snapshot), "ann");
}

Snapshot resume(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.resume(std::move(snapshot), "ann");
}

Snapshot cancel(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.cancel(std::move(snapshot), "ann");
}

Snapshot abort(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.abort(std::move(snapshot), "ann");
}

Snapshot requeue(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.requeue(std::move(snapshot), {.skip_compensation = true});
}

Snapshot answer(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.signal(std::move(snapshot), "ask", Payload::text("1"));
}

Snapshot release(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.release(std::move(snapshot), "ann");
}

Snapshot reclaim(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.reclaim(std::move(snapshot), "ann");
}

Snapshot step_hours_later(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.step(std::move(snapshot), {.now = kStart + 2h});
}

Snapshot step_too_late(const stateless::Engine& engine, Snapshot snapshot) {
    return engine.step(std::move(snapshot), {.now = kStart + 25h});
}

Snapshot note(const stateless::Engine&, Snapshot snapshot) {
    snapshot.set_metadata(R"({"customer":"ann"})");
    return snapshot;
}

/// From the start over a decision and a signal to the last step.
Snapshot to_last(const stateless::Engine& engine, Snapshot snapshot) {
    snapshot = decide(engine, run(engine, std::move(snapshot)));
    return signal(engine, run(engine, std::move(snapshot)));
}

Snapshot to_compensation(const stateless::Engine& engine, Snapshot snapshot) {
    return reject(engine, run(engine, std::move(snapshot)));
}

Snapshot to_dead_letter(const stateless::Engine& engine, Snapshot snapshot) {
    return run(engine, to_compensation(engine, std::move(snapshot)));
}

Snapshot to_pause(const stateless::Engine& engine, Snapshot snapshot) {
    return pause(engine, std::move(snapshot));
}

Snapshot to_signal(const stateless::Engine& engine, Snapshot snapshot) {
    return run(engine, decide(engine, run(engine, std::move(snapshot))));
}

/// Through both branches and the rest after them.
Snapshot to_ask(const stateless::Engine& engine, Snapshot snapshot) {
    return step_hours_later(engine, run(engine, std::move(snapshot)));
}

Snapshot to_answer(const stateless::Engine& engine, Snapshot snapshot) {
    return step(engine, to_ask(engine, std::move(snapshot)));
}

Snapshot to_answered(const stateless::Engine& engine, Snapshot snapshot) {
    return answer(engine, to_answer(engine, std::move(snapshot)));
}

const std::array kRaces{
    RaceCase{"step", "\"good\"", stay, step, "paused"},
    RaceCase{"failed_attempt", "\"flaky\"", stay, step, "error"},
    RaceCase{"retry", "\"flaky\"", step, step, "paused"},
    RaceCase{"failure_for_good", "\"bad\"", stay, step, "active"},
    RaceCase{"decision", "\"good\"", run, decide, "paused"},
    RaceCase{"rejection", "\"good\"", run, reject, "active"},
    RaceCase{"signal", "\"good\"", to_signal, signal, "active"},
    RaceCase{"pause", "\"good\"", stay, pause, "paused"},
    RaceCase{"resume", "\"good\"", to_pause, resume, "active"},
    RaceCase{"compensation", "\"good\"", to_compensation, step, "failed"},
    RaceCase{"dead_letter", "\"stuck\"", to_compensation, step, "paused"},
    RaceCase{"requeue", "\"stuck\"", to_dead_letter, requeue, "failed"},
    RaceCase{"cancel", "\"good\"", run, cancel, "active"},
    RaceCase{"abort", "\"good\"", run, abort, "failed"},
    RaceCase{"complete", "\"good\"", to_last, step, "completed"},
    RaceCase{"metadata", "\"good\"", stay, note, "active"},
    RaceCase{"release", "\"good\"", stay, release, "paused"},
    RaceCase{"reclaim", "\"good\"", release, reclaim, "active"},
    RaceCase{"branch", "\"good\"", stay, step, "active", "errand"},
    RaceCase{"join", "\"good\"", step, step, "paused", "errand"},
    RaceCase{"timer", "\"good\"", run, step_hours_later, "active", "errand"},
    RaceCase{"deadline", "\"good\"", stay, step_too_late, "active", "errand"},
    RaceCase{"pausing_step", "\"good\"", to_ask, step, "paused", "errand"},
    RaceCase{"payload_of_a_step", "\"good\"", to_answer, answer, "active", "errand"},
    RaceCase{"resumed_step", "\"good\"", to_answered, step, "completed", "errand"},
    RaceCase{"savepoint", "\"bad\"", to_ask, step, "active", "errand"},
};

class SnapshotRaces : public ::testing::TestWithParam<std::string> {
 protected:
    SnapshotRaces() : engine_(handlers(), {.clock = &clock_}) {
        // Before any fork, or each child would start a server of its own.
        if (GetParam() == "postgresql") postgres_server();
        engine_.add(definition());
        engine_.add(errand());
    }

    static Definition definition() {
        WorkflowBuilder builder("order");
        builder.step("pay")
            .max_attempts(2)
            .backoff({.strategy = Backoff::Strategy::Fixed, .initial = 10s, .jitter = 0})
            .compensate("refund", {.max_attempts = 1});
        builder.decision("approval");
        builder.signal("paid");
        builder.step("ship");
        return builder.build();
    }

    /// Has the kinds of transitions that an order has not.
    static Definition errand() {
        WorkflowBuilder builder("errand");
        builder.deadline(24h);
        builder.parallel(
            "both",
            {{"left", [](BlockBuilder& branch) { branch.step("left", {.handler = "ship"}); }},
             {"right", [](BlockBuilder& branch) { branch.step("right", {.handler = "ship"}); }}}
        );
        builder.delay("rest", 1h);
        builder.savepoint("mark").resume();
        builder.step("ask");
        return builder.build();
    }

    static const HandlerRegistry& handlers() {
        static const HandlerRegistry registry = [] {
            HandlerRegistry made;
            made.add_raw("pay", [](const Payload& input, const StepContext& context) {
                if (input == "\"bad\"") throw PermanentError("no");
                if (input == "\"flaky\"" && context.attempt == 1) throw std::runtime_error("boom");
                return input;
            });
            made.add_raw("refund", [](const Payload& input, const StepContext&) {
                if (input.find("stuck") != Payload::npos) throw std::runtime_error("stuck");
                return input;
            });
            made.add_raw("ship", [](const Payload& input, const StepContext&) { return input; });
            made.add_raw("ask", [](const Payload& input, const StepContext& context) {
                if (input.find("bad") != Payload::npos) throw PermanentError("no");
                if (!context.payload) context.pause();
                return input;
            });
            return made;
        }();
        return registry;
    }

    SnapshotStorePtr open() {
        if (GetParam() == "sqlite") {
            return stateless::open_sqlite_snapshot_store({.path = dir_.file("app.db")});
        }
        return stateless::open_postgres_snapshot_store(
            {.url = postgres_server().url(), .schema = schema_}
        );
    }

    /// Runs `racer(n)` in two processes, which both wait at `gate` until both are there.
    /// Returns their exit codes, the smaller one first.
    template <class Racer>
    std::array<int, 2> race(Racer racer) {
        int ready[2];
        int gate[2];
        if (pipe(ready) != 0 || pipe(gate) != 0) throw std::runtime_error("pipe failed");
        std::array<pid_t, 2> children{};
        for (std::size_t n = 0; n < 2; ++n) {
            children.at(n) = fork_process([&] {
                close(gate[1]);
                const auto wait_at_gate = [&] {
                    char byte = 'r';
                    if (write(ready[1], &byte, 1) != 1) throw std::runtime_error("no parent");
                    // Ends when the parent closes its end.
                    while (read(gate[0], &byte, 1) > 0) {
                    }
                };
                return racer(fmt::format("racer-{}", n), wait_at_gate);
            });
        }
        char byte = 0;
        for (int n = 0; n < 2; ++n) EXPECT_EQ(read(ready[0], &byte, 1), 1);
        close(gate[1]);
        std::array<int, 2> codes{wait_for(children[0]), wait_for(children[1])};
        std::sort(codes.begin(), codes.end());
        for (const int end : {ready[0], ready[1], gate[0]}) close(end);
        return codes;
    }

    TempDir dir_;
    std::string schema_ = fresh_schema();
    ManualClock clock_{kStart};
    stateless::Engine engine_;
};

INSTANTIATE_TEST_SUITE_P(
    Databases,
    SnapshotRaces,
    ::testing::Values("sqlite", "postgresql"),
    [](const auto& kind) { return kind.param; }
);

constexpr std::array kOneWins{kSaved, kLost};

TEST_P(SnapshotRaces, exactly_one_process_wins_each_version_of_every_transition) {
    for (const RaceCase& each : kRaces) {
        SCOPED_TRACE(each.name);
        const Snapshot before = each.prepare(
            engine_, engine_.start(each.workflow, each.input, {.workflow_id = each.name})
        );
        open()->insert_if_absent(before);
        const auto codes = race([&](const std::string& by, const auto& wait_at_gate) {
            const SnapshotStorePtr store = open();
            const Snapshot read = engine_.parse(store->load(each.name)->json);
            const Snapshot next = each.race(engine_, read);
            wait_at_gate();
            const auto result = store->save(next, read.version(), {.by = by});
            if (result.kind == stateless::SaveResult::Kind::Saved) return kSaved;
            const bool knows_winner = result.current.saved_by.starts_with("racer-") &&
                                      result.current.saved_by != by &&
                                      result.current.version == read.version() + 1;
            return knows_winner ? kLost : 1;
        });
        EXPECT_EQ(codes, kOneWins);
        const auto stored = open()->load(each.name);
        EXPECT_EQ(stored->info.version, before.version() + 1);
        EXPECT_EQ(to_string(stored->info.status), each.status_after);
        EXPECT_EQ(engine_.parse(stored->json).version(), before.version() + 1);
    }
}

TEST_P(SnapshotRaces, exactly_one_process_starts_an_instance) {
    open();
    const auto codes = race([&](const std::string& by, const auto& wait_at_gate) {
        const SnapshotStorePtr store = open();
        wait_at_gate();
        const StoredRun run =
            start_stored(*store, engine_, "order", "\"good\"", {.workflow_id = "one"}, {.by = by});
        return run.kind == StoredRun::Kind::Saved ? kSaved : kLost;
    });
    EXPECT_EQ(codes, kOneWins);
}

TEST_P(SnapshotRaces, a_loser_of_run_stored_ends_and_says_who_won) {
    const SnapshotStorePtr store = open();
    store->insert_if_absent(
        engine_.start("order", Payload::text("\"good\""), {.workflow_id = "one"})
    );
    HandlerRegistry slow;
    for (const char* name : {"refund", "ship"}) {
        slow.add_raw(name, [](const Payload& input, const StepContext&) { return input; });
    }
    slow.add_raw("pay", [&](const Payload& input, const StepContext&) {
        // Meanwhile another process does the same step.
        const StoredRun theirs = run_stored(*open(), engine_, "one", {.by = "other"});
        EXPECT_EQ(theirs.kind, StoredRun::Kind::Saved);
        return input;
    });
    stateless::Engine slow_engine(slow, {.clock = &clock_});
    slow_engine.add(definition());
    const StoredRun mine = run_stored(*store, slow_engine, "one", {.by = "me"});
    EXPECT_EQ(mine.kind, StoredRun::Kind::Lost);
    EXPECT_EQ(mine.winner.saved_by, "other");
    EXPECT_EQ(mine.winner.version, 1);
    EXPECT_FALSE(mine.snapshot);
    EXPECT_THAT(
        mine.sentence(), HasSubstr("one has changed in the meantime: version 1 was saved by other")
    );
}

TEST_P(SnapshotRaces, run_stored_saves_every_step_and_continues_to_the_end) {
    const SnapshotStorePtr store = open();
    const StoredRun started =
        start_stored(*store, engine_, "order", "\"good\"", {.workflow_id = "one"}, {.by = "me"});
    EXPECT_EQ(started.kind, StoredRun::Kind::Saved);
    EXPECT_EQ(
        start_stored(*store, engine_, "order", "1", {.workflow_id = "one"}).kind,
        StoredRun::Kind::Idle
    );
    EXPECT_EQ(run_stored(*store, engine_, "two").kind, StoredRun::Kind::NotFound);
    EXPECT_EQ(run_stored(*store, engine_, "one").saves, 1);
    EXPECT_EQ(run_stored(*store, engine_, "one").kind, StoredRun::Kind::Idle);
    change_stored(*store, engine_, "one", [&](Snapshot read) {
        return decide(engine_, std::move(read));
    });
    const StoredRun last = run_stored(
        *store, engine_, "one", {.execute = {.payload = "7"}, .by = "me", .keep_finished_for = 1h}
    );
    EXPECT_EQ(last.saves, 2);
    ASSERT_TRUE(last.snapshot);
    EXPECT_EQ(last.snapshot->status(), SnapshotStatus::Completed);
    EXPECT_EQ(last.snapshot->output(), "7");
    const auto info = store->load("one")->info;
    EXPECT_EQ(info.version, 4);
    EXPECT_EQ(info.expires_at, info.updated_at + 1h);
}

TEST_P(SnapshotRaces, what_comes_from_outside_is_never_lost) {
    open()->insert_if_absent(
        engine_.start("order", Payload::text("\"good\""), {.workflow_id = "one"})
    );
    const auto codes = race([&](const std::string& by, const auto& wait_at_gate) {
        const SnapshotStorePtr store = open();
        wait_at_gate();
        for (int n = 0; n < 10; ++n) {
            const StoredRun run = change_stored(*store, engine_, "one", [&](Snapshot read) {
                return engine_.signal(
                    std::move(read), "paid", Payload::text("1"), fmt::format("{}-{}", by, n)
                );
            });
            if (run.kind != StoredRun::Kind::Saved) return 1;
        }
        return kSaved;
    });
    EXPECT_EQ(codes, (std::array{kSaved, kSaved}));
    EXPECT_EQ(open()->load("one")->info.version, 20);
}

}  // namespace
}  // namespace ebb::testing
