// Every named limit at its value and one above it, and inputs made to exhaust stack, time and
// memory.

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "core/expression/context.h"
#include "core/expression/template.h"
#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
    std::string result;
    for (std::size_t i = 0; i < times; ++i) result += text;
    return result;
}

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const ExpressionError& error) {
        return error.message();
    }
    return "no error";
}

std::string compiling(const std::string& source, const ExpressionLimits& limits = {}) {
    return message_of([&] { Expression::compile(source, limits); });
}

std::string evaluating(
    const std::string& source,
    const ExpressionLimits& limits = {},
    const Variables& variables = TestVariables()
) {
    return message_of([&] { Expression::compile(source, limits).evaluate(variables); });
}

TEST(ExpressionLimits, source_bytes_max_counts_bytes) {
    const ExpressionLimits limits{.source_bytes_max = 10};
    EXPECT_EQ(compiling("'12345678'", limits), "no error");
    EXPECT_EQ(
        compiling("'123456789'", limits), "The expression has 11 bytes; source_bytes_max allows 10."
    );
    EXPECT_EQ(compiling("'" + std::string((16 << 10) - 2, 'x') + "'"), "no error");
    EXPECT_EQ(
        compiling("'" + std::string((16 << 10) - 1, 'x') + "'"),
        "The expression has 16385 bytes; source_bytes_max allows 16384."
    );
}

TEST(ExpressionLimits, depth_max_counts_every_kind_of_nesting) {
    constexpr std::string_view kTooDeep =
        "The expression is nested more than 64 deep, which depth_max allows.";
    const std::pair<std::string_view, std::string_view> kinds[] = {
        {"(", ")"},
        {"[", "]"},
        {"{1:", "}"},
        {"size(", ")"},
        {"-", ""},
        {"!", ""},
        {"a[", "]"},
        {"[1].all(x,", ")"},
        {"true ? 1 : (", ")"},
        {"'a'.contains(", ")"},
        {"has(", ".a)"},
    };
    for (const auto& [open, close] : kinds) {
        EXPECT_EQ(
            compiling(repeated(open, 64) + "a" + repeated(close, 64)).find("nested"),
            std::string::npos
        ) << open;
        EXPECT_EQ(compiling(repeated(open, 65) + "a" + repeated(close, 65)), kTooDeep) << open;
    }
    const ExpressionLimits flat{.depth_max = 0};
    EXPECT_EQ(compiling("1 + 2 * 3", flat), "no error");
    EXPECT_EQ(
        compiling("(1)", flat), "The expression is nested more than 0 deep, which depth_max allows."
    );
}

TEST(ExpressionLimits, ten_thousand_of_anything_cannot_crash) {
    constexpr std::size_t kMany = 10'000;
    const ExpressionLimits wide{.source_bytes_max = std::size_t{1} << 20};
    for (const char* open : {"(", "[", "{1:", "!", "-", "size(", "a[", "[1].map(x,", "has("}) {
        EXPECT_EQ(
            compiling(repeated(open, kMany), wide),
            "The expression is nested more than 64 deep, which depth_max allows."
        ) << open;
    }
    const TestVariables variables = with({{"a", {{"b", 1}}}});
    EXPECT_EQ(evaluating("1" + repeated("+1", kMany - 1), wide), "no error");
    EXPECT_EQ(
        evaluating("1" + repeated("+1", kMany + 1), wide),
        "The evaluation needs more than 10000 steps, which steps_max allows."
    );
    EXPECT_EQ(evaluating("true" + repeated(" && true", kMany), wide), "no error");
    EXPECT_EQ(evaluating("false" + repeated(" || false", kMany), wide), "no error");
    EXPECT_EQ(evaluating(repeated("false ? 1 : ", kMany) + "2", wide), "no error");
    EXPECT_NE(evaluating("a" + repeated(".a", kMany), wide, variables), "no error");
    EXPECT_NE(evaluating("a" + repeated("[0]", kMany), wide, variables), "no error");
    EXPECT_NE(evaluating("[1]" + repeated(".map(x,[x])", kMany), wide), "no error");
}

TEST(ExpressionLimits, steps_max_is_exact) {
    // Four elements appended, four visited, four compared (an operation and an element each).
    EXPECT_EQ(evaluating("[1, 2, 3, 4].all(x, x > 0)", {.steps_max = 12}), "no error");
    EXPECT_EQ(
        evaluating("[1, 2, 3, 4].all(x, x > 0)", {.steps_max = 11}),
        "The evaluation needs more than 11 steps, which steps_max allows."
    );
    EXPECT_EQ(evaluating("input", {.steps_max = 0}, with({{"input", 1}})), "no error");
}

TEST(ExpressionLimits, nested_macros_run_out_of_steps) {
    const std::string ten = "[0,1,2,3,4,5,6,7,8,9]";
    const std::string nested =
        ten + ".all(a," + ten + ".all(b," + ten + ".all(c," + ten + ".all(d, a+b+c+d >= 0))))";
    EXPECT_EQ(
        evaluating(nested), "The evaluation needs more than 10000 steps, which steps_max allows."
    );
}

TEST(ExpressionLimits, an_exceeded_limit_is_never_absorbed) {
    const std::string loop = "[0,1,2,3,4,5,6,7,8,9].all(x, x >= 0)";
    const ExpressionLimits limits{.steps_max = 20};
    EXPECT_NE(evaluating(loop + " || true", limits), "no error");
    EXPECT_NE(evaluating("true || " + loop, limits), "The evaluation needs more than 20 steps.");
    EXPECT_NE(evaluating("false && true || (" + loop + ") || true", limits), "no error");
    EXPECT_NE(evaluating("[1].exists(y, " + loop + ") || true", limits), "no error");
}

TEST(ExpressionLimits, result_bytes_max_bounds_texts) {
    const ExpressionLimits limits{.result_bytes_max = 8};
    constexpr std::string_view kTooLarge =
        "A string, list or map that is built here is larger than 8 bytes, which result_bytes_max "
        "allows.";
    EXPECT_EQ(evaluating("'1234' + '5678'", limits), "no error");
    EXPECT_EQ(evaluating("'1234' + '56789'", limits), kTooLarge);
    EXPECT_EQ(evaluating("'aaaa'.replace('a', 'bb')", limits), "no error");
    EXPECT_EQ(evaluating("'aaaab'.replace('a', 'bb')", limits), kTooLarge);
    EXPECT_EQ(evaluating("'aaa'.replace('', '-')", limits), "no error");
    EXPECT_EQ(evaluating("'aaaa'.replace('', '-')", limits), kTooLarge);
}

TEST(ExpressionLimits, result_bytes_max_bounds_lists_and_results) {
    const ExpressionLimits limits{.result_bytes_max = 64};
    EXPECT_EQ(evaluating("([1, 2] + [3, 4]).size()", limits), "no error");
    EXPECT_NE(evaluating("([1, 2] + [3, 4, 5]).size()", limits), "no error");
    EXPECT_EQ(evaluating("[1, 2, 3, 4].map(x, x).size()", limits), "no error");
    EXPECT_NE(evaluating("[1, 2, 3, 4, 5].map(x, x).size()", limits), "no error");
    EXPECT_NE(evaluating("[1, 2, 3, 4, 5].filter(x, true).size()", limits), "no error");
    EXPECT_EQ(evaluating("'a,b,c,d'.split(',').size()", limits), "no error");
    EXPECT_NE(evaluating("'a,b,c,d,e'.split(',').size()", limits), "no error");

    const TestVariables variables = with({{"input", std::string(50, 'x')}});
    EXPECT_EQ(evaluating("[input]", limits, variables), "no error");
    EXPECT_NE(evaluating("[input, input]", limits, variables), "no error");
    EXPECT_NE(evaluating("{'a': [[input], {'b': input}]}", limits, variables), "no error");
}

TEST(ExpressionLimits, a_variables_own_value_may_be_larger_than_results) {
    const TestVariables variables = with(
        {{"input", {{"text", std::string(5'000'000, 'x')}, {"list", Json::array_t(100'000, 1)}}}}
    );
    EXPECT_EQ(evaluating("input", {}, variables), "no error");
    EXPECT_EQ(evaluating("input.text", {}, variables), "no error");
    EXPECT_EQ(evaluating("input.list[99999]", {}, variables), "no error");
    EXPECT_NE(evaluating("[input]", {}, variables), "no error");
    EXPECT_NE(evaluating("input.text + 'x'", {}, variables), "no error");
    EXPECT_NE(evaluating("input.list == input.list", {}, variables), "no error");
}

TEST(ExpressionLimits, hostile_searches_are_linear_or_paid_for) {
    const std::string text(1'000'000, 'a');
    const TestVariables variables =
        with({{"text", text}, {"part", std::string(500'000, 'a') + "b"}});
    EXPECT_EQ(evaluating("text.contains(part)", {}, variables), "no error");
    EXPECT_EQ(evaluating("text.indexOf(part)", {}, variables), "no error");
    EXPECT_NE(evaluating("text.lastIndexOf(part)", {}, variables), "no error");
    EXPECT_EQ(evaluating("text.lastIndexOf('ab')", {}, variables), "no error");
}

TEST(ExpressionLimits, deep_values_are_compared_and_given_back_up_to_a_depth) {
    const auto nested = [](std::size_t depth) { return "[1]" + repeated(".map(x,[x])", depth); };
    const auto depth = static_cast<std::size_t>(expression::Context::kValueDepthMax);
    const ExpressionLimits wide{.source_bytes_max = std::size_t{1} << 20};
    EXPECT_EQ(evaluating(nested(depth - 1), wide), "no error");
    EXPECT_EQ(evaluating(nested(depth), wide), "A value here is nested more than 256 deep.");
    EXPECT_EQ(evaluating(nested(depth - 1) + " == " + nested(depth - 1), wide), "no error");
    EXPECT_EQ(
        evaluating(nested(depth) + " == " + nested(depth), wide),
        "A value here is nested more than 256 deep."
    );
}

TEST(ExpressionLimits, hold_in_templates) {
    const ExpressionLimits limits{.source_bytes_max = 10, .result_bytes_max = 20};
    const TestVariables variables = with({{"input", "0123456789"}});
    EXPECT_EQ(
        message_of([&] { Template::compile_text("${input}${input}", limits).render(variables); }),
        "no error"
    );
    EXPECT_EQ(
        message_of([&] { Template::compile_text("${input}${input}!", limits).render(variables); }),
        "The text is larger than 20 bytes, which result_bytes_max allows."
    );
    EXPECT_EQ(
        message_of([&] { Template::compile_text("${input + '!'}", limits); }),
        "The expression has 11 bytes; source_bytes_max allows 10."
    );
}

TEST(ExpressionLimits, templates_are_at_most_64_deep) {
    const auto nested = [](int depth) {
        Json value = "${input}";
        for (int i = 0; i < depth; ++i) value = Json::array({std::move(value)});
        return value;
    };
    EXPECT_EQ(message_of([&] { Template::compile(nested(64)); }), "no error");
    EXPECT_EQ(
        message_of([&] { Template::compile(nested(65)); }), "A template is nested at most 64 deep."
    );
}

}  // namespace
}  // namespace ebb
