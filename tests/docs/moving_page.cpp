// The C++ of docs/how-to/state-management.md that moves an instance between the two kinds of store.

#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/move.h>

namespace {

TEST(MovingPage, an_instance_goes_out_and_comes_back) {
    ebb::WorkflowBuilder builder("order");
    builder.step("pay");
    builder.decision("approve");
    ebb::HandlerRegistry handlers;
    handlers.add_raw("pay", [](const ebb::Payload& input, const ebb::StepContext&) {
        return input;
    });
    const ebb::StorePtr store = ebb::open_memory_store();
    ebb::Engine durable(*store, handlers);
    durable.register_workflow(builder.build());
    const auto snapshots = ebb::stateless::open_memory_snapshot_store();
    ebb::stateless::Engine engine(handlers);
    engine.add(builder.build());
    const ebb::InstanceId id = durable.start("order", ebb::Payload::text("1")).id;
    //! [moving]
    ebb::stateless::move_out(durable, *snapshots, engine, id);
    ebb::stateless::run_stored(*snapshots, engine, id.to_string());
    ebb::stateless::move_in(*snapshots, engine, id.to_string(), durable);
    //! [moving]
    EXPECT_EQ(durable.show(id).waiting_for.at(0).kind, "decision");
}

}  // namespace
