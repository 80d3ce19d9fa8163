// Goal: values are judged as draft 7 says, and no schema and no value can do harm. Method:
// examples, and each limit at its edge.

#include "support/json_schema.h"

#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

namespace ebb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> violations(std::string_view schema, std::string_view value) {
    return JsonSchema(Json::parse(schema)).violations(Json::parse(value));
}

std::string refusal(std::string_view schema) {
    try {
        const JsonSchema compiled(Json::parse(schema));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidPayload);
        return error.what();
    }
    return "accepted";
}

TEST(JsonSchema, names_the_place_of_each_violation) {
    constexpr std::string_view kSchema = R"({"type": "object", "required": ["id"], "properties":
        {"id": {"type": "string"}, "items": {"type": "array", "items": {"minimum": 1}}}})";
    EXPECT_THAT(violations(kSchema, R"({"id": "a", "items": [1, 2]})"), IsEmpty());
    EXPECT_THAT(violations(kSchema, R"({"id": 7})")[0], HasSubstr("/id: "));
    const auto found = violations(kSchema, R"({"items": [1, 0]})");
    EXPECT_THAT(found, ::testing::Contains(HasSubstr("/items/1: ")));
    EXPECT_THAT(found, ::testing::Contains("/: the property \"id\" is missing"));
}

TEST(JsonSchema, follows_references_into_itself) {
    constexpr std::string_view kTree =
        R"({"type": "object", "properties": {"children": {"items": {"$ref": "#"}}}})";
    EXPECT_THAT(violations(kTree, R"({"children": [{"children": []}]})"), IsEmpty());
    EXPECT_FALSE(violations(kTree, R"({"children": [{"children": [7]}]})").empty());
}

TEST(JsonSchema, refuses_references_that_lead_nowhere_out_or_in_a_circle) {
    EXPECT_THAT(refusal(R"({"$ref": "#"})"), HasSubstr("in a circle"));
    EXPECT_THAT(
        refusal(R"({"definitions": {"a": {"$ref": "#/definitions/b"},
            "b": {"$ref": "#/definitions/a"}}, "properties": {"x": {"$ref": "#/definitions/a"}}})"),
        HasSubstr("in a circle")
    );
    EXPECT_THAT(
        refusal(R"({"items": {"$ref": "#/definitions/none"}})"), HasSubstr("leads nowhere")
    );
    EXPECT_THAT(refusal(R"({"$ref": "http://example.org/s"})"), HasSubstr("leads out of it"));
    EXPECT_THAT(refusal(R"({"$ref": 7})"), HasSubstr("must be a string"));
}

TEST(JsonSchema, refuses_a_pattern_that_is_none) {
    EXPECT_THAT(refusal(R"({"pattern": "(a"})"), HasSubstr("\"(a\""));
    EXPECT_THAT(refusal(R"({"patternProperties": {"[": {}}})"), HasSubstr("pattern"));
    EXPECT_THAT(violations(R"({"pattern": "^a+$"})", R"("aaa")"), IsEmpty());
    EXPECT_FALSE(violations(R"({"pattern": "^a+$"})", R"("b")").empty());
}

TEST(JsonSchema, says_what_was_expected_and_what_came) {
    const auto first = [](std::string_view schema, std::string_view value) {
        return violations(schema, value).at(0);
    };
    EXPECT_EQ(first(R"({"type": "integer"})", R"("x")"), "/: expected an integer, got \"x\"");
    EXPECT_EQ(
        first(R"({"type": ["string", "null"]})", "[1]"),
        "/: expected a string or null, got an array"
    );
    EXPECT_EQ(first(R"({"enum": ["a", 2]})", R"("b")"), "/: expected one of \"a\", 2, got \"b\"");
    EXPECT_EQ(first(R"({"maximum": 10})", "20"), "/: expected a number of at most 10, got 20");
    EXPECT_EQ(first(R"({"multipleOf": 0.5})", "0.7"), "/: expected a multiple of 0.5, got 0.7");
    EXPECT_EQ(first(R"({"minLength": 3})", R"("ä")"), "/: expected at least 3 characters, got 1");
    EXPECT_EQ(
        first(R"({"pattern": "^a"})", R"("b")"), "/: expected a string that matches ^a, got \"b\""
    );
    EXPECT_EQ(
        first(R"({"format": "date"})", R"("2026-02-30")"), "/: expected a date, got \"2026-02-30\""
    );
    EXPECT_EQ(
        first(
            R"({"properties": {"amount": {}}, "additionalProperties": false})", R"({"amont": 1})"
        ),
        "/amont: this property is not allowed; did you mean \"amount\"?"
    );
    EXPECT_EQ(
        first(R"({"uniqueItems": true})", "[1, 2, 1.0]"), "/2: expected unique items, got 1.0 again"
    );
    constexpr std::string_view kChoice =
        R"({"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "null"}}}]})";
    EXPECT_EQ(
        first(kChoice, R"({"a": 1})"),
        "/: fits none of the 2 alternatives of anyOf (/a: expected null, got 1)"
    );
}

TEST(JsonSchema, names_the_keyword_whose_argument_is_wrong) {
    EXPECT_THAT(
        refusal(R"({"properties": {"a": {"minLength": -1}}})"),
        HasSubstr("/properties/a/minLength must be a whole number, at least 0")
    );
    EXPECT_THAT(refusal(R"({"type": "text"})"), HasSubstr("/type must be array, boolean,"));
    EXPECT_THAT(refusal("7"), HasSubstr("must be a schema"));
    EXPECT_THAT(
        violations(R"({"properties": {"$ref": {"type": "string"}}})", R"({"$ref": "x"})"), IsEmpty()
    );
}

// Each of these took from seconds to forever.
TEST(JsonSchema, no_schema_and_no_value_takes_long) {
    const std::string letters(28, 'a');
    const Json hostile = letters + "!";
    EXPECT_FALSE(violations(R"({"pattern": "^(a+)+$"})", hostile.dump()).empty());
    EXPECT_FALSE(
        violations(R"({"pattern": "^(a|a)*$"})", Json(std::string(1 << 20, 'a') + "!").dump())
            .empty()
    );

    Json numbers = Json::array();
    for (int i = 0; i < 40'000; ++i) numbers.push_back(i);
    EXPECT_THAT(JsonSchema(Json{{"uniqueItems", true}}).violations(numbers), IsEmpty());

    Json deep = 1;
    for (int i = 0; i < 60; ++i) deep = Json::array({deep});
    const JsonSchema recursive(Json::parse(
        R"({"anyOf": [{"type": "string"}, {"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}]})"
    ));
    EXPECT_THAT(recursive.violations(deep), ElementsAre(HasSubstr("takes more than")));
    const JsonSchema endless(Json::parse(R"({"allOf": [{"$ref": "#"}]})"));
    EXPECT_THAT(endless.violations(1), ElementsAre(HasSubstr("takes more than")));
}

TEST(JsonSchema, refuses_look_around_and_back_references) {
    EXPECT_THAT(refusal(R"x({"pattern": "^(?!a)"})x"), HasSubstr("look-around"));
    EXPECT_THAT(refusal(R"({"pattern": "(a)\\1"})"), HasSubstr("not"));
    EXPECT_THAT(violations(R"({"pattern": "^\\u00e4(?<x>b)$"})", R"("äb")"), IsEmpty());
}

Json filled(std::string_view schema, std::string_view value) {
    Json whole = Json::parse(value);
    const bool has_filled = JsonSchema(Json::parse(schema)).fill_defaults(whole);
    EXPECT_EQ(has_filled, whole != Json::parse(value));
    return whole;
}

TEST(JsonSchemaDefaults, are_filled_in_where_an_object_lacks_them) {
    const char* schema = R"({
        "properties": {"a": {"default": 1}, "b": {"$ref": "#/definitions/b"}, "c": {}},
        "additionalProperties": {"properties": {"x": {"default": 7}}},
        "patternProperties": {"^p": {}},
        "allOf": [{"properties": {"d": {"default": null}}}],
        "definitions": {"b": {"default": {}, "properties": {"in": {"default": "side"}}}}
    })";
    EXPECT_EQ(filled(schema, "{}"), Json::parse(R"({"a":1,"b":{"in":"side"},"d":null})"));
    EXPECT_EQ(
        filled(schema, R"({"a":2,"b":5,"d":0,"other":{},"plain":{}})"),
        Json::parse(R"({"a":2,"b":5,"d":0,"other":{"x":7},"plain":{}})")
    );
    EXPECT_EQ(filled(schema, "5"), 5);
    const char* items = R"({"items": {"properties": {"n": {"default": 1}}}})";
    EXPECT_EQ(filled(items, R"([{}, 5, {"n": 2}])"), Json::parse(R"([{"n":1}, 5, {"n":2}])"));
    const char* listed = R"({"items": [{}, {"properties": {"n": {"default": 1}}}]})";
    EXPECT_EQ(filled(listed, "[{}, {}, {}]"), Json::parse(R"([{}, {"n":1}, {}])"));
}

TEST(JsonSchemaDefaults, of_alternatives_are_not) {
    for (const char* keyword : {"anyOf", "oneOf"}) {
        const Json schema = {{keyword, {{{"properties", {{"a", {{"default", 1}}}}}}}}};
        EXPECT_EQ(filled(schema.dump(), "{}"), Json::object());
    }
    EXPECT_EQ(filled(R"({"if": {"properties": {"a": {"default": 1}}}})", "{}"), Json::object());
}

TEST(JsonSchemaDefaults, that_never_end_are_an_error) {
    const JsonSchema schema(Json::parse(R"({"default": {}, "properties": {"a": {"$ref": "#"}}})"));
    Json value = Json::object();
    EXPECT_THROW(schema.fill_defaults(value), Error);
}

TEST(JsonSchema, lists_a_bounded_number_of_violations) {
    const JsonSchema schema(Json::parse(R"({"items": {"type": "string"}})"));
    const Json numbers(std::vector<int>(100, 7));
    EXPECT_EQ(schema.violations(numbers).size(), JsonSchema::kViolationsMax);
}

// The published cases of draft 7, without what Ebb leaves out on purpose.
TEST(JsonSchema, passes_the_published_cases) {
    const std::filesystem::path folder = EBB_JSON_SCHEMA_CASES;
    ASSERT_TRUE(std::filesystem::exists(folder)) << "It needs the package json-schema-test-suite.";
    std::size_t cases = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".json") continue;
        for (const Json& group : Json::parse(std::ifstream(file.path()))) {
            std::optional<JsonSchema> schema;
            try {
                schema.emplace(group["schema"]);
            } catch (const Error& error) {
                // What refers to other documents or to "$id" is refused, never misread.
                EXPECT_THAT(error.what(), HasSubstr("the reference")) << group["description"];
                continue;
            }
            for (const Json& each : group["tests"]) {
                ++cases;
                EXPECT_EQ(schema->violations(each["data"]).empty(), each["valid"].get<bool>())
                    << file.path().filename() << " " << group["description"] << " "
                    << each["description"];
            }
        }
    }
    EXPECT_GT(cases, 350U);
}

}  // namespace
}  // namespace ebb
