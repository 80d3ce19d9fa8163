#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::expression {

/// The nearest of `known` to a name that may be misspelled; empty if none is near.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// ` Did you mean "x"?`, or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

/// The end of `There is no attribute "x"`: `; there are a, b and c.`, and did_you_mean. Of more
/// than 16 names it says how many more there are. Empty names are none.
std::string instead_of(std::string_view name, std::vector<std::string_view> known);

}  // namespace ebb::expression
