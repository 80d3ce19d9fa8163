#pragma once

#include <string>
#include <string_view>

#include "core/expression/value.h"

namespace ebb::expression {

/// A key as a message shows it: `"id"`, `3`, `true`.
std::string key_text(const Value& key);

/// What a map has where `wanted` was not found: `the map has "a", "b" and 3 more. Did you mean
/// "a"?`
std::string what_is_there(const Value& map, std::string_view wanted);

}  // namespace ebb::expression
