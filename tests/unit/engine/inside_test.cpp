// What a handler may ask of the engine that calls it.

#include <condition_variable>
#include <mutex>

#include <ebb/ebb.h>

#include "engine_world.h"

namespace ebb::test {
namespace {

struct Inside : ::testing::Test {
    EngineWorld world;
    Engine* engine = nullptr;

    /// The message of the error with which `ask` is refused inside of a handler.
    std::string refusal(const std::function<void(const StepContext&)>& ask) {
        std::string message = "it was not refused";
        world.handlers.add("ask", [&](const StepContext& context) {
            try {
                ask(context);
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::InvalidState);
                message = error.what();
            }
        });
        const auto made = world.engine();
        engine = made.get();
        engine->register_workflow(WorkflowBuilder("test").step("ask").build());
        engine->register_workflow(WorkflowBuilder("other").signal("go").build());
        const InstanceId id = engine->start("test").id;
        engine->poll();
        EXPECT_EQ(status(*engine, id), "completed");
        return message;
    }
};

TEST_F(Inside, a_handler_starts_signals_looks_and_cancels) {
    world.handlers.add("parent", [&](const StepContext& context) {
        const InstanceId child = engine->start("child", 1, {.key = context.idempotency_key}).id;
        EXPECT_EQ(engine->start("child", 1, {.key = context.idempotency_key}).id, child);
        EXPECT_EQ(engine->find(child)->status, InstanceStatus::Running);
        EXPECT_EQ(engine->list({.workflow = "child"}).size(), 1U);
        engine->signal(child, "go", 7);
        engine->cancel(engine->start("child", 2).id);
        EXPECT_FALSE(engine->why(child).empty());
        return child;
    });
    world.record({"a"});
    const auto made = world.engine();
    engine = made.get();
    engine->register_workflow(WorkflowBuilder("parent").step("parent").build());
    engine->register_workflow(WorkflowBuilder("child").signal("go").step("a").build());
    const InstanceId parent = engine->start("parent").id;
    world.run(*engine, 1min);
    const auto child = engine->show(parent).output.as<InstanceId>();
    EXPECT_EQ(engine->show(child).summary.status, InstanceStatus::Completed);
    EXPECT_EQ(world.calls_text(), "a");
}

TEST_F(Inside, a_handler_may_cancel_its_own_instance) {
    world.handlers.add("ask", [&](const StepContext& context) {
        engine->cancel(context.instance, "itself");
    });
    const auto made = world.engine();
    engine = made.get();
    engine->register_workflow(WorkflowBuilder("test").step("ask").build());
    const InstanceId id = engine->start("test").id;
    world.run(*engine, 1min);
    EXPECT_EQ(status(*engine, id), "cancelled");
}

TEST_F(Inside, a_handler_cannot_drive_the_engine) {
    EXPECT_EQ(
        refusal([this](const StepContext&) { engine->poll(); }),
        "A handler cannot call poll or run_one of the engine that runs it: it would wait for "
        "itself."
    );
}

TEST_F(Inside, a_handler_cannot_drain_the_engine) {
    EXPECT_NE(
        refusal([this](const StepContext&) { engine->drain(1s); }).find("drain"), std::string::npos
    );
}

TEST_F(Inside, a_handler_cannot_wait_where_there_are_no_threads) {
    const std::string message =
        refusal([this](const StepContext&) { engine->wait(engine->start("other").id); });
    EXPECT_NE(message.find("wait, without threads,"), std::string::npos) << message;
}

TEST(InsideThreads, a_handler_waits_for_another_instance_but_not_for_its_own) {
    const StorePtr store = open_memory_store();
    HandlerRegistry handlers;
    Engine* engine = nullptr;
    handlers.add("one", [] { return 1; });
    handlers.add("wait", [&](const StepContext& context) {
        try {
            engine->wait(context.instance);
            ADD_FAILURE() << "it waits for itself";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidState);
        }
        return engine->wait<int>(engine->start("child").id) + 1;
    });
    Engine made(*store, handlers, {.threads = 2});
    engine = &made;
    made.register_workflow(WorkflowBuilder("child").step("one").build());
    made.register_workflow(WorkflowBuilder("parent").step("wait").build());
    made.run();
    EXPECT_EQ(made.wait<int>(made.start("parent").id), 2);
}

}  // namespace
}  // namespace ebb::test
