#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include <ebb/clock.h>
#include <ebb/server.h>

#include "handlers/http_client.h"
#include "server/api/pool.h"
#include "server/auth/access.h"
#include "server/auth/oidc/login.h"
#include "server/http/http.h"

namespace ebb::server {

/// Where browsers find the server, without the base path: `https://ebb.example.com`. Throws Error
/// with InvalidArgument; an empty text stays empty.
std::string check_public_url(const std::string& url);

/// Logins by an OpenID provider. Requests to it run on threads of their own, so a provider that
/// does not answer holds up logins only. Thread-safe.
class SignIn {
 public:
    static constexpr int kThreads = 2;
    static constexpr std::size_t kQueueMax = 32;  ///< logins that wait for a thread

    /// Throws Error with InvalidArgument.
    SignIn(
        const OidcLogin& settings,
        const std::string& public_url,
        AdminStore& store,
        Access& access,
        const Clock& clock
    );
    ~SignIn();
    SignIn(const SignIn&) = delete;
    SignIn& operator=(const SignIn&) = delete;

    /// Of the provider, for the login page.
    std::string name() const;

    oidc::Logins& logins() { return logins_; }

    /// Whether access tokens of the provider are accepted.
    bool takes_bearers() const { return !logins_.settings().audience.empty(); }

    /// Throws oidc::OidcError.
    Principal by_bearer(const std::string& token);

    /// Where the browser of this request finds the server.
    std::string origin_of(const http::Request& request) const;

    /// See Pool::post.
    bool post(std::function<void()> work, std::function<void()> late) {
        return pool_.post(std::move(work), std::move(late));
    }

    /// Cancels what waits for the provider. Idempotent.
    void stop();

 private:
    Access& access_;
    const std::string public_url_;
    std::stop_source stop_;
    HttpClient client_;
    oidc::Logins logins_;
    Pool pool_;  // last: its threads use all of the above
};

}  // namespace ebb::server
