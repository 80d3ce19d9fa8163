// The life of `ebb serve --demo`: it shows every state, ends in the present, is the same for one
// seed, and another database is never changed. Each test fills a store at a fixed date and looks at
// its instances.

#include "cli/demo.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <ebb/error.h>

#include "cli/definition_file.h"
#include "cli/open_store.h"
#include "support/os_file.h"

namespace ebb::cli {

namespace {

const TimePoint kPresent(
    std::chrono::sys_days(std::chrono::year(2021) / 6 / 12) + std::chrono::hours(9)
);

struct Shown {
    std::map<std::string, std::string> keys{};  ///< by key, the workflow
    std::map<InstanceStatus, int> statuses{};
    std::set<std::string> waits{};
    std::map<std::string, int> newest{};  ///< by workflow, the newest version of an instance
    TimePoint last{};
};

Shown look(Store& store) {
    const HandlerRegistry none;
    Engine engine(store, none);
    Shown shown;
    for (const InstanceSummary& row : engine.list({.limit = 1'000})) {
        if (!row.key.empty()) shown.keys[row.key] = row.workflow;
        ++shown.statuses[row.status];
        shown.last = std::max(shown.last, row.updated_at);
        int& version = shown.newest[row.workflow];
        version = std::max(version, row.version);
        if (is_terminal(row.status)) continue;
        for (const WaitingFor& wait : engine.show(row.id).waiting_for)
            shown.waits.insert(wait.kind);
    }
    return shown;
}

TEST(Demo, ShowsEveryStateOfAnInstance) {
    const ManualClock clock(kPresent);
    Demo demo(clock);
    const StorePtr store = demo.open("memory:");
    const Shown shown = look(*store);
    for (const InstanceStatus status :
         {InstanceStatus::Running,
          InstanceStatus::Paused,
          InstanceStatus::DeadLetter,
          InstanceStatus::Completed,
          InstanceStatus::Failed,
          InstanceStatus::Cancelled}) {
        EXPECT_GT(shown.statuses.count(status), 0U) << to_string(status);
    }
    for (const char* wait : {"decision", "signal", "timer"}) {
        EXPECT_TRUE(shown.waits.contains(wait)) << wait;
    }
    EXPECT_GT(shown.statuses.at(InstanceStatus::Completed), 200);
    EXPECT_EQ(shown.newest.at("order"), 2);
}

TEST(Demo, EndsInThePresentAndGoesOnFromThere) {
    ManualClock clock(kPresent);
    Demo demo(clock);
    const StorePtr store = demo.open("memory:");
    EXPECT_LE(look(*store).last, kPresent);
    const HandlerRegistry handlers = demo.handlers();
    Engine engine(*store, handlers);
    clock.advance(std::chrono::hours(1));
    const InstanceId id = engine.start("nightly-report", Payload("{}")).id;
    EXPECT_EQ(engine.find(id)->created_at, kPresent + std::chrono::hours(1));
}

/// An hour at the pace of the first minutes, with handlers that take no time.
TEST(Demo, StaysHealthyWhileItGoesOn) {
    ManualClock clock(kPresent);
    Demo demo(clock);
    const StorePtr store = demo.open("memory:");
    DemoPlans plans;
    HandlerRegistry handlers;
    for (const DemoWorkflow& workflow : demo_workflows()) {
        for (const std::string& name : missing_handlers(workflow.versions.back(), handlers)) {
            if (name == "ship_abroad") continue;
            handlers.add_raw(name, [&plans](const Payload&, const StepContext& step) {
                return outcome_of(plans.next(step));
            });
        }
    }
    Engine engine(*store, handlers, {.threads = 1});
    DemoDice dice(3);
    const auto waiting = [&] { return engine.decisions({.limit = 1'000}).size(); };
    const auto live = [&](InstanceStatus status, const char* workflow) {
        return engine.list({.statuses = {status}, .workflow = workflow, .limit = 1'000}).size();
    };
    std::set<std::size_t> counts;
    for (int turn = 0; turn < 600; ++turn) {
        demo.turn(engine, dice);
        // Retries wait for seconds.
        for (int i = 0; i < 6; ++i) {
            clock.advance(std::chrono::seconds(1));
            while (engine.poll() > 0) {
            }
        }
        if (turn < 50) continue;
        counts.insert(waiting());
        EXPECT_LE(waiting(), static_cast<std::size_t>(Demo::kDecisionsMax) + 8) << turn;
        EXPECT_LE(live(InstanceStatus::DeadLetter, ""), Demo::kDeadLettersMax + 4U) << turn;
        EXPECT_LE(live(InstanceStatus::Running, "shipment"), Demo::kShipmentsMax + 1U) << turn;
    }
    EXPECT_GT(counts.size(), 2U) << "nothing moves";
    EXPECT_GT(live(InstanceStatus::Completed, "order"), 500U);
    ASSERT_EQ(engine.retention().size(), 1U);
    EXPECT_EQ(engine.retention().front().keep.completed, Demo::kPast);
}

TEST(Demo, IsTheSameForOneSeed) {
    const ManualClock clock(kPresent);
    Demo one(clock, 7);
    Demo other(clock, 7);
    Demo third(clock, 8);
    const auto first = look(*one.open("memory:")).keys;
    EXPECT_EQ(first, look(*other.open("memory:")).keys);
    EXPECT_NE(first, look(*third.open("memory:")).keys);
}

TEST(Demo, IsFoundAgainInAFileAndChangesNoOtherDatabase) {
    const TempDirectory folder;
    const ManualClock clock(kPresent);
    const std::string url = "sqlite:" + (folder.path() / "demo.db").string();
    const auto keys = look(*Demo(clock).open(url)).keys;
    EXPECT_EQ(look(*Demo(clock, 9).open(url)).keys, keys);

    const std::string other = "sqlite:" + (folder.path() / "other.db").string();
    {
        const StorePtr store = open_store(other, OpenMode::MayCreate);
        const HandlerRegistry none;
        Engine engine(*store, none);
        engine.register_workflow(demo_workflows().back().versions.front());
        engine.start("shipment", Payload("{}"), {.key = "mine"});
    }
    try {
        Demo(clock).open(other);
        FAIL() << "a database with instances of its own was filled";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    }
    EXPECT_EQ(look(*open_store(other, OpenMode::MayCreate)).keys.size(), 1U);
}

}  // namespace

}  // namespace ebb::cli
