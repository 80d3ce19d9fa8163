#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include <ebb/clock.h>
#include <ebb/json.h>
#include <ebb/server.h>

#include "handlers/http_client.h"
#include "server/auth/oidc/known_page.h"
#include "server/auth/oidc/oidc_error.h"
#include "support/sync.h"

// The other side of a login: an OpenID provider, its description, its keys and its answers.

namespace ebb::server::oidc {

inline constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 10;
inline constexpr Duration kAnswerTimeout = std::chrono::seconds(10);
inline constexpr Duration kConnectTimeout = std::chrono::seconds(5);
/// How often the keys are read again for a token whose key is not among them.
inline constexpr Duration kUnknownKeyEvery = std::chrono::minutes(1);

/// Sends a request and waits for its answer. Throws HttpError.
using Fetch = std::function<HttpResponse(const HttpRequest&)>;

/// Throws Error with InvalidArgument: `url` is neither https:// nor http:// to loopback.
void check_provider_url(const std::string& url, const std::string& what);

/// What the provider says of itself (OpenID Connect Discovery 1.0).
struct Metadata {
    std::string authorization_endpoint;
    std::string token_endpoint;
    std::string userinfo_endpoint{};  ///< empty = none
    std::string jwks_uri;
    std::string end_session_endpoint{};  ///< empty = none
    bool takes_basic = true;             ///< the client's secret in the header Authorization
    bool names_issuer = false;           ///< in its answer to the browser (RFC 9207)
};

/// Thread-safe. Each function may wait for the provider, and throws OidcError.
class Provider {
 public:
    Provider(OidcLogin settings, Fetch fetch, const Clock& clock)
        : settings_(std::move(settings)),
          fetch_(std::move(fetch)),
          clock_(clock),
          description_(clock),
          keys_(clock) {}

    const OidcLogin& settings() const { return settings_; }

    Metadata metadata(Patience patience = Patience::Waits);

    struct Tokens {
        std::string id_token;
        std::string access_token{};
    };

    struct Exchange {
        std::string code;
        std::string verifier;  ///< of PKCE
        std::string redirect_uri;
    };

    /// Exchanges the code that the browser has brought.
    Tokens exchange(const Exchange& exchange);

    /// What the provider tells about the person of an access token; empty if it has no such
    /// endpoint.
    std::optional<Json> userinfo(const std::string& access_token);

    /// What a token says, after its signature was checked by a key of the provider.
    Json claims(const std::string& token, Patience patience = Patience::Waits);

 private:
    Json keys(Patience patience, Freshness freshness);
    bool may_look_for_new_keys();
    Json get(const std::string& url, const char* what, const std::string& bearer = {});
    HttpResponse send(HttpRequest request, const char* what);

    const OidcLogin settings_;
    const Fetch fetch_;
    const Clock& clock_;
    KnownPage description_;
    KnownPage keys_;
    Mutex mutex_;
    std::optional<SteadyPoint> looked_for_keys_at_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::server::oidc
