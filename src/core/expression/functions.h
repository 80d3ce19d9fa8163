#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "core/expression/code.h"
#include "core/expression/context.h"
#include "core/expression/types.h"
#include "core/expression/value.h"

namespace ebb::expression {

/// A method's receiver is the first argument. No argument is a Failure.
using Arguments = std::span<const Value>;

struct Function {
    std::string_view name;
    bool is_method = false;
    std::size_t arguments_min = 0;  ///< with the receiver
    std::size_t arguments_max = 0;
    Value (*call)(Context& context, Arguments arguments) = nullptr;
    StaticType::Set result = 0;              ///< 0 = the type of its argument
    std::array<StaticType::Set, 4> takes{};  ///< of each argument
};

/// All functions and methods. Their places in here are their numbers in compiled code.
std::span<const Function> functions();

/// The number of the function or method of that name; empty when there is none.
std::optional<std::size_t> find_function(std::string_view name, bool is_method);

/// How a macro is called in the language.
std::string_view name_of(Macro macro);

/// Every name that can be called, the macros among them.
std::span<const std::string_view> callable_names();

// The conversions

Value to_int(Context& context, Arguments arguments);
Value to_uint(Context& context, Arguments arguments);
Value to_double(Context& context, Arguments arguments);
Value to_string(Context& context, Arguments arguments);
Value to_bool(Context& context, Arguments arguments);
Value to_timestamp(Context& context, Arguments arguments);
Value to_duration(Context& context, Arguments arguments);

// The functions of strings

Value contains(Context& context, Arguments arguments);
Value starts_with(Context& context, Arguments arguments);
Value ends_with(Context& context, Arguments arguments);
Value matches(Context& context, Arguments arguments);
Value char_at(Context& context, Arguments arguments);
Value index_of(Context& context, Arguments arguments);
Value last_index_of(Context& context, Arguments arguments);
Value substring(Context& context, Arguments arguments);
Value lower_ascii(Context& context, Arguments arguments);
Value upper_ascii(Context& context, Arguments arguments);
Value trim(Context& context, Arguments arguments);
Value replace(Context& context, Arguments arguments);
Value split(Context& context, Arguments arguments);
Value join(Context& context, Arguments arguments);

// The parts of timestamps and durations

Value get_full_year(Context& context, Arguments arguments);
Value get_month(Context& context, Arguments arguments);
Value get_date(Context& context, Arguments arguments);
Value get_day_of_month(Context& context, Arguments arguments);
Value get_day_of_week(Context& context, Arguments arguments);
Value get_day_of_year(Context& context, Arguments arguments);
Value get_hours(Context& context, Arguments arguments);
Value get_minutes(Context& context, Arguments arguments);
Value get_seconds(Context& context, Arguments arguments);
Value get_milliseconds(Context& context, Arguments arguments);

}  // namespace ebb::expression
