#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include <ebb/id.h>

#include "cli/api_call.h"

// Where the API of a server has what.

namespace ebb::cli {

inline std::string instance_path(const InstanceId& id, std::string_view rest = {}) {
    return fmt::format("/instances/{}{}", id.to_string(), rest);
}

inline std::string workflow_path(std::string_view name, std::string_view rest = {}) {
    return fmt::format("/workflows/{}{}", escape_segment(name), rest);
}

}  // namespace ebb::cli
