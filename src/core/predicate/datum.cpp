#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/json.h>

#include "core/predicate/json_values.h"
#include "core/predicate/time_values.h"
#include "core/predicate/value.h"

namespace ebb::predicate {

namespace {

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

/// A whole text without the `+` that from_chars does not know; empty when there is none.
std::string_view unsigned_part(std::string_view text) {
    text = trimmed(text);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    return text;
}

ParsedDatum fault(std::string_view allowed) {
    return {.datum = {}, .fault = std::string(allowed)};
}

ParsedDatum integer_datum(std::int64_t value) {
    return {.datum = {.is_null = false, .integer = value}, .fault = {}};
}

ParsedDatum parse_boolean(std::string_view text) {
    const std::string word = lower_case(trimmed(text));
    const auto begins = [&](std::string_view whole, std::size_t least) {
        return word.size() >= least && whole.starts_with(word);
    };
    if (begins("true", 1) || begins("yes", 1) || begins("on", 2) || word == "1") {
        return integer_datum(1);
    }
    if (begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0") {
        return integer_datum(0);
    }
    return fault("true or false");
}

ParsedDatum parse_integer(std::string_view text, Type type) {
    const std::string_view digits = unsigned_part(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_small = value >= std::numeric_limits<std::int32_t>::min() &&
                          value <= std::numeric_limits<std::int32_t>::max();
    if (error != std::errc() || end != digits.data() + digits.size()) {
        return fault("a whole number");
    }
    if (type == Type::Int4 && !is_small) return fault("a whole number of 32 bits");
    return integer_datum(value);
}

ParsedDatum parse_double(std::string_view text) {
    const std::string_view digits = unsigned_part(text);
    const std::string word = lower_case(digits);
    Datum datum{.is_null = false};
    const std::string_view unsigned_word =
        word.starts_with('-') ? std::string_view(word).substr(1) : std::string_view(word);
    if (word == "nan") {
        datum.real = std::numeric_limits<double>::quiet_NaN();
    } else if (unsigned_word == "infinity" || unsigned_word == "inf") {
        datum.real = word.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
    } else {
        // from_chars takes no other words then.
        if (word.find_first_not_of("0123456789.e+-") != std::string::npos) return fault("a number");
        const auto [end, error] =
            std::from_chars(word.data(), word.data() + word.size(), datum.real);
        if (error != std::errc() || end != word.data() + word.size()) {
            return fault("a number that fits into double precision");
        }
    }
    return {.datum = std::move(datum), .fault = {}};
}

ParsedDatum parse_numeric(std::string_view text) {
    auto number = Numeric::parse(text);
    if (!number)
        return fault("a decimal number of at most 1,000 digits before and after the point");
    return {.datum = {.is_null = false, .numeric = std::move(*number)}, .fault = {}};
}

/// Hyphens may stand behind any group of four digits; braces around all.
ParsedDatum parse_uuid(std::string_view text) {
    constexpr std::string_view kAllowed = "a UUID, such as 0192d4a6-7c3e-7b5a-9f00-2f4e6a8b0c1d";
    constexpr int kDigits = 32;
    if (text.starts_with('{')) {
        if (!text.ends_with('}')) return fault(kAllowed);
        text = text.substr(1, text.size() - 2);
    }
    std::string made;
    int count = 0;
    std::size_t at = 0;
    for (; at < text.size() && count < kDigits; ++at) {
        const char c = text[at];
        if (c == '-') {
            if (at == 0 || text[at - 1] == '-' || count % 4 != 0) return fault(kAllowed);
            continue;
        }
        const bool is_digit =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (!is_digit) return fault(kAllowed);
        if (count == 8 || count == 12 || count == 16 || count == 20) made += '-';
        made += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
        ++count;
    }
    if (count != kDigits || at != text.size()) return fault(kAllowed);
    return {.datum = {.is_null = false, .text = std::move(made)}, .fault = {}};
}

ParsedDatum parse_json_datum(std::string_view text) {
    if (!Json::accept(text)) return fault("a JSON document");
    if (!jsonb_text(text)) return fault("a JSON document with numbers of at most 1,000 digits");
    return {.datum = {.is_null = false, .text = std::string(text)}, .fault = {}};
}

/// As PostgreSQL writes a double precision: the shortest digits that read back.
std::string double_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(
            buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific
        )
            .ptr;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const std::size_t e = text.find('e');
    const int exponent = std::stoi(std::string(text.substr(e + 1)));
    constexpr int kFixedExponentMax = 15;
    if (exponent < -4 || exponent >= kFixedExponentMax) return std::string(text);
    return fmt::format("{:.{}f}", value, [&] {
        std::string digits(text.substr(0, e));
        std::erase_if(digits, [](char c) { return c == '.' || c == '-'; });
        const int behind = static_cast<int>(digits.size()) - 1 - exponent;
        return behind < 0 ? 0 : behind;
    }());
}

}  // namespace

ParsedDatum parse_datum(Type type, std::string_view text) {
    switch (type) {
        case Type::Boolean:
            return parse_boolean(text);
        case Type::Int4:
        case Type::Int8:
            return parse_integer(text, type);
        case Type::Numeric:
            return parse_numeric(text);
        case Type::Double:
            return parse_double(text);
        case Type::Unknown:
        case Type::Text:
            return {.datum = {.is_null = false, .text = std::string(text)}, .fault = {}};
        case Type::Timestamp: {
            const auto read = parse_timestamp(text);
            return read ? integer_datum(*read) : fault("a time, such as 2026-11-21T08:30:00Z");
        }
        case Type::Date: {
            const auto read = parse_date(text);
            return read ? integer_datum(*read) : fault("a date, such as 2026-11-21");
        }
        case Type::Uuid:
            return parse_uuid(text);
        case Type::Json:
            return parse_json_datum(text);
        case Type::Interval: {
            const auto read = parse_interval(text);
            if (!read) return fault("whole numbers with units, such as 3 days 2 hours");
            return {.datum = {.is_null = false, .interval = *read}, .fault = {}};
        }
    }
    return fault("another type");
}

std::string text_of(Type type, const Value& value) {
    switch (type) {
        case Type::Boolean:
            return value.integer != 0 ? "true" : "false";
        case Type::Int4:
        case Type::Int8:
            return std::to_string(value.integer);
        case Type::Numeric:
            return value.numeric->to_string();
        case Type::Double:
            return double_text(value.real);
        case Type::Timestamp:
            return format_timestamp(value.integer);
        case Type::Date:
            return format_date(value.integer);
        case Type::Json:
            return jsonb_text(value.text).value_or(std::string(value.text));
        case Type::Interval:
            return format_interval(*value.interval);
        case Type::Unknown:
        case Type::Text:
        case Type::Uuid:
            break;
    }
    return std::string(value.text);
}

}  // namespace ebb::predicate
