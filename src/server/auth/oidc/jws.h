#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

#include "server/auth/oidc/oidc_error.h"

// Signed tokens (RFC 7515, 7519) and the public keys that check them (RFC 7517).

namespace ebb::server::oidc {

inline constexpr std::size_t kTokenBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kKeysMax = 100;        ///< of a provider
inline constexpr std::size_t kRsaBytesMin = 256;    ///< of a key's modulus: 2048 bits
inline constexpr std::size_t kRsaBytesMax = 1'024;  ///< 8192 bits

/// A token that was taken apart. Nothing in it is believed yet.
struct SignedToken {
    std::string compact;
    std::string algorithm;  ///< RS256, PS256 or ES256
    std::string key_id;     ///< empty = it names none
};

/// Throws OidcError for what is not a signed token, and for every other algorithm: `none` and those
/// with a shared secret among them.
SignedToken read_token(std::string compact);

/// The key of a JWK set that checks the token: its public members alone. Empty: the set has no such
/// key. Throws OidcError if the token names no key and several fit.
std::optional<Json> find_key(const SignedToken& token, const Json& key_set);

/// What the token says, after its signature was checked. Throws OidcError.
Json verified_claims(const SignedToken& token, const Json& key);

/// Whether this build can check signatures.
bool can_verify();

/// The signed text; empty if the signature is not one of this key by this algorithm. The only
/// function that knows a library for signatures.
std::optional<std::string> verify_signature(const SignedToken& token, const std::string& key);

}  // namespace ebb::server::oidc
