// int(), uint(), double(), string(), bool(), timestamp(), duration()

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/expression/functions.h"
#include "core/expression/literal.h"
#include "core/expression/source.h"
#include "core/expression/time_text.h"

namespace ebb::expression {

namespace {

template <typename Number>
std::optional<Number> read_integer(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

Value fail_type(Context& context, std::string_view function, const Value& value) {
    return context.fail("{}() does not convert {}.", function, a_type(value));
}

Value fail_range(Context& context, std::string_view type, std::string_view number) {
    return context.fail("{} is outside of the range of {}.", number, type);
}

Value fail_text(Context& context, const Value& text, std::string_view what) {
    return context.fail("\"{}\" is not {}.", shortened(text.string(), 60), what);
}

std::string double_text(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    return fmt::format("{}", number);
}

}  // namespace

Value to_int(Context& context, Arguments arguments) {
    const Value& value = arguments[0];
    switch (value.kind) {
        case Kind::Int:
            return value;
        case Kind::Uint:
            if (value.natural > static_cast<std::uint64_t>(INT64_MAX)) {
                return fail_range(context, "int", fmt::format("{}u", value.natural));
            }
            return int_value(static_cast<std::int64_t>(value.natural));
        case Kind::Double:
            // Both ends are out: 2^63 is what the greatest int becomes as a double.
            if (!(value.number > -0x1p63 && value.number < 0x1p63)) {
                return fail_range(context, "int", double_text(value.number));
            }
            return int_value(static_cast<std::int64_t>(value.number));
        case Kind::String:
            if (const auto number = read_integer<std::int64_t>(value.string())) {
                return int_value(*number);
            }
            return fail_text(context, value, "an int");
        case Kind::Timestamp:
            return int_value(value.integer);
        default:
            return fail_type(context, "int", value);
    }
}

Value to_uint(Context& context, Arguments arguments) {
    const Value& value = arguments[0];
    switch (value.kind) {
        case Kind::Uint:
            return value;
        case Kind::Int:
            if (value.integer < 0) {
                return fail_range(context, "uint", fmt::format("{}", value.integer));
            }
            return uint_value(static_cast<std::uint64_t>(value.integer));
        case Kind::Double:
            if (!(value.number >= 0 && value.number < 0x1p64)) {
                return fail_range(context, "uint", double_text(value.number));
            }
            return uint_value(static_cast<std::uint64_t>(value.number));
        case Kind::String:
            if (const auto number = read_integer<std::uint64_t>(value.string())) {
                return uint_value(*number);
            }
            return fail_text(context, value, "a uint");
        default:
            return fail_type(context, "uint", value);
    }
}

Value to_double(Context& context, Arguments arguments) {
    const Value& value = arguments[0];
    switch (value.kind) {
        case Kind::Double:
            return value;
        case Kind::Int:
            return double_value(static_cast<double>(value.integer));
        case Kind::Uint:
            return double_value(static_cast<double>(value.natural));
        case Kind::String:
            if (const auto number = parse_double(value.string())) return double_value(*number);
            return fail_text(context, value, "a double");
        default:
            return fail_type(context, "double", value);
    }
}

Value to_string(Context& context, Arguments arguments) {
    const Value& value = arguments[0];
    switch (value.kind) {
        case Kind::String:
            return value;
        case Kind::Int:
            return context.text(fmt::format("{}", value.integer));
        case Kind::Uint:
            return context.text(fmt::format("{}", value.natural));
        case Kind::Double:
            return context.text(double_text(value.number));
        case Kind::Bool:
            return string_value(value.boolean ? "true" : "false");
        case Kind::Timestamp: {
            const auto nanoseconds = static_cast<std::int32_t>(value.extra);
            return context.text(format_moment({value.integer, nanoseconds}));
        }
        case Kind::Duration:
            return context.text(format_nanoseconds(value.integer));
        default:
            return fail_type(context, "string", value);
    }
}

Value to_bool(Context& context, Arguments arguments) {
    static constexpr std::array<std::string_view, 5> kTrue = {"1", "t", "true", "TRUE", "True"};
    static constexpr std::array<std::string_view, 5> kFalse = {"0", "f", "false", "FALSE", "False"};
    const Value& value = arguments[0];
    if (value.is(Kind::Bool)) return value;
    if (!value.is(Kind::String)) return fail_type(context, "bool", value);
    const auto is_among = [&value](const auto& words) {
        return std::find(words.begin(), words.end(), value.string()) != words.end();
    };
    if (is_among(kTrue)) return bool_value(true);
    if (is_among(kFalse)) return bool_value(false);
    return fail_text(context, value, "a bool");
}

Value to_timestamp(Context& context, Arguments arguments) {
    const Value& value = arguments[0];
    if (value.is(Kind::Timestamp)) return value;
    Moment moment;
    if (value.is(Kind::Int)) {
        moment.seconds = value.integer;
    } else if (value.is(Kind::String)) {
        const auto parsed = parse_moment(value.string());
        if (!parsed) {
            return fail_text(
                context, value, "a timestamp; one is written like 2026-11-21T08:30:00Z"
            );
        }
        moment = *parsed;
    } else {
        return fail_type(context, "timestamp", value);
    }
    if (!is_in_range(moment)) {
        return context.fail("The timestamp is outside of the years 1 to 9999.");
    }
    return timestamp_value(moment.seconds, moment.nanoseconds);
}

Value to_duration(Context& context, Arguments arguments) {
    const Value& value = arguments[0];
    if (value.is(Kind::Duration)) return value;
    if (!value.is(Kind::String)) return fail_type(context, "duration", value);
    if (const auto nanoseconds = parse_nanoseconds(value.string())) {
        return duration_value(*nanoseconds);
    }
    return fail_text(
        context, value, "a duration of up to 292 years; one is written like 1h30m, 2.5s or 100ms"
    );
}

}  // namespace ebb::expression
