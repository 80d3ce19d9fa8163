// Conditions of rules: what they mean, where their errors are, and their limits. That they mean
// what PostgreSQL means is shown by tests/rules/predicate_agreement_test.cpp.

#include "core/predicate/predicate.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/predicate/guard.h"

namespace ebb {
namespace {

using predicate::Column;
using predicate::Datum;
using predicate::Row;
using predicate::Type;

const std::vector<Column>& columns() {
    static const std::vector<Column> made{
        {"order_status", Type::Text},
        {"hotel_status", Type::Text},
        {"price", Type::Numeric},
        {"count", Type::Int8},
        {"is_paid", Type::Boolean},
        {"paid_at", Type::Timestamp},
        {"document", Type::Json},
        {"ratio", Type::Double},
    };
    return made;
}

Row row(const std::vector<std::optional<std::string>>& texts) {
    Row made;
    for (std::size_t i = 0; i < columns().size(); ++i) {
        if (i >= texts.size() || !texts[i]) {
            made.emplace_back();
        } else {
            predicate::ParsedDatum parsed = parse_datum(columns()[i].type, *texts[i]);
            EXPECT_EQ(parsed.fault, "");
            made.push_back(std::move(parsed.datum));
        }
    }
    return made;
}

const Row& sample() {
    static const Row made = row(
        {"Received",
         std::nullopt,
         "12.50",
         "7",
         "true",
         "2026-11-21T08:30:00Z",
         R"({"k": "v", "n": 1.50})",
         "2.5"}
    );
    return made;
}

std::optional<bool> evaluate(const std::string& source) {
    return Predicate::compile(source, columns()).evaluate(sample());
}

std::string error_of(const std::string& source) {
    try {
        Predicate::compile(source, columns()).evaluate(sample());
    } catch (const PredicateError& error) {
        return std::to_string(error.line()) + ":" + std::to_string(error.column()) + " " +
               error.message();
    }
    return "none";
}

TEST(Predicate, null_makes_a_comparison_unknown_and_unknown_is_not_true) {
    EXPECT_EQ(evaluate("hotel_status = 'x'"), std::nullopt);
    EXPECT_EQ(evaluate("hotel_status <> 'x'"), std::nullopt);
    EXPECT_EQ(evaluate("not (hotel_status = 'x')"), std::nullopt);
    EXPECT_EQ(evaluate("hotel_status is null"), true);
    EXPECT_EQ(evaluate("hotel_status = 'x' or is_paid"), true);
    EXPECT_EQ(evaluate("hotel_status = 'x' and not is_paid"), false);
    EXPECT_EQ(evaluate("hotel_status is distinct from 'x'"), true);
    EXPECT_EQ(evaluate("order_status not in ('a', null)"), std::nullopt);
    EXPECT_EQ(evaluate("(hotel_status = 'x') is unknown"), true);
    EXPECT_FALSE(Predicate::compile("hotel_status = 'x'", columns()).holds(sample()));
}

TEST(Predicate, has_the_precedence_of_postgresql) {
    EXPECT_EQ(evaluate("true or false and false"), true);
    EXPECT_EQ(evaluate("not false and false"), false);
    EXPECT_EQ(evaluate("2 + 3 * 4 = 14 and 'a' || 'b' = 'ab'"), true);
    EXPECT_EQ(evaluate("- 2147483648 < 0"), true);
    EXPECT_EQ(evaluate("count = 7 is true"), true);
    EXPECT_EQ(evaluate("5 - 2 - 1 = 2"), true);
}

TEST(Predicate, compares_by_type) {
    EXPECT_EQ(evaluate("price = 12.5 and price > 12 and price::text = '12.50'"), true);
    EXPECT_EQ(evaluate("count / 2 = 3 and count % 4 = 3 and price / 3 > 4.1666"), true);
    EXPECT_EQ(evaluate("lower(order_status) = 'received' and length(order_status) = 8"), true);
    EXPECT_EQ(evaluate("paid_at + interval '1 day' > timestamp '2026-11-22 08:00:00'"), true);
    EXPECT_EQ(evaluate("paid_at + '1 day' > timestamp '2026-11-22 08:00:00'"), true);
    EXPECT_EQ(evaluate("interval '1 day' + paid_at = '1 day' + paid_at"), true);
    EXPECT_EQ(evaluate("1 + date '2026-11-21' = date '2026-11-22'"), true);
    EXPECT_EQ(evaluate("date '2026-11-21' - '2026-11-01' = 20"), true);
    EXPECT_EQ(evaluate("document ->> 'n' = '1.50' and document ->> 'x' is null"), true);
    EXPECT_EQ(evaluate("order_status like 'Rec%' and order_status ilike '%VED'"), true);
    EXPECT_EQ(evaluate("case when count > 5 then 'many' else 'few' end = 'many'"), true);
    EXPECT_EQ(evaluate("round(2.5) = 3 and round(2.5::float8) = 2"), true);
    EXPECT_EQ(
        evaluate("trim(both 'x' from 'xax') = 'a' and substring('abc' from 2 for 1) = 'b'"), true
    );
    EXPECT_EQ(evaluate("$$it's$$ = 'it''s' and E'a\\nb' = 'a\nb'"), true);
}

TEST(Predicate, knows_what_it_reads) {
    const Predicate condition = Predicate::compile("count > 1 and hotel_status is null", columns());
    EXPECT_EQ(
        condition.reads(), (std::vector<bool>{false, true, false, true, false, false, false, false})
    );
}

TEST(Predicate, stops_when_it_is_decided) {
    EXPECT_EQ(evaluate("count = 7 or count / (count - 7) = 1"), true);
    EXPECT_EQ(error_of("count / (count - 7) = 1"), "1:1 Division by zero.");
}

TEST(Predicate, names_the_place_and_the_remedy) {
    EXPECT_EQ(
        error_of("is_paid and\n  order_statu = 'x'"),
        "2:3 There is no attribute \"order_statu\"; there are order_status, hotel_status, price, "
        "count, "
        "is_paid, paid_at, document and ratio. Did you mean \"order_status\"?"
    );
    EXPECT_EQ(
        error_of("order_status = count"),
        "1:1 The comparison cannot take order_status (text) and count (integer) together: cast one "
        "of them, such as (count)::text."
    );
    EXPECT_EQ(
        error_of("paid_at + 'soon' > paid_at"),
        "1:11 'soon' is not an interval: allowed is whole numbers with units, such as 3 days 2 "
        "hours."
    );
    EXPECT_EQ(error_of("count = 'x'"), "1:9 'x' is not an integer: allowed is a whole number.");
    EXPECT_THAT(
        error_of("aa = 1"),
        ::testing::AllOf(
            ::testing::StartsWith("1:1 There is no attribute \"aa\"; there are "),
            ::testing::HasSubstr("order_status, ")
        )
    );
    EXPECT_THAT(
        error_of("extract(year from paid_at) = 2026"),
        ::testing::StartsWith("1:1 Conditions have no function \"extract\". Allowed are abs, ")
    );
    EXPECT_EQ(error_of("is_paid and"), "1:12 The condition ends where a value must follow.");
    EXPECT_EQ(error_of("count"), "1:1 A condition needs boolean, but count is integer.");
    EXPECT_EQ(
        error_of("order_status::integer = 1"),
        "1:1 \"Received\" cannot be cast to integer; allowed is a whole number."
    );
    EXPECT_EQ(
        error_of("paid_at::text = 'x'"),
        "1:1 paid_at (timestamp) cannot be cast to text: what that means would depend on the "
        "session's settings."
    );
    EXPECT_EQ(error_of("count = 1 -- all"), "1:11 A condition cannot contain comments.");
    EXPECT_EQ(error_of("exists (select 1)"), "1:1 A condition cannot contain a sub-select.");
    EXPECT_EQ(
        error_of("count = 1; drop table x"),
        "1:10 \";\" is not an operator of conditions; allowed are = <> != < <= > >= + - * / % || "
        "->> ::."
    );
    EXPECT_EQ(
        error_of("false) or (true"), "1:6 ) stands where an operator or the end must follow."
    );
    EXPECT_EQ(
        error_of("count > now()"),
        "1:9 A condition depends on attributes alone, so it cannot call now(). A transition that "
        "has to wait has `after`."
    );
    EXPECT_TRUE(error_of("pg_sleep(count)").starts_with("1:1 Conditions have no function"));
    EXPECT_EQ(
        error_of("document = '{}'"),
        "1:1 Values of json cannot be compared; compare a member, such as document ->> 'key'."
    );
}

/// `column = key` and whether NULL is excluded, or "none".
std::string guard_of(const std::string& source) {
    const auto guard = predicate::guard_of(Predicate::compile(source, columns()));
    if (!guard) return "none";
    const std::string column = columns()[guard->column].name;
    return column + (guard->excludes_null ? " or null" : "");
}

TEST(Predicate, has_a_guard_if_it_needs_a_column_to_have_one_value) {
    EXPECT_EQ(guard_of("order_status = 'Received'"), "order_status or null");
    EXPECT_EQ(guard_of("7 = count"), "count or null");
    EXPECT_EQ(guard_of("is_paid and count = 7 and price > 3"), "count or null");
    EXPECT_EQ(guard_of("order_status = 'a' or count = 7"), "none");
    EXPECT_EQ(guard_of("order_status <> 'a'"), "none");
    EXPECT_EQ(guard_of("order_status = hotel_status"), "none");
    EXPECT_EQ(guard_of("price = 3"), "none") << "1.0 equals 1";
    EXPECT_EQ(guard_of("order_status = null"), "none");
    // Where the column is NULL, the rest is computed, and fails.
    EXPECT_EQ(guard_of("count = 7 and 1 / (count - 7) = 1"), "count");
    // The division comes first.
    EXPECT_EQ(guard_of("1 / (count - 7) = 1 and count = 8"), "none");
}

TEST(Predicate, the_guard_has_the_key_of_its_constant) {
    const auto guard =
        predicate::guard_of(Predicate::compile("order_status = 'Received'", columns()));
    ASSERT_TRUE(guard);
    EXPECT_EQ(guard->key, predicate::key_of(Type::Text, sample()[0]));
    EXPECT_NE(guard->key, predicate::key_of(Type::Text, row({"received"})[0]));
}

TEST(Predicate, refuses_a_constant_part_that_always_fails) {
    EXPECT_EQ(error_of("is_paid or 1 / 0 = 1"), "1:12 Division by zero.");
    // A comparison computes both sides, even if one is NULL.
    EXPECT_EQ(error_of("nullif(count, 7) = 1 / (count - 7)"), "1:20 Division by zero.");
    EXPECT_EQ(
        error_of("2147483647 + 1 > count"),
        "1:1 The result is out of the range of an integer of 32 bits."
    );
}

TEST(Predicate, prints_what_no_setting_can_change) {
    const auto sql = [](const std::string& source) {
        return Predicate::compile(source, columns()).to_sql();
    };
    EXPECT_EQ(
        sql("lower(order_status) = 'it''s'"),
        R"(((pg_catalog.lower(("order_status" COLLATE "C")) COLLATE "C") )"
        R"(OPERATOR(pg_catalog.=) ('it''s'::pg_catalog.text COLLATE "C")))"
    );
    EXPECT_EQ(
        sql("count > 1 and is_paid"),
        R"((("count" OPERATOR(pg_catalog.>) '1'::bigint) AND "is_paid"))"
    );
    EXPECT_EQ(
        sql("paid_at > timestamp '2026-11-21 09:30:00+01:00'"),
        R"(("paid_at" OPERATOR(pg_catalog.>) )"
        R"('2026-11-21 08:30:00.000000+00'::pg_catalog.timestamptz))"
    );
}

TEST(PredicateLimits, hold) {
    const auto text_of_size = [](std::size_t bytes) {
        std::string made = "is_paid";
        made.resize(bytes, ' ');
        return made;
    };
    EXPECT_EQ(error_of(text_of_size(PredicateLimits::kSourceBytesMax)), "none");
    EXPECT_EQ(
        error_of(text_of_size(PredicateLimits::kSourceBytesMax + 1)),
        "1:1 The condition has 16385 bytes; 16384 are allowed."
    );
    const auto nested = [](int depth) {
        const auto count = static_cast<std::size_t>(depth - 1);
        return std::string(count, '(') + "is_paid" + std::string(count, ')');
    };
    EXPECT_EQ(error_of(nested(PredicateLimits::kDepthMax)), "none");
    EXPECT_TRUE(
        error_of(nested(PredicateLimits::kDepthMax + 1)).ends_with("nested more than 64 deep.")
    );
    const auto many = [](std::size_t operations) {
        std::string made = "b";
        for (std::size_t i = 1; i < operations; ++i) made += "+b";
        return "b=" + made;
    };
    const std::vector<Column> short_columns{{"b", Type::Double}};
    // Each of the operands is one operation, and so is each `+` and the `=`.
    EXPECT_NO_THROW(Predicate::compile(many(2047), short_columns));
    EXPECT_THROW(Predicate::compile(many(2048), short_columns), PredicateError);
}

}  // namespace
}  // namespace ebb
