#pragma once

#include <optional>
#include <string>

namespace ebb {

/// A variable of this process's environment. Empty when it is not set.
std::optional<std::string> environment_variable(const std::string& name);

/// The name of the user whose process this is, as the system knows it, or else the number.
std::string user_name();

}  // namespace ebb
