#pragma once

#include <optional>
#include <string>
#include <string_view>

// JSON documents as PostgreSQL's jsonb shows them.

namespace ebb::predicate {

/// The text that jsonb makes of `json`: keys by length and bytes, numbers as decimals. Empty when
/// a number is too long. `json` is a valid document.
std::optional<std::string> jsonb_text(std::string_view json);

/// What `json ->> key` gives; empty for NULL.
struct JsonMember {
    bool is_null = true;
    bool is_too_long = false;  ///< a number has too many digits
    std::string text;
};

JsonMember json_member(std::string_view json, std::string_view key);

}  // namespace ebb::predicate
