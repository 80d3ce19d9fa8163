// Goal: an instance that moves between a store and a snapshot has exactly one owner at any time,
// loses nothing, and ends as it would have at home. Method: the golden workflows are played while
// the instance changes its owner after every step, over all stores; then what must be refused, a
// handler that runs, a worker that died, a crash at every write, and a process that is killed
// between export and import.

#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>
#include <ebb/stateless.h>

#include "fault_at_call.h"
#include "over_stores.h"
#include "stateless_player.h"
#include "store/sqlite/sqlite_store.h"
#include "support/store_process.h"

namespace ebb::golden {
namespace {

using namespace std::chrono_literals;
using stateless::Snapshot;
using ::testing::HasSubstr;
using Keep = stateless::HistoryPolicy::Keep;
using WithStore = void (*)(const Use&);

/// Where several handlers run at once, or branches take their turns in the order of the tasks, the
/// way is another one when the owner changes.
bool depends_on_turns(const Case& test_case) {
    const std::string definition = definition_to_json(test_case.definition).dump();
    return definition.find("\"parallel\"") != std::string::npos;
}

/// Empty: the same handlers are called, and it ends as it would have without travelling. Where
/// branches may take other turns, it must at least end the same.
std::string compare(
    WithStore with_store, const Case& test_case, const stateless::HistoryPolicy& policy
) {
    const std::string wanted = only_calls_and_end(play_stateless(test_case, {}));
    std::string told;
    with_store([&](Store& store, ManualClock& clock) {
        told = only_calls_and_end(play_travelling(test_case, policy, store, clock));
    });
    const auto status = [](const std::string& text) { return text.substr(text.find("status:")); };
    if (told == wanted) return {};
    if (depends_on_turns(test_case) && status(told) == status(wanted)) return {};
    return "it ends as\n" + told + "instead of\n" + wanted;
}

TEST(TransferGolden, every_workflow_ends_the_same_while_it_changes_its_owner) {
    int same = 0;
    for (const Case& test_case : load_cases(workflows_folder())) {
        if (needs_processes(test_case) || needs_watchdog(test_case.name)) continue;
        SCOPED_TRACE(test_case.name);
        EXPECT_EQ(compare(with_memory, test_case, {}), "");
        if (++same % 3 != 0) continue;
        EXPECT_EQ(compare(with_memory, test_case, {.keep = Keep::ErrorsOnly}), "");
    }
    EXPECT_GE(same, 150);
}

TEST(TransferGolden, the_other_stores_do_the_same) {
    int turn = 0;
    for (const Case& test_case : load_cases(workflows_folder())) {
        if (needs_processes(test_case) || needs_watchdog(test_case.name)) continue;
        if (++turn % 12 != 0) continue;
        SCOPED_TRACE(test_case.name);
        EXPECT_EQ(compare(with_sqlite, test_case, {}), "");
        EXPECT_EQ(compare(with_postgres, test_case, {.keep = Keep::ErrorsOnly}), "");
    }
}

/// A workflow of two steps, a decision and a third step, with compensations.
struct World {
    HandlerRegistry handlers;
    std::vector<std::string> calls;
    std::function<void()> during_pay = [] {};
    Definition definition;

    World() {
        WorkflowBuilder builder("order");
        builder.step("reserve").compensate("release");
        builder.step("pay").compensate("refund");
        builder.decision("approval");
        builder.step("ship");
        definition = builder.build();
        for (const char* name : {"reserve", "release", "refund", "ship"}) add(name, [] {});
        add("pay", [this] { during_pay(); });
    }

    void add(const std::string& name, std::function<void()> act) {
        handlers.add_raw(name, [this, name, act](const Payload& input, const StepContext&) {
            calls.push_back(name);
            act();
            return input;
        });
    }

    EngineOptions options(Clock& clock, std::string worker = "w") const {
        return {.worker_id = std::move(worker), .threads = 1, .lease = 1h, .clock = &clock};
    }

    stateless::Engine engine(Clock& clock) const {
        stateless::EngineOptions made;
        made.clock = &clock;
        stateless::Engine engine(handlers, made);
        engine.add(definition);
        return engine;
    }
};

void expect_error(ErrorCode code, const std::string& part, const std::function<void()>& act) {
    try {
        act();
        ADD_FAILURE() << "nothing was thrown; expected: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_THAT(error.what(), HasSubstr(part));
    }
}

class Transfer : public OverStores {};

INSTANTIATE_TEST_SUITE_P(Stores, Transfer, ::testing::Values(0, 1, 2), name_of_store);

TEST_P(Transfer, goes_out_lives_elsewhere_and_comes_back) {
    with_store([](Store& store, ManualClock& clock) {
        World world;
        Engine durable(store, world.handlers, world.options(clock));
        durable.register_workflow(world.definition);
        const InstanceId id = durable.start("order", Payload::text("{\"n\":1}"), {.key = "k"}).id;
        ASSERT_TRUE(durable.run_one());
        const std::string text = durable.export_instance(id, {.by = "ann"});

        EXPECT_EQ(durable.find(id)->status, "moved");
        EXPECT_TRUE(store.tasks(id).empty());
        EXPECT_FALSE(durable.run_one());
        EXPECT_THAT(durable.why(id), HasSubstr("moved"));
        EXPECT_EQ(durable.wait(id, 1h).status, "moved");
        expect_error(ErrorCode::InvalidState, "moved", [&] { durable.cancel(id); });
        expect_error(ErrorCode::InvalidState, "moved", [&] { durable.pause(id); });
        EXPECT_EQ(durable.export_instance(id), text);

        const stateless::Engine elsewhere = world.engine(clock);
        Snapshot snapshot = elsewhere.parse(text);
        EXPECT_EQ(snapshot.to_json(), text);
        EXPECT_EQ(snapshot.instance(), id);
        EXPECT_EQ(snapshot.key(), "k");
        EXPECT_EQ(snapshot.status(), stateless::SnapshotStatus::Active);
        EXPECT_EQ(snapshot.current_node(), "pay");
        EXPECT_EQ(snapshot.version(), durable.find(id)->revision);
        snapshot.set_metadata(R"({"customer":"bob"})");
        snapshot = elsewhere.execute(std::move(snapshot));
        EXPECT_EQ(snapshot.status(), stateless::SnapshotStatus::Paused);
        snapshot = elsewhere.release(std::move(snapshot), "ann");
        EXPECT_EQ(elsewhere.execute(snapshot).version(), snapshot.version());
        expect_error(ErrorCode::InvalidState, "moved", [&] {
            elsewhere.decide(snapshot, {.by = "ann"});
        });

        const ImportedInstance back = durable.import_snapshot(snapshot.to_json());
        EXPECT_EQ(back.id, id);
        EXPECT_TRUE(back.is_new);
        EXPECT_FALSE(durable.import_snapshot(snapshot.to_json()).is_new);
        EXPECT_EQ(durable.show(id).waiting_for.at(0).kind, "decision");
        durable.decide(id, {.verdict = PersonalDecision::Verdict::Reject, .by = "ann"});
        EXPECT_EQ(durable.wait(id, 1h).status, "failed");
        EXPECT_EQ(world.calls, (std::vector<std::string>{"reserve", "pay", "refund", "release"}));
        EXPECT_EQ(durable.find_key("order", "k"), id);
        expect_error(ErrorCode::InvalidState, "failed", [&] { durable.export_instance(id); });
        expect_error(ErrorCode::InvalidState, "did not come from this snapshot", [&] {
            durable.import_snapshot(text);
        });
    });
}

TEST_P(Transfer, moves_to_another_store_under_its_own_name) {
    with_store([](Store& store, ManualClock& clock) {
        World world;
        const stateless::Engine elsewhere = world.engine(clock);
        Snapshot snapshot = elsewhere.step(elsewhere.start(
            "order",
            Payload::text("1"),
            {.workflow_id = "order-17", .metadata = R"({"customer":"bob"})"}
        ));
        Engine durable(store, world.handlers, world.options(clock));
        expect_error(ErrorCode::WorkflowNotFound, "order", [&] {
            durable.import_snapshot(snapshot.to_json());
        });
        durable.register_workflow(world.definition);
        const InstanceId id = durable.import_snapshot(snapshot.to_json()).id;
        EXPECT_EQ(id, snapshot.instance());
        ASSERT_TRUE(durable.run_one());
        const Snapshot back = elsewhere.parse(durable.export_instance(id));
        EXPECT_EQ(back.workflow_id(), "order-17");
        EXPECT_EQ(back.metadata(), R"({"customer":"bob"})");
        EXPECT_GT(back.version(), snapshot.version());
        expect_error(ErrorCode::InvalidState, "is not what was moved out", [&] {
            durable.import_snapshot(snapshot.to_json());
        });
        const Snapshot ended = elsewhere.execute(elsewhere.cancel(back));
        EXPECT_EQ(ended.instance_status(), "cancelled");
        EXPECT_EQ(world.calls, (std::vector<std::string>{"reserve", "pay", "refund", "release"}));
        expect_error(ErrorCode::InvalidState, "cancelled", [&] {
            durable.import_snapshot(ended.to_json());
        });
    });
}

TEST_P(Transfer, refuses_a_key_of_another) {
    with_store([](Store& store, ManualClock& clock) {
        World world;
        Engine durable(store, world.handlers, world.options(clock));
        durable.register_workflow(world.definition);
        durable.start("order", Payload::text("1"), {.key = "k"});
        const Snapshot snapshot =
            world.engine(clock).start("order", Payload::text("1"), {.key = "k"});
        expect_error(ErrorCode::InvalidState, "belongs to instance", [&] {
            durable.import_snapshot(snapshot.to_json());
        });
        EXPECT_FALSE(durable.find(snapshot.instance()));
    });
}

TEST_P(Transfer, leaves_an_instance_alone_whose_handler_runs) {
    with_store([](Store& store, ManualClock& clock) {
        World world;
        Engine other(store, world.handlers, world.options(clock, "other"));
        Engine durable(store, world.handlers, world.options(clock));
        durable.register_workflow(world.definition);
        const InstanceId id = durable.start("order", Payload::text("1")).id;
        world.during_pay = [&] {
            expect_error(ErrorCode::InvalidState, "worker w holds", [&] {
                other.export_instance(id);
            });
            EXPECT_EQ(other.find(id)->status, "running");
        };
        durable.poll();
        EXPECT_EQ(world.calls, (std::vector<std::string>{"reserve", "pay"}));
        EXPECT_EQ(durable.show(id).waiting_for.at(0).kind, "decision");
        const Snapshot snapshot = world.engine(clock).parse(other.export_instance(id));
        EXPECT_EQ(snapshot.status(), stateless::SnapshotStatus::Paused);
        EXPECT_EQ(snapshot.waiting_for().at(0).kind, "decision");
    });
}

TEST_P(Transfer, takes_what_a_dead_worker_held_when_its_lease_is_over) {
    with_store([](Store& store, ManualClock& clock) {
        World world;
        Fault fault;
        auto dying = std::make_unique<FaultAtCall>(store, fault);
        auto dead = std::make_unique<Engine>(*dying, world.handlers, world.options(clock, "dead"));
        dead->register_workflow(world.definition);
        const InstanceId id = dead->start("order", Payload::text("1")).id;
        world.during_pay = [&] { dying->die(); };
        try {
            dead->poll();
        } catch (const testing::SimulatedCrash&) {
            world.during_pay = [] {};
        }
        Engine durable(store, world.handlers, world.options(clock));
        expect_error(ErrorCode::InvalidState, "worker dead holds", [&] {
            durable.export_instance(id);
        });
        clock.advance(2h);
        const stateless::Engine elsewhere = world.engine(clock);
        world.during_pay = [] {};
        Snapshot snapshot = elsewhere.parse(durable.export_instance(id));
        snapshot = elsewhere.execute(std::move(snapshot), {.retry_now = true});
        EXPECT_EQ(world.calls, (std::vector<std::string>{"reserve", "pay", "pay"}));
        EXPECT_EQ(snapshot.waiting_for().at(0).kind, "decision");
    });
}

/// Exports, lives elsewhere for a step and imports, with one fault at the n-th call of the store.
/// Returns whether there was such a call.
bool travel_with_fault(Store& store, ManualClock& clock, Fault::Kind kind, int nth) {
    World world;
    Fault fault{.kind = kind, .nth = nth};
    InstanceId id;
    {
        Engine durable(store, world.handlers, world.options(clock, "first"));
        durable.register_workflow(world.definition);
        id = durable.start("order", Payload::text("1")).id;
        durable.run_one();
        durable.drain(0s);
    }
    const stateless::Engine elsewhere = world.engine(clock);
    std::string text;
    bool is_back = false;
    for (int tries = 0; tries < 10 && !is_back; ++tries) {
        FaultAtCall faulty(store, fault);
        // A crashed process is gone: the next process repeats its work.
        Engine durable(faulty, world.handlers, world.options(clock, fmt::format("w{}", tries)));
        try {
            if (text.empty()) {
                const std::string exported = durable.export_instance(id);
                text = elsewhere.step(elsewhere.parse(exported)).to_json();
            }
            durable.import_snapshot(text);
            is_back = true;
        } catch (const testing::SimulatedCrash&) {
            continue;
        } catch (const Error& error) {
            EXPECT_TRUE(error.is_transient() || error.code() == ErrorCode::StoreInDoubt)
                << error.what();
        }
    }
    EXPECT_TRUE(is_back);
    Engine last(store, world.handlers, world.options(clock, "last"));
    last.decide(id, {.by = "ann"});
    EXPECT_EQ(last.wait(id, 10h).status, "completed");
    EXPECT_EQ(world.calls, (std::vector<std::string>{"reserve", "pay", "ship"}));
    return fault.has_struck;
}

TEST_P(Transfer, survives_a_crash_at_every_write) {
    using Kind = Fault::Kind;
    for (const Kind kind : {Kind::Fail, Kind::InDoubt, Kind::CrashBefore, Kind::CrashAfter}) {
        for (int nth = 1; nth < 100; nth += stride()) {
            SCOPED_TRACE(fmt::format("fault {} at call {}", static_cast<int>(kind), nth));
            bool has_struck = false;
            with_store([&](Store& store, ManualClock& clock) {
                has_struck = travel_with_fault(store, clock, kind, nth);
            });
            if (!has_struck || ::testing::Test::HasFailure()) break;
        }
    }
}

TEST(TransferProcess, that_is_killed_between_export_and_import_loses_nothing) {
    std::string folder = (std::filesystem::temp_directory_path() / "ebb-move-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    ManualClock clock(kStart);
    World world;
    const auto open = [&] { return make_sqlite_store({.path = folder + "/ebb.db"}, clock); };
    InstanceId id;
    {
        const StorePtr store = open();
        Engine durable(*store, world.handlers, world.options(clock));
        durable.register_workflow(world.definition);
        id = durable.start("order", Payload::text("1")).id;
        durable.run_one();
        durable.drain(0s);
    }
    const pid_t child = testing::fork_process([&] {
        const StorePtr store = open();
        Engine durable(*store, world.handlers, world.options(clock, "child"));
        durable.export_instance(id);
        raise(SIGKILL);  // the text has come no further than this process
        return 0;
    });
    EXPECT_EQ(testing::wait_for(child), 128 + SIGKILL);
    const StorePtr store = open();
    Engine durable(*store, world.handlers, world.options(clock, "next"));
    EXPECT_EQ(durable.find(id)->status, "moved");
    durable.import_snapshot(durable.export_instance(id));
    durable.poll();
    durable.decide(id, {.by = "ann"});
    EXPECT_EQ(durable.wait(id, 10h).status, "completed");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ebb::golden
