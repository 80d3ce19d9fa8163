// Values of attributes: what is allowed for each type, and that conditions see what JSON says.

#include "core/rules/values.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ebb::rules {
namespace {

using Json = nlohmann::json;

predicate::Datum seen(AttributeType type, const Json& value) {
    const Coerced coerced = coerce(type, value);
    EXPECT_EQ(coerced.fault, "") << value;
    return datum_of(type, coerced.json);
}

TEST(RulesValues, null_is_null_for_every_type) {
    for (int type = 0; type <= static_cast<int>(AttributeType::Document); ++type) {
        EXPECT_TRUE(seen(static_cast<AttributeType>(type), nullptr).is_null) << type;
    }
}

TEST(RulesValues, conditions_see_the_text_that_the_json_string_means) {
    for (const char* text :
         {"", "plain", "a \"quote\"", "back\\slash", "line\nend", "é€", "\"", "null"}) {
        EXPECT_EQ(seen(AttributeType::Text, text).text, text);
    }
}

TEST(RulesValues, conditions_see_every_number_exactly) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t number : {kLeast, std::int64_t{-1}, std::int64_t{0}, kMost}) {
        EXPECT_EQ(seen(AttributeType::Integer, number).integer, number);
    }
    EXPECT_EQ(seen(AttributeType::Integer, 3.0).integer, 3);
    for (const double number : {0.1, -1e-300, 1e300, 5e-324, 2.0, 123456789.125}) {
        EXPECT_EQ(seen(AttributeType::Double, number).real, number);
    }
    EXPECT_EQ(seen(AttributeType::Double, 7).real, 7.0);
    EXPECT_EQ(seen(AttributeType::Boolean, true).integer, 1);
    EXPECT_EQ(seen(AttributeType::Boolean, false).integer, 0);
    EXPECT_EQ(seen(AttributeType::Numeric, "1.50").numeric.to_string(), "1.50");
}

TEST(RulesValues, a_number_in_another_spelling_is_read_too) {
    EXPECT_EQ(datum_of(AttributeType::Integer, " 12 ").integer, 12);
    EXPECT_EQ(datum_of(AttributeType::Double, " 1.5").real, 1.5);
    EXPECT_EQ(datum_of(AttributeType::Text, R"( "x" )").text, "x");
}

}  // namespace
}  // namespace ebb::rules
