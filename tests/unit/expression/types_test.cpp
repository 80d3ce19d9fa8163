// What is known of a value without a run: by a table, and by every example of the documentation,
// whose value must have one of the types.

#include "core/expression/types.h"

#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "core/expression/functions.h"
#include "ebb_test_dirs.h"
#include "unit/expression/test_variables.h"

namespace ebb::expression {
namespace {

const Json kSchema = Json::parse(R"json({
  "type": "object",
  "definitions": {
    "place": {"type": "object", "properties": {"city": {"type": "string"}}},
    "circle": {"$ref": "#/definitions/circle"}
  },
  "properties": {
    "amount": {"type": "number"},
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "name": {"type": "string"},
    "note": {"type": ["string", "null"]},
    "color": {"enum": ["red", "green"]},
    "fixed": {"const": 7},
    "either": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
    "items": {"type": "array", "items": {"properties": {"sku": {"type": "string"}}}},
    "where": {"$ref": "#/definitions/place"},
    "circle": {"$ref": "#/definitions/circle"},
    "nowhere": {"$ref": "#/definitions/nothing"},
    "prices": {"type": "object", "additionalProperties": {"type": "integer"}}
  }
})json");

class SchemaTypes : public TypeSource {
 public:
    StaticType variable(std::string_view name) const override {
        if (name == "input") return type_of_schema(kSchema, kSchema);
        if (name == "now") return {.set = StaticType::kString};
        return {};
    }

    StaticType step(std::string_view name) const override {
        if (name != "paid") return {};
        return map_with({{"output", map_with({{"sum", {.set = StaticType::kInt}}})}});
    }
};

std::string type(std::string_view source) {
    return to_text(type_of(Expression::compile(source), SchemaTypes()));
}

TEST(StaticTypes, are_those_of_operators_functions_and_schemas) {
    const std::pair<const char*, const char*> cases[] = {
        {"1 + 2", "int"},
        {"1.5 * 2.0", "double"},
        {"7u % 2u", "uint"},
        {"\"a\" + \"b\"", "string"},
        {"[1] + [2]", "list"},
        {"{\"a\": 1}", "map"},
        {"1 + \"a\"", ""},
        {"-input.count", "int"},
        {"!input.flag", "bool"},
        {"input.amount", "int or double"},
        {"input.amount + 1", "int"},
        {"input.unknown + 1", "int"},
        {"input.unknown + \"\"", "string"},
        {"input.unknown * input.other", "int or uint or double"},
        {"input.amount > 1 && input.flag", "bool"},
        {"input.flag || input.unknown", "bool"},
        {"\"a\" in input.items", "bool"},
        {"input.note", "string or null"},
        {"input.color", "string"},
        {"input.fixed", "int"},
        {"input.either", "int or string"},
        {"input.where.city", "string"},
        {"input[\"where\"].city", "string"},
        {"input.circle", ""},
        {"input.nowhere", ""},
        {"input.unknown", ""},
        {"input.prices.apple", "int"},
        {"input.items", "list"},
        {"input.items[0].sku", "string"},
        {"input.items.filter(x, x.sku != \"\")[0].sku", "string"},
        {"input.items.map(x, x.sku)", "list"},
        {"input.items.all(x, x.sku.size() > 1)", "bool"},
        {"input.items.exists_one(x, input.items.all(y, x == y))", "bool"},
        {"input.name.size() + 1", "int"},
        {"dyn(input.name)", "string"},
        {"input.name.split(\",\")", "list"},
        {"has(input.name)", "bool"},
        {"has(input.name) ? input.name : null", "string or null"},
        {"input.flag ? 1 : input.flag ? 2.0 : \"x\"", "int or double or string"},
        {"(input.flag ? 1 : 2) + (input.flag ? 3 : 4)", "int"},
        {"[input.flag ? 1 : 2].all(x, x > 0) ? \"a\" : \"b\"", "string"},
        {"timestamp(now) - timestamp(now)", "duration"},
        {"timestamp(now) + duration(\"1h\")", "timestamp"},
        {"duration(\"1h\") + timestamp(now)", "timestamp"},
        {"duration(\"1h\") - duration(\"1m\")", "duration"},
        {"steps.pay.attempts", "int"},
        {"steps.pay.error.code", "string"},
        {"steps.pay.output", ""},
        {"steps.paid.output.sum", "int"},
        {"\"pay\" in steps", "bool"},
    };
    for (const auto& [source, expected] : cases) EXPECT_EQ(type(source), expected) << source;
}

/// Nothing is known of any variable.
class NoTypes : public TypeSource {
 public:
    StaticType variable(std::string_view) const override { return {}; }

    StaticType step(std::string_view) const override { return {}; }
};

/// Times become texts in JSON.
bool allows(const StaticType& type, const Json& value) {
    using T = StaticType;
    switch (value.type()) {
        case Json::value_t::null:
            return (type.set & T::kNull) != 0;
        case Json::value_t::boolean:
            return (type.set & T::kBool) != 0;
        case Json::value_t::number_integer:
        case Json::value_t::number_unsigned:
            return (type.set & (T::kInt | T::kUint)) != 0;
        case Json::value_t::number_float:
            return (type.set & T::kDouble) != 0;
        case Json::value_t::string:
            return (type.set & (T::kString | T::kTimestamp | T::kDuration)) != 0;
        case Json::value_t::array:
            return (type.set & T::kList) != 0;
        default:
            return (type.set & T::kMap) != 0;
    }
}

/// The lines `expression ==> type value` of the conformance suite that need no variables.
TEST(StaticTypes, include_that_of_every_value_of_the_conformance_suite) {
    int checked = 0;
    int exact = 0;
    for (const char* part : {"basic", "comparisons", "numbers", "strings", "times"}) {
        std::ifstream stream(
            std::string(EBB_SOURCE_DIR "/tests/unit/expression/conformance_") + part + ".txt"
        );
        ASSERT_TRUE(stream) << part;
        for (std::string line; std::getline(stream, line);) {
            const std::size_t end = line.rfind(" ==> ");
            if (end == std::string::npos || line.find(" <== ") != std::string::npos) continue;
            const std::string source = line.substr(0, end);
            try {
                const Expression expression = Expression::compile(source);
                const StaticType known = type_of(expression, NoTypes());
                const Json value = expression.evaluate(TestVariables());
                ++checked;
                if (!known.is_any()) ++exact;
                EXPECT_TRUE(allows(known, value)) << source << " is " << to_text(known);
            } catch (const ExpressionError&) {
                // What has no value has no type that could be wrong.
            }
        }
    }
    EXPECT_GT(checked, 500);
    EXPECT_GT(exact * 10, checked * 9) << "of constants nearly everything is known";
}

/// What a literal of each type looks like.
constexpr std::string_view kLiterals[] = {
    "null",
    "true",
    "1",
    "1u",
    "1.0",
    "\"1\"",
    "[]",
    "{}",
    "timestamp(0)",
    "duration(\"1s\")",
};

std::string failure_of(const Expression& expression) {
    try {
        expression.evaluate(TestVariables());
        return {};
    } catch (const ExpressionError& error) {
        return error.message();
    }
}

bool is_of_types(const std::string& failure) {
    return failure.find("but this is") != std::string::npos ||
           failure.find("does not convert") != std::string::npos;
}

/// The call of a function with this argument in one place and a right one in each other place.
std::string call_text(const Function& function, std::size_t at, std::string_view literal) {
    std::string receiver;
    std::string arguments;
    for (std::size_t i = 0; i < function.arguments_max; ++i) {
        std::string_view text = "0";
        if ((function.takes[i] & StaticType::kTimestamp) != 0) text = "timestamp(0)";
        if ((function.takes[i] & StaticType::kString) != 0) text = "\"UTC\"";
        if (function.takes[i] == StaticType::kList) text = "[]";
        if (i == at) text = literal;
        if (i == 0 && function.is_method) {
            receiver = std::string(text) + ".";
        } else {
            arguments += (arguments.empty() ? "" : ", ") + std::string(text);
        }
    }
    return receiver + std::string(function.name) + "(" + arguments + ")";
}

TEST(StaticTypes, a_call_is_wrong_if_its_evaluation_fails_for_the_type_of_an_argument) {
    std::size_t wrong = 0;
    for (const Function& function : functions()) {
        for (std::size_t at = 0; at < function.arguments_max; ++at) {
            for (const std::string_view literal : kLiterals) {
                const std::string source = call_text(function, at, literal);
                const Expression expression = Expression::compile(source);
                const auto found = wrong_calls(expression, NoTypes());
                EXPECT_EQ(!found.empty(), is_of_types(failure_of(expression))) << source;
                wrong += found.size();
            }
        }
    }
    EXPECT_GT(wrong, 300u);
}

TEST(StaticTypes, a_call_whose_arguments_are_not_known_is_not_judged) {
    for (const std::string_view source :
         {"size(input.a)",
          "size(1 + \"a\")",
          "[1, \"a\"].map(x, size(x))",
          "(input.a ? 1 : []).size()",
          "input.a.trim().size()",
          "size(steps.pay.output)",
          "{}.map(x, x.trim())"}) {
        EXPECT_TRUE(wrong_calls(Expression::compile(source), NoTypes()).empty()) << source;
    }
}

}  // namespace
}  // namespace ebb::expression
