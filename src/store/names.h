#pragma once

#include <string>
#include <string_view>
#include <vector>

// A filter by several names is one text with the names between commas. No name has a comma.

namespace ebb {

std::vector<std::string> split_names(std::string_view names);

/// Whether `name` passes the filter. No names let everything pass.
bool passes_names(std::string_view names, std::string_view name);

}  // namespace ebb
