#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ebb {

/// `~1` stands for a slash, and `~0` for a tilde (RFC 6901).
std::string unescape_pointer(std::string_view segment);

/// The segments of `/card/number`; empty unless `text` is a JSON pointer with at least one segment.
std::optional<std::vector<std::string>> parse_json_pointer(std::string_view text);

}  // namespace ebb
