#pragma once

// Ids and statuses in format strings: `fmt::format("{}", id)`, and `std::format` if the standard
// library has it. Includes fmt if it is installed.

#include <string_view>
#include <version>

#include <ebb/id.h>
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

template <>
struct fmt::formatter<ebb::InstanceStatus> : fmt::formatter<std::string_view> {
    template <typename Context>
    auto format(ebb::InstanceStatus status, Context& context) const {
        return fmt::formatter<std::string_view>::format(ebb::to_string(status), context);
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

template <>
struct std::formatter<ebb::InstanceStatus> : std::formatter<std::string_view> {
    template <typename Context>
    auto format(ebb::InstanceStatus status, Context& context) const {
        return std::formatter<std::string_view>::format(ebb::to_string(status), context);
    }
};
#endif
