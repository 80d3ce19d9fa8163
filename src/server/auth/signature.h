#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ebb::server {

std::string base64url(std::string_view bytes);
/// Empty if `text` is not base64url without padding.
std::optional<std::string> parse_base64url(std::string_view text);

/// Signs texts, and recognizes the texts that it has signed. Thread-safe.
class Signer {
 public:
    /// `key` has at least 32 random bytes.
    explicit Signer(std::string key) : key_(std::move(key)) {}

    /// `text` with an HMAC-SHA-256 of it and of `purpose`, as base64url. A text that was signed for
    /// one purpose is not valid for another.
    std::string sign(std::string_view purpose, std::string_view text) const;
    /// The signed text; empty if `token` does not come from here.
    std::optional<std::string> verify(std::string_view purpose, std::string_view token) const;

 private:
    std::string mac(std::string_view purpose, std::string_view text) const;

    std::string key_;
};

}  // namespace ebb::server
