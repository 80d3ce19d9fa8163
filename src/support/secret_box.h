#pragma once

#include <string>
#include <string_view>

// Secrets that a store keeps because they are needed as they are: to sign, and to check signatures.

namespace ebb {

/// Encrypts secrets before they are stored. Thread-safe.
class SecretBox {
 public:
    virtual ~SecretBox() = default;

    /// `place` says where the secret is stored: what was sealed for one place opens at no other.
    virtual std::string seal(std::string_view secret, std::string_view place) const = 0;
    /// What was sealed. Throws Error if it was sealed with another key or was changed.
    virtual std::string open(std::string_view sealed, std::string_view place) const = 0;
    /// Whether it was sealed with the key that seals now.
    virtual bool is_current(std::string_view sealed) const = 0;
};

/// `sealed:` and more: what a box makes.
bool is_sealed(std::string_view text);

/// A stored secret as it was before. Null: the process has no key, so a sealed secret is refused.
/// Throws Error.
std::string open_secret(const SecretBox* box, const std::string& stored, std::string_view place);

/// A secret as it must be stored. One that is already sealed stays, and without a box a secret is
/// stored in clear text.
std::string stored_secret(const SecretBox* box, const std::string& secret, std::string_view place);

/// Throws InvalidArgument: a sealed secret cannot be used without the key.
[[noreturn]] void throw_no_key(std::string_view place);

}  // namespace ebb
