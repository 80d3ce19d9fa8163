// Goal: an instance that moves between a durable store and a snapshot store has one owner at every
// moment, loses nothing and runs nothing twice, even if processes crash or sleep. Method: the test
// injects a fault at every call of the two stores, and the next process repeats the call until it
// succeeds. Then a mover sleeps before each of its calls while another mover does all the work.
// Before each call the test checks who could run the instance.

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/error.h>
#include <ebb/move.h>

#include "fault_at_call.h"
#include "over_stores.h"

namespace ebb::golden {
namespace {

using namespace std::chrono_literals;
using stateless::SaveResult;
using stateless::Snapshot;
using stateless::SnapshotStore;
using stateless::StoredRun;
using ::testing::HasSubstr;

constexpr const char* kName = "order";

/// Three steps around a decision, both engines, and their stores.
struct World {
    explicit World(Store& durable, ManualClock& its_clock)
        : clock(its_clock),
          store(durable),
          snapshots(stateless::open_memory_snapshot_store({.clock = &its_clock})) {
        WorkflowBuilder builder(kName);
        builder.step("reserve").compensate("release");
        builder.step("pay").compensate("refund");
        builder.decision("approval");
        builder.step("ship");
        definition = builder.build();
        for (const char* name : {"reserve", "release", "pay", "refund", "ship"}) {
            handlers.add_raw(name, [this, name](const Payload& input, const StepContext& context) {
                calls.emplace_back(name);
                keys.push_back(context.idempotency_key);
                return input;
            });
        }
        stateless::EngineOptions options;
        options.clock = &clock;
        engine = std::make_unique<stateless::Engine>(handlers, options);
        engine->add(definition);
        Engine first = open(store, "first");
        first.register_workflow(definition);
        id = first.start(kName, Payload::text("1")).id;
        first.run_one();
        first.drain(0s);
    }

    Engine open(Store& seen, std::string worker) {
        return Engine(
            seen,
            handlers,
            {.worker_id = std::move(worker), .threads = 1, .lease = 1h, .clock = &clock}
        );
    }

    std::string name() const { return id.to_string(); }

    /// The owners that could run the instance now.
    int owners() {
        const auto row = store.load(id);
        int count = row && row->status != InstanceStatus::Moved;
        if (const auto stored = snapshots->load(name())) {
            count += engine->parse(stored->json).instance_status() != "moved";
        }
        return count;
    }

    bool has_snapshot() { return snapshots->load(name()).has_value(); }

    ManualClock& clock;
    Store& store;
    stateless::SnapshotStorePtr snapshots;
    HandlerRegistry handlers;
    std::unique_ptr<stateless::Engine> engine;
    Definition definition;
    InstanceId id;
    std::vector<std::string> calls;
    std::vector<std::string> keys;
};

/// What happens before each call of a store.
struct Around {
    World& world;
    Fault fault{};
    std::function<void()> nth{};  ///< called instead of a fault, at call fault.nth
    bool is_dead = false;
    bool is_hit = false;

    void before() {
        if (is_dead) throw testing::SimulatedCrash{};
        EXPECT_LE(world.owners(), 1) << "before call " << fault.seen + 1;
        is_hit = ++fault.seen == fault.nth;
        if (!is_hit) return;
        fault.has_struck = true;
        if (nth) return nth();
        if (fault.kind == Fault::Kind::Fail) {
            throw Error(ErrorCode::StoreUnavailable, "The store is down, as the test planned.");
        }
        if (fault.kind == Fault::Kind::CrashBefore) crash();
    }

    void after() {
        EXPECT_LE(world.owners(), 1) << "after call " << fault.seen;
        if (!std::exchange(is_hit, false) || nth) return;
        if (fault.kind == Fault::Kind::InDoubt) {
            throw Error(ErrorCode::StoreInDoubt, "The answer was lost, as the test planned.");
        }
        crash();
    }

    [[noreturn]] void crash() {
        is_dead = true;
        throw testing::SimulatedCrash{};
    }
};

class WatchedStore : public testing::StoreDecorator {
 public:
    WatchedStore(Store& inner, Around& around) : StoreDecorator(inner), around_(around) {}

 protected:
    void before(testing::StoreVerb) override { around_.before(); }

    void after(testing::StoreVerb) override { around_.after(); }

 private:
    Around& around_;
};

class WatchedSnapshots : public SnapshotStore {
 public:
    explicit WatchedSnapshots(Around& around)
        : SnapshotStore({.clock = &around.world.clock}), around_(around) {}

 private:
    template <class Act>
    auto watched(Act act) {
        around_.before();
        auto result = act();
        around_.after();
        return result;
    }

    SnapshotStore& inner() const { return *around_.world.snapshots; }

    Snapshot read(const Row& row) const { return around_.world.engine->parse(row.json); }

    static stateless::SaveOptions options_of(const Row& row) {
        return {.by = row.info.saved_by, .save_id = row.info.save_id, .keep_for = row.keep_for};
    }

    SaveResult insert_row(const Row& row) override {
        return watched([&] { return inner().insert_if_absent(read(row), options_of(row)); });
    }

    SaveResult update_row(const Row& row, std::int64_t expected) override {
        return watched([&] { return inner().save(read(row), expected, options_of(row)); });
    }

    std::optional<stateless::StoredSnapshot> find_row(std::string_view id) override {
        return watched([&] { return inner().load(id); });
    }

    SaveResult remove_row(std::string_view id, const Expected& expected) override {
        return watched([&] { return inner().remove(id, expected); });
    }

    std::vector<stateless::SnapshotInfo> list_rows(const stateless::SnapshotQuery& q) override {
        return inner().list(q);
    }

    std::vector<stateless::SnapshotInfo> due_rows(const stateless::DueQuery& q) override {
        return inner().due(q);
    }

    int purge_rows(int limit) override { return inner().purge(limit); }

    Around& around_;
};

/// A process that moves the instance, and may die.
struct Mover {
    Mover(Around& around, const std::string& name)
        : world(around.world),
          store(world.store, around),
          snapshots(around),
          durable(world.open(store, name)) {}

    void out() { move_out(durable, snapshots, *world.engine, world.id, {.by = "mover"}); }

    void in() { move_in(snapshots, *world.engine, world.name(), durable, {.by = "mover"}); }

    World& world;
    WatchedStore store;
    WatchedSnapshots snapshots;
    Engine durable;
};

/// Repeats a call, as a series of processes would.
void repeat(Around& around, const char* name, void (Mover::*act)()) {
    for (int tries = 0; tries < 10; ++tries) {
        around.is_dead = false;
        Mover mover(around, fmt::format("{}{}", name, tries));
        try {
            return (mover.*act)();
        } catch (const testing::SimulatedCrash&) {
            continue;
        } catch (const Error& error) {
            const bool is_planned = error.is_transient() || error.code() == ErrorCode::StoreInDoubt;
            ASSERT_TRUE(is_planned) << error.what();
        }
    }
    FAIL() << "the call never succeeds";
}

/// What the instance does in its place. Nothing disturbs it there.
void step_elsewhere(World& world) {
    const StoredRun run = run_stored(*world.snapshots, *world.engine, world.name());
    EXPECT_EQ(run.kind, StoredRun::Kind::Saved) << run.sentence();
}

void finish_at_home(World& world) {
    EXPECT_EQ(world.owners(), 1);
    EXPECT_FALSE(world.has_snapshot());
    Engine last = world.open(world.store, "last");
    last.decide(world.id, {.by = "ann"});
    EXPECT_EQ(last.wait(world.id, 10h).status, "completed");
    EXPECT_EQ(world.calls, (std::vector<std::string>{"reserve", "pay", "ship"}));
}

class Moving : public OverStores {};

INSTANTIATE_TEST_SUITE_P(Stores, Moving, ::testing::Values(0, 1, 2), name_of_store);

TEST_P(Moving, leaves_runs_elsewhere_and_comes_back) {
    with_store([](Store& store, ManualClock& clock) {
        World world(store, clock);
        Engine durable = world.open(store, "w");
        const StoredRun out = move_out(durable, *world.snapshots, *world.engine, world.id);
        EXPECT_EQ(out.kind, StoredRun::Kind::Saved);
        EXPECT_EQ(out.snapshot->instance_status(), "running");
        EXPECT_EQ(durable.find(world.id)->status, "moved");
        const StoredRun again = move_out(durable, *world.snapshots, *world.engine, world.id);
        EXPECT_EQ(again.kind, StoredRun::Kind::Idle);
        EXPECT_EQ(again.snapshot->version(), out.snapshot->version());
        step_elsewhere(world);
        const std::int64_t version = world.snapshots->load(world.name())->info.version;
        EXPECT_TRUE(move_in(*world.snapshots, *world.engine, world.name(), durable).is_new);
        EXPECT_FALSE(move_in(*world.snapshots, *world.engine, world.name(), durable).is_new);
        EXPECT_EQ(durable.show(world.id).waiting_for.at(0).kind, "decision");
        const StoredRun second = move_out(durable, *world.snapshots, *world.engine, world.id);
        EXPECT_GT(second.snapshot->version(), version + 1)
            << "a process that read an earlier life must not find its version again";
        move_in(*world.snapshots, *world.engine, world.name(), durable);
        finish_at_home(world);
    });
}

void expect_other_run(const std::function<void()>& act) {
    try {
        act();
        ADD_FAILURE() << "one run was taken for another";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidState);
        EXPECT_THAT(error.what(), HasSubstr("another run of \"order-17\""));
    }
}

TEST_P(Moving, a_run_keeps_its_keys_and_is_not_taken_for_another) {
    with_store([](Store& store, ManualClock& clock) {
        World world(store, clock);
        Engine durable = world.open(store, "w");
        const auto start = [&] {
            const StoredRun run = start_stored(
                *world.snapshots,
                *world.engine,
                kName,
                Payload::text("1"),
                {.workflow_id = "order-17"}
            );
            EXPECT_EQ(run.kind, StoredRun::Kind::Saved);
            return run.snapshot->run_id();
        };
        const std::string first = start();
        const auto move_in_again = [&] {
            return move_in(*world.snapshots, *world.engine, "order-17", durable);
        };
        const ImportedInstance in = move_in_again();
        EXPECT_TRUE(in.is_new);
        world.keys.clear();
        while (durable.run_one()) {
        }
        EXPECT_THAT(world.keys, ::testing::IsSupersetOf({first + ":1", first + ":2"}));
        const std::string second = start();
        EXPECT_NE(second, first);
        expect_other_run([&] { move_in_again(); });
        expect_other_run([&] { move_out(durable, *world.snapshots, *world.engine, in.id); });
        EXPECT_EQ(world.snapshots->load("order-17")->info.run_id, second) << "it is not lost";
        world.snapshots->remove("order-17");
        const StoredRun out = move_out(durable, *world.snapshots, *world.engine, in.id);
        EXPECT_EQ(out.snapshot->run_id(), first);
        EXPECT_EQ(out.snapshot->waiting_for().at(0).kind, "decision");
    });
}

TEST_P(Moving, has_one_owner_whichever_store_call_fails) {
    using Kind = Fault::Kind;
    for (const Kind kind : {Kind::Fail, Kind::InDoubt, Kind::CrashBefore, Kind::CrashAfter}) {
        for (int nth = 1; nth < 200; nth += stride()) {
            SCOPED_TRACE(fmt::format("fault {} at call {}", static_cast<int>(kind), nth));
            bool has_struck = false;
            with_store([&](Store& store, ManualClock& clock) {
                World world(store, clock);
                Around around{.world = world, .fault = {.kind = kind, .nth = nth}};
                repeat(around, "out", &Mover::out);
                step_elsewhere(world);
                repeat(around, "in", &Mover::in);
                finish_at_home(world);
                has_struck = around.fault.has_struck;
            });
            if (!has_struck || ::testing::Test::HasFailure()) break;
        }
    }
}

/// The whole journey, while another process sleeps in the middle of it.
void travel(World& world, bool goes_out_again) {
    Around calm{.world = world};
    Mover mover(calm, "quick");
    mover.out();
    if (world.calls.size() == 1) step_elsewhere(world);
    mover.in();
    if (goes_out_again) mover.out();
}

TEST_P(Moving, has_one_owner_when_a_mover_sleeps_and_wakes_up_late) {
    for (const bool goes_out_again : {false, true}) {
        for (int nth = 1; nth < 200; nth += stride()) {
            SCOPED_TRACE(fmt::format("asleep at call {}, {}", nth, goes_out_again));
            bool has_struck = false;
            with_store([&](Store& store, ManualClock& clock) {
                World world(store, clock);
                Around around{.world = world, .fault = {.nth = nth}};
                around.nth = [&] { travel(world, goes_out_again); };
                Mover slow(around, "slow");
                try {
                    slow.out();
                    if (world.calls.size() == 1) step_elsewhere(world);
                    slow.in();
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::InvalidState) << error.what();
                }
                has_struck = around.fault.has_struck;
                Around calm{.world = world};
                Mover last(calm, "last");
                if (world.calls.size() == 1) {
                    last.out();
                    step_elsewhere(world);
                }
                if (world.has_snapshot()) {
                    last.out();
                    last.in();
                }
                finish_at_home(world);
            });
            if (!has_struck || ::testing::Test::HasFailure()) break;
        }
    }
}

TEST(MovingErrors, say_what_is_wrong) {
    with_memory([](Store& store, ManualClock& clock) {
        World world(store, clock);
        Engine durable = world.open(store, "w");
        const auto expect_error = [](ErrorCode code, const char* part, const auto& act) {
            try {
                act();
                ADD_FAILURE() << "nothing was thrown; expected: " << part;
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), code) << error.what();
                EXPECT_THAT(error.what(), HasSubstr(part));
            }
        };
        expect_error(ErrorCode::InstanceNotFound, "no snapshot of \"missing\"", [&] {
            move_in(*world.snapshots, *world.engine, "missing", durable);
        });
        const Snapshot other =
            world.engine->start(kName, Payload::text("1"), {.workflow_id = world.name()});
        world.snapshots->insert_if_absent(other);
        expect_error(ErrorCode::InvalidState, "a snapshot of another run of", [&] {
            move_out(durable, *world.snapshots, *world.engine, world.id);
        });
        world.snapshots->remove(world.name());
        move_out(durable, *world.snapshots, *world.engine, world.id);
        step_elsewhere(world);
        const auto cancel = [&](Snapshot s) { return world.engine->cancel(std::move(s)); };
        change_stored(*world.snapshots, *world.engine, world.name(), cancel);
        run_stored(*world.snapshots, *world.engine, world.name());
        expect_error(ErrorCode::InvalidState, "cancelled", [&] {
            move_in(*world.snapshots, *world.engine, world.name(), durable);
        });
    });
}

}  // namespace
}  // namespace ebb::golden
