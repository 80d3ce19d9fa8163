// What `trace` and `why` say about instances with rules.

#include <nlohmann/json.hpp>

#include <ebb/rules_builder.h>

#include "engine_world.h"

namespace ebb::test {
namespace {

using Kind = TraceEntry::Kind;

struct Trace : ::testing::Test {
    EngineWorld world;
    std::unique_ptr<Engine> engine;
    InstanceId id;

    /// Two transitions, of which only those with a handler run.
    void start(
        std::string_view input, Definition::OnError on_error = Definition::OnError::Compensate
    ) {
        engine = world.engine();
        engine->register_workflow(
            RulesBuilder("travel")
                .on_error(on_error)
                .attribute(
                    "phase", AttributeType::Text, {.initial = "\"none\"", .is_external = true}
                )
                .attribute("hotel")
                .trigger("validate", "phase = 'received'", {.step = {.compensate = "unvalidate"}})
                .trigger(
                    "hotel",
                    "hotel = 'wanted' and phase = 'valid'",
                    {.writes = {{{.attribute = "hotel"}}}}
                )
                .final_condition("booked", "hotel = 'booked'")
                .exception("full", "hotel = 'full'")
                .invariant("shut", "phase <> 'shut'")
                .build()
        );
        id = engine->start("travel", Payload(input)).id;
    }

    void add(const std::string& handler, std::string_view output) {
        world.handlers.add_raw(
            handler, [text = Payload(output)](const Payload&, const StepContext&) { return text; }
        );
    }
};

TEST_F(Trace, tells_what_each_write_changed_fired_and_made_true) {
    add("validate", R"({"phase": "valid", "hotel": "wanted"})");
    add("hotel", R"({"hotel": "booked"})");
    start(R"({"phase": "received"})");
    while (engine->poll() > 0) {
    }
    const std::vector<TraceEntry> trace = engine->trace(id);
    ASSERT_EQ(trace.size(), 3U);
    EXPECT_EQ(trace[0].kind, Kind::Start);
    EXPECT_EQ(trace[0].fired, std::vector<std::string>{"validate"});
    ASSERT_EQ(trace[0].changes.size(), 1U);
    EXPECT_EQ(trace[0].changes[0].attribute, "phase");
    EXPECT_EQ(trace[0].changes[0].before, "\"none\"");
    EXPECT_EQ(trace[0].changes[0].after, "\"received\"");
    EXPECT_EQ(trace[1].kind, Kind::Transition);
    EXPECT_EQ(trace[1].transition, "validate");
    EXPECT_EQ(trace[1].fired, std::vector<std::string>{"hotel"});
    const std::vector<TraceEntry::Turn> turns{
        {.kind = "trigger", .name = "validate", .is_true = false},
        {.kind = "trigger", .name = "hotel", .is_true = true},
    };
    EXPECT_EQ(trace[1].turns, turns);
    EXPECT_EQ(trace[1].attributes, R"({"phase":"valid","hotel":"wanted"})");
    EXPECT_EQ(trace[2].final_condition, "booked");
    EXPECT_EQ(trace[2].attributes, engine->show(id).attributes);
}

TEST_F(Trace, has_exceptions_operators_and_what_a_rollback_restores) {
    add("validate", R"({"phase": "valid", "hotel": "full"})");
    add("unvalidate", "null");
    start(R"({"phase": "received"})");
    while (engine->poll() > 0) {
    }
    engine->write(id, Json{{"hotel", nullptr}}, {.is_repair = true, .by = "ada"});
    engine->cancel(id);
    while (engine->poll() > 0) {
    }
    const std::vector<TraceEntry> trace = engine->trace(id);
    ASSERT_EQ(trace.size(), 4U);
    EXPECT_EQ(trace[1].exception, "full");
    EXPECT_EQ(trace[2].kind, Kind::Repair);
    EXPECT_EQ(trace[2].by, "ada");
    EXPECT_EQ(trace[2].exception, "no_condition");
    EXPECT_EQ(trace[3].kind, Kind::Restore);
    EXPECT_EQ(trace[3].transition, "validate");
    EXPECT_EQ(trace[3].attributes, R"({"phase":"received","hotel":null})");
}

TEST_F(Trace, is_read_in_pages) {
    start(R"({"phase": "received"})");
    for (int i = 0; i < 5; ++i) engine->write(id, Json{{"phase", "p" + std::to_string(i)}});
    const std::vector<TraceEntry> all = engine->trace(id);
    ASSERT_EQ(all.size(), 6U);
    const std::vector<TraceEntry> page = engine->trace(id, all[1].seq, 2);
    ASSERT_EQ(page.size(), 2U);
    EXPECT_EQ(page[0].seq, all[2].seq);
    EXPECT_EQ(page[0].changes[0].before, "\"p0\"") << "what came before the page is known";
    EXPECT_TRUE(engine->trace(id, all.back().seq).empty());
}

TEST_F(Trace, needs_rules) {
    engine = world.engine();
    engine->register_workflow(parse_definition_json(R"({"workflow": "w", "steps": [{"step": "s"}]})"
    ));
    id = engine->start("w").id;
    EXPECT_THROW(engine->trace(id), Error);
}

TEST_F(Trace, why_marks_a_value_that_it_cuts) {
    start(R"({"phase": "valid", "hotel": "wanted"})");
    engine->write(id, Json{{"phase", std::string(80, 'x')}});
    const std::string text = engine->why(id);
    EXPECT_NE(text.find("(phase is \"" + std::string(59, 'x') + "...;"), std::string::npos) << text;
}

TEST_F(Trace, why_names_the_values_that_hold_a_transition_back_and_what_can_change_them) {
    start(R"({"phase": "valid", "hotel": "wanted"})");
    const std::string pending = engine->why(id);
    EXPECT_NE(
        pending.find(
            "Not fired: validate needs phase = 'received' (phase is \"valid\"; an application can "
            "write it)."
        ),
        std::string::npos
    ) << pending;
    EXPECT_TRUE(pending.ends_with(" Not final: booked needs hotel = 'booked'.")) << pending;
    engine->write(id, Json{{"phase", "late"}});
    add("hotel", R"({"hotel": "asked"})");
    engine = world.engine("w2");
    while (engine->poll() > 0) {
    }
    const std::string idle = engine->why(id);
    EXPECT_NE(
        idle.find(
            "hotel needs hotel = 'wanted' (hotel is \"asked\"; transition hotel can write it) and "
            "phase = 'valid' (phase is \"late\"; an application can write it)"
        ),
        std::string::npos
    ) << idle;
}

TEST_F(Trace, why_says_that_a_recovered_instance_can_go_on_as_it_is) {
    add("validate", R"({"phase": "valid"})");
    add("~validate", "null");
    world.handlers.add_raw("unvalidate", [](const Payload&, const StepContext&) {
        return Payload("null");
    });
    start(R"({"phase": "received", "hotel": "wanted"})");
    while (engine->poll() > 0) {
    }
    engine->recover(id, 1, {.then = RecoverOptions::Then::Stop, .by = "ann"});
    EXPECT_TRUE(engine->why(id).starts_with(
        "The instance is compensating because ann takes it back to the write 1."
    )) << engine->why(id);
    while (engine->poll() > 0) {
    }
    const std::string why = engine->why(id);
    EXPECT_NE(why.find("An operator must let it continue with the attributes"), std::string::npos)
        << why;
    EXPECT_NE(why.find("validate is held back by the exception"), std::string::npos) << why;
    EXPECT_EQ(engine->show(id).waiting_for.back().what, "rematch");
    EXPECT_TRUE(engine->rematch(id));
    EXPECT_EQ(engine->find(id)->status, InstanceStatus::Running);
}

TEST_F(Trace, why_says_that_an_exception_holds_an_edge_back_and_what_its_handler_handles) {
    engine = world.engine();
    engine->register_workflow(parse_definition_json(R"({"workflow": "w", "rules": {
        "attributes": {"a": {"type": "integer", "external": true},
                       "b": {"type": "integer", "external": true}},
        "triggers": {"e": {"when": "a = 1", "mode": "edge", "do": "none"},
                     "never": {"when": "a = 9", "do": "none"}},
        "exceptions": {"odd": "b = 1"},
        "on_idle": "wait", "on_exception": {"do": "fix"}}})"));
    id = engine->start("w", Payload(R"({"a": 1, "b": 1})")).id;
    const std::string why = engine->why(id);
    EXPECT_TRUE(why.starts_with(
        "The instance is running, to end the exception odd: The exception \"odd\" holds: b = 1."
    )) << why;
    EXPECT_NE(why.find("e is held back by the exception"), std::string::npos) << why;
    engine->write(id, Payload(R"({"b": 0})"));
    const auto steps = engine->show(id).steps;
    const auto fired = std::ranges::find(steps, "e", &StepView::node);
    EXPECT_NE(fired, steps.end()) << "and it fires when the exception is over";
}

TEST_F(Trace, why_names_a_transition_that_is_held_back) {
    world.handlers.add_raw("hotel", [](const Payload&, const StepContext&) -> Payload {
        throw PermanentError("no room");
    });
    start(R"({"phase": "valid", "hotel": "wanted"})", Definition::OnError::Exception);
    while (engine->poll() > 0) {
    }
    const std::string why = engine->why(id);
    EXPECT_TRUE(why.starts_with(
        "The instance is dead-lettered because of the exception failed:hotel: The transition "
        "\"hotel\" has failed for good"
    )) << why;
    EXPECT_NE(why.find("hotel has failed for good and is held back"), std::string::npos) << why;
    const std::vector<TraceEntry> trace = engine->trace(id);
    ASSERT_EQ(trace.size(), 2U);
    EXPECT_EQ(trace[1].kind, Kind::Failed);
    EXPECT_EQ(trace[1].transition, "hotel");
    EXPECT_EQ(trace[1].exception, "failed:hotel");
}

}  // namespace
}  // namespace ebb::test
