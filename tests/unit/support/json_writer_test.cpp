// The writer of JSON texts: commas, numbers and strings, and texts longer than was expected.

#include "support/json_writer.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb {
namespace {

TEST(JsonWriter, sets_commas_between_members_and_nowhere_else) {
    JsonWriter out;
    out.put('{');
    out.number("n", 1);
    out.key("o");
    out.put('{');
    out.string("s", "x");
    out.put('}');
    out.raw("r", "[{}]");
    out.put('}');
    EXPECT_EQ(out.take(), R"({"n":1,"o":{"s":"x"},"r":[{}]})");
}

TEST(JsonWriter, writes_every_64_bit_integer) {
    for (const std::int64_t value :
         {std::int64_t{0},
          std::int64_t{-1},
          std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max()}) {
        JsonWriter out;
        out.number(value);
        EXPECT_EQ(out.take(), std::to_string(value));
    }
}

TEST(JsonWriter, writes_strings_as_nlohmann_does) {
    for (std::size_t length = 0; length < 40; ++length) {
        for (const std::string special : {"x", "\"", "\\", "\n", "\x7f", "\xc3\xa9", "\xff", ""}) {
            const std::string text = std::string(length, 'a') + special + "b";
            JsonWriter out;
            out.string(text);
            EXPECT_EQ(out.take(), Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
        }
    }
}

TEST(JsonWriter, writes_texts_around_the_length_of_short_ones) {
    for (std::size_t size = JsonWriter::kShortBytes - 3; size < JsonWriter::kShortBytes + 4;
         ++size) {
        JsonWriter at_once;
        at_once.raw(std::string(size, 'x'));
        EXPECT_EQ(at_once.take(), std::string(size, 'x'));
        JsonWriter by_bytes;
        for (std::size_t i = 0; i < size; ++i) by_bytes.put('x');
        EXPECT_EQ(by_bytes.take(), std::string(size, 'x'));
    }
}

TEST(JsonWriter, writes_long_texts) {
    JsonWriter out;
    Json meant = Json::array();
    out.put('[');
    for (int i = 0; i < 2'000; ++i) {
        if (i > 0) out.put(',');
        out.number(i);
        out.put(',');
        out.string(std::string(static_cast<std::size_t>(i % 300), 'x'));
        meant.push_back(i);
        meant.push_back(std::string(static_cast<std::size_t>(i % 300), 'x'));
    }
    out.put(']');
    EXPECT_EQ(Json::parse(out.take()), meant);
}

}  // namespace
}  // namespace ebb
