#pragma once

#include <span>
#include <string_view>

namespace ebb {

/// The candidate that `word` is most likely a misspelling or the beginning of; empty if none is
/// near. Swapped neighbors count as one mistake.
std::string_view closest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace ebb
