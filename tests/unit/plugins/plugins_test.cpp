// Plugins that need no library of their own.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <ebb/audit_log.h>
#include <ebb/ebb.h>
#include <ebb/rollback_depth.h>
#include <ebb/validator.h>

#include "support/flow.h"

namespace ebb::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Plugins : ::testing::Test {
    ManualClock clock{TimePoint(std::chrono::hours(24 * 365 * 50))};
    StorePtr store = open_memory_store({.clock = &clock});
    HandlerRegistry handlers;
    std::unique_ptr<Engine> engine;
    std::vector<std::string> calls;

    void add(const std::string& name, Payload output) {
        handlers.add_raw(name, [this, name, output](const Payload&, const StepContext&) {
            calls.push_back(name);
            return output;
        });
    }

    void begin(const std::shared_ptr<Observer>& plugin, const Definition& definition) {
        engine = std::make_unique<Engine>(
            *store, handlers, EngineOptions{.worker_id = "w", .clock = &clock}
        );
        engine->add_observer(plugin);
        engine->register_workflow(definition);
    }

    InstanceId run(const Payload& input) {
        const InstanceId id = engine->start("test", input).id;
        engine->poll();
        return id;
    }

    Json error_of(const InstanceId& id) { return Json::parse(engine->show(id).error); }
};

TEST_F(Plugins, a_validator_refuses_starts_inputs_and_outputs_that_do_not_conform) {
    using Place = ValidationRule::Place;
    add("a", "{\"amount\": 5}");
    add("b", "\"not a number\"");
    const auto validator = make_validator({
        {.place = Place::Start, .workflow = "test", .schema = R"({"required": ["id"]})"},
        {.place = Place::Start, .workflow = "other", .schema = R"({"required": ["never"]})"},
        {.place = Place::Input, .step = "a", .schema = R"({"properties": {"id": {"minimum": 2}}})"},
        {.place = Place::Output, .step = "b", .schema = R"({"type": "number"})"},
    });
    begin(
        validator,
        workflow({step("a", {.is_compensated = false}), step("b", {.is_compensated = false})})
    );
    try {
        engine->start("test", Payload("{}"));
        FAIL() << "it must be refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
        EXPECT_THAT(error.what(), HasSubstr("id"));
    }
    EXPECT_TRUE(engine->list().empty());
    const InstanceId low = run("{\"id\": 1}");
    EXPECT_EQ(error_of(low)["code"], "invalid_input");
    EXPECT_TRUE(calls.empty()) << "the handler was not called";
    const InstanceId high = run("{\"id\": 3}");
    EXPECT_EQ(error_of(high)["code"], "invalid_output");
    EXPECT_EQ(error_of(high)["step"], "b");
    EXPECT_THAT(calls, ElementsAre("a", "b"));
}

TEST_F(Plugins, a_validator_refuses_a_schema_that_cannot_be_used) {
    EXPECT_THROW(make_validator({{.schema = "{"}}), Error);
    EXPECT_THROW(make_validator({{.schema = R"({"$ref": "#/nowhere"})"}}), Error);
}

TEST_F(Plugins, an_audit_log_has_a_line_for_each_event_and_no_payloads) {
    handlers.add("a", [](const Json&) -> Json { throw PermanentError("secret", "no_luck"); });
    std::vector<std::string> lines;
    begin(
        make_audit_log([&](std::string_view line) { lines.emplace_back(line); }),
        workflow({step("a", {.is_compensated = false})})
    );
    const InstanceId id = engine->start("test", Payload("\"secret\""), {.key = "k"}).id;
    engine->pause(id, "ann", "lunch");
    engine->resume(id, "ben");
    engine->poll();
    std::vector<std::string> events;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Json line = Json::parse(lines[i]);
        EXPECT_EQ(line["seq"], i + 1) << "none is missing, and their order is that of the history";
        EXPECT_EQ(line["instance"], id.to_string());
        EXPECT_EQ(line["key"], "k");
        EXPECT_THAT(lines[i], ::testing::Not(HasSubstr("secret")));
        std::string event = line["event"].get<std::string>();
        if (line.contains("by")) event += " by " + line["by"].get<std::string>();
        if (line.contains("code")) event += " with " + line["code"].get<std::string>();
        events.push_back(event);
    }
    EXPECT_EQ(events.size(), engine->history(id).size());
    EXPECT_THAT(events, ::testing::Contains("paused by ann"));
    EXPECT_THAT(events, ::testing::Contains("unpaused by ben"));
    EXPECT_THAT(events, ::testing::Contains("step_failed with no_luck"));
}

TEST_F(Plugins, an_audit_log_with_payloads_has_them) {
    add("a", "17");
    std::vector<std::string> lines;
    begin(
        make_audit_log(
            [&](std::string_view line) { lines.emplace_back(line); }, {.has_payloads = true}
        ),
        workflow({step("a", {.is_compensated = false})})
    );
    run("{\"by\": \"the application\"}");
    const Json first = Json::parse(lines.front());
    EXPECT_EQ(first["payload"], Json::parse("{\"by\": \"the application\"}"));
    EXPECT_FALSE(first.contains("by")) << "what the application calls so is not who acted";
}

TEST_F(Plugins, the_depth_of_a_rollback_is_how_much_it_undoes) {
    for (const char* name : {"a", "~a", "b", "~b"}) add(name, "1");
    handlers.add("c", [](const Json& input) -> Json {
        if (input == 13) throw PermanentError("no", "no");
        return input;
    });
    const auto depth = make_rollback_depth();
    begin(
        depth, workflow({step("a"), step("b"), step("c", {.is_compensated = false, .input = "13"})})
    );
    const InstanceId id = run("13");
    EXPECT_EQ(to_string(engine->find(id)->status), "failed");
    EXPECT_EQ(depth->depth(id), 2);
    EXPECT_EQ(depth->deepest(), 2);
    EXPECT_EQ(depth->depth(InstanceId{}), 0);
}

}  // namespace
}  // namespace ebb::test
