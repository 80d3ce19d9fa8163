// Goal: a condition that the surface accepts can be read by the kernel, which decides for the flow
// as well: one that it could not read would stop every process of Ebb at that flow. Method: random
// conditions, of which some words are exchanged, removed or added, go to both.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "core/predicate/predicate.h"
#include "rules/surface_session.h"
#include "support/dice.h"
#include "support/os_environment.h"
#include "support/random_condition.h"

namespace ebb::test {
namespace {

/// What a flow can have.
bool is_of_surface(const predicate::Column& column) {
    return column.type != predicate::Type::Double && column.type != predicate::Type::Json;
}

std::vector<predicate::Column> surface_columns() {
    std::vector<predicate::Column> columns;
    for (const predicate::Column& column : random_columns()) {
        if (is_of_surface(column)) columns.push_back(column);
    }
    return columns;
}

/// The attributes as a program of the surface has them.
std::string attributes() {
    std::string text;
    for (const predicate::Column& column : surface_columns()) {
        std::string type(to_string(column.type));
        if (type == "timestamptz") type = "timestamp";
        if (type == "int8" || type == "bigint") type = "integer";
        if (type == "bool") type = "boolean";
        text += fmt::format(
            R"({}{{"name":"{}","type":"{}","enabled":true}})",
            text.empty() ? "" : ",",
            column.name,
            type
        );
    }
    return "[" + text + "]";
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = text.find(' ', at);
        if (end == std::string::npos) end = text.size();
        if (end > at) words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

std::string strange_word(Dice& dice) {
    static const std::vector<std::string> words = words_of(
        R"(and or not is null true unknown = <> < >= + - * / % || :: ( ) , 1 0.5 1e3 .5 5.)"
        R"( 'x' E'\n' $$y$$ '' '2026-01-01' '1day' between in like ilike escape distinct)"
        R"( from case when then else end cast as text integer numeric date timestamp)"
        R"( timestamptz interval uuid boolean double precision lower upper length trim)"
        R"( substring left right abs round floor coalesce nullif greatest for both leading)"
        R"( with time zone float8 int4 bigint decimal bool substr starts_with ceiling "t" t)"
        R"( i n b at day u trailing ltrim btrim != -- /* wid ; U&'x' B'1' $1 ~ [1])"
    );
    return dice.pick(words);
}

std::string strange_condition(Dice& dice) {
    std::vector<std::string> words = words_of(random_condition(dice, dice.between(0, 2)));
    for (int change = dice.between(0, 2); change > 0; --change) {
        const auto at = static_cast<std::ptrdiff_t>(dice.below(static_cast<int>(words.size())));
        switch (dice.below(3)) {
            case 0:
                words[static_cast<std::size_t>(at)] = strange_word(dice);
                break;
            case 1:
                words.insert(words.begin() + at, strange_word(dice));
                break;
            default:
                if (words.size() > 1) words.erase(words.begin() + at);
        }
    }
    return fmt::format("{}", fmt::join(words, " "));
}

/// The kernel's refusal; empty if it accepts the condition.
std::string kernel_refusal(const std::string& condition) {
    static const std::vector<predicate::Column> columns = surface_columns();
    try {
        (void)Predicate::compile(condition, columns);
        return {};
    } catch (const PredicateError& error) {
        return error.what();
    }
}

std::string repeated(
    const std::string& before, int times, const std::string& middle, const std::string& after
) {
    std::string text;
    for (int i = 0; i < times; ++i) text += before;
    text += middle;
    for (int i = 0; i < times; ++i) text += after;
    return text;
}

TEST(SurfaceTokens, accept_no_condition_that_is_too_long_or_too_deep_for_the_kernel) {
    Session session(surface_database("tokens"));
    const std::string list = session.quote(attributes());
    for (const int times : {10, 30, 58, 62, 70, 130, 700, 1'300}) {
        for (const std::string& condition :
             {repeated("", times, "t = 'x'", " or t = 'y'"),
              repeated("", times, "t = 'x'", " and (i = 1)"),
              repeated("not ", times, "b", ""),
              repeated("not (", times, "b", ")"),
              repeated("not (b = ", times, "b", ")"),
              repeated("(- ", times, "i", ")") + " = 1",
              repeated("(", times, "b", ")"),
              repeated("", times, "i", " + 1") + " = 2",
              repeated("- ", times, "i", "") + " = 2",
              repeated("", times, "t", "::text") + " = 'x'",
              repeated("lower(", times, "t", ")") + " = 'x'",
              repeated("case when b then ", times, "1", " end") + " = 1",
              repeated("coalesce(t, ", times, "t", ")") + " = 'x'",
              repeated("i in (", 1, repeated("", times, "1", ", 2"), ")"),
              repeated("", times, "t", " || t") + " = 'x'"}) {
            const std::string state = session.refusal(fmt::format(
                "SELECT ebb.rules_check({}, {}::jsonb, 'it')", session.quote(condition), list
            ));
            ASSERT_TRUE(state.empty() || state == "EB007") << condition << ": " << session.message;
            if (state.empty()) {
                EXPECT_EQ(kernel_refusal(condition), "")
                    << times << ": " << condition.substr(0, 60);
            }
        }
    }
}

struct Named {
    std::string condition;
    std::string part;  ///< of the refusal
};

TEST(SurfaceTokens, say_what_ebb_s_own_reader_of_conditions_does_not_have) {
    const std::vector<Named> conditions{
        {"b = not (b)", "at character 5: NOT needs parentheses here"},
        {"b between false and not b", "at character 21: NOT needs parentheses"},
        {"i = + 1", "at character 5: \"+\" needs a value before it."},
        {"i is null is null", "at character 11: Only AND, OR or an end may follow here"},
        {"i in (1) in (true)", "at character 10: Only AND, OR or an end"},
        {"t like 'a' || 'b'", "at character 12: Only AND, OR or an end"},
        {"b between i = 1 and true", "at character 13: A comparison behind BETWEEN needs"},
        {"substring(t for 2) = 'x'", "at character 13: FOR must follow FROM."},
        {"trim('x' from t, 'y') = 'x'", "at character 16: A list cannot follow FROM."},
        {"i = 5 or false and 1 / 0 = 1", "at character 24: Division by zero."},
        {"double precision '1' = 1", "at character 1: Write a cast"},
        {"at - due > interval '1 day'", "There is no > of interval and interval here."},
        {"day + interval '1 day' > due", "There is no > of timestamp without time zone and"},
        {"coalesce(at, due)::text = 'x'", "There is no conversion of timestamp with time zone to"},
        {"t::date = day", "There is no conversion of text to date here."},
        {"substring(t from 'a.b') = 'x'", "There is no function \"substring\"(text,text) here."},
        {"at = 'now'", "at character 6: 'now' is not valid: allowed is a time, such as 2026"},
        {"at + 'P1D' > due", "at character 6: 'P1D' is not valid: allowed is whole numbers with"},
        {"day = 'today'", "at character 7: 'today' is not valid: allowed is a date"},
        {"n = 'NaN'", "at character 5: 'NaN' is not valid: allowed is a decimal number."},
    };
    Session session(surface_database("tokens"));
    const std::string list = session.quote(attributes());
    for (const auto& [condition, part] : conditions) {
        EXPECT_EQ(
            session.refusal(fmt::format(
                "SELECT ebb.rules_check({}, {}::jsonb, 'it')", session.quote(condition), list
            )),
            "EB007"
        ) << condition;
        EXPECT_NE(session.message.find(part), std::string::npos) << session.message;
        EXPECT_NE(kernel_refusal(condition), "") << condition;
    }
}

TEST(SurfaceTokens, take_a_literal_that_is_added_to_a_time_as_the_kernel_does) {
    Session session(surface_database("tokens"));
    const std::string list = session.quote(attributes());
    for (const std::string condition :
         {"at + '1 year 2 mons' > due",
          "'1 day' + at > due",
          "interval '1 day' + at > due",
          "30 + day > date '2026-01-01'",
          "day - '2026-01-01' > 5",
          "b = (not b)",
          "(i is null) = b"}) {
        EXPECT_EQ(
            session.refusal(fmt::format(
                "SELECT ebb.rules_check({}, {}::jsonb, 'it')", session.quote(condition), list
            )),
            ""
        ) << condition
          << ": " << session.message;
        EXPECT_EQ(kernel_refusal(condition), "") << condition;
    }
}

TEST(SurfaceTokens, accept_no_condition_that_the_kernel_refuses) {
    Session session(surface_database("tokens"));
    const auto wanted = environment_variable("EBB_TEST_TOKENS_CASES");
    const int cases = wanted ? std::stoi(*wanted) : 500;
    const std::string list = session.quote(attributes());
    int accepted = 0;
    for (int i = 1; i <= cases; ++i) {
        Dice dice(20261126, static_cast<std::uint64_t>(i));
        const std::string condition = strange_condition(dice);
        const std::string state = session.refusal(fmt::format(
            "SELECT ebb.rules_check({}, {}::jsonb, 'it')", session.quote(condition), list
        ));
        ASSERT_TRUE(state.empty() || state == "EB007") << condition << ": " << session.message;
        if (!state.empty()) continue;
        ++accepted;
        EXPECT_EQ(kernel_refusal(condition), "") << "case " << i << ": " << condition;
    }
    EXPECT_GT(accepted, cases / 20);
}

}  // namespace
}  // namespace ebb::test
