// Goal: a worker remembers a bounded number of compiled definitions, and never compiles one again
// that is in use. Method: more workflows than it keeps, read from the memory store.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <ebb/log.h>

#include "engine/core.h"
#include "engine_world.h"
#include "support/store_decorator.h"

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

/// As if a newer Ebb had registered what this one cannot read.
class Unreadable : public StoreDecorator {
 public:
    explicit Unreadable(Store& inner) : StoreDecorator(inner), inner_(inner) {}

    std::optional<WorkflowRow> find_workflow(std::string_view name, std::optional<int> version)
        override {
        ++asked;
        auto row = inner_.find_workflow(name, version);
        if (row && row->name == workflow && row->version >= since) {
            row->definition = R"({"workflow":"toy","version":1,"steps":[{"step":"a","new":1}]})";
        }
        return row;
    }

    std::string workflow;
    int since = 1;
    int asked = 0;

 private:
    Store& inner_;
};

class Warnings : public LogSink {
 public:
    std::vector<std::string> lines;

    bool is_enabled(LogLevel level) const noexcept override { return level >= LogLevel::Warning; }

    void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept override {
        std::string line = fmt::format("{} {}", to_string(level), event);
        for (const LogField& field : fields) line += fmt::format(" {}={}", field.key, field.value);
        lines.push_back(std::move(line));
    }

    std::ptrdiff_t count(std::string_view part) const {
        return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(part) != std::string::npos;
        });
    }
};

constexpr const char* kWhyUnreadable =
    "This version of Ebb cannot read the stored definition of toy version 1: /steps/0/new: ";

TEST(ProgramCache, sets_a_version_aside_that_it_cannot_read_until_it_can) {
    EngineWorld world;
    world.record({"a"});
    Unreadable store(*world.memory);
    Warnings log;
    EngineOptions options = world.options();
    options.log = &log;
    Definition toy = workflow({step("a")});
    toy.name = "toy";
    InstanceId waiting;
    {
        const auto newer = world.engine("newer");
        newer->register_workflow(workflow({step("a")}));
        newer->register_workflow(toy);
        waiting = newer->start("toy").id;
    }
    store.workflow = "toy";
    Engine engine(store, world.handlers, options);
    const InstanceId other = engine.start("test").id;
    world.run(engine, 20min);
    EXPECT_EQ(status(engine, other), "completed");
    EXPECT_EQ(status(engine, waiting), "running");
    EXPECT_EQ(
        log.count("warning workflow_unreadable workflow=toy version=1 error=/steps/0/new:"), 1
    ) << "it was looked at every five minutes, and said once";
    EXPECT_THAT(
        engine.why(waiting),
        ::testing::StartsWith(std::string("The instance was set aside: ") + kWhyUnreadable)
    );
    for (const auto& ask : std::vector<std::function<void()>>{
             [&] { engine.start("toy"); },
             [&] { engine.definition("toy", 1); },
             [&] { engine.show(waiting); },
         }) {
        try {
            ask();
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::CorruptState);
            EXPECT_THAT(error.what(), ::testing::StartsWith(kWhyUnreadable));
        }
    }

    store.workflow.clear();
    world.run(engine, 20min);
    EXPECT_EQ(status(engine, waiting), "completed") << "it goes on by itself";
}

TEST(ProgramCache, an_instance_that_follows_stays_on_its_version_before_one_that_cannot_be_read) {
    EngineWorld world;
    Warnings log;
    EngineOptions options = world.options();
    options.log = &log;
    const auto rules = [](int version) {
        return parse_definition_json(fmt::format(
            R"({{"workflow": "toy", "version": {}, "rules": {{
                "evolution": "follow", "on_idle": "wait",
                "attributes": {{"n": {{"type": "integer", "external": true}}}},
                "triggers": {{"t": {{"when": "n < -100", "do": "a"}}}},
                "final": {{"done": "n > 5"}}}}}})",
            version
        ));
    };
    const auto newer = world.engine("newer");
    newer->register_workflow(rules(1));
    const InstanceId id = newer->start("toy").id;
    newer->register_workflow(rules(2));
    Unreadable store(*world.memory);
    store.workflow = "toy";
    store.since = 2;
    Engine engine(store, world.handlers, options);
    for (int n = 1; n <= 5; ++n) engine.write(id, Payload::text(fmt::format("{{\"n\":{}}}", n)));
    EXPECT_EQ(engine.find(id)->version, 1);
    EXPECT_EQ(log.count("workflow_unreadable workflow=toy version=2"), 1);
    const int asked = store.asked;
    for (int n = 1; n <= 5; ++n) engine.write(id, Payload::text(fmt::format("{{\"n\":{}}}", -n)));
    EXPECT_LE(store.asked, asked + 1) << "what cannot be read is not read again and again";
    engine.write(id, Payload(R"({"n": 6})"));
    EXPECT_EQ(status(engine, id), "completed");
}

}  // namespace
}  // namespace ebb::test
