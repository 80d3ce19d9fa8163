// What people read when an expression is wrong: a golden list of whole sentences with their place.

#include <string>

#include <gtest/gtest.h>

#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

struct Golden {
    const char* source;
    const char* complaint;
};

const Golden kCompileErrors[] = {
    {"", "1:1 The expression is empty."},
    {"  // only a comment", "1:20 The expression is empty."},
    {"1 +", "1:4 Expected a value, found the end."},
    {"1 2", "1:3 Expected an operator or the end, found \"2\"."},
    {"(1", "1:3 Expected \")\", found the end."},
    {"[1, 2", "1:6 Expected \",\" or \"]\", found the end."},
    {"{1: 2", "1:6 Expected \",\" or \"}\", found the end."},
    {"{1, 2}", "1:3 Expected \":\" after the key, found \",\"."},
    {"size(1", "1:7 Expected \",\" or \")\", found the end."},
    {"input.", "1:7 Expected a field's name, found the end."},
    {"input.true", "1:7 Expected a field's name, found \"true\"."},
    {"input.0",
     "1:6 Expected an operator or the end, found \".0\". An element of a list is read with "
     "brackets: list[0]."},
    {"input[0", "1:8 Expected \"]\", found the end."},
    {"a ? b", "1:6 Expected \":\" of the ?:, found the end."},
    {"a ? b ? c : d : e",
     "1:7 Expected \":\" of the ?:, found \"?\". Put an inner ?: into parentheses."},
    {"a = b", "1:3 The character \"=\" has no meaning here. Equality is written \"==\"."},
    {"a & b", "1:3 The character \"&\" has no meaning here. The logical and is written \"&&\"."},
    {"a | b", "1:3 The character \"|\" has no meaning here. The logical or is written \"||\"."},
    {"${input}",
     "1:1 The character \"$\" has no meaning here. ${...} is written in templates only; leave it "
     "out here."},
    {"a and b", "1:3 Expected an operator or the end, found \"and\". Write \"&&\"."},
    {"a or b", "1:3 Expected an operator or the end, found \"or\". Write \"||\"."},
    {"not a", "1:5 Expected an operator or the end, found \"a\"."},
    {"a\n  @ b", "2:3 The character \"@\" has no meaning here."},
    {"'äöü' €", "1:7 The character \"€\" has no meaning here."},
    {"'abc", "1:1 The string that begins here has no closing '."},
    {"\"ab\nc\"", "1:1 The string that begins here has no closing \"."},
    {"'''abc''", "1:1 The string that begins here has no closing '''."},
    {"'a\\qb'",
     "1:3 There is no escape \"\\q\"; there are \\a \\b \\f \\n \\r \\t \\v \\\\ \\? \\\" \\' \\` "
     "\\xHH \\uHHHH \\UHHHHHHHH and \\OOO."},
    {"'\\u12'", "1:2 This escape needs 4 hexadecimal digits."},
    {"'\\189'", "1:2 This escape needs 3 octal digits."},
    {"'\\ud800'",
     "1:2 This escape is not a Unicode character: surrogates and numbers above 10FFFF are not "
     "allowed."},
    {"'\\U00110000'",
     "1:2 This escape is not a Unicode character: surrogates and numbers above 10FFFF are not "
     "allowed."},
    {"b'abc'", "1:1 Bytes literals are not supported, as JSON has no bytes; write a string."},
    {"rb'abc'", "1:1 Bytes literals are not supported, as JSON has no bytes; write a string."},
    {"9223372036854775808",
     "1:1 9223372036854775808 is outside of the range of int; write "
     "9223372036854775808u for a uint or 9223372036854775808.0 for a double."},
    {"-9223372036854775809",
     "1:2 -9223372036854775809 is outside of the range of int; write "
     "9223372036854775809u for a uint or 9223372036854775809.0 for a double."},
    {"18446744073709551616u",
     "1:1 18446744073709551616u is too large for a uint, whose maximum is 18446744073709551615u."},
    {"1e400", "1:1 1e400 is too large for a double."},
    {"12abc", "1:1 A number cannot be followed by \"a\"."},
    {"if", "1:1 \"if\" is a reserved word and cannot be a variable."},
    {"a.`b",
     "1:3 A name in backticks has letters, digits, spaces and \"_ . - /\", and ends with a "
     "backtick."},
    {"Money{amount: 1}",
     "1:6 Expected an operator or the end, found \"{\". Messages are not supported; a map is "
     "written {\"key\": value}."},
    {"siez(input)", "1:1 There is no function \"siez\". Did you mean \"size\"?"},
    {"input.name.startWith('a')",
     "1:12 There is no function \"startWith\". Did you mean \"startsWith\"?"},
    {"input.name.toUpperCase()",
     "1:12 There is no function \"toUpperCase\"; it is called upperAscii()."},
    {"frobnicate(1)", "1:1 There is no function \"frobnicate\"."},
    {"contains('a', 'b')", "1:1 contains() is called on a value: write x.contains()."},
    {"'1'.int()", "1:5 int() is not called on a value: write int(x)."},
    {"all([1], x, true)", "1:1 all() is called on a list: list.all(x, ...)."},
    {"now()", "1:1 \"now\" is a variable: write timestamp(now)."},
    {"size()", "1:1 size() takes 1 argument, but here it gets 0."},
    {"size(1, 2)", "1:1 size() takes 1 argument, but here it gets 2."},
    {"'a'.trim('b')", "1:5 trim() takes no arguments, but here it gets 1."},
    {"'a'.substring(1, 2, 3)", "1:5 substring() takes 1 or 2 arguments, but here it gets 3."},
    {"has(input)", "1:1 has() asks for a field, as in has(input.name)."},
    {"has(input['a'])", "1:1 has() asks for a field, as in has(input.name)."},
    {"has(true ? input.a : input.b)", "1:1 has() asks for a field, as in has(input.name)."},
    {"[1].all(true)",
     "1:9 all() takes a name for the element and an expression: list.all(x, x > 0)."},
    {"[1].map(x)", "1:9 map() takes a name for the element and an expression: list.map(x, x.id)."},
    {"[1].filter(x.y, true)",
     "1:12 filter() takes a name for the element and an expression: list.filter(x, x > 0)."},
    {"steps",
     "1:1 A step is read by its name, as in steps.pay or steps[\"pay\"]; steps alone is not a "
     "value."},
    {"steps[input.name]",
     "1:7 A step is read by its name, as in steps.pay or steps[\"pay\"]. It cannot be computed, "
     "because Ebb must "
     "know before it runs which steps an expression reads."},
    {"steps['a' + 'b']",
     "1:7 A step is read by its name, as in steps.pay or steps[\"pay\"]. It cannot be computed, "
     "because Ebb must "
     "know before it runs which steps an expression reads."},
    {"steps.exists(s, true)",
     "1:7 A step is read by its name, as in steps.pay or steps[\"pay\"]; steps is not a map, so it "
     "has no "
     "exists()."},
    {"input.name in steps",
     "1:12 Write the step's name as a string before \"in steps\": \"pay\" in steps."},
    {"input.?name", "1:7 Expected a field's name, found \"?\". Put an inner ?: into parentheses."},
};

TEST(ExpressionErrors, name_what_cannot_be_compiled_and_where) {
    for (const Golden& golden : kCompileErrors) {
        std::string found = "no error";
        try {
            Expression::compile(golden.source);
        } catch (const ExpressionError& error) {
            found = std::to_string(error.line()) + ":" + std::to_string(error.column()) + " " +
                    error.message();
        }
        EXPECT_EQ(found, golden.complaint) << golden.source;
    }
}

const Golden kEvaluationErrors[] = {
    {"inptu.amount",
     "1:1 There is no variable \"inptu\"; Ebb's are input, workflow, steps, instance, attempt, now "
     "and metadata. Did you mean \"input\"?"},
    {"whatever",
     "1:1 There is no variable \"whatever\"; Ebb's are input, workflow, steps, instance, attempt, "
     "now and metadata."},
    {"input.amonut > 1",
     "1:7 There is no field \"amonut\"; the map has \"amount\", \"items\", \"price\". Did you mean "
     "\"amount\"?"},
    {"input.items.name", "1:13 The field \"name\" needs a map, but this is a list."},
    {"input['x']", "1:6 There is no key \"x\"; the map has \"amount\", \"items\", \"price\"."},
    {"{}.a", "1:4 There is no field \"a\"; the map is empty."},
    {"{1: 2}[3]", "1:7 There is no key 3; the map has 1."},
    {"input.items[3]", "1:12 The index 3 is outside of the list, whose last is 2."},
    {"input.items[-1]", "1:12 The index -1 is outside of the list, whose last is 2."},
    {"[][0]", "1:3 The list is empty: it has no index 0."},
    {"input.items['a']", "1:12 The index of a list is a whole number, not \"a\"."},
    {"input[null]", "1:6 The key of a map is a string, an int, a uint or a bool, not null."},
    {"1[0]", "1:2 An index needs a list or a map, but this is an int."},
    {"has(input.items.name)", "1:17 has() asks for the field \"name\" of a map, but this is a list."
    },
    {"1 / 0", "1:3 1 is divided by zero."},
    {"7u % 0u", "1:4 7 % 0 is undefined."},
    {"9223372036854775807 + 1", "1:21 9223372036854775807 + 1 is outside of the range of int."},
    {"1u - 2u", "1:4 1 - 2 is outside of the range of uint."},
    {"-(-9223372036854775808)", "1:1 -(-9223372036854775808) is outside of the range of int."},
    {"1 + 1.0",
     "1:3 The operator + does not mix int and double; convert one of them with int(), uint() or "
     "double()."},
    {"input.price * 2",
     "1:13 The operator * does not mix double and int; convert one of them with int(), uint() "
     "or double()."},
    {"'a' + 1",
     "1:5 The operator + does not join a string and an int; make a string of it with string()."},
    {"1.5 % 1.0", "1:5 The operator % is defined for int and uint, not for double."},
    {"true + true", "1:6 The operator + is not defined for a bool and a bool."},
    {"-'a'", "1:1 The sign - needs an int or a double, but this is a string."},
    {"!1", "1:1 The operator ! needs a bool, but this is an int."},
    {"1 && true", "1:3 The operator && needs two bools, but one is an int."},
    {"1 ? 2 : 3", "1:3 The condition before ? must be a bool, but this is an int."},
    {"'a' < 1", "1:5 The operator < does not compare a string with an int."},
    {"1 in 2", "1:3 The operator in needs a list or a map on its right, but this is an int."},
    {"1.all(x, true)", "1:3 all() needs a list or a map, but this is an int."},
    {"[1].all(x, x)", "1:5 The condition of all() must be a bool, but this is an int."},
    {"[1].map(x, x, x)", "1:5 The filter of map() must be a bool, but this is an int."},
    {"{1.0: 2}", "1:2 The key of a map is a string, an int, a uint or a bool, not a double."},
    {"{'a': 1, 'a': 2}", "1:1 The map has the key a twice."},
    {"{'1': 1, 1: 2}", "1:1 Two keys of the resulting map become the same JSON key \"1\"."},
    {"1.0 / 0.0", "1:5 The result is Infinity, which JSON does not have."},
    {"size(1)", "1:1 size() needs a string, a list or a map, but this is an int."},
    {"int('x')", "1:1 \"x\" is not an int."},
    {"int(true)", "1:1 int() does not convert a bool."},
    {"int(1e99)", "1:1 1e+99 is outside of the range of int."},
    {"uint(-1)", "1:1 -1 is outside of the range of uint."},
    {"double('')", "1:1 \"\" is not a double."},
    {"bool('yes')", "1:1 \"yes\" is not a bool."},
    {"string([])", "1:1 string() does not convert a list."},
    {"'a'.contains(1)", "1:5 Argument 1 of contains() is a string, but this is an int."},
    {"1.trim()", "1:3 trim() is called on a string, but this is an int."},
    {"'abc'.substring(5)", "1:7 The index 5 is outside of the string, which has 3 characters."},
    {"'abc'.substring(2, 1)", "1:7 substring() cannot begin at 2 and end at 1, which is before it."
    },
    {"['a', 1].join()", "1:10 join() needs a list of strings, but element 1 is an int."},
    {"'a'.join()", "1:5 join() is called on a list, but this is a string."},
    {"timestamp('yesterday')",
     "1:1 \"yesterday\" is not a timestamp; one is written like 2026-11-21T08:30:00Z."},
    {"timestamp(99999999999999)", "1:1 The timestamp is outside of the years 1 to 9999."},
    {"duration('1 day')",
     "1:1 \"1 day\" is not a duration of up to 292 years; one is written like 1h30m, 2.5s or "
     "100ms."},
    {"timestamp(0).getHours('Europe/Paris')",
     "1:14 \"Europe/Paris\" is not a time zone; there are \"UTC\" and offsets such as \"+01:00\", "
     "but no names of "
     "places."},
    {"'a'.getHours()", "1:5 getHours() needs a timestamp or a duration, but this is a string."},
    {"duration('1s').getFullYear()", "1:16 getFullYear() needs a timestamp, but this is a duration."
    },
    {"steps.ship.output",
     "1:7 The step \"ship\" has not completed; ask \"ship\" in steps before reading it."},
    {"steps.pay.attempts.count", "1:20 The attempts of a step are an int, which has no fields."},
    {"steps.pay.error.cod",
     "1:17 The error of a step has no field \"cod\"; it has code, message and details. Did you "
     "mean \"code\"?"},
    {"steps.other.attempts", "1:7 The attempts of the step \"other\" are not known here."},
    {"steps.pay.result", "1:11 There is no field \"result\"; the map has \"output\"."},
    {"1 +\n  input.nothing",
     "2:9 There is no field \"nothing\"; the map has \"amount\", \"items\", \"price\"."},
};

TEST(ExpressionErrors, name_what_cannot_be_evaluated_and_where) {
    const TestVariables variables(
        Json::parse(R"({"input": {"amount": 250, "price": 1.5, "items": [1, 2, 3]}})"),
        Json::parse(R"({"pay": {"output": {"id": "p"}}})")
    );
    for (const Golden& golden : kEvaluationErrors) {
        EXPECT_EQ(complaint(golden.source, variables), golden.complaint) << golden.source;
    }
}

TEST(ExpressionErrors, show_the_line_they_are_in) {
    try {
        evaluate("true &&\n  1 / 0 == 1 &&\n  true");
        FAIL();
    } catch (const ExpressionError& error) {
        EXPECT_STREQ(error.what(), "1 is divided by zero. (Line 2, column 5 of:   1 / 0 == 1 &&)");
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        EXPECT_EQ(error.source(), "true &&\n  1 / 0 == 1 &&\n  true");
    }
}

TEST(ExpressionErrors, without_a_source_are_the_bare_message) {
    EXPECT_STREQ(ExpressionError("It is late.", "", 1, 1).what(), "It is late.");
}

TEST(ExpressionErrors, refuse_text_that_is_not_utf8) {
    EXPECT_EQ(complaint("'\xff'"), "1:2 The expression is not UTF-8 here.");
    EXPECT_EQ(complaint("'\xed\xa0\x80'"), "1:2 The expression is not UTF-8 here.");
    EXPECT_EQ(complaint("'\xc0\xaf'"), "1:2 The expression is not UTF-8 here.");
    EXPECT_EQ(complaint("'\xf4\x90\x80\x80'"), "1:2 The expression is not UTF-8 here.");
    EXPECT_EQ(complaint("'ab\xe2\x82"), "1:4 The expression is not UTF-8 here.");
}

TEST(ExpressionErrors, report_a_condition_that_is_not_a_bool) {
    try {
        Expression::compile("input.amount").evaluate_bool(with({{"input", {{"amount", 3}}}}));
        FAIL();
    } catch (const ExpressionError& error) {
        EXPECT_EQ(error.message(), "A bool is needed here, but the expression yields an int.");
    }
}

}  // namespace
}  // namespace ebb
