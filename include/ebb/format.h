#pragma once

// Ids, statuses and all other enums that have a name in format strings: `fmt::format("{}", id)`,
// and `std::format` if the standard library has it. Includes fmt if it is installed.

#include <string_view>
#include <version>

#include <ebb/id.h>
#include <ebb/print.h>
#include <ebb/status.h>

#if __has_include(<fmt/format.h>)
#include <fmt/format.h>

template <>
struct fmt::formatter<ebb::InstanceId> : fmt::formatter<std::string_view> {
    template <typename Context>
    auto format(const ebb::InstanceId& id, Context& context) const {
        return fmt::formatter<std::string_view>::format(id.to_string(), context);
    }
};

template <ebb::detail::NamedEnum Enum>
struct fmt::formatter<Enum> : fmt::formatter<std::string_view> {
    template <typename Context>
    auto format(Enum value, Context& context) const {
        return fmt::formatter<std::string_view>::format(ebb::detail::name_of(value), context);
    }
};
#endif

#ifdef __cpp_lib_format
#include <format>

template <>
struct std::formatter<ebb::InstanceId> : std::formatter<std::string_view> {
    template <typename Context>
    auto format(const ebb::InstanceId& id, Context& context) const {
        return std::formatter<std::string_view>::format(id.to_string(), context);
    }
};

template <ebb::detail::NamedEnum Enum>
struct std::formatter<Enum> : std::formatter<std::string_view> {
    template <typename Context>
    auto format(Enum value, Context& context) const {
        return std::formatter<std::string_view>::format(ebb::detail::name_of(value), context);
    }
};
#endif
