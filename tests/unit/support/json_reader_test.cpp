// The reader of known JSON documents. What it accepts is compared with nlohmann's parser, over
// cases of the grammar and over random changes of valid texts.

#include "support/json_reader.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb {
namespace {

bool is_accepted(std::string_view text) {
    try {
        JsonReader reader(text);
        reader.skip();
        reader.end();
        return true;
    } catch (const JsonSyntaxError&) {
        return false;
    }
}

const std::vector<std::string> kTexts = {
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1.5",
    "1e5",
    "1E-5",
    "1e999",
    "-1e999",
    "1e-999",
    "0.0e+0",
    "01",
    "1.",
    ".5",
    "+1",
    "-",
    "1e",
    "nul",
    "tru",
    "[]",
    "{}",
    "[1,]",
    "{\"a\":1,}",
    "[,1]",
    "{\"a\"}",
    R"({"a":[1,{"b":"c"}],"d":null})",
    R"("\"\\\/\b\f\n\r\t")",
    R"("\u0041\u00e9")",
    R"("\ud83d\ude00")",
    R"("\ud83d")",
    R"("\ude00")",
    R"("\ud83dx")",
    R"("\u12")",
    R"("\x")",
    "\"\xc3\xa9\"",
    "\"\xc3\"",
    "\"\xe0\x80\x80\"",
    "\"\xed\xa0\x80\"",
    "\"\xf0\x9f\x98\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xc0\xaf\"",
    "\"a",
    "\"\n\"",
    " [ 1 , 2 ] ",
    "[1 2]",
    "1 1",
    "",
    "{1:2}",
    "{\"a\" : 1}",
    "[[[[]]]]",
    "]",
    "{\"a\":1]",
    "\xef\xbb\xbf"
    "1",
};

TEST(JsonReader, accepts_what_nlohmann_accepts) {
    for (const std::string& text : kTexts) {
        // The one difference: a byte order mark is not part of JSON (RFC 8259, 8.1).
        const bool has_mark = text.starts_with("\xef\xbb\xbf");
        EXPECT_EQ(is_accepted(text), !has_mark && Json::accept(text)) << text;
    }
}

TEST(JsonReader, accepts_what_nlohmann_accepts_of_texts_changed_at_random) {
    std::mt19937_64 random(20'261'121);
    const std::string bytes = "{}[]\",:\\u0d8e1.-+ \n\xc3\xa9\xf0t";
    for (int i = 0; i < 20'000; ++i) {
        std::string text = kTexts[random() % kTexts.size()];
        if (text.starts_with('\xef')) continue;
        for (std::uint64_t change = random() % 3 + 1; change > 0 && !text.empty(); --change) {
            const std::size_t at = random() % text.size();
            if (random() % 3 == 0)
                text.erase(at, 1);
            else
                text.insert(at, 1, bytes[random() % bytes.size()]);
        }
        if (text.starts_with('\xef')) continue;
        ASSERT_EQ(is_accepted(text), Json::accept(text)) << text;
    }
}

TEST(JsonReader, reads_a_document_in_any_order) {
    JsonReader reader(R"( {"b":[1,-2], "a":"x\ny", "c":{"d":[{}]}, "e":true, "f":null, "g":1.5 } )"
    );
    std::string a;
    std::vector<std::int64_t> b;
    std::string_view c;
    bool e = false;
    bool f = false;
    double g = 0;
    reader.object([&](std::string_view key) {
        if (key == "a")
            a = reader.string();
        else if (key == "b")
            reader.array([&] { b.push_back(reader.integer()); });
        else if (key == "c")
            c = reader.raw();
        else if (key == "e")
            e = reader.boolean();
        else if (key == "f")
            f = reader.null();
        else
            g = reader.number();
    });
    reader.end();
    EXPECT_EQ(a, "x\ny");
    EXPECT_EQ(b, (std::vector<std::int64_t>{1, -2}));
    EXPECT_EQ(c, R"({"d":[{}]})");
    EXPECT_TRUE(e);
    EXPECT_TRUE(f);
    EXPECT_EQ(g, 1.5);
}

TEST(JsonReader, says_what_is_wrong_and_where) {
    JsonReader reader(R"({"a":1.5})");
    try {
        reader.object([&](std::string_view) { reader.integer(); });
        FAIL() << "1.5 is not an integer";
    } catch (const JsonSyntaxError& error) {
        EXPECT_STREQ(error.what(), "an integer of 64 bits is expected");
        EXPECT_EQ(error.at(), 8U);
    }
}

TEST(JsonReader, says_that_a_value_is_expected_where_none_begins) {
    for (const char* text : {"lamp", "[1,]", "[lamp]", R"({"a":})", R"({"a": 'b'})"}) {
        try {
            JsonReader(text).raw();
            FAIL() << text;
        } catch (const JsonSyntaxError& error) {
            EXPECT_STREQ(error.what(), "a value is expected") << text;
        }
    }
    EXPECT_EQ(JsonReader("[1,-2.5e3,0]").raw(), "[1,-2.5e3,0]");
}

TEST(JsonReader, an_integer_of_more_than_64_bits_is_refused) {
    EXPECT_EQ(JsonReader("9223372036854775807").integer(), INT64_MAX);
    EXPECT_THROW(JsonReader("9223372036854775808").integer(), JsonSyntaxError);
}

TEST(JsonReader, the_depth_is_bounded) {
    EXPECT_NO_THROW(JsonReader("[[1]]", 2).skip());
    EXPECT_THROW(JsonReader("[[[1]]]", 2).skip(), JsonSyntaxError);
    EXPECT_THROW(JsonReader(std::string(1'000'000, '[')).skip(), JsonSyntaxError);
}

TEST(JsonReader, accepts_what_nlohmann_accepts_of_strings_of_any_length) {
    for (std::size_t before = 0; before < 36; ++before) {
        for (const std::string middle :
             {"", "x", "\\n", "\\u00e9", "\\", "\x1f", "\x7f", "\x80", "\xc3\xa9", "\xff", "\""}) {
            for (const std::size_t after : {0U, 1U, 15U, 16U, 17U}) {
                std::string text = "\"" + std::string(before, 'a') + middle;
                text += std::string(after, 'b') + "\"";
                EXPECT_EQ(is_accepted(text), Json::accept(text)) << text;
            }
        }
    }
}

/// What an object's members are, by guessing that they are a, b and c.
std::string guessed(std::string_view text, JsonReader::Guess guess) {
    JsonReader reader(text, 2, guess);
    std::string read;
    const auto member = [&](std::string_view key) {
        read += std::string(key) + "=" + std::string(reader.raw()) + " ";
    };
    try {
        if (reader.begins("{\"a\":")) {
            member("a");
            if (reader.follows(",\"b\":")) member("b");
            if (reader.follows(",\"c\":")) member("c");
            reader.rest(member);
        } else {
            reader.object(member);
        }
        reader.end();
        return read;
    } catch (const JsonSyntaxError& error) {
        return error.what() + std::to_string(error.at());
    }
}

TEST(JsonReader, guessing_members_gives_the_same_result_as_reading_them) {
    EXPECT_EQ(guessed(R"({"a":1,"b":[],"c":3})", JsonReader::Guess::Members), "a=1 b=[] c=3 ");
    for (const std::string text :
         {R"({"a":1,"b":[],"c":3})",
          R"({"a":1,"c":3})",
          R"({"a":1})",
          R"({"b":1,"a":2})",
          R"({ "a":1,"b":2})",
          R"({"a":1, "b":2,"x":4})",
          R"({"a":1,"b":2,"c":3,})",
          R"({"a":1,"b":2 "c":3})",
          R"({"a":1)",
          R"({"a":1,)",
          R"({"a":1,"b")",
          R"({"a":1,"b":)",
          R"({"a":1,"a":2,"c":3})",
          R"({"\u0061":1,"b":2})",
          R"({})",
          R"({"a":[[1]]})",
          R"({"a":1,"b":2,"c":[[3]]})",
          R"({"a":1}})",
          R"([])",
          R"()",
          R"({"a":1,"b":2,"c":3} x)"}) {
        EXPECT_EQ(
            guessed(text, JsonReader::Guess::Members), guessed(text, JsonReader::Guess::Nothing)
        ) << text;
    }
}

TEST(JsonReader, plain_values_are_those_that_stand_here_at_once) {
    const auto integer = [](std::string_view text) {
        std::int64_t value = -1;
        return JsonReader(text).plain_integer(value) ? value : -1;
    };
    EXPECT_EQ(integer("7,"), 7);
    EXPECT_EQ(integer("0]"), 0);
    EXPECT_EQ(integer("123456789012345678}"), 123'456'789'012'345'678);
    for (const char* text :
         {"", "7", " 7,", "07,", "00,", "-7,", "7 ,", "1234567890123456789,", "7.0,"})
        EXPECT_EQ(integer(text), -1) << text;
    const auto string = [](std::string_view text) {
        std::string_view value = "none";
        return std::string(JsonReader(text).plain_string(value) ? value : "none");
    };
    EXPECT_EQ(string("\"\""), "");
    EXPECT_EQ(string("\"a b\"c"), "a b");
    for (const char* text : {"", "\"", "\"a", " \"a\"", "\"\\n\"", "\"\xc3\xa9\"", "\"\x01\"", "a"})
        EXPECT_EQ(string(text), "none") << text;
}

}  // namespace
}  // namespace ebb
