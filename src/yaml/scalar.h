#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb::yaml {

/// What a plain scalar is by the core schema of YAML 1.2 (10.3.2): null, a bool, a number or else a
/// text. Empty for numbers that JSON does not have: infinite, not a number, or too large.
std::optional<Json> resolve_plain(std::string_view text);

}  // namespace ebb::yaml
