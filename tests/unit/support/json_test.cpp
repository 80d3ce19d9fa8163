// Goal: payloads are JSON within their limits, and every refusal says what is wrong and what is
// allowed. Method: documents at each limit and one above; broken UTF-8, U+0000 and garbage.
#include "support/json.h"

#include <ebb/error.h>

namespace ebb {
namespace {

std::string nested(int depth) {
    const auto count = static_cast<std::size_t>(depth);
    return std::string(count, '[') + std::string(count, ']');
}

std::string error_of(std::string_view text, ErrorCode code, const PayloadLimits& limits = {}) {
    std::string message;
    try {
        check_payload(text, "the input", limits);
        ADD_FAILURE() << "check_payload accepted " << text.substr(0, 80);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        message = error.what();
    }
    EXPECT_THROW(parse_json(text, "the input", limits), Error);
    return message;
}

TEST(JsonDepth, counts_arrays_and_objects_outside_strings) {
    EXPECT_EQ(json_depth("1"), 0);
    EXPECT_EQ(json_depth("[]"), 1);
    EXPECT_EQ(json_depth(R"({"a": [1, {"b": 2}], "c": []})"), 3);
    EXPECT_EQ(json_depth(R"(["[[[[", "\"[[[", "\\"])"), 1);
    EXPECT_EQ(json_depth("]]]["), 0);
    EXPECT_EQ(json_depth("\"\\"), 0);
}

TEST(Payload, is_accepted_at_each_limit_and_refused_one_above) {
    const PayloadLimits limits{.payload_bytes_max = 100, .json_depth_max = 5};
    const std::string fits = '"' + std::string(98, 'x') + '"';
    EXPECT_EQ(parse_json(fits, "the input", limits), Json(std::string(98, 'x')));
    EXPECT_EQ(
        error_of(fits + ' ', ErrorCode::PayloadTooLarge, limits),
        "the input has 101 bytes; payload_bytes_max allows 100."
    );
    check_payload(nested(5), "the input", limits);
    EXPECT_EQ(
        error_of(nested(6), ErrorCode::PayloadTooLarge, limits),
        "the input is nested 6 deep; json_depth_max allows 5."
    );
}

TEST(Payload, default_limits_are_one_mebibyte_and_depth_64) {
    const std::string fits = '"' + std::string((std::size_t{1} << 20) - 2, 'x') + '"';
    check_payload(fits, "the input");
    error_of(fits + '\n', ErrorCode::PayloadTooLarge);
    check_payload(nested(64), "the input");
    error_of(nested(65), ErrorCode::PayloadTooLarge);
    error_of(nested(500'000), ErrorCode::PayloadTooLarge);
}

TEST(Payload, that_is_not_json_is_refused_with_the_place) {
    EXPECT_THAT(
        error_of("{\"a\": 1,}", ErrorCode::InvalidPayload),
        ::testing::AllOf(
            ::testing::StartsWith("the input is not valid JSON: "), testing::HasSubstr("column 9")
        )
    );
    for (const std::string_view text :
         {"", " ", "{", "[1", "nul", "'a'", "1 2", "NaN", "\xEF\xBB", "]["}) {
        error_of(text, ErrorCode::InvalidPayload);
    }
}

TEST(Payload, that_other_languages_allow_is_refused_with_the_cure) {
    const auto is_cured = [](std::string_view text, const std::string& cure) {
        EXPECT_THAT(error_of(text, ErrorCode::InvalidPayload), ::testing::EndsWith(". " + cure))
            << text;
    };
    is_cured("{amount: 3}", "Keys stand in double quotes.");
    is_cured(R"({"a": 1, b : 3})", "Keys stand in double quotes.");
    is_cured("{'a': 1}", "Keys and texts stand in double quotes.");
    is_cured(R"({"a": lamp})", "Texts stand in double quotes.");
    is_cured("lamp", "Texts stand in double quotes.");
    is_cured(R"({"a": None})", "Write true, false or null.");
    is_cured("[1, nil]", "Write true, false or null.");
    is_cured("[1, # one\n 2]", "JSON has no comments.");
    is_cured("// one\n[1]", "JSON has no comments.");
    is_cured("[1, /* one */ 2]", "JSON has no comments.");
    is_cured("[1, 2, ]", "Remove the comma before it.");
    // Nothing is said of what is only cut off, or lacks a comma.
    for (const std::string_view text : {"{", "[1", R"({"a": 1 b: 2})", "[1 lamp]"}) {
        EXPECT_THAT(
            error_of(text, ErrorCode::InvalidPayload), ::testing::Not(testing::HasSubstr("quotes"))
        );
    }
}

TEST(Payload, with_invalid_utf8_is_refused) {
    for (const std::string_view text :
         {"\"\xff\"", "\"\xC0\x80\"", "\"\xE2\x82\"", "\"\xED\xA0\x80\"", "\"\xF5\x80\x80\x80\""}) {
        error_of(text, ErrorCode::InvalidPayload);
    }
    error_of(R"("\ud800")", ErrorCode::InvalidPayload);
    check_payload("\"\xE2\x82\xAC \xF0\x9F\x8C\x8A\"", "the input");
}

TEST(Payload, with_u0000_is_refused_but_an_escaped_backslash_is_not_one) {
    EXPECT_EQ(
        error_of(R"({"a": "x\u0000y"})", ErrorCode::InvalidPayload),
        "the input contains the character U+0000, which no store can keep in a text."
    );
    error_of(R"({"\u0000": 1})", ErrorCode::InvalidPayload);
    error_of(R"("\\\u0000")", ErrorCode::InvalidPayload);
    error_of(std::string_view("\"a\0b\"", 5), ErrorCode::InvalidPayload);
    EXPECT_EQ(parse_json(R"("\\u0000")", "the input"), Json("\\u0000"));
    EXPECT_EQ(parse_json(R"("\\\\u0000")", "the input"), Json("\\\\u0000"));
}

TEST(JsonText, is_the_shortest_and_always_valid_utf8) {
    EXPECT_EQ(
        to_text(Json::parse(R"( {"b": [1, 2.5], "a": "ü"} )")), "{\"a\":\"ü\",\"b\":[1,2.5]}"
    );
    EXPECT_EQ(to_text(Json(std::string("a\xff"))), "\"a\xEF\xBF\xBD\"");
}

TEST(AppendJsonString, gives_a_literal_that_reads_back) {
    for (const std::string text :
         {"", "plain", "with \"quotes\" and \\", "line\nbreak\ttab\x01", "Grüße 🌊"}) {
        std::string out = "x";
        append_json_string(out, text);
        ASSERT_EQ(out.front(), 'x');
        EXPECT_EQ(Json::parse(out.substr(1)), Json(text));
    }
    std::string out;
    append_json_string(out, "\xff");
    EXPECT_EQ(out, "\"\xEF\xBF\xBD\"");
}

TEST(CleanText, replaces_what_is_not_utf8_and_u0000) {
    EXPECT_EQ(clean_text("plain", 100), "plain");
    EXPECT_EQ(
        clean_text(
            "a\xff"
            "b",
            100
        ),
        "a\xEF\xBF\xBD"
        "b"
    );
    EXPECT_EQ(clean_text(std::string_view("a\0b", 3), 100), "a b");
    EXPECT_EQ(clean_text("line\n\"x\"\\", 100), "line\n\"x\"\\");
}

TEST(CleanText, cuts_at_a_character_at_the_limit_and_one_above) {
    EXPECT_EQ(clean_text("abc", 3), "abc");
    EXPECT_EQ(clean_text("abcd", 3), "abc");
    EXPECT_EQ(clean_text("a€", 4), "a€");
    EXPECT_EQ(clean_text("a€", 3), "a");
    EXPECT_EQ(clean_text("a€", 2), "a");
    EXPECT_EQ(clean_text("🌊", 3), "");
    EXPECT_EQ(clean_text("🌊x", 4), "🌊");
    EXPECT_EQ(clean_text("abc", 0), "");
    EXPECT_EQ(clean_text(std::string(10, '\xff'), 7), "\xEF\xBF\xBD\xEF\xBF\xBD");
    EXPECT_EQ(clean_text(std::string(1'000'000, 'x'), 8'192).size(), 8'192U);
}

}  // namespace
}  // namespace ebb
