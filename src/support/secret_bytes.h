#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// What signatures of messages are made of.

namespace ebb {

/// Random bytes from the operating system, fit for a secret.
std::string secret_bytes(std::size_t count);

/// HMAC-SHA-256 (RFC 2104) as 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);

/// With padding.
std::string base64(std::string_view bytes);
/// Empty if `text` is not base64 with padding.
std::optional<std::string> parse_base64(std::string_view text);

/// Bytes as lower-case hexadecimal digits.
std::string hex_of(std::string_view bytes);

/// Takes the same time wherever two texts of one length differ.
bool is_equal_in_constant_time(std::string_view left, std::string_view right);

}  // namespace ebb
