// Goal: the surface accepts a condition exactly if the kernel, which decides for the flow as well,
// can read it: one that it could not read would stop every process of Ebb at that flow. Method:
// random conditions, of which some words are exchanged, removed or added, over attributes with
// names that begin like escapes, keywords and types, in odd spellings, go to both.

#include <algorithm>
#include <cctype>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
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
    return column.type != predicate::Type::Json;
}

std::vector<predicate::Column> surface_columns() {
    std::vector<predicate::Column> columns;
    for (const predicate::Column& column : random_columns()) {
        if (is_of_surface(column)) columns.push_back(column);
    }
    return columns;
}

/// The attributes as a program of the surface has them.
std::string attributes(const std::vector<predicate::Column>& columns = surface_columns()) {
    std::string text;
    for (const predicate::Column& column : columns) {
        std::string type(to_string(column.type));
        if (type == "timestamptz") type = "timestamp";
        if (type == "int8" || type == "bigint") type = "integer";
        if (type == "bool") type = "boolean";
        if (type == "double precision") type = "double";
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

/// The same attributes with names that begin like an escape of a text, a keyword or a type.
std::vector<predicate::Column> odd_columns(Dice& dice) {
    static const std::vector<std::string> beginnings =
        words_of("v f n r t b x u e vis null_ not_ date_ true0 is or_ in and like1 vv xx ff");
    std::vector<predicate::Column> columns = surface_columns();
    for (predicate::Column& column : columns) column.name = dice.pick(beginnings) + column.name;
    return columns;
}

/// The condition over these attributes: names outside of quotes are exchanged.
std::string with_names(
    const std::string& condition, const std::vector<predicate::Column>& columns
) {
    const std::vector<predicate::Column> plain = surface_columns();
    const auto renamed = [&](const std::string& name) {
        const auto found = std::find_if(plain.begin(), plain.end(), [&](const auto& column) {
            return column.name == name;
        });
        return found == plain.end() ? name
                                    : columns[static_cast<std::size_t>(found - plain.begin())].name;
    };
    const auto is_of_name = [](char c) {
        return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    };
    std::string text;
    std::string name;
    char quote = 0;
    for (const char c : condition + " ") {
        if (quote == 0 && is_of_name(c)) {
            name += c;
            continue;
        }
        text += renamed(name);
        name.clear();
        if (c == '\'' || c == '$') quote = quote == c ? '\0' : quote == 0 ? c : quote;
        text += c;
    }
    text.pop_back();
    return text;
}

/// The words with other white space between them, or none, and some in upper case.
std::string in_odd_spelling(Dice& dice, const std::string& condition) {
    static const std::vector<std::string> spaces{
        " ", " ", " ", " ", "  ", "\t", "\n", "\v", "\f", "\r", "\r\n", ""
    };
    std::string text = dice.chance(20) ? dice.pick(spaces) : "";
    for (std::string word : words_of(condition)) {
        const bool has_quote = word.find_first_of("'\"$") != std::string::npos;
        if (dice.chance(15) && !has_quote) {
            for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        }
        text += word + dice.pick(spaces);
    }
    return text;
}

/// The kernel's refusal; empty if it accepts the condition.
std::string kernel_refusal(
    const std::string& condition, const std::vector<predicate::Column>& columns = surface_columns()
) {
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

TEST(SurfaceTokens, accept_what_is_as_deep_as_the_kernel_accepts_and_nothing_deeper) {
    Session session(surface_database("tokens"));
    const std::string list = session.quote(attributes());
    const std::vector<std::function<std::string(int)>> conditions{
        [](int times) { return repeated("(", times, "b", ")"); },
        [](int times) { return repeated("not ", times, "b", ""); },
        [](int times) { return repeated("not (", times, "b", ")"); },
        [](int times) { return repeated("- ", times, "i", "") + " = 2"; },
        [](int times) { return repeated("- (", times, "i", ")") + " = 2"; },
        [](int times) { return repeated("(i - ", times, "i", ")") + " = 2"; },
        [](int times) { return repeated("lower(", times, "t", ")") + " = 'x'"; },
        [](int times) { return repeated("case when b then ", times, "1", " end") + " = 1"; },
        [](int times) { return repeated("case when b then - ", times, "1", " end") + " = 1"; },
        [](int times) { return "not b and not b or " + repeated("not (", times, "b", ")"); },
        [](int times) { return "not i between - 1 and " + repeated("(", times, "i", ")"); },
        [](int times) { return "not i is distinct from " + repeated("(", times, "i", ")"); },
        [](int times) { return "- 1 - i = i - " + repeated("(", times, "i", ")"); },
        [](int times) { return "i in (- 1, " + repeated("(", times, "i", ")") + ")"; },
    };
    for (const auto& condition : conditions) {
        int deepest = 1;
        while (kernel_refusal(condition(deepest + 1)).empty()) ++deepest;
        EXPECT_NE(
            kernel_refusal(condition(deepest + 1)).find("nested more than 64 deep"),
            std::string::npos
        );
        for (const int times : {deepest, deepest + 1}) {
            const std::string state = session.refusal(fmt::format(
                "SELECT ebb.rules_check({}, {}::jsonb, 'it')", session.quote(condition(times)), list
            ));
            EXPECT_EQ(state, times == deepest ? "" : "EB007")
                << times << ": " << condition(times).substr(0, 60) << session.message;
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
        {"i = 5 or false and 1 / 0 = 1", "division by zero"},
        {"double precision '1' = 1", "at character 1: Write a cast"},
        {"at - due > interval '1 day'", "There is no > of interval and interval here."},
        {"day + interval '1 day' > due", "There is no > of timestamp without time zone and"},
        {"coalesce(at, due)::text = 'x'", "There is no conversion of timestamp with time zone to"},
        {"t::date = day", "There is no conversion of text to date here."},
        {"substring(t from 'a.b') = 'x'", "There is no function \"substring\"(text,text) here."},
        {"at = 'now'", "at character 6: 'now' is not valid: allowed is a time, such as 2026"},
        {"at + 'P1D' > due", "at character 6: 'P1D' is not valid: allowed is whole numbers with"},
        {"day = 'today'", "at character 7: 'today' is not valid: allowed is a date"},
        {"false and (i + 1 - i / (2 - 2) > 1 or 2147483647 + 1 > i)", "integer out of range"},
        {"true or length(repeat('a', 2)) = 1", "\"repeat\" is not allowed here."},
        {"true or coalesce(i, 7 % (1 - 1)) = 1", "division by zero"},
        {"false and ('x' || 'y')::integer in (1, i)", "invalid input syntax for type integer"},
        {"null not in ((true >= true), .5)", "The types boolean and numeric cannot be matched"},
        {"b and '1' in (i, n, t)", "The types numeric and text cannot be matched"},
        {"- ('5') < i", "at character 1: \"-\" needs a number behind it."},
        {"abs(null) < i", "at character 1: A function of numbers needs a number"},
        {"t like 'x!' escape '!'", "at character 8: The pattern ends in its escape character."},
        {"t not ilike E'a\\\\'", "at character 13: The pattern ends in its escape character."},
        {"false and t like 'x' escape 'ab'", "ESCAPE takes one character"},
        {"case null when i then b end", "operator does not exist: text = bigint"},
        {"case ('1') when 1 then b end", "operator does not exist: text = integer"},
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

TEST(SurfaceTokens, take_what_the_kernel_takes) {
    Session session(surface_database("tokens"));
    const std::string list = session.quote(attributes());
    for (const std::string condition :
         {"at + '1 year 2 mons' > due",
          "'1 day' + at > due",
          "interval '1 day' + at > due",
          "30 + day > date '2026-01-01'",
          "day - '2026-01-01' > 5",
          "i / 0 = 1",
          "(- '1e10'::double precision) <> n and abs(('1.5')::numeric) > 1",
          "i is unknown or n is not unknown",
          "'x' is not null",
          "t between 'b%'::text and lower(s)::text || text 'z'",
          "t like 'x!!' escape '!'",
          "t not in ('a', lower('B') || 'x') and n in (1, 2.5, i)",
          "trim(leading 'x' || 'y' from t) = 'x'",
          "b = (not b)",
          "case null when t then b else true end",
          "case 'x' when 'x' then b when null then true end",
          "case i when null then b end",
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

TEST(SurfaceTokens, take_names_that_begin_like_an_escape) {
    Session session(surface_database("tokens"));
    std::vector<predicate::Column> columns;
    for (const std::string letter : {"v", "f", "n", "r", "t", "b", "x", "u", "a", "e"}) {
        columns.push_back({letter, predicate::Type::Boolean});
        columns.push_back({letter + "at", predicate::Type::Int8});
    }
    const std::string list = session.quote(attributes(columns));
    const auto refusal = [&](const std::string& condition) {
        return session.refusal(fmt::format(
            "SELECT ebb.rules_check({}, {}::jsonb, 'it')", session.quote(condition), list
        ));
    };
    for (const predicate::Column& column : columns) {
        const std::string& c = column.name;
        if (column.type == predicate::Type::Boolean) {
            for (const std::string& condition :
                 {c, "not " + c, "(" + c + ")", "not\v" + c, c + " and\f" + c}) {
                EXPECT_EQ(refusal(condition), "") << condition << ": " << session.message;
                EXPECT_EQ(kernel_refusal(condition, columns), "");
            }
        }
        EXPECT_EQ(refusal(c + " is null and vat > 1"), "") << session.message;
        for (const std::string& condition :
             {"aat " + c + "is null", "aat is " + c + "null", "not " + c + " a is null"}) {
            EXPECT_EQ(refusal(condition), "EB007") << condition;
            EXPECT_NE(kernel_refusal(condition, columns), "");
        }
    }
}

TEST(SurfaceTokens, accept_what_the_kernel_accepts_and_nothing_else) {
    Session session(surface_database("tokens"));
    const auto wanted = environment_variable("EBB_TEST_TOKENS_CASES");
    const int cases = wanted ? std::stoi(*wanted) : 500;
    int accepted = 0;
    for (int i = 1; i <= cases; ++i) {
        Dice dice(20261126, static_cast<std::uint64_t>(i));
        const auto columns = odd_columns(dice);
        const std::string condition =
            in_odd_spelling(dice, with_names(strange_condition(dice), columns));
        const std::string state = session.refusal(fmt::format(
            "SELECT ebb.rules_check({}, {}::jsonb, 'it')",
            session.quote(condition),
            session.quote(attributes(columns))
        ));
        ASSERT_TRUE(state.empty() || state == "EB007") << condition << ": " << session.message;
        if (state.empty()) ++accepted;
        const std::string refusal = kernel_refusal(condition, columns);
        EXPECT_EQ(state.empty(), refusal.empty())
            << "case " << i << ": " << condition << "\n"
            << (state.empty() ? "kernel: " + refusal : "surface: " + session.message);
    }
    EXPECT_GT(accepted, cases / 20);
}

}  // namespace
}  // namespace ebb::test
