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

constexpr auto kFunctions = std::to_array<Function>({
    {"size", false, 1, 1, size},
    {"int", false, 1, 1, to_int},
    {"uint", false, 1, 1, to_uint},
    {"double", false, 1, 1, to_double},
    {"string", false, 1, 1, to_string},
    {"bool", false, 1, 1, to_bool},
    {"dyn", false, 1, 1, dyn},
    {"timestamp", false, 1, 1, to_timestamp},
    {"duration", false, 1, 1, to_duration},
    {"matches", false, 2, 2, matches},
    {"size", kMethod, 1, 1, size},
    {"contains", kMethod, 2, 2, contains},
    {"startsWith", kMethod, 2, 2, starts_with},
    {"endsWith", kMethod, 2, 2, ends_with},
    {"matches", kMethod, 2, 2, matches},
    {"charAt", kMethod, 2, 2, char_at},
    {"indexOf", kMethod, 2, 3, index_of},
    {"lastIndexOf", kMethod, 2, 3, last_index_of},
    {"substring", kMethod, 2, 3, substring},
    {"lowerAscii", kMethod, 1, 1, lower_ascii},
    {"upperAscii", kMethod, 1, 1, upper_ascii},
    {"trim", kMethod, 1, 1, trim},
    {"replace", kMethod, 3, 4, replace},
    {"split", kMethod, 2, 3, split},
    {"join", kMethod, 1, 2, join},
    {"getFullYear", kMethod, 1, 2, get_full_year},
    {"getMonth", kMethod, 1, 2, get_month},
    {"getDate", kMethod, 1, 2, get_date},
    {"getDayOfMonth", kMethod, 1, 2, get_day_of_month},
    {"getDayOfWeek", kMethod, 1, 2, get_day_of_week},
    {"getDayOfYear", kMethod, 1, 2, get_day_of_year},
    {"getHours", kMethod, 1, 2, get_hours},
    {"getMinutes", kMethod, 1, 2, get_minutes},
    {"getSeconds", kMethod, 1, 2, get_seconds},
    {"getMilliseconds", kMethod, 1, 2, get_milliseconds},
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

std::span<const std::string_view> callable_names() {
    return kNames;
}

}  // namespace ebb::expression
