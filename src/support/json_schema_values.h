#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <ebb/json.h>

// What the keywords of a schema ask of a value.

namespace ebb {

long double number(const Json& value);

/// A number without a fraction: 1 and 1.0.
bool is_integer(const Json& value);

/// The same text for 1 and 1.0.
std::string canonical_number(const Json& value);

bool is_multiple(const Json& value, const Json& of);
std::string_view type_of(const Json& value);
bool is_of_type(const Json& value, std::string_view type);
std::string with_article(std::string_view type);

/// The value, if it is short enough to be shown as a whole; else its type.
std::string shown(const Json& value);

/// The code points of an UTF-8 text.
std::size_t characters(std::string_view text);

/// `date`, `time` and `date-time`; a text has any other format.
bool has_format(std::string_view format, std::string_view text);

}  // namespace ebb
