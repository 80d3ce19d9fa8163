#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <ebb/clock.h>
#include <ebb/server.h>

#include "server/auth/access.h"
#include "server/auth/oidc/oidc_error.h"
#include "server/auth/oidc/provider.h"
#include "store/admin_store.h"

// Logins of people by an OpenID provider: authorization code with PKCE, state and nonce.

namespace ebb::server::oidc {

/// From the redirect to the provider to the return of the browser.
inline constexpr Duration kLoginLife = std::chrono::minutes(10);
inline constexpr std::size_t kReturnBytesMax = 2'048;
inline constexpr std::size_t kParameterBytesMax = 4'096;  ///< of what the browser brings back

/// Throws Error with InvalidArgument for what cannot be right, whatever the provider says.
void check_oidc_login(const OidcLogin& settings);

/// Whether it leads to a page of ours below `base` (empty, or `/ebb`) and nowhere else.
bool is_own_path(std::string_view path, std::string_view base);

/// The logins of one server. What is kept in the store between the two requests of a login is
/// neither secret nor enough to finish it: the rest is in a cookie of the browser. Thread-safe.
/// Functions throw OidcError, and may wait for the provider.
class Logins {
 public:
    Logins(OidcLogin settings, Fetch fetch, AdminStore& store, const Clock& clock)
        : provider_(std::move(settings), std::move(fetch), clock), store_(store), clock_(clock) {}

    const OidcLogin& settings() const { return provider_.settings(); }

    struct Start {
        std::string browser;       ///< the secret of the browser's cookie; empty = it has none yet
        std::string return_to;     ///< a path of ours
        std::string redirect_uri;  ///< to which the provider sends the browser back
    };

    struct Started {
        std::string location;  ///< of the provider
        std::string browser;   ///< the secret for the cookie
    };

    Started start(const Start& start);

    /// What the browser has brought back.
    struct Return {
        std::string state;
        std::string code;
        std::string error;
        std::string issuer;
        std::string browser;  ///< the secret of its cookie
    };

    struct Finished {
        Person person;
        std::string return_to;
        std::string logout_url;  ///< where the provider ends its own session; empty = nowhere
    };

    /// Works once for each start. `home` is the URL to which the provider may lead after a logout.
    Finished finish(const Return& back, const std::string& home);

    struct Bearer {
        Person person;
        TimePoint expires_at{};
    };

    /// The identity of an access token. Waits for the provider only if no other request does.
    Bearer bearer(const std::string& token);

 private:
    /// A login that has begun.
    struct Begun {
        std::string return_to;
        std::string redirect_uri;
        TimePoint at{};
    };

    Begun take(const Return& back);
    std::string logout_url(const std::string& home);

    Provider provider_;
    AdminStore& store_;
    const Clock& clock_;
};

}  // namespace ebb::server::oidc
