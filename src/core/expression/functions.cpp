#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/expression/ast.h"
#include "core/expression/lexer.h"
#include "support/clock.h"

namespace ebb::expression {

namespace {

using Arguments = std::vector<Value>;

/// What a function may use besides its arguments.
struct Bounds {
    std::size_t bytes_max = 0;
};

struct Function {
    std::string_view name;
    bool is_method;
    int arguments;  ///< without the receiver
    Value (*call)(const Arguments&, const Bounds&);
};

[[noreturn]] void fail(std::string message) {
    throw FunctionError{std::move(message)};
}

std::string_view text_of(const Arguments& arguments, std::size_t at, std::string_view function) {
    const auto text = arguments[at].as_text();
    if (!text)
        fail(fmt::format("{}() needs a string, found {}.", function, type_name(arguments[at])));
    return *text;
}

std::int64_t int_of(const Arguments& arguments, std::size_t at, std::string_view function) {
    const auto* number = arguments[at].as<std::int64_t>();
    if (number == nullptr)
        fail(fmt::format("{}() needs an int, found {}.", function, type_name(arguments[at])));
    return *number;
}

void check_bytes(std::size_t bytes, const Bounds& bounds) {
    if (bytes > bounds.bytes_max)
        fail(fmt::format("The result is larger than {} bytes.", bounds.bytes_max));
}

Value size(const Arguments& a, const Bounds&) {
    const std::int64_t size = size_of(a[0]);
    if (size < 0)
        fail(fmt::format("size() needs a string, a list or a map, found {}.", type_name(a[0])));
    return {size};
}

// Conversions

[[noreturn]] void fail_conversion(std::string_view type, const Value& value) {
    std::string text = to_json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    fail(fmt::format("{}() cannot convert {} ({}).", type, text, type_name(value)));
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return number;
}

Value to_int(const Arguments& a, const Bounds&) {
    const Value& value = a[0];
    if (value.as<std::int64_t>() != nullptr) return value;
    if (const auto* number = value.as<std::uint64_t>();
        number != nullptr && *number <= static_cast<std::uint64_t>(INT64_MAX)) {
        return {static_cast<std::int64_t>(*number)};
    }
    constexpr double kLimit = 9223372036854775808.0;
    if (const auto* number = value.as<double>();
        number != nullptr && *number > -kLimit && *number < kLimit) {
        return {static_cast<std::int64_t>(*number)};
    }
    if (const auto text = value.as_text()) {
        if (const auto number = parse_number<std::int64_t>(*text)) return {*number};
    }
    if (const auto* time = value.as<TimePoint>()) {
        return {std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count()};
    }
    fail_conversion("int", value);
}

Value to_uint(const Arguments& a, const Bounds&) {
    const Value& value = a[0];
    if (value.as<std::uint64_t>() != nullptr) return value;
    if (const auto* number = value.as<std::int64_t>(); number != nullptr && *number >= 0) {
        return {static_cast<std::uint64_t>(*number)};
    }
    if (const auto* number = value.as<double>();
        number != nullptr && *number > -1 && *number < 18446744073709551616.0) {
        return {static_cast<std::uint64_t>(*number)};
    }
    if (const auto text = value.as_text()) {
        if (const auto number = parse_number<std::uint64_t>(*text)) return {*number};
    }
    fail_conversion("uint", value);
}

Value to_double(const Arguments& a, const Bounds&) {
    const Value& value = a[0];
    if (value.as<double>() != nullptr) return value;
    if (const auto* number = value.as<std::int64_t>()) return {static_cast<double>(*number)};
    if (const auto* number = value.as<std::uint64_t>()) return {static_cast<double>(*number)};
    if (const auto text = value.as_text()) {
        if (const auto number = parse_number<double>(*text)) return {*number};
    }
    fail_conversion("double", value);
}

Value to_string_value(const Arguments& a, const Bounds& bounds) {
    const Value& value = a[0];
    if (value.as_text()) return value;
    if (const auto* number = value.as<double>()) return Value::text(fmt::format("{}", *number));
    if (const auto* duration = value.as<Duration>()) {
        const std::int64_t micros = duration->count();
        if (micros % 1'000'000 == 0) return Value::text(fmt::format("{}s", micros / 1'000'000));
        std::string text = fmt::format(
            "{}{}.{:06}",
            micros < 0 ? "-" : "",
            std::abs(micros / 1'000'000),
            std::abs(micros % 1'000'000)
        );
        while (text.ends_with('0')) text.pop_back();
        return Value::text(text + "s");
    }
    if (const auto* time = value.as<TimePoint>()) return Value::text(format_time(*time));
    if (value.is_list() || value.is_map() || value.as<Null>() != nullptr)
        fail_conversion("string", value);
    std::string text = to_json(value).dump();
    check_bytes(text.size(), bounds);
    return Value::text(std::move(text));
}

Value to_bool(const Arguments& a, const Bounds&) {
    if (a[0].as<bool>() != nullptr) return a[0];
    if (const auto text = a[0].as_text()) {
        for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
            if (*text == yes) return {true};
        }
        for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
            if (*text == no) return {false};
        }
    }
    fail_conversion("bool", a[0]);
}

Value dyn(const Arguments& a, const Bounds&) {
    return a[0];
}

Value to_timestamp(const Arguments& a, const Bounds&) {
    if (a[0].as<TimePoint>() != nullptr) return a[0];
    if (const auto* seconds = a[0].as<std::int64_t>()) {
        if (*seconds < -62'135'596'800 || *seconds > 253'402'300'799)
            fail("The result is outside of the range of timestamps.");
        return {TimePoint(std::chrono::seconds(*seconds))};
    }
    if (const auto text = a[0].as_text()) {
        if (const auto time = parse_time(*text)) return {*time};
    }
    fail_conversion("timestamp", a[0]);
}

Value to_duration(const Arguments& a, const Bounds&) {
    if (a[0].as<Duration>() != nullptr) return a[0];
    if (auto text = a[0].as_text()) {
        const bool is_negative = text->starts_with('-');
        if (is_negative) text->remove_prefix(1);
        if (const auto duration = parse_duration(*text))
            return {is_negative ? -*duration : *duration};
    }
    fail_conversion("duration", a[0]);
}

// Strings

Value contains(const Arguments& a, const Bounds&) {
    return {text_of(a, 0, "contains").find(text_of(a, 1, "contains")) != std::string_view::npos};
}

Value starts_with(const Arguments& a, const Bounds&) {
    return {text_of(a, 0, "startsWith").starts_with(text_of(a, 1, "startsWith"))};
}

Value ends_with(const Arguments& a, const Bounds&) {
    return {text_of(a, 0, "endsWith").ends_with(text_of(a, 1, "endsWith"))};
}

template <typename Change>
Value changed(std::string_view text, Change change) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), change);
    return Value::text(std::move(out));
}

Value lower_ascii(const Arguments& a, const Bounds&) {
    return changed(text_of(a, 0, "lowerAscii"), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
}

Value upper_ascii(const Arguments& a, const Bounds&) {
    return changed(text_of(a, 0, "upperAscii"), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    });
}

Value trim(const Arguments& a, const Bounds&) {
    std::string_view text = text_of(a, 0, "trim");
    const auto first = text.find_first_not_of(" \t\r\n\f\v");
    if (first == std::string_view::npos) return Value::text({});
    return Value::text(
        std::string(text.substr(first, text.find_last_not_of(" \t\r\n\f\v") - first + 1))
    );
}

/// Where character number `index` begins; npos when the text is shorter.
std::size_t byte_at(std::string_view text, std::int64_t index) {
    std::size_t at = 0;
    for (; index > 0 && at < text.size(); --index) {
        do ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    }
    return index == 0 ? at : std::string_view::npos;
}

std::int64_t characters(std::string_view text) {
    return size_of(Value::text(std::string(text)));
}

Value substring_of(std::string_view text, std::int64_t from, std::int64_t to) {
    const std::size_t first = from < 0 ? std::string_view::npos : byte_at(text, from);
    const std::size_t last = to < 0 ? std::string_view::npos : byte_at(text, to);
    if (first == std::string_view::npos || last == std::string_view::npos || first > last) {
        fail(fmt::format(
            "substring({}, {}) is outside of the string of {} characters.",
            from,
            to,
            characters(text)
        ));
    }
    return Value::text(std::string(text.substr(first, last - first)));
}

Value substring_from(const Arguments& a, const Bounds&) {
    const std::string_view text = text_of(a, 0, "substring");
    return substring_of(text, int_of(a, 1, "substring"), characters(text));
}

Value substring(const Arguments& a, const Bounds&) {
    return substring_of(
        text_of(a, 0, "substring"), int_of(a, 1, "substring"), int_of(a, 2, "substring")
    );
}

Value index_of(const Arguments& a, const Bounds&) {
    const std::string_view text = text_of(a, 0, "indexOf");
    const auto at = text.find(text_of(a, 1, "indexOf"));
    return {at == std::string_view::npos ? std::int64_t{-1} : characters(text.substr(0, at))};
}

Value last_index_of(const Arguments& a, const Bounds&) {
    const std::string_view text = text_of(a, 0, "lastIndexOf");
    const auto at = text.rfind(text_of(a, 1, "lastIndexOf"));
    return {at == std::string_view::npos ? std::int64_t{-1} : characters(text.substr(0, at))};
}

Value char_at(const Arguments& a, const Bounds&) {
    const std::string_view text = text_of(a, 0, "charAt");
    const std::int64_t index = int_of(a, 1, "charAt");
    const std::int64_t count = characters(text);
    if (index < 0 || index > count)
        fail(fmt::format("charAt({}) is outside of the string of {} characters.", index, count));
    if (index == count) return Value::text({});
    return substring_of(text, index, index + 1);
}

Value split(const Arguments& a, const Bounds& bounds) {
    std::string_view text = text_of(a, 0, "split");
    const std::string_view separator = text_of(a, 1, "split");
    Items parts;
    check_bytes(text.size() * 16, {.bytes_max = bounds.bytes_max * 16});
    if (separator.empty()) {
        while (!text.empty()) {
            const std::size_t length = byte_at(text, 1);
            parts.push_back(Value::text(std::string(text.substr(0, length))));
            text.remove_prefix(length);
        }
        return Value::list(std::move(parts));
    }
    for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
        parts.push_back(Value::text(std::string(text.substr(0, at))));
        text.remove_prefix(at + separator.size());
    }
    parts.push_back(Value::text(std::string(text)));
    return Value::list(std::move(parts));
}

Value join_by(const Value& list, std::string_view separator, const Bounds& bounds) {
    if (!list.is_list()) fail(fmt::format("join() needs a list, found {}.", type_name(list)));
    std::string out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size_of(list)); ++i) {
        const Value item = element(list, i);
        const auto text = item.as_text();
        if (!text)
            fail(
                fmt::format("join() needs a list of strings; element {} is {}.", i, type_name(item))
            );
        if (i > 0) out += separator;
        out += *text;
        check_bytes(out.size(), bounds);
    }
    return Value::text(std::move(out));
}

Value join(const Arguments& a, const Bounds& bounds) {
    return join_by(a[0], {}, bounds);
}

Value join_with(const Arguments& a, const Bounds& bounds) {
    return join_by(a[0], text_of(a, 1, "join"), bounds);
}

Value replace(const Arguments& a, const Bounds& bounds) {
    std::string_view text = text_of(a, 0, "replace");
    const std::string_view from = text_of(a, 1, "replace");
    const std::string_view to = text_of(a, 2, "replace");
    if (from.empty()) return a[0];
    std::string out;
    for (auto at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
        out.append(text.substr(0, at)).append(to);
        check_bytes(out.size(), bounds);
        text.remove_prefix(at + from.size());
    }
    out += text;
    check_bytes(out.size(), bounds);
    return Value::text(std::move(out));
}

// Times; all getters are in UTC

TimePoint time_of(const Arguments& a, std::string_view function) {
    const auto* time = a[0].as<TimePoint>();
    if (time == nullptr)
        fail(fmt::format("{}() needs a timestamp, found {}.", function, type_name(a[0])));
    return *time;
}

std::chrono::year_month_day date_of(const Arguments& a, std::string_view function) {
    return std::chrono::floor<std::chrono::days>(time_of(a, function));
}

Value get_full_year(const Arguments& a, const Bounds&) {
    return {std::int64_t{static_cast<int>(date_of(a, "getFullYear").year())}};
}

Value get_month(const Arguments& a, const Bounds&) {
    return {static_cast<std::int64_t>(static_cast<unsigned>(date_of(a, "getMonth").month())) - 1};
}

Value get_date(const Arguments& a, const Bounds&) {
    return {static_cast<std::int64_t>(static_cast<unsigned>(date_of(a, "getDate").day()))};
}

Value get_day_of_month(const Arguments& a, const Bounds&) {
    return {
        static_cast<std::int64_t>(static_cast<unsigned>(date_of(a, "getDayOfMonth").day())) - 1
    };
}

Value get_day_of_week(const Arguments& a, const Bounds&) {
    const std::chrono::weekday day(std::chrono::floor<std::chrono::days>(time_of(a, "getDayOfWeek"))
    );
    return {static_cast<std::int64_t>(day.c_encoding())};
}

Value get_day_of_year(const Arguments& a, const Bounds&) {
    const auto day = std::chrono::floor<std::chrono::days>(time_of(a, "getDayOfYear"));
    const std::chrono::sys_days first(
        std::chrono::year_month_day(day).year() / std::chrono::January / 1
    );
    return {static_cast<std::int64_t>((day - first).count())};
}

/// Of a timestamp the part within its day, of a duration the whole.
Value part(const Arguments& a, std::string_view function, Duration unit, std::int64_t modulus) {
    if (const auto* duration = a[0].as<Duration>()) {
        const std::int64_t whole = duration->count() / unit.count();
        return {unit < std::chrono::seconds(1) ? whole % 1'000 : whole};
    }
    const TimePoint time = time_of(a, function);
    const Duration in_day = time - std::chrono::floor<std::chrono::days>(time);
    return {static_cast<std::int64_t>(in_day.count() / unit.count() % modulus)};
}

Value get_hours(const Arguments& a, const Bounds&) {
    return part(a, "getHours", std::chrono::hours(1), 24);
}

Value get_minutes(const Arguments& a, const Bounds&) {
    return part(a, "getMinutes", std::chrono::minutes(1), 60);
}

Value get_seconds(const Arguments& a, const Bounds&) {
    return part(a, "getSeconds", std::chrono::seconds(1), 60);
}

Value get_milliseconds(const Arguments& a, const Bounds&) {
    return part(a, "getMilliseconds", std::chrono::milliseconds(1), 1'000);
}

constexpr std::array kFunctions = {
    Function{"size", false, 1, size},
    Function{"size", true, 0, size},
    Function{"int", false, 1, to_int},
    Function{"uint", false, 1, to_uint},
    Function{"double", false, 1, to_double},
    Function{"string", false, 1, to_string_value},
    Function{"bool", false, 1, to_bool},
    Function{"dyn", false, 1, dyn},
    Function{"timestamp", false, 1, to_timestamp},
    Function{"duration", false, 1, to_duration},
    Function{"contains", true, 1, contains},
    Function{"startsWith", true, 1, starts_with},
    Function{"endsWith", true, 1, ends_with},
    Function{"lowerAscii", true, 0, lower_ascii},
    Function{"upperAscii", true, 0, upper_ascii},
    Function{"trim", true, 0, trim},
    Function{"substring", true, 1, substring_from},
    Function{"substring", true, 2, substring},
    Function{"indexOf", true, 1, index_of},
    Function{"lastIndexOf", true, 1, last_index_of},
    Function{"charAt", true, 1, char_at},
    Function{"split", true, 1, split},
    Function{"join", true, 0, join},
    Function{"join", true, 1, join_with},
    Function{"replace", true, 2, replace},
    Function{"getFullYear", true, 0, get_full_year},
    Function{"getMonth", true, 0, get_month},
    Function{"getDate", true, 0, get_date},
    Function{"getDayOfMonth", true, 0, get_day_of_month},
    Function{"getDayOfWeek", true, 0, get_day_of_week},
    Function{"getDayOfYear", true, 0, get_day_of_year},
    Function{"getHours", true, 0, get_hours},
    Function{"getMinutes", true, 0, get_minutes},
    Function{"getSeconds", true, 0, get_seconds},
    Function{"getMilliseconds", true, 0, get_milliseconds},
};

}  // namespace

int find_function(std::string_view name, bool is_method, std::size_t arguments) {
    for (std::size_t i = 0; i < kFunctions.size(); ++i) {
        const Function& function = kFunctions[i];
        const bool fits = function.is_method == is_method &&
                          static_cast<std::size_t>(function.arguments) == arguments;
        if (fits && function.name == name) return static_cast<int>(i);
    }
    return -1;
}

std::vector<std::string_view> function_names() {
    std::vector<std::string_view> names{"has", "all", "exists", "exists_one", "filter", "map"};
    for (const Function& function : kFunctions) names.push_back(function.name);
    return names;
}

Value call_function(int function, const std::vector<Value>& arguments, std::size_t bytes_max) {
    return kFunctions[static_cast<std::size_t>(function)].call(arguments, {.bytes_max = bytes_max});
}

}  // namespace ebb::expression
