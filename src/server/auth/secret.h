#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ebb::server {

/// 256 random bits from the operating system, as 43 characters of base64url.
std::string make_secret();

/// `ebb_` + 8 characters of an id + `_` + a secret of 43 + a checksum of 6: secret scanners and the
/// server recognize it without any store.
struct TokenText {
    std::string id;
    std::string whole;
};

TokenText make_token();
/// The id in a token; empty where `text` is not one.
std::optional<std::string> token_id(std::string_view text);

/// What is kept of a secret: its SHA-256. A secret of 256 bits needs nothing slower.
std::string hash_secret(std::string_view secret);

/// Takes the same time wherever two texts differ.
bool is_equal_secret(std::string_view left, std::string_view right);

}  // namespace ebb::server
