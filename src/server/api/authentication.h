#pragma once

#include <optional>
#include <string>

#include <ebb/server.h>

#include "server/api/rate_limit.h"
#include "server/api/service.h"

namespace ebb::server {

/// Who sends a request, whether that principal may use its route, and how often. Thread-safe.
class Authentication {
 public:
    /// `proxy_login`: what a trusted proxy says of the people whom it has logged in.
    /// `requests_per_second`: of each principal; 0 = no limit.
    Authentication(
        Service& service, std::optional<ProxyLogin> proxy_login, int requests_per_second
    );

    struct Peer {
        bool is_proxy = false;         ///< it is a trusted proxy
        bool is_foreign_page = false;  ///< a page of another origin, which logs in by a token only
    };

    /// By a token, a proxy, a session or a certificate. Throws Problem, and slows down addresses
    /// that guess.
    Principal authenticate(const http::Request& request, const Route& route, const Peer& peer);
    /// By the login of the route itself.
    Principal identify(Call& call, const Route& route);
    /// Counts a request of the principal. Throws Problem if it has sent too many. Empty: there is
    /// no limit.
    std::optional<RateLimit::Share> count(const std::string& principal);
    /// Applies to requests from now on.
    void set_requests_per_second(int limit);

    /// Whether the principal may use the route at all. With what, its handler checks.

 private:
    /// Throws Problem if there is nothing left for `name`. `credential`: the kind of the one that
    /// is not valid; empty = there is none.
    std::optional<RateLimit::Share> check_rate(
        RateLimit& limit, const std::string& name, std::string_view credential = {}
    );
    std::optional<Principal> named_by_proxy(const http::Request& request);
    std::optional<Principal> by_bearer(const http::Request& request, std::string_view token);
    std::optional<Principal> by_certificate(const http::Request& request);
    /// `credential`: as above.
    Principal refuse_stranger(
        const http::Request& request, std::string_view credential, const std::string& why
    );

    Service& service_;
    const std::optional<ProxyLogin> proxy_login_;
    RateLimit requests_;   ///< by principal
    RateLimit strangers_;  ///< by address: requests with invalid credentials
};

}  // namespace ebb::server
