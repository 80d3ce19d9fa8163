#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ebb::expression {

/// The nearest of `known` to a name that may be misspelled; empty if none is near.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// ` Did you mean "x"?`, or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace ebb::expression
