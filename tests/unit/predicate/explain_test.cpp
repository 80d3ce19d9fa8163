// Which parts of a condition keep it from being true.

#include "core/predicate/explain.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ebb::predicate {
namespace {

/// The parts, joined by `; `, over the texts a, b and c.
std::string blocking(
    std::string_view condition, const std::vector<std::optional<std::string>>& values
) {
    const std::vector<Column> columns{{"a", Type::Text}, {"b", Type::Text}, {"c", Type::Text}};
    Row row;
    for (const auto& value : values) {
        row.push_back(value ? Datum{.is_null = false, .text = *value} : Datum{});
    }
    std::string text;
    for (const BlockingPart& part : blocking_parts(Predicate::compile(condition, columns), row)) {
        text += (text.empty() ? "" : "; ") + part.source;
    }
    return text;
}

TEST(BlockingParts, are_none_where_the_condition_is_true) {
    EXPECT_EQ(blocking("a = 'x' or b = 'y'", {"x", std::nullopt, std::nullopt}), "");
}

TEST(BlockingParts, are_the_operands_of_an_and_that_are_false_or_unknown) {
    EXPECT_EQ(
        blocking("a = 'x' and b = 'y' and c is not null", {"x", std::nullopt, std::nullopt}),
        "b = 'y'; c is not null"
    );
}

TEST(BlockingParts, are_of_an_or_those_of_the_side_that_needs_the_fewest) {
    EXPECT_EQ(blocking("(a = 'x' and b = 'y') or c = 'z'", {"q", "q", "q"}), "c = 'z'");
    EXPECT_EQ(blocking("(a = 'x' and b = 'y') or (c = 'z')", {"x", "q", "q"}), "b = 'y'");
}

TEST(BlockingParts, are_the_whole_where_it_has_no_parts) {
    EXPECT_EQ(blocking("not (a = 'x')", {"x", std::nullopt, std::nullopt}), "not (a = 'x')");
    EXPECT_EQ(blocking("a::integer > 2", {"many", std::nullopt, std::nullopt}), "a::integer > 2");
}

TEST(BlockingParts, say_what_they_read) {
    const std::vector<Column> columns{{"a", Type::Text}, {"b", Type::Text}};
    const auto parts = blocking_parts(Predicate::compile("a = 'x' and b = 'y'", columns), Row(2));
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].reads, (std::vector<bool>{true, false}));
    EXPECT_EQ(parts[1].reads, (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace ebb::predicate
