#include "support/json_schema_values.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/json.h"
#include "support/pattern.h"

namespace ebb {

namespace {

bool is_date(std::string_view text) {
    static const Pattern shape("^[0-9]{4}-(0[1-9]|1[012])-(0[1-9]|[12][0-9]|3[01])$");
    if (!shape.is_found_in(text)) return false;
    const auto at = [&](std::size_t from, std::size_t count) {
        return std::stoi(std::string(text.substr(from, count)));
    };
    return std::chrono::year_month_day(
               std::chrono::year(at(0, 4)),
               std::chrono::month(static_cast<unsigned>(at(5, 2))),
               std::chrono::day(static_cast<unsigned>(at(8, 2)))
    )
        .ok();
}

bool is_time(std::string_view text) {
    static const Pattern shape(
        "^([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?"
        "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    );
    return shape.is_found_in(text);
}

}  // namespace

long double number(const Json& value) {
    if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
    if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
    return static_cast<long double>(value.get<double>());
}

bool is_integer(const Json& value) {
    if (value.is_number_integer()) return true;
    if (!value.is_number_float()) return false;
    const auto float_value = value.get<double>();
    return std::isfinite(float_value) && std::trunc(float_value) == float_value;
}

std::string canonical_number(const Json& value) {
    constexpr double kExactMax = 9e18;
    const bool is_whole_float =
        value.is_number_float() && is_integer(value) && std::abs(value.get<double>()) < kExactMax;
    return is_whole_float ? std::to_string(static_cast<std::int64_t>(value.get<double>()))
                          : to_text(value);
}

std::string_view type_of(const Json& value) {
    if (value.is_null()) return "null";
    if (value.is_boolean()) return "boolean";
    if (value.is_number()) return is_integer(value) ? "integer" : "number";
    if (value.is_string()) return "string";
    return value.is_array() ? "array" : "object";
}

std::string with_article(std::string_view type) {
    if (type == "null") return "null";
    const bool is_vowel = type == "array" || type == "integer" || type == "object";
    return fmt::format("{} {}", is_vowel ? "an" : "a", type);
}

std::string shown(const Json& value) {
    constexpr std::size_t kShownBytesMax = 60;
    if (!value.is_structured()) {
        if (std::string text = to_text(value); text.size() <= kShownBytesMax) return text;
    } else if (value.empty()) {
        return to_text(value);
    }
    return with_article(type_of(value));
}

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

bool is_multiple(const Json& value, const Json& of) {
    if (value.is_number_integer() && of.is_number_integer()) {
        return std::fmod(number(value), number(of)) == 0;
    }
    const double quotient = value.get<double>() / of.get<double>();
    if (!std::isfinite(quotient)) return false;
    constexpr double kTolerance = 1e-12;
    const double error = std::abs(quotient - std::nearbyint(quotient));
    return error <= kTolerance * std::max(1.0, std::abs(quotient));
}

bool is_of_type(const Json& value, std::string_view type) {
    if (type == "number") return value.is_number();
    return type == type_of(value);
}

bool has_format(std::string_view format, std::string_view text) {
    constexpr std::size_t kDate = 10;
    if (format == "date") return is_date(text);
    if (format == "time") return is_time(text);
    if (format != "date-time") return true;
    return text.size() > kDate && (text[kDate] == 'T' || text[kDate] == 't') &&
           is_date(text.substr(0, kDate)) && is_time(text.substr(kDate + 1));
}

}  // namespace ebb
