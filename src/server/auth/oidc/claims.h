#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/json.h>
#include <ebb/server.h>
#include <ebb/time.h>

#include "server/auth/access.h"
#include "server/auth/oidc/oidc_error.h"

// What a token of an OpenID provider says (OpenID Connect Core 1.0, 3.1.3.7; RFC 9068).

namespace ebb::server::oidc {

/// How much the clocks of the provider and of this server may differ.
inline constexpr Duration kSkew = std::chrono::seconds(60);
inline constexpr std::size_t kGroupsMax = 512;  ///< of a person
inline constexpr std::size_t kDisplayNameBytesMax = 256;

/// What an ID token must say.
struct IdTokenRules {
    std::string issuer;
    std::string client_id;
    std::string nonce;
    TimePoint begun_at{};  ///< when the login began: the token is not older
    TimePoint now{};
};

/// Throws OidcError for the first claim that is not as it must be, and names it.
void check_id_token(const Json& claims, const IdTokenRules& rules);

struct AccessTokenRules {
    std::string issuer;
    std::string audience;
    TimePoint now{};
};

/// The same of an access token for this server. An ID token is none.
void check_access_token(const Json& claims, const AccessTokenRules& rules);

/// When the token ends.
TimePoint end_of_token(const Json& claims);

/// The person: `SUB@ISSUER`, the name that is shown, the address, and the groups of the claim
/// `groups_claim` (its name, or a JSON pointer). Throws OidcError if the claims do not fit.
Person person_of(const Json& claims, const OidcLogin& settings);

}  // namespace ebb::server::oidc
