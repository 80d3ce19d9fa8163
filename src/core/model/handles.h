#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>

// By which handles the nodes of a graph can be left, besides the default one.

namespace ebb::model {

inline constexpr std::string_view kErrorHandle = "error";
/// `error:timeout`: a failure of this code only.
inline constexpr std::string_view kErrorHandlePrefix = "error:";
inline constexpr std::string_view kTimeoutHandle = "timeout";
inline constexpr std::string_view kConfirmedHandle = "confirmed";
inline constexpr std::string_view kRejectedHandle = "rejected";

/// Of a failure for good.
inline bool is_error_handle(std::string_view handle) {
    return handle == kErrorHandle || handle.starts_with(kErrorHandlePrefix);
}

/// The handles that a node names by itself. Absent: a step's handler may name any.
std::optional<std::vector<std::string>> own_handles(const Node& node);

/// Can a failure of the node leave by an error handle? Of a block it cannot: what fails is inside.
bool may_leave_by_error(const Node& node);

}  // namespace ebb::model
