#pragma once

#include <string>
#include <string_view>

namespace ebb::filter {

/// Why `text` is not the status of an instance that can be filtered by, as a sentence with what is
/// allowed.
std::string unknown_status(std::string_view text);

}  // namespace ebb::filter
