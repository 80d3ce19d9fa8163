#include "core/expression/functions.h"

#include <algorithm>
#include <array>

#include "core/expression/source.h"

namespace ebb::expression {

namespace {

Value size(Context& context, Arguments arguments) {
    const Value& value = arguments[0];
    if (value.is(Kind::String)) {
        context.charge_bytes(value.extra);
        return int_value(static_cast<std::int64_t>(count_characters(value.string())));
    }
    if (value.is_list()) return int_value(static_cast<std::int64_t>(list_size(value)));
    if (value.is_map()) return int_value(static_cast<std::int64_t>(map_size(value)));
    return context.fail("size() needs a string, a list or a map, but this is {}.", a_type(value));
}

Value dyn(Context&, Arguments arguments) {
    return arguments[0];
}

constexpr bool kMethod = true;

using T = StaticType;

constexpr T::Set kNumber = T::kInt | T::kUint | T::kDouble;
constexpr T::Set kSized = T::kString | T::kList | T::kMap;
constexpr T::Set kTime = T::kTimestamp | T::kDuration;

constexpr auto kFunctions = std::to_array<Function>({
    {"size", false, 1, 1, size, T::kInt, {kSized}},
    {"int", false, 1, 1, to_int, T::kInt, {kNumber | T::kString | T::kTimestamp}},
    {"uint", false, 1, 1, to_uint, T::kUint, {kNumber | T::kString}},
    {"double", false, 1, 1, to_double, T::kDouble, {kNumber | T::kString}},
    {"string", false, 1, 1, to_string, T::kString, {kNumber | T::kBool | T::kString | kTime}},
    {"bool", false, 1, 1, to_bool, T::kBool, {T::kBool | T::kString}},
    {"dyn", false, 1, 1, dyn, 0, {T::kAny}},
    {"timestamp", false, 1, 1, to_timestamp, T::kTimestamp, {T::kInt | T::kString | T::kTimestamp}},
    {"duration", false, 1, 1, to_duration, T::kDuration, {T::kString | T::kDuration}},
    {"matches", false, 2, 2, matches, T::kBool, {T::kString, T::kString}},
    {"size", kMethod, 1, 1, size, T::kInt, {kSized}},
    {"contains", kMethod, 2, 2, contains, T::kBool, {T::kString, T::kString}},
    {"startsWith", kMethod, 2, 2, starts_with, T::kBool, {T::kString, T::kString}},
    {"endsWith", kMethod, 2, 2, ends_with, T::kBool, {T::kString, T::kString}},
    {"matches", kMethod, 2, 2, matches, T::kBool, {T::kString, T::kString}},
    {"charAt", kMethod, 2, 2, char_at, T::kString, {T::kString, T::kInt}},
    {"indexOf", kMethod, 2, 3, index_of, T::kInt, {T::kString, T::kString, T::kInt}},
    {"lastIndexOf", kMethod, 2, 3, last_index_of, T::kInt, {T::kString, T::kString, T::kInt}},
    {"substring", kMethod, 2, 3, substring, T::kString, {T::kString, T::kInt, T::kInt}},
    {"lowerAscii", kMethod, 1, 1, lower_ascii, T::kString, {T::kString}},
    {"upperAscii", kMethod, 1, 1, upper_ascii, T::kString, {T::kString}},
    {"trim", kMethod, 1, 1, trim, T::kString, {T::kString}},
    {"replace", kMethod, 3, 4, replace, T::kString, {T::kString, T::kString, T::kString, T::kInt}},
    {"split", kMethod, 2, 3, split, T::kList, {T::kString, T::kString, T::kInt}},
    {"join", kMethod, 1, 2, join, T::kString, {T::kList, T::kString}},
    {"getFullYear", kMethod, 1, 2, get_full_year, T::kInt, {T::kTimestamp, T::kString}},
    {"getMonth", kMethod, 1, 2, get_month, T::kInt, {T::kTimestamp, T::kString}},
    {"getDate", kMethod, 1, 2, get_date, T::kInt, {T::kTimestamp, T::kString}},
    {"getDayOfMonth", kMethod, 1, 2, get_day_of_month, T::kInt, {T::kTimestamp, T::kString}},
    {"getDayOfWeek", kMethod, 1, 2, get_day_of_week, T::kInt, {T::kTimestamp, T::kString}},
    {"getDayOfYear", kMethod, 1, 2, get_day_of_year, T::kInt, {T::kTimestamp, T::kString}},
    {"getHours", kMethod, 1, 2, get_hours, T::kInt, {kTime, T::kString}},
    {"getMinutes", kMethod, 1, 2, get_minutes, T::kInt, {kTime, T::kString}},
    {"getSeconds", kMethod, 1, 2, get_seconds, T::kInt, {kTime, T::kString}},
    {"getMilliseconds", kMethod, 1, 2, get_milliseconds, T::kInt, {kTime, T::kString}},
});

constexpr std::array<std::string_view, 6> kMacros = {
    "has",
    "all",
    "exists",
    "exists_one",
    "filter",
    "map",
};

constexpr auto all_names() {
    std::array<std::string_view, kFunctions.size() + kMacros.size()> names;
    std::size_t at = 0;
    for (const Function& function : kFunctions) names[at++] = function.name;
    for (const std::string_view macro : kMacros) names[at++] = macro;
    return names;
}

constexpr auto kNames = all_names();

}  // namespace

std::span<const Function> functions() {
    return kFunctions;
}

std::optional<std::size_t> find_function(std::string_view name, bool is_method) {
    const auto* const found =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) {
            return f.is_method == is_method && f.name == name;
        });
    if (found == kFunctions.end()) return std::nullopt;
    return static_cast<std::size_t>(found - kFunctions.begin());
}

std::string_view name_of(Macro macro) {
    switch (macro) {
        case Macro::All:
            return "all";
        case Macro::Exists:
            return "exists";
        case Macro::ExistsOne:
            return "exists_one";
        case Macro::Filter:
            return "filter";
        case Macro::Map:
            return "map";
    }
    return "map";
}

std::span<const std::string_view> callable_names() {
    return kNames;
}

}  // namespace ebb::expression
