// Goal: values are judged as draft 7 says, and no schema and no value can do harm. Method:
// examples, and each limit at its edge.

#include "support/json_schema.h"

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
    EXPECT_THAT(found, ::testing::Contains(HasSubstr("'id'")));
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
    EXPECT_THAT(refusal(R"({"$ref": 7})"), HasSubstr("is a text"));
}

TEST(JsonSchema, refuses_a_pattern_that_is_none) {
    EXPECT_THAT(refusal(R"({"pattern": "(a"})"), HasSubstr("\"(a\""));
    EXPECT_THAT(refusal(R"({"patternProperties": {"[": {}}})"), HasSubstr("pattern"));
    EXPECT_THAT(violations(R"({"pattern": "^a+$"})", R"("aaa")"), IsEmpty());
    EXPECT_FALSE(violations(R"({"pattern": "^a+$"})", R"("b")").empty());
}

TEST(JsonSchema, does_not_match_texts_that_are_too_long) {
    const JsonSchema schema(Json::parse(R"({"items": {"pattern": "^(a|b)*$"}})"));
    const std::string most(JsonSchema::kPatternTextBytesMax, 'a');
    EXPECT_THAT(schema.violations(Json::array({most})), IsEmpty());
    EXPECT_THAT(schema.violations(Json::array({most + "a"})), ElementsAre(HasSubstr("too long")));
    const JsonSchema plain(Json::parse(R"({"items": {"type": "string"}})"));
    EXPECT_THAT(plain.violations(Json::array({most + "a"})), IsEmpty());
}

TEST(JsonSchema, lists_a_bounded_number_of_violations) {
    const JsonSchema schema(Json::parse(R"({"items": {"type": "string"}})"));
    const Json numbers(std::vector<int>(100, 7));
    EXPECT_EQ(schema.violations(numbers).size(), JsonSchema::kViolationsMax);
}

}  // namespace
}  // namespace ebb
