// Goal: what a definition says about the calls of its handlers holds for handlers in C++ too, in
// both engines: the contract of an entry (from a file of types), and late expressions that nothing
// fills in. Method: the same definition and handlers run in the stateless and in the durable
// engine, which must agree.

#include <gmock/gmock.h>

#include <ebb/engine.h>
#include <ebb/node_types.h>
#include <ebb/stateless.h>
#include <ebb/type_library.h>

#include "store/memory/memory_store.h"
#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

using ::testing::HasSubstr;

/// How an instance ended.
struct Ending {
    std::string status;
    Json output;
    Json error;

    bool operator==(const Ending&) const = default;
};

Json json_or_null(const Payload& text) {
    return text.empty() ? Json() : Json::parse(text);
}

struct EntryContract : ::testing::Test {
    ManualClock clock{TimePoint(std::chrono::seconds(1'800'000'000))};
    HandlerRegistry handlers;
    std::vector<Json> inputs;  ///< that the handler `price` got, in both engines

    /// A handler that notes its input and passes it on.
    void add_price() {
        handlers.add("price", [this](const Json& input) {
            inputs.push_back(input);
            return input;
        });
    }

    static Definition priced(const Json& type, const Json& step = "price") {
        TypeLibrary types;
        types.add_json(Json({{"types", {{"price", type}}}}).dump());
        return definition_from_json({{"workflow", "w"}, {"steps", Json::array({step})}}, types);
    }

    Ending run_stateless(const Definition& definition, const Payload& input) {
        stateless::Engine engine(handlers);
        engine.add(definition);
        const Snapshot end = engine.execute(engine.start("w", input), {.retry_now = true});
        return {
            std::string(to_string(end.instance_status())),
            json_or_null(end.output()),
            json_or_null(end.error())
        };
    }

    Ending run_durable(const Definition& definition, const Payload& input) {
        const StorePtr store = make_memory_store(clock);
        EngineOptions options;
        options.worker_id = "w1";
        options.clock = &clock;
        Engine engine(*store, handlers, options);
        engine.register_workflow(definition);
        const InstanceId id = engine.start("w", input).id;
        while (engine.poll() > 0) {
        }
        const InstanceView view = engine.show(id);
        return {
            std::string(to_string(view.summary.status)),
            json_or_null(view.output),
            json_or_null(view.error)
        };
    }

    /// Of both engines, which must agree.
    Ending run(const Definition& definition, const Payload& input) {
        const Ending first = run_stateless(definition, input);
        const Ending second = run_durable(definition, input);
        EXPECT_EQ(first.status, second.status);
        EXPECT_EQ(first.output, second.output);
        EXPECT_EQ(first.error, second.error);
        return second;
    }

    std::string error_of(const Definition& definition, const Payload& input) {
        const Ending ending = run(definition, input);
        EXPECT_EQ(ending.status, "failed");
        if (!ending.error.is_object()) return "no error";
        return ending.error.value("code", "") + ": " + ending.error.value("message", "");
    }
};

const Json kAmount = Json::parse(
    R"({"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}})"
);

TEST_F(EntryContract, an_input_that_does_not_fit_its_type_is_not_sent) {
    add_price();
    const Definition definition = priced({{"input_schema", kAmount}});
    EXPECT_EQ(
        error_of(definition, R"({"amount":"42"})"),
        "invalid_input: The input of \"price\" does not fit its type \"price\": /amount: expected "
        "a "
        "number, got \"42\""
    );
    EXPECT_TRUE(inputs.empty());
    EXPECT_EQ(run(definition, R"({"amount":42})").output, Json({{"amount", 42}}));
}

TEST_F(EntryContract, holds_for_a_handler_in_place_of_a_program) {
    add_price();
    const Json type = {{"exec", {"./price"}}, {"input_schema", kAmount}};
    EXPECT_THAT(error_of(priced(type), "{}"), HasSubstr("invalid_input: "));
    EXPECT_TRUE(inputs.empty());
}

TEST_F(EntryContract, an_output_that_does_not_fit_fails_the_step) {
    add_price();
    const Definition definition = priced({{"output_schema", {{"type", "string"}}}});
    EXPECT_EQ(
        error_of(definition, "5"),
        "invalid_output: The output of \"price\" does not fit its type \"price\": /: expected a "
        "string, got 5"
    );
    EXPECT_EQ(inputs.size(), 2U) << "once in each engine: it is not tried again";
}

TEST_F(EntryContract, defaults_of_the_schema_reach_the_handler) {
    add_price();
    const Definition definition = priced(Json::parse(R"({
        "defaults": {"currency": "EUR"},
        "input_schema": {
            "properties": {"days": {"type": "integer", "default": 3},
                           "to": {"type": "object", "default": {},
                                  "properties": {"country": {"default": "DE"}}}}
        }
    })"));
    run(definition, R"({"days":5})");
    ASSERT_EQ(inputs.size(), 2U);
    const Json wanted = {{"currency", "EUR"}, {"days", 5}, {"to", {{"country", "DE"}}}};
    EXPECT_EQ(inputs[0], wanted);
    EXPECT_EQ(inputs[1], wanted);
}

TEST_F(EntryContract, a_compensation_is_not_an_input_of_the_type) {
    add_price();
    std::vector<Json> undone;
    handlers.add("fail", []() -> Json { throw PermanentError("no"); });
    TypeLibrary types;
    types.add_json(R"({"types": {"price": {"input_schema": {"type": "number"}}}})");
    const Definition definition = definition_from_json(
        Json::parse(R"({"workflow": "w", "steps": [{"step": "price", "compensate": "price"},
                                                   "fail"]})"),
        types
    );
    EXPECT_THAT(error_of(definition, "7"), HasSubstr("no"));
    ASSERT_EQ(inputs.size(), 4U) << "called and undone in each engine";
    EXPECT_EQ(inputs[1].at("input"), 7);
}

TEST_F(EntryContract, an_envelope_names_the_data) {
    handlers.add("price", [] { return Json({{"data", 5}}); });
    EXPECT_EQ(run(priced({{"result", "envelope"}}), "{}").output, 5);
}

TEST_F(EntryContract, holds_for_asynchronous_handlers) {
    handlers.add("price", [](const Json& input, const Completion<Json>& completion) {
        completion.complete(input);
    });
    const Definition definition = priced(Json::parse(R"({
        "input_schema": {"properties": {"days": {"default": 3}}},
        "output_schema": {"required": ["amount"]}
    })"));
    EXPECT_EQ(run(definition, R"({"amount":1})").output, Json::parse(R"({"amount":1,"days":3})"));
    EXPECT_THAT(error_of(definition, "{}"), HasSubstr("invalid_output: "));
}

TEST_F(EntryContract, applies_to_typed_handlers_after_the_late_values) {
    NodeTypes types({.secrets = [](const StepContext&) { return R"({"key":"tops3cret"})"; }});
    types.add("price", {}, [this](const Json& input) {
        inputs.push_back(input);
        return Json(1);
    });
    types.add_to(handlers);
    const Json schema = Json::parse(R"({"properties": {"key": {"pattern": "^tops"}}})");
    const Json step = {{"step", "price"}, {"input", {{"key", "$${ secrets.key }"}}}};
    const Definition definition = priced({{"input_schema", schema}}, step);
    EXPECT_TRUE(types.bind(definition).empty());
    EXPECT_EQ(run(definition, "{}").output, 1);
    EXPECT_EQ(inputs.at(0).at("key"), "tops3cret");
}

TEST_F(EntryContract, a_schema_that_cannot_be_used_fails_the_step) {
    add_price();
    EXPECT_THAT(
        error_of(priced({{"input_schema", {{"type", "objekt"}}}}), "{}"),
        HasSubstr("invalid_schema: /handlers/price/input_schema")
    );
}

Definition late_definition(const std::string& text = "Bearer $${ secrets.key }") {
    return definition_from_json(
        {{"workflow", "w"},
         {"steps", Json::array({{{"step", "price"}, {"input", {{"a", Json::array({text})}}}}})}}
    );
}

TEST_F(EntryContract, a_late_expression_that_nothing_fills_in_is_not_sent_as_text) {
    add_price();
    const std::string error = error_of(late_definition(), "{}");
    EXPECT_THAT(error, HasSubstr("late_expression: Nothing fills in globals, secrets or payload"));
    EXPECT_THAT(error, HasSubstr("\"price\""));
    EXPECT_THAT(error, HasSubstr("/a/0"));
    EXPECT_TRUE(inputs.empty());
    EXPECT_THAT(
        error_of(late_definition("${ workflow.name } $${ secrets.key }"), "{}"),
        HasSubstr("late_expression: ")
    ) << "mixed with other expressions";
}

TEST_F(EntryContract, a_late_expression_of_a_definition_that_was_not_bound_is_not_sent) {
    NodeTypes types({.secrets = [](const StepContext&) { return R"({"key":"tops3cret"})"; }});
    types.add("price", {}, [](const Json& input) { return input.at("a").at(0); });
    types.add_to(handlers);
    EXPECT_THAT(error_of(late_definition(), "{}"), HasSubstr("late_expression: "));
    types.bind(late_definition());
    EXPECT_EQ(run(late_definition(), "{}").output, "Bearer [redacted]");
}

TEST_F(EntryContract, other_texts_with_a_dollar_are_sent) {
    add_price();
    run(late_definition("$${ HOME }"), "{}");
    ASSERT_EQ(inputs.size(), 2U);
    EXPECT_EQ(inputs[0].at("a").at(0), "${ HOME }");
}

/// Types of which each schema stands for one validator.
NodeTypes lenient_types() {
    //! [lenient]
    /// Takes numbers as text, drops what it does not know, and fills in a currency.
    struct Lenient : Validator {
        std::vector<std::string> violations(const Payload& value) const override {
            return validate(value).violations;
        }

        Validation validate(const Payload& value) const override {
            const Json given = Json::parse(value);
            if (!given.contains("amount")) return {.violations = {"/: an amount is needed"}};
            const Json& amount = given["amount"];
            Json made = {{"currency", given.value("currency", "EUR")}};
            made["amount"] = amount.is_string() ? std::stoi(amount.get<std::string>()) : amount;
            return {.value = made.dump()};
        }
    };

    NodeTypes types({.validators = [](const Payload&) { return std::make_shared<Lenient>(); }});
    //! [lenient]
    return types;
}

TEST_F(EntryContract, a_validator_may_default_strip_and_coerce) {
    NodeTypes types = lenient_types();
    types.add("price", {.input_schema = "1"}, [this](const Json& input) {
        inputs.push_back(input);
        return input.at("amount");
    });
    types.add_to(handlers);
    const Definition definition =
        definition_from_json({{"workflow", "w"}, {"steps", Json::array({"price"})}});
    EXPECT_EQ(run(definition, R"({"amount":"42","noise":1})").output, 42);
    EXPECT_EQ(inputs.at(0), Json::parse(R"({"amount":42,"currency":"EUR"})"));
    EXPECT_EQ(inputs.at(1), inputs.at(0));
    EXPECT_THAT(error_of(definition, "{}"), HasSubstr("/: an amount is needed"));
}

TEST_F(EntryContract, a_validator_replaces_the_output_too) {
    NodeTypes types = lenient_types();
    types.add("price", {.output_schema = "1"}, [] {
        return Json({{"amount", "7"}, {"password", "x"}});
    });
    types.add_to(handlers);
    const Definition definition =
        definition_from_json({{"workflow", "w"}, {"steps", Json::array({"price"})}});
    EXPECT_EQ(run(definition, "{}").output, Json::parse(R"({"amount":7,"currency":"EUR"})"));
}

}  // namespace
}  // namespace ebb::test
