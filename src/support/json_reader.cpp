#include "support/json_reader.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb {

namespace {

/// A number without an exponent that is no longer than this fits into a double.
constexpr std::ptrdiff_t kSurelyFiniteDigits = 300;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

void JsonReader::fail(const char* what) const {
    throw JsonSyntaxError(what, static_cast<std::size_t>(at_ - begin_));
}

void JsonReader::literal(std::string_view word) {
    if (std::string_view(at_, left()).substr(0, word.size()) != word) {
        fail("this is not a JSON value");
    }
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

void JsonReader::skip_digits() {
    const char* first = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    if (at_ == first) fail("a number is expected");
}

std::string_view JsonReader::number_text() {
    skip_space();
    const char* first = at_;
    if (at_ != end_ && *at_ == '-') ++at_;
    if (at_ != end_ && *at_ == '0') {
        ++at_;
    } else {
        skip_digits();
    }
    if (at_ != end_ && *at_ == '.') {
        ++at_;
        skip_digits();
    }
    const bool has_exponent = at_ != end_ && (*at_ == 'e' || *at_ == 'E');
    if (has_exponent) {
        ++at_;
        if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
        skip_digits();
    }
    const std::string_view text(first, static_cast<std::size_t>(at_ - first));
    if (has_exponent || at_ - first > kSurelyFiniteDigits) check_range(text);
    return text;
}

void JsonReader::check_range(std::string_view digits) const {
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec == std::errc()) return;
    // from_chars reports numbers that are too large and too small in the same way; a number that is
    // nearly zero is allowed.
    if (std::isinf(std::strtod(std::string(digits).c_str(), nullptr))) {
        fail("the number is out of range");
    }
}

std::int64_t JsonReader::integer() {
    if (std::int64_t value = 0; plain_integer(value)) return value;
    const std::string_view digits = number_text();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        fail("an integer of 64 bits is expected");
    }
    return value;
}

bool JsonReader::plain_thousandths(std::int64_t& value) {
    constexpr std::ptrdiff_t kDigitsMax = 11;
    const char* at = at_;
    std::int64_t read = 0;
    while (at != end_ && is_digit(*at) && at - at_ < kDigitsMax) read = read * 10 + (*at++ - '0');
    if (at == at_ || (*at_ == '0' && at - at_ > 1)) return false;
    int places = 3;
    if (at != end_ && *at == '.') {
        ++at;
        while (places > 0 && at != end_ && is_digit(*at)) {
            read = read * 10 + (*at++ - '0');
            --places;
        }
        if (places == 3) return false;
    }
    if (!ends_value(at)) return false;
    for (; places > 0; --places) read *= 10;
    value = read;
    at_ = at;
    return true;
}

double JsonReader::number() {
    const std::string_view digits = number_text();
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) fail("the number is out of range");
    return value;
}

std::string_view JsonReader::any_string(std::string& decoded) {
    if (peek() != '"') fail("a string is expected");
    const char* first = at_;
    if (!skip_string()) return {first + 1, static_cast<std::size_t>(at_ - first - 2)};
    // Escapes are rare in these texts, so a complete decoder handles them.
    decoded = Json::parse(first, at_).get<std::string>();
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
        at_ = skip_plain_bytes(at_, end_);
        if (at_ == end_) fail("a string has no end");
        const auto c = static_cast<unsigned char>(*at_);
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

/// The four hexadecimal digits that `text` begins with, or -1.
int hex_unit(std::string_view text) {
    if (text.size() < 4) return -1;
    int unit = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        if (!is_hex(text[i])) return -1;
    }
    std::from_chars(text.data(), text.data() + 4, unit, 16);
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
    const char c = left() > 1 ? at_[1] : '\0';
    if (kShort.find(c) != std::string_view::npos) {
        at_ += 2;
        return;
    }
    const int unit = c == 'u' ? hex_unit({at_ + 2, left() - 2}) : -1;
    if (unit < 0 || is_low_surrogate(unit)) fail("a string contains an escape that is not valid");
    at_ += 6;
    if (!is_high_surrogate(unit)) return;
    const std::string_view next(at_, left());
    const bool has_low = next.starts_with("\\u") && is_low_surrogate(hex_unit(next.substr(2)));
    if (!has_low) fail("a string contains half of a surrogate pair");
    at_ += 6;
}

void JsonReader::skip_utf8() {
    const auto byte = [this](std::size_t offset) -> unsigned {
        return offset < left() ? static_cast<unsigned char>(at_[offset]) : 0U;
    };
    const auto is_within = [&](std::size_t offset, unsigned lowest = 0x80, unsigned highest = 0xBF
                           ) { return byte(offset) >= lowest && byte(offset) <= highest; };
    const unsigned first = byte(0);
    std::size_t length = 0;
    if (first >= 0xC2 && first <= 0xDF && is_within(1)) length = 2;
    if (first >= 0xE0 && first <= 0xEF) {
        // Neither overlong forms nor surrogates.
        const bool is_valid =
            is_within(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && is_within(2);
        length = is_valid ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool is_valid =
            is_within(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) &&
            is_within(2) && is_within(3);
        length = is_valid ? 4 : 0;
    }
    if (length == 0) fail("a string is not valid UTF-8");
    at_ += length;
}

// Values are skipped with the position in a register; at_ is set in rare cases and on errors.

void JsonReader::fail_at(const char* at, const char* what) {
    at_ = at;
    fail(what);
}

/// The next byte that is not a space; there must be one.
const char* JsonReader::past_space(const char* at) {
    while (at != end_ && is_space(*at)) ++at;
    if (at == end_) fail_at(at, "the text ends too early");
    return at;
}

const char* JsonReader::past_string(const char* at) {
    const char* end = skip_plain_bytes(at + 1, end_);
    if (end != end_ && *end == '"') return end + 1;
    at_ = at;
    skip_string();
    return at_;
}

const char* JsonReader::past_scalar(const char* at) {
    const char* end = at;
    while (end != end_ && is_digit(*end)) ++end;
    const bool is_integer = end != at && *at != '0' && end - at < kSurelyFiniteDigits &&
                            (end == end_ || (*end != '.' && *end != 'e' && *end != 'E'));
    if (is_integer) return end;
    at_ = at;
    if (*at == 't') {
        literal("true");
    } else if (*at == 'f') {
        literal("false");
    } else if (*at == 'n') {
        literal("null");
    } else if (*at == '-' || is_digit(*at)) {
        number_text();
    } else {
        fail("a value is expected");
    }
    return at_;
}

const char* JsonReader::past_list(const char* at) {
    const bool is_object = *at == '{';
    const char closing = is_object ? '}' : ']';
    if (--depth_left_ < 0) fail_at(at, "it is nested too deep");
    at = past_space(at + 1);
    while (*at != closing) {
        if (is_object) {
            if (*at != '"') fail_at(at, "a key is expected");
            at = past_space(past_string(at));
            if (*at != ':') fail_at(at, "a colon is expected");
            ++at;
        }
        at = past_space(past_value(at));
        if (*at == closing) break;
        if (*at != ',') fail_at(at, "a comma or the end of the list is expected");
        at = past_space(at + 1);
        // A comma must be followed by an element.
        if (*at == closing) fail_at(at, is_object ? "a key is expected" : "a value is expected");
    }
    ++depth_left_;
    return at + 1;
}

const char* JsonReader::past_value(const char* at) {
    at = past_space(at);
    if (*at == '"') return past_string(at);
    if (*at == '{' || *at == '[') return past_list(at);
    return past_scalar(at);
}

std::string_view JsonReader::raw() {
    const char* first = past_space(at_);
    at_ = past_value(first);
    return {first, static_cast<std::size_t>(at_ - first)};
}

void JsonReader::end() {
    skip_space();
    if (at_ != end_) fail("something follows the end");
}

}  // namespace ebb
