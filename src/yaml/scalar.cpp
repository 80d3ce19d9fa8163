#include "yaml/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace ebb::yaml {

namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrues = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalses = {"false", "False", "FALSE"};
constexpr std::array<std::string_view, 3> kInfinities = {".inf", ".Inf", ".INF"};
constexpr std::array<std::string_view, 3> kNotNumbers = {".nan", ".NaN", ".NAN"};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end - at;
}

std::string_view without_sign(std::string_view text) {
    return text.starts_with('+') || text.starts_with('-') ? text.substr(1) : text;
}

bool is_decimal(std::string_view text) {
    const std::string_view digits = without_sign(text);
    return !digits.empty() && digits_at(digits, 0) == digits.size();
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
bool is_float(std::string_view text) {
    text = without_sign(text);
    const std::size_t whole = digits_at(text, 0);
    std::size_t at = whole;
    if (at < text.size() && text[at] == '.') {
        const std::size_t fraction = digits_at(text, at + 1);
        if (whole + fraction == 0) return false;
        at += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (at == text.size()) return true;
    if (text[at] != 'e' && text[at] != 'E') return false;
    const std::string_view exponent = without_sign(text.substr(at + 1));
    return !exponent.empty() && digits_at(exponent, 0) == exponent.size();
}

template <typename Number>
std::optional<Number> parse(std::string_view text, int base) {
    Number value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value, base);
    if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
    return value;
}

std::optional<Json> parse_float(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
    return Json(value);
}

std::optional<Json> parse_decimal(std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    // As JSON's parser does: unsigned if it is not negative, and a float if it is too large.
    if (!digits.starts_with('-')) {
        if (const auto value = parse<std::uint64_t>(digits, 10)) return Json(*value);
    } else if (const auto value = parse<std::int64_t>(digits, 10)) {
        return Json(*value);
    }
    return parse_float(text);
}

bool is_in_base(std::string_view text, std::string_view prefix, std::string_view digits) {
    return text.starts_with(prefix) && text.size() > prefix.size() &&
           text.find_first_not_of(digits, prefix.size()) == std::string_view::npos;
}

std::optional<Json> parse_base(std::string_view digits, int base) {
    const auto value = parse<std::uint64_t>(digits, base);
    return value ? std::optional<Json>(*value) : std::nullopt;
}

}  // namespace

std::optional<Json> resolve_plain(std::string_view text) {
    if (is_one_of(text, kNulls)) return Json();
    if (is_one_of(text, kTrues)) return Json(true);
    if (is_one_of(text, kFalses)) return Json(false);
    if (is_decimal(text)) return parse_decimal(text);
    if (is_in_base(text, "0o", "01234567")) return parse_base(text.substr(2), 8);
    if (is_in_base(text, "0x", "0123456789abcdefABCDEF")) return parse_base(text.substr(2), 16);
    if (is_float(text)) return parse_float(text);
    if (is_one_of(without_sign(text), kInfinities) || is_one_of(text, kNotNumbers)) {
        return std::nullopt;
    }
    return Json(std::string(text));
}

}  // namespace ebb::yaml
