#include "support/json_reader.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb {

namespace {

/// Bytes of a string that mean nothing but themselves.
constexpr std::array<bool, 256> make_plain() {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
}

constexpr std::array<bool, 256> kPlain = make_plain();

/// A number without an exponent that is no longer than this fits into a double.
constexpr std::size_t kSurelyFiniteDigits = 300;

/// An integer of so many digits fits into 64 bits.
constexpr std::size_t kShortDigits = 18;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

void JsonReader::fail(const char* what) const {
    throw JsonSyntaxError(what, at_);
}

void JsonReader::literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) fail("this is no JSON value");
    at_ += word.size();
}

bool JsonReader::null() {
    if (peek() != 'n') return false;
    literal("null");
    return true;
}

bool JsonReader::boolean() {
    const char c = peek();
    if (c != 't' && c != 'f') fail("true or false is expected");
    literal(c == 't' ? "true" : "false");
    return c == 't';
}

std::string_view JsonReader::number_text() {
    skip_space();
    const std::size_t begin = at_;
    const auto digits = [this] {
        const std::size_t first = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        if (at_ == first) fail("a number is expected");
    };
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    const bool leads_with_zero = at_ < text_.size() && text_[at_] == '0';
    if (leads_with_zero) {
        ++at_;
    } else {
        digits();
    }
    if (at_ < text_.size() && text_[at_] == '.') {
        ++at_;
        digits();
    }
    const bool has_exponent = at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E');
    if (has_exponent) {
        ++at_;
        if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
        digits();
    }
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (has_exponent || text.size() > kSurelyFiniteDigits) check_range(text);
    return text;
}

void JsonReader::check_range(std::string_view digits) const {
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec == std::errc()) return;
    // Too great and too small look alike to from_chars; a number that is nearly zero is allowed.
    if (std::isinf(std::strtod(std::string(digits).c_str(), nullptr))) {
        fail("the number is out of range");
    }
}

std::int64_t JsonReader::integer() {
    skip_space();
    // Nearly all are short, and nothing but digits.
    std::size_t at = at_;
    std::int64_t short_value = 0;
    while (at < text_.size() && is_digit(text_[at]) && at - at_ <= kShortDigits) {
        short_value = short_value * 10 + (text_[at] - '0');
        ++at;
    }
    const bool is_short = at > at_ && at - at_ <= kShortDigits && text_[at_] != '0';
    const char next = at < text_.size() ? text_[at] : ',';
    if (is_short && (next == ',' || next == '}' || next == ']')) {
        at_ = at;
        return short_value;
    }
    const std::string_view digits = number_text();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        fail("an integer of 64 bits is expected");
    }
    return value;
}

double JsonReader::number() {
    const std::string_view digits = number_text();
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) fail("the number is out of range");
    return value;
}

std::string_view JsonReader::string_view(std::string& decoded) {
    if (peek() != '"') fail("a string is expected");
    const std::size_t begin = at_;
    if (!skip_string()) return text_.substr(begin + 1, at_ - begin - 2);
    // Escapes are rare in what is read here, so whoever knows them all may decode them.
    decoded = Json::parse(text_.substr(begin, at_ - begin)).get<std::string>();
    return decoded;
}

std::string JsonReader::string() {
    std::string decoded;
    const std::string_view view = string_view(decoded);
    return view.data() == decoded.data() ? decoded : std::string(view);
}

bool JsonReader::skip_string() {
    bool has_escapes = false;
    ++at_;
    while (true) {
        while (at_ < text_.size() && kPlain[static_cast<unsigned char>(text_[at_])]) ++at_;
        if (at_ >= text_.size()) fail("a string has no end");
        const auto c = static_cast<unsigned char>(text_[at_]);
        if (c == '"') break;
        if (c == '\\') {
            has_escapes = true;
            skip_escape();
        } else if (c >= 0x80) {
            skip_utf8();
        } else {
            fail("a string contains a control character");
        }
    }
    ++at_;
    return has_escapes;
}

namespace {

/// The four hexadecimal digits at `at`, or -1.
int hex_unit(std::string_view text, std::size_t at) {
    if (at + 4 > text.size()) return -1;
    int unit = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
        if (!is_hex(text[i])) return -1;
    }
    std::from_chars(text.data() + at, text.data() + at + 4, unit, 16);
    return unit;
}

bool is_high_surrogate(int unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low_surrogate(int unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

void JsonReader::skip_escape() {
    constexpr std::string_view kShort = "\"\\/bfnrt";
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (kShort.find(c) != std::string_view::npos) {
        at_ += 2;
        return;
    }
    const int unit = c == 'u' ? hex_unit(text_, at_ + 2) : -1;
    if (unit < 0 || is_low_surrogate(unit)) fail("a string contains an escape that is not valid");
    at_ += 6;
    if (!is_high_surrogate(unit)) return;
    const bool has_low =
        text_.substr(at_, 2) == "\\u" && is_low_surrogate(hex_unit(text_, at_ + 2));
    if (!has_low) fail("a string contains half of a surrogate pair");
    at_ += 6;
}

void JsonReader::skip_utf8() {
    const auto byte = [this](std::size_t offset) -> unsigned {
        return at_ + offset < text_.size() ? static_cast<unsigned char>(text_[at_ + offset]) : 0U;
    };
    const auto follows = [&](std::size_t offset, unsigned lowest = 0x80, unsigned highest = 0xBF) {
        return byte(offset) >= lowest && byte(offset) <= highest;
    };
    const unsigned first = byte(0);
    std::size_t length = 0;
    if (first >= 0xC2 && first <= 0xDF && follows(1)) length = 2;
    if (first >= 0xE0 && first <= 0xEF) {
        // Neither overlong forms nor surrogates.
        const bool is_valid =
            follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2);
        length = is_valid ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool is_valid =
            follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) &&
            follows(3);
        length = is_valid ? 4 : 0;
    }
    if (length == 0) fail("a string is not valid UTF-8");
    at_ += length;
}

void JsonReader::skip_value() {
    switch (peek()) {
        case '{': {
            open('{');
            if (!closes('}')) {
                do {
                    if (peek() != '"') fail("a key is expected");
                    skip_string();
                    expect(':');
                    skip_value();
                } while (goes_on('}'));
            }
            ++depth_left_;
            return;
        }
        case '[':
            return array([this] { skip_value(); });
        case '"':
            skip_string();
            return;
        case 't':
            return literal("true");
        case 'f':
            return literal("false");
        case 'n':
            return literal("null");
        default:
            number_text();
    }
}

std::string_view JsonReader::raw() {
    skip_space();
    const std::size_t begin = at_;
    skip_value();
    return text_.substr(begin, at_ - begin);
}

void JsonReader::end() {
    skip_space();
    if (at_ < text_.size()) fail("something follows the end");
}

}  // namespace ebb
