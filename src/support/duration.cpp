#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/clock.h"

namespace ebb {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t microseconds;
};

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kWeek = 7 * kDay;
/// No unit is divided more finely: products of a fraction and a unit fit into 64 bits.
constexpr std::size_t kFractionDigitsMax = 6;
constexpr std::size_t kWholeDigitsMax = 18;

// Largest first: the order in which they may follow one another.
constexpr std::array<Unit, 6> kUnits = {{
    {"d", kDay},
    {"h", kHour},
    {"m", kMinute},
    {"s", kSecond},
    {"ms", 1'000},
    {"us", 1},
}};
constexpr std::array<Unit, 2> kIsoDateUnits = {{{"W", kWeek}, {"D", kDay}}};
constexpr std::array<Unit, 3> kIsoTimeUnits = {{{"H", kHour}, {"M", kMinute}, {"S", kSecond}}};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    return digits;
}

std::int64_t to_integer(std::string_view digits) {
    std::int64_t value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    return value;
}

struct Amount {
    std::int64_t whole = 0;
    std::int64_t fraction = 0;  ///< in units of 1 / scale
    std::int64_t scale = 1;
};

std::optional<Amount> take_amount(std::string_view& text) {
    const std::string_view whole = take_digits(text);
    if (whole.empty() || whole.size() > kWholeDigitsMax) return std::nullopt;
    Amount amount{.whole = to_integer(whole)};
    if (!text.starts_with('.')) return amount;
    text.remove_prefix(1);
    const std::string_view fraction = take_digits(text);
    if (fraction.empty() || fraction.size() > kFractionDigitsMax) return std::nullopt;
    amount.fraction = to_integer(fraction);
    for (std::size_t i = 0; i < fraction.size(); ++i) amount.scale *= 10;
    return amount;
}

/// Adds `amount` units to `sum`; false when the result is not a whole number of microseconds or
/// does not fit.
bool add(std::int64_t& sum, const Amount& amount, std::int64_t unit) {
    const std::int64_t parts = amount.fraction * unit;
    if (parts % amount.scale != 0) return false;
    std::int64_t whole = 0;
    return !__builtin_mul_overflow(amount.whole, unit, &whole) &&
           !__builtin_add_overflow(sum, whole, &sum) &&
           !__builtin_add_overflow(sum, parts / amount.scale, &sum);
}

/// Reads amounts with falling units until the end of `text` or a `T`. False when there is anything
/// else.
template <std::size_t N>
bool take_units(std::string_view& text, const std::array<Unit, N>& units, std::int64_t& sum) {
    std::size_t next = 0;
    while (!text.empty() && text.front() != 'T') {
        const std::optional<Amount> amount = take_amount(text);
        if (!amount) return false;
        // `m` is a prefix of `ms`: a unit ends where the next number or the text does.
        const auto end =
            std::find_if(text.begin(), text.end(), [](char c) { return is_digit(c) || c == 'T'; });
        const std::string_view name(text.data(), static_cast<std::size_t>(end - text.begin()));
        while (next < N && units[next].name != name) ++next;
        if (next == N || !add(sum, *amount, units[next].microseconds)) return false;
        text.remove_prefix(name.size());
        ++next;
    }
    return true;
}

std::optional<Duration> parse_iso(std::string_view text) {
    text.remove_prefix(1);
    std::int64_t sum = 0;
    if (text.empty() || !take_units(text, kIsoDateUnits, sum)) return std::nullopt;
    if (text.empty()) return Duration(sum);
    text.remove_prefix(1);
    if (text.empty() || !take_units(text, kIsoTimeUnits, sum) || !text.empty()) return std::nullopt;
    return Duration(sum);
}

std::string with_fraction(std::uint64_t value, std::uint64_t unit, std::string_view name) {
    std::string text = std::to_string(value / unit);
    if (value % unit != 0) {
        const std::size_t digits = unit == 1'000 ? 3 : 6;
        std::string fraction = fmt::format("{:0{}}", value % unit, digits);
        fraction.erase(fraction.find_last_not_of('0') + 1);
        text += '.' + fraction;
    }
    return text.append(name);
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    if (text == "0") return Duration(0);
    if (text.starts_with('P')) return parse_iso(text);
    std::int64_t sum = 0;
    if (text.empty() || !take_units(text, kUnits, sum) || !text.empty()) return std::nullopt;
    return Duration(sum);
}

std::string format_duration(Duration duration) {
    std::string text;
    std::uint64_t rest = static_cast<std::uint64_t>(duration.count());
    if (duration < Duration::zero()) {
        text += '-';
        rest = 0 - rest;
    }
    if (rest == 0) return "0s";
    if (rest < 1'000) return text + with_fraction(rest, 1, "us");
    if (rest < kSecond) return text + with_fraction(rest, 1'000, "ms");
    for (std::size_t i = 0; i < 3; ++i) {
        const auto unit = static_cast<std::uint64_t>(kUnits[i].microseconds);
        if (rest >= unit) text += with_fraction(rest / unit, 1, kUnits[i].name);
        rest %= unit;
    }
    if (rest > 0) text += with_fraction(rest, kSecond, "s");
    return text;
}

}  // namespace ebb
