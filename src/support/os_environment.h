#pragma once

#include <optional>
#include <string>

namespace ebb {

/// A variable of this process's environment. Empty when it is not set.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace ebb
