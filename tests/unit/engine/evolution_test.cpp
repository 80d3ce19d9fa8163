// Goal: engines let instances with rules follow to the newest version, tell so, and rehearse a
// recovery without doing it. Method: one engine over the memory store.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "engine_world.h"

namespace ebb::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Definition trip(int version, std::string_view evolution, std::string_view room) {
    Json attribute = {{"attribute", room}};
    if (room != "room") attribute["renamed_from"] = "room";
    const std::string is_free = "phase = 'paid' and " + std::string(room) + " is null";
    return definition_from_json(
        {{"workflow", "trip"},
         {"version", version},
         {"rules",
          {{"evolution", evolution},
           {"on_idle", "wait"},
           {"attributes",
            {{{"attribute", "phase"}, {"default", "none"}, {"external", true}}, attribute}},
           {"triggers",
            {{{"trigger", "book"},
              {"when", is_free},
              {"writes", Json::array({room})},
              {"compensate", "free"},
              {"mode", "once"}}}}}}}
    );
}

struct Evolution : ::testing::Test {
    EngineWorld world;
    std::unique_ptr<Engine> engine;
    InstanceId id;

    void begin(std::string_view evolution) {
        world.handlers.add_raw("book", [](const Payload&, const StepContext&) {
            return Payload(R"({"room": "12"})");
        });
        world.handlers.add_raw("free", [](const Payload&, const StepContext&) {
            return Payload("null");
        });
        engine = world.engine();
        engine->register_workflow(trip(1, evolution, "room"));
        id = engine->start("trip", Payload(R"({"phase": "paid"})")).id;
        run();
    }

    void run() {
        while (engine->poll() > 0) {
        }
    }

    int version() { return engine->find(id)->version; }

    Json attributes() { return Json::parse(engine->show(id).attributes); }

    std::string last_event() { return engine->history(id).back().type; }
};

TEST_F(Evolution, happens_with_the_next_write_and_not_before) {
    begin("follow");
    engine->register_workflow(trip(2, "follow", "door"));
    EXPECT_EQ(version(), 1);
    EXPECT_THAT(engine->why(id), HasSubstr("runs version 1, and continues on version 2"));
    EXPECT_TRUE(engine->write(id, Payload(R"({"phase": "left"})")));
    EXPECT_EQ(version(), 2);
    EXPECT_EQ(attributes(), Json::parse(R"({"phase": "left", "door": "12"})"));
    const std::vector<TraceEntry> trace = engine->trace(id);
    ASSERT_EQ(trace.size(), 4U);
    EXPECT_EQ(trace[2].kind, TraceEntry::Kind::Migrated);
    EXPECT_TRUE(trace[2].changes.empty()) << "another name is not another value";
    EXPECT_EQ(trace[1].attributes, R"({"phase":"paid","room":"12"})");
    EXPECT_EQ(trace[2].attributes, R"({"phase":"paid","door":"12"})");
    EXPECT_THAT(engine->why(id), ::testing::Not(HasSubstr("version")));
}

TEST_F(Evolution, shows_the_value_before_under_its_earlier_name_and_type) {
    begin("follow");
    Json later = definition_to_json(trip(2, "follow", "door"));
    for (Json& attribute : later["rules"]["attributes"]) {
        if (attribute["attribute"] != "door") continue;
        attribute["type"] = "numeric";
        attribute["default"] = "100";
    }
    for (Json& trigger : later["rules"]["triggers"])
        trigger["when"] = "phase = 'paid' and door is null";
    engine->register_workflow(definition_from_json(later));
    engine->write(id, Payload(R"({"phase": "left"})"));
    ASSERT_EQ(version(), 2);
    for (const TraceEntry& entry : engine->trace(id)) {
        if (entry.kind != TraceEntry::Kind::Migrated) continue;
        for (const TraceEntry::Change& change : entry.changes) {
            EXPECT_EQ(change.before, "\"12\"") << "it never was its default";
        }
    }
}

TEST_F(Evolution, does_not_happen_for_a_request_that_changes_nothing) {
    begin("follow");
    engine->register_workflow(trip(2, "follow", "door"));
    EXPECT_FALSE(engine->write(id, Payload(R"({"phase": "paid"})")));
    EXPECT_THROW(engine->write(id, Payload(R"({"door": "13"})")), Error);
    EXPECT_EQ(version(), 1);
    EXPECT_TRUE(engine->rematch(id));
    EXPECT_EQ(version(), 2);
    EXPECT_EQ(last_event(), "migrated");
    EXPECT_FALSE(engine->rematch(id));
}

TEST_F(Evolution, is_not_for_pinned_instances) {
    begin("pin");
    engine->register_workflow(trip(2, "follow", "door"));
    engine->write(id, Payload(R"({"phase": "left"})"));
    EXPECT_FALSE(engine->rematch(id));
    EXPECT_EQ(version(), 1);
    EXPECT_THAT(engine->why(id), ::testing::Not(HasSubstr("version")));
}

TEST_F(Evolution, waits_for_what_is_in_the_way_and_says_so) {
    begin("follow");
    Json later = definition_to_json(trip(2, "follow", "door"));
    later["rules"]["invariants"] = {{"some", "phase <> 'paid'"}};
    engine->register_workflow(definition_from_json(later));
    EXPECT_FALSE(engine->rematch(id));
    EXPECT_THAT(engine->why(id), HasSubstr("It stays on version 1"));
    EXPECT_THAT(engine->why(id), HasSubstr("break the invariant \"some\""));
    EXPECT_TRUE(engine->write(id, Payload(R"({"phase": "left"})")));
    EXPECT_EQ(version(), 1);
    EXPECT_TRUE(engine->rematch(id));
    EXPECT_EQ(version(), 2);
}

TEST_F(Evolution, outlives_the_engine) {
    begin("follow");
    engine->register_workflow(trip(2, "follow", "door"));
    engine->rematch(id);
    engine = nullptr;
    engine = world.engine();
    EXPECT_EQ(attributes(), Json::parse(R"({"phase": "paid", "door": "12"})"));
    engine->cancel(id);
    run();
    EXPECT_EQ(engine->find(id)->status, InstanceStatus::Cancelled);
    EXPECT_EQ(attributes().at("door"), nullptr);
}

TEST_F(Evolution, a_recovery_is_rehearsed_and_not_done) {
    begin("follow");
    engine->write(id, Payload(R"({"phase": "left"})"));
    const std::size_t events = engine->history(id).size();
    const RecoveryPlan plan = engine->plan_recovery(id, 1);
    ASSERT_EQ(plan.undone.size(), 1U);
    EXPECT_EQ(plan.undone[0].node, "book");
    EXPECT_EQ(plan.undone[0].handler, "free");
    EXPECT_EQ(plan.undone[0].restored, R"({"room":null})");
    EXPECT_EQ(plan.attributes, R"({"phase":"left","room":null})");
    EXPECT_THAT(plan.kept, ElementsAre(static_cast<std::int64_t>(events)));
    EXPECT_THAT(plan.fired, IsEmpty());
    EXPECT_EQ(plan.status, "running");
    EXPECT_EQ(engine->history(id).size(), events);
    engine->recover(id, 1);
    run();
    EXPECT_EQ(attributes(), Json::parse(plan.attributes));
    EXPECT_THROW(engine->plan_recovery(id, 3), Error);
}

}  // namespace
}  // namespace ebb::test
