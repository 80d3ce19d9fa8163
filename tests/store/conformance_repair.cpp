// Goal: instances whose side rows were not written, as by a program of the version before, get them
// from their states, and rows that no state asks for go. Method: an engine makes instances, their
// rows are taken away, and the engine's own housekeeping runs in simulated time.

#include <memory>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "store/conformance.h"
#include "support/side_rows.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

/// Instances that wait, that are dead-lettered and that have failed.
class SideRowRepairs {
 public:
    explicit SideRowRepairs(Store& store) : store_(store) {
        handlers_.add_raw("fail", [](const Payload&, const StepContext&) -> Payload {
            throw PermanentError("no order 4711");
        });
        engine_ = std::make_unique<Engine>(store, handlers_, options());
        engine_->register_workflow(WorkflowBuilder("failing").step("fail").build());
        engine_->register_workflow(
            WorkflowBuilder("stuck").on_error(Definition::OnError::DeadLetter).step("fail").build()
        );
        WorkflowBuilder asking("asking");
        asking.decision("approve").roles({"boss", "auditor"});
        engine_->register_workflow(asking.build());
        for (const char* workflow : {"failing", "stuck", "asking"}) {
            engine_->start(workflow, Payload::text("1"));
        }
        for (int i = 0; i < 10; ++i) engine_->poll();
    }

    /// As a program would leave it that knows no side rows.
    void forget() {
        for (const InstanceRow& row : store_.list({})) {
            const SideRowRepair nothing{.instance = row.id, .revision = row.revision};
            store_.put_side_rows({&nothing, 1});
        }
    }

    Engine& engine() { return *engine_; }

 private:
    static EngineOptions options() {
        EngineOptions options;
        options.worker_id = "w1";
        options.threads = 1;
        return options;
    }

    Store& store_;
    HandlerRegistry handlers_;
    std::unique_ptr<Engine> engine_;
};

TEST_P(StoreConformance, housekeeping_writes_the_side_rows_that_are_missing) {
    // No other program writes to memory, so nothing is ever missing there.
    if (GetParam().name == "memory") return;
    SideRowRepairs world(store());
    ASSERT_EQ(wrong_side_rows(store()), "");
    const auto decisions = world.engine().decisions();
    ASSERT_THAT(decisions, SizeIs(1));
    EXPECT_THAT(decisions[0].roles, ElementsAre("auditor", "boss"));
    const FailureGroups failures = world.engine().failures();
    ASSERT_THAT(failures.groups, SizeIs(2));
    EXPECT_EQ(failures.groups[0].newest.message, "no order 4711");
    world.forget();
    ASSERT_NE(wrong_side_rows(store()), "");
    clock_.advance(2min);
    world.engine().poll();
    EXPECT_EQ(wrong_side_rows(store()), "");
    EXPECT_EQ(world.engine().decisions(), decisions);
    EXPECT_THAT(world.engine().failures().groups, SizeIs(2));
    EXPECT_EQ(world.engine().failures().groups[0].newest.group, failures.groups[0].newest.group);
    // A pass that has found something is followed by another.
    world.forget();
    clock_.advance(12min);
    world.engine().poll();
    EXPECT_EQ(wrong_side_rows(store()), "");
}

TEST_P(StoreConformance, housekeeping_removes_side_rows_that_no_state_asks_for) {
    if (GetParam().name == "memory") return;
    SideRowRepairs world(store());
    NewInstance ended = instance_of(1);
    ended.row.workflow = "failing";
    ended.row.status = InstanceStatus::Cancelled;
    ended.row.finished_at = kStart;
    ended.effects = {.waits = {wait_of(1)}, .failures = {failure_of("aa")}};
    start_one(store(), ended);
    ASSERT_THAT(world.engine().failures().groups, SizeIs(3));
    clock_.advance(2min);
    world.engine().poll();
    EXPECT_THAT(world.engine().failures().groups, SizeIs(2));
    EXPECT_THAT(world.engine().decisions(), SizeIs(1));
}

}  // namespace
}  // namespace ebb::testing
