#pragma once

#include <concepts>
#include <iosfwd>
#include <string_view>
#include <type_traits>

// Every public enum that has a name (`to_string`) prints it: to a std::ostream with this header,
// which comes with the enum, and in format strings with <ebb/format.h>.

namespace ebb {

namespace detail {

/// An enum with a function to_string in its namespace.
template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
    { to_string(value) } -> std::same_as<std::string_view>;
};

template <NamedEnum Enum>
std::string_view name_of(Enum value) {
    return to_string(value);
}

std::ostream& print(std::ostream& out, std::string_view text);

}  // namespace detail

/// The name of the value.
template <detail::NamedEnum Enum>
std::ostream& operator<<(std::ostream& out, Enum value) {
    return detail::print(out, detail::name_of(value));
}

}  // namespace ebb
