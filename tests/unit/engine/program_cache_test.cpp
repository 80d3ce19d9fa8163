// Goal: a worker remembers a bounded number of compiled definitions, and never compiles one again
// that is in use. Method: more workflows than it keeps, read from the memory store.

#include <fmt/format.h>

#include "engine/core.h"
#include "engine_world.h"

namespace ebb::test {
namespace {

constexpr int kMany = 300;  // ProgramCache keeps 256 that are not in use

TEST(ProgramCache, forgets_what_is_not_in_use_when_there_are_many) {
    EngineWorld world;
    const auto starter = world.engine("starter");
    for (int n = 0; n < kMany; ++n) {
        Definition definition = workflow({step("a")});
        definition.name = fmt::format("w{}", n);
        starter->register_workflow(definition);
    }
    Engine::Core core(*world.store, world.handlers, world.options());
    const std::shared_ptr<const Program> used = core.programs.find("w0", 1);
    const std::weak_ptr<const Program> unused = core.programs.find("w1", 1);
    EXPECT_FALSE(unused.expired()) << "it is kept as long as there are few";
    for (int n = 2; n < kMany; ++n)
        ASSERT_NE(core.programs.find(fmt::format("w{}", n), 1), nullptr);
    EXPECT_TRUE(unused.expired());
    EXPECT_EQ(core.programs.find("w0", 1), used) << "an instance still runs by it";
    EXPECT_EQ(core.programs.find("w1", 1)->definition().name, "w1") << "it is read again";
}

// docs/upgrade.md: a registered definition stays valid, and its running instances continue.
TEST(ProgramCache, reads_a_stored_definition_that_a_later_check_refuses) {
    constexpr const char* kStored =
        R"({"steps":[{"input":"${ has(workflow.inptu) ? 1 : 2 }","step":"a"}],"version":1,)"
        R"("workflow":"w"})";
    EXPECT_THROW(parse_definition_json(kStored), DefinitionError);
    EngineWorld world;
    world.record({"a"});
    world.store->register_workflow(
        {.name = "w",
         .version = 1,
         .definition = kStored,
         .checksum = "of an earlier version",
         .created_at = world.clock.now()}
    );
    const auto engine = world.engine();
    const InstanceId id = engine->start("w").id;
    world.run(*engine);
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(engine->definition("w", 1)->name, "w");
}

}  // namespace
}  // namespace ebb::test
