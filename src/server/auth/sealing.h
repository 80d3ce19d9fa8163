#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "support/secret_box.h"

namespace ebb::server {

/// 256 random bits, as an operator gives them: 44 characters of base64, or 64 hexadecimal digits.
/// Throws InvalidArgument; the message does not have the text.
std::string parse_store_key(std::string_view text);

/// AES-256-GCM: `sealed:1:KEY:` and the base64 of nonce, ciphertext and tag. KEY is what tells one
/// key from another, and says nothing about it. The place is authenticated, too.
class KeyBox final : public SecretBox {
 public:
    static constexpr std::size_t kKeyBytes = 32;

    /// Seals with `key`, and opens what was sealed with it or with `other`; empty = none. Each has
    /// kKeyBytes.
    explicit KeyBox(std::string key, const std::string& other = {});

    std::string seal(std::string_view secret, std::string_view place) const override;
    std::string open(std::string_view sealed, std::string_view place) const override;
    bool is_current(std::string_view sealed) const override;

 private:
    std::string key_id_;
    std::map<std::string, std::string, std::less<>> keys_;  // by id
};

}  // namespace ebb::server
