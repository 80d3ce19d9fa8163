// Goal: a handler entry's schemas, defaults and result hold for whatever the program does. Method:
// real programs, called through make_handler as the engine does.

#include "unit/handlers/handler_harness.h"

namespace ebb {
namespace {

using ::testing::HasSubstr;

Json entry(const Json& more) {
    Json made = {{"exec", {"cat"}}};
    made.update(more);
    return made;
}

std::string failure_code(const Json& spec, const Payload& input) {
    try {
        call(spec, input);
    } catch (const HandlerFailure& failure) {
        EXPECT_TRUE(failure.options().is_permanent);
        return failure.options().code;
    }
    return {};
}

TEST(HandlerContract, inputs_and_outputs_must_fit_their_schemas) {
    const Json schema = Json::parse(R"({"type": "object", "required": ["n"]})");
    EXPECT_EQ(failure_code(entry({{"input_schema", schema}}), "{}"), "invalid_input");
    EXPECT_EQ(failure_code(entry({{"output_schema", schema}}), "{}"), "invalid_output");
    const Json both = entry({{"input_schema", schema}, {"output_schema", schema}});
    EXPECT_EQ(Json::parse(call(both, R"({"n":1})")), Json::parse(R"({"n":1})"));
}

TEST(HandlerContract, defaults_fill_in_what_a_map_lacks) {
    const Json spec = entry({{"defaults", {{"a", 1}, {"b", {{"c", 2}}}}}});
    EXPECT_EQ(Json::parse(call(spec, R"({"a":7})")), Json::parse(R"({"a":7,"b":{"c":2}})"));
    EXPECT_EQ(Json::parse(call(spec, "null")), Json::parse(R"({"a":1,"b":{"c":2}})"));
    EXPECT_EQ(call(spec, "[1]"), "[1]");
}

TEST(HandlerContract, defaults_of_the_schema_are_filled_in) {
    const Json schema = Json::parse(R"({"properties": {"days": {"default": 3}}})");
    EXPECT_EQ(Json::parse(call(entry({{"input_schema", schema}}), "{}")), Json({{"days", 3}}));
}

TEST(HandlerContract, an_entry_without_a_program_is_the_contract_of_a_handler_in_cpp) {
    EXPECT_TRUE(validate_handler_spec("price", R"({"input_schema": {}})").empty());
    const std::vector<Diagnostic> problems = validate_handler_spec("price", "{}");
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].code, "missing_key");
    EXPECT_THROW(make_handler("price", R"({"input_schema": {}})", "."), DefinitionError);
    HandlerRegistry registry;
    const Json definition = {
        {"workflow", "w"},
        {"handlers", {{"price", {{"input_schema", Json::object()}}}}},
        {"steps", {"price"}}
    };
    register_definition_handlers(registry, definition_from_json(definition), ".");
    EXPECT_EQ(registry.find("price"), nullptr) << "the application adds it";
}

TEST(HandlerContract, an_envelope_names_the_handle_and_pauses) {
    const Json spec = entry({{"result", "envelope"}});
    StepChoice choice;
    StepContext context = a_context();
    context.choice = &choice;
    EXPECT_EQ(call(spec, R"({"data":{"n":1},"nextHandle":"left"})", context), R"({"n":1})");
    EXPECT_EQ(choice.handle, "left");
    call(spec, R"({"__pause":true})", context);
    EXPECT_TRUE(choice.is_paused);
    EXPECT_EQ(failure_code(spec, "[1]"), "invalid_output");
    EXPECT_EQ(failure_code(spec, R"({"__pause":"yes"})"), "invalid_output");
    choice = {};
    EXPECT_EQ(call(spec, R"({"__pause":null,"data":1})", context), "1");
    EXPECT_FALSE(choice.is_paused);
}

TEST(HandlerContract, what_is_wrong_has_its_place) {
    const Json spec = entry(
        {{"input_schema", {{"type", "objekt"}}},
         {"output_schema", 7},
         {"result", "letter"},
         {"defaults", 1}}
    );
    std::vector<std::string> found;
    for (const Diagnostic& each : validate_handler_spec("h", spec.dump())) {
        found.push_back(each.path + " (" + each.code + ")");
    }
    EXPECT_THAT(
        found,
        ::testing::UnorderedElementsAre(
            "/handlers/h/input_schema (invalid_schema)",
            "/handlers/h/output_schema (invalid_schema)",
            "/handlers/h/result (unknown_word)",
            "/handlers/h/defaults (wrong_type)"
        )
    );
}

}  // namespace
}  // namespace ebb
