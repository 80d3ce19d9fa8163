// Goal: rows that share words name the right ones, however many there are. Method: the numbers
// that are given out.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/postgres/words.h"

namespace ebb::postgres {
namespace {

TEST(PostgresWords, are_numbered_from_one_and_kept_once) {
    Words words;
    EXPECT_EQ(words.number_of("a"), 1);
    EXPECT_EQ(words.number_of("b"), 2);
    EXPECT_EQ(words.number_of("a"), 1);
    EXPECT_EQ(words.array().size(), 2U);
}

TEST(PostgresWords, number_the_empty_word_zero) {
    Words words;
    EXPECT_EQ(words.number_of(""), 0);
    EXPECT_EQ(words.array().size(), 0U);
}

TEST(PostgresWords, keep_their_numbers_when_they_are_many) {
    std::vector<std::string> many;
    for (int n = 1; n <= 40; ++n) many.push_back(fmt::format("word {}", n));
    Words words;
    for (int turn = 0; turn < 2; ++turn) {
        for (std::size_t i = 0; i < many.size(); ++i) {
            EXPECT_EQ(words.number_of(many[i]), static_cast<int>(i) + 1);
        }
    }
    EXPECT_EQ(words.array().size(), many.size());
}

}  // namespace
}  // namespace ebb::postgres
