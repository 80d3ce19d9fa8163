// What the language does beyond CEL's own suite: JSON values in and out, steps, errors that are
// absorbed, and what an expression says it reads.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

using Names = std::vector<std::string>;

TEST(Expression, reads_json_numbers_as_int_uint_or_double) {
    const TestVariables variables(Json::parse(
        R"({"small": 7, "negative": -7, "int_max": 9223372036854775807,
            "above": 9223372036854775808,
            "whole_double": 1.0, "fraction": 1.5})"
    ));
    EXPECT_TRUE(evaluate("small + 1", variables).is_number_integer());
    EXPECT_FALSE(evaluate("small", variables).is_number_unsigned());
    EXPECT_EQ(evaluate("negative * 2", variables), -14);
    EXPECT_FALSE(evaluate("int_max", variables).is_number_unsigned());
    EXPECT_TRUE(evaluate("above", variables).is_number_unsigned());
    EXPECT_EQ(evaluate("above + 1u", variables), 9223372036854775809ull);
    EXPECT_TRUE(evaluate("whole_double + 0.5", variables).is_number_float());
    EXPECT_EQ(evaluate("fraction < small && whole_double == 1", variables), true);
}

TEST(Expression, gives_back_json_as_it_was) {
    const Json input = Json::parse(R"({"a": [1, 2.5, null, {"b": "c"}], "d": true})");
    const TestVariables variables = with({{"input", input}});
    EXPECT_EQ(evaluate("input", variables), input);
    EXPECT_EQ(evaluate("[input, input.a][0].a[3]", variables), Json::parse(R"({"b": "c"})"));
    EXPECT_EQ(
        evaluate("{'x': input.a, 2: null, true: 1u}", variables).dump(),
        R"({"2":null,"true":1,"x":[1,2.5,null,{"b":"c"}]})"
    );
}

TEST(Expression, writes_times_as_text) {
    EXPECT_EQ(evaluate("timestamp('2026-11-21T08:30:00.5+01:00')"), "2026-11-21T07:30:00.5Z");
    EXPECT_EQ(evaluate("duration('1h30m')"), "5400s");
    EXPECT_EQ(
        evaluate("[duration('-1.5s'), duration('1ms')]"), Json::parse(R"(["-1.5s", "0.001s"])")
    );
    EXPECT_EQ(evaluate("{'at': timestamp(0)}"), Json::parse(R"({"at": "1970-01-01T00:00:00Z"})"));
}

TEST(Expression, treats_now_as_a_string_until_it_is_converted) {
    const TestVariables variables = with({{"now", "2026-11-21T08:30:00Z"}});
    EXPECT_EQ(evaluate("now", variables), "2026-11-21T08:30:00Z");
    EXPECT_EQ(
        evaluate("timestamp(now) + duration('24h') > timestamp('2026-11-22T00:00:00Z')", variables),
        true
    );
    EXPECT_EQ(evaluate("timestamp(now).getHours('+02:00')", variables), 10);
}

TEST(Expression, reads_steps_by_name) {
    const TestVariables variables(
        Json::object(), Json::parse(R"({"pay": {"output": {"id": 17}}, "a-b": {"output": [1]}})")
    );
    EXPECT_EQ(evaluate("steps.pay.output.id", variables), 17);
    EXPECT_EQ(evaluate("steps['pay'].output.id", variables), 17);
    EXPECT_EQ(evaluate("steps[\"a-b\"].output[0]", variables), 1);
    EXPECT_EQ(evaluate("steps.`a-b`.output", variables), Json::parse("[1]"));
    EXPECT_EQ(evaluate("steps[r'pay'].output == steps['\\x70ay'].output", variables), true);
}

TEST(Expression, tells_whether_a_step_has_completed) {
    const TestVariables variables(
        Json::object(), Json::parse(R"({"pay": {"output": {"id": 17}}})")
    );
    EXPECT_EQ(evaluate("has(steps.pay)", variables), true);
    EXPECT_EQ(evaluate("has(steps.ship)", variables), false);
    EXPECT_EQ(evaluate("has(steps.`a-b`)", variables), false);
    EXPECT_EQ(evaluate("has(steps['a-b'])", variables), false);
    EXPECT_EQ(evaluate("has(steps.pay.output.id)", variables), true);
    EXPECT_EQ(evaluate("has(steps.pay.output.name)", variables), false);
    EXPECT_EQ(evaluate("has(steps.ship) && has(steps.ship.output.id)", variables), false);
    EXPECT_EQ(evaluate("'pay' in steps && !('ship' in steps)", variables), true);
    EXPECT_NE(complaint("has(steps.ship.output)", variables), "false");
}

TEST(Expression, knows_what_it_reads) {
    const Expression expression = Expression::compile(
        "input.b > 1 && steps.pay.output == steps['a-b'].output && has(steps.x) && 'y' in steps && "
        "workflow.input.all(i, i.n > attempt && [1].exists(attempt, attempt > 0)) && input.c"
    );
    EXPECT_EQ(expression.steps_read(), (Names{"a-b", "pay", "x", "y"}));
    EXPECT_EQ(expression.variables_read(), (Names{"attempt", "input", "steps", "workflow"}));
    EXPECT_EQ(Expression::compile("1 + 1").variables_read(), Names());
    EXPECT_EQ(Expression::compile("[1].map(steps, steps + 1)").steps_read(), Names());
    EXPECT_EQ(Expression::compile(" 1 + 1 ").source(), " 1 + 1 ");
}

TEST(Expression, asks_only_for_what_it_needs) {
    class Counting : public Variables {
     public:
        const Json* find(std::string_view name) const override {
            asked.emplace_back(name);
            return &value;
        }

        const Json* find_step(std::string_view name) const override {
            asked.push_back("steps." + std::string(name));
            return nullptr;
        }

        mutable Names asked;
        Json value = true;
    };

    const Counting variables;
    EXPECT_EQ(evaluate("a || b || steps.c.output", variables), true);
    EXPECT_EQ(evaluate("a ? d : e", variables), true);
    EXPECT_EQ(variables.asked, (Names{"a", "a", "d"}));
}

TEST(Expression, absorbs_errors_on_either_side) {
    const TestVariables variables = with({{"input", {{"a", 1}}}});
    EXPECT_EQ(evaluate("input.b > 1 || input.a == 1", variables), true);
    EXPECT_EQ(evaluate("input.a == 1 || input.b > 1", variables), true);
    EXPECT_EQ(evaluate("input.b > 1 && input.a == 2", variables), false);
    EXPECT_EQ(evaluate("!(input.b && false)", variables), true);
    EXPECT_EQ(evaluate("(input.b + 1 > 2 ? 'x' : 'y') == 'x' || true", variables), true);
    EXPECT_EQ(
        evaluate("[input.b, 1].size() == 2 || {'k': input.b}.k == 1 || true", variables), true
    );
    EXPECT_EQ(
        evaluate("input.b.startsWith('a') || 'x'.contains(input.b) || true", variables), true
    );
    EXPECT_EQ(evaluate("input.b.all(x, x > 1) || true", variables), true);
    EXPECT_EQ(evaluate("[1, 2].map(x, input.b) == [] || true", variables), true);
    EXPECT_EQ(evaluate("[1, 2].map(x, input.b, x) == [] || true", variables), true);
    EXPECT_EQ(evaluate("unknown.thing[0] in [1] || true", variables), true);
}

TEST(Expression, shows_the_first_of_two_errors) {
    EXPECT_EQ(complaint("1 / 0 == 1 || 2 % 0 == 1"), "1:3 1 is divided by zero.");
    EXPECT_EQ(complaint("[0, 1].all(x, 5 / x > 0 || 7 % x > 0)"), "1:17 5 is divided by zero.");
}

TEST(Expression, evaluates_maps_in_the_order_of_their_keys) {
    EXPECT_EQ(
        evaluate("{'b': 1, 'a': 2, 10: 3, 9u: 4, true: 5}.map(k, k)"),
        Json::parse(R"([true, 9, 10, "a", "b"])")
    );
    EXPECT_EQ(
        evaluate("input.map(k, k)", with({{"input", {{"b", 1}, {"a", 2}}}})),
        Json::parse(R"(["a", "b"])")
    );
}

TEST(Expression, maps_with_a_filter) {
    EXPECT_EQ(evaluate("[1, 2, 3, 4].map(x, x % 2 == 0, x * 10)"), Json::parse("[20, 40]"));
    EXPECT_EQ(evaluate("[3, 1, 2].map(x, x > 1, [x].map(x, x + 1)[0])"), Json::parse("[4, 3]"));
}

TEST(Expression, nests_macros_with_their_own_variables) {
    EXPECT_EQ(
        evaluate("[1, 2].map(x, [10, 20].map(y, x * y))"), Json::parse("[[10, 20], [20, 40]]")
    );
    EXPECT_EQ(evaluate("[[1, 2], [3]].map(x, x.filter(x, x > 1))"), Json::parse("[[2], [3]]"));
    EXPECT_EQ(evaluate("[1, 2, 3].filter(x, x > 1).map(x, x * x).exists(x, x == 9)"), true);
}

TEST(Expression, splits_and_replaces_like_cel) {
    EXPECT_EQ(evaluate("'abc'.split('')"), Json::parse(R"(["a", "b", "c"])"));
    EXPECT_EQ(evaluate("'äöü'.split('', 2)"), Json::parse(R"(["ä", "öü"])"));
    EXPECT_EQ(evaluate("''.split(',')"), Json::parse(R"([""])"));
    EXPECT_EQ(evaluate("''.split('')"), Json::parse("[]"));
    EXPECT_EQ(evaluate("'a,b,'.split(',')"), Json::parse(R"(["a", "b", ""])"));
    EXPECT_EQ(evaluate("'äb'.replace('', '-')"), "-ä-b-");
    EXPECT_EQ(evaluate("'äb'.replace('', '-', 2)"), "-ä-b");
    EXPECT_EQ(evaluate("'aaa'.replace('a', 'b', 2)"), "bba");
    EXPECT_EQ(evaluate("'aaa'.replace('a', 'b', 0)"), "aaa");
    EXPECT_EQ(evaluate("'  '.trim() + '|' + ''.trim() + '|' + ' ä '.trim()"), "||ä");
}

TEST(Expression, reads_durations_as_cel_writes_them) {
    EXPECT_EQ(evaluate("string(duration('1h45m47s'))"), "6347s");
    EXPECT_EQ(evaluate("string(duration('-1.5h'))"), "-5400s");
    EXPECT_EQ(evaluate("string(duration('.5s'))"), "0.5s");
    EXPECT_EQ(evaluate("string(duration('1us1ns'))"), "0.000001001s");
    EXPECT_EQ(evaluate("string(duration('0'))"), "0s");
    EXPECT_EQ(
        evaluate("duration('9223372036s') - duration('-0.000000001s') > duration('1s')"), true
    );
    for (const char* bad :
         {"''", "'1'", "'s'", "'.s'", "'1d'", "'1h30'", "'--1s'", "'1 s'", "'9223372037s'"}) {
        EXPECT_NE(
            complaint(std::string("duration(") + bad + ")").find("not a duration"),
            std::string::npos
        ) << bad;
    }
}

TEST(Expression, reads_rfc_3339_strictly) {
    EXPECT_EQ(evaluate("timestamp('2024-02-29T23:59:59-00:30')"), "2024-03-01T00:29:59Z");
    EXPECT_EQ(
        evaluate("timestamp('2024-02-29t23:59:59.1234567899z')"), "2024-02-29T23:59:59.123456789Z"
    );
    for (const char* bad : {
             "2023-02-29T00:00:00Z",
             "2023-13-01T00:00:00Z",
             "2023-01-01T24:00:00Z",
             "2023-01-01T00:60:00Z",
             "2023-01-01T00:00:60Z",
             "2023-01-01 00:00:00Z",
             "2023-01-01T00:00:00",
             "2023-01-01T00:00:00.Z",
             "2023-01-01T00:00:00+1:00",
             "2023-01-01T00:00:00Zx",
             "",
         }) {
        EXPECT_NE(
            complaint(std::string("timestamp('") + bad + "')").find("not a timestamp"),
            std::string::npos
        ) << bad;
    }
}

TEST(Expression, copes_with_comments_and_blanks) {
    EXPECT_EQ(evaluate("1 + // one\n\t2 // two"), 3);
    EXPECT_EQ(evaluate("[1, 2,]"), Json::parse("[1, 2]"));
    EXPECT_EQ(evaluate("{'a': 1,}"), Json::parse(R"({"a": 1})"));
    EXPECT_EQ(evaluate("'''a\n'b' \"c\"'''"), "a\n'b' \"c\"");
    EXPECT_EQ(evaluate("' \x01 \x07 \x7f '"), " \x01 \x07 \x7f ");
    EXPECT_EQ(evaluate("'''\r\n'''"), "\r\n");
}

TEST(Expression, compares_strings_from_json_with_literals_by_their_bytes) {
    const TestVariables variables = with({{"input", {{"currency", "EUR"}, {"tags", {"a", "b"}}}}});
    EXPECT_EQ(
        evaluate(
            "input.currency in ['EUR', 'USD'] && 'b' in input.tags && 'tags' in input", variables
        ),
        true
    );
    EXPECT_EQ(evaluate("1 in input", variables), false);
}

}  // namespace
}  // namespace ebb
