#include "server/api/authentication.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "server/api/guard.h"
#include "server/api/sign_in.h"
#include "server/auth/secret.h"

namespace ebb::server {

namespace {

constexpr std::string_view kProxySecretHeader = "X-Ebb-Proxy-Secret";
constexpr int kBurst = 2;  ///< seconds' worth of requests at once
/// Requests in a second from one address whose token, session or login link is not valid.
constexpr int kStrangersPerSecond = 20;

}  // namespace

Authentication::Authentication(
    Service& service, std::optional<ProxyLogin> proxy_login, int requests_per_second
)
    : service_(service),
      proxy_login_(std::move(proxy_login)),
      requests_(requests_per_second, kBurst * requests_per_second, service.clock),
      strangers_(kStrangersPerSecond, kBurst * kStrangersPerSecond, service.clock) {}

std::optional<RateLimit::Share> Authentication::count(const std::string& principal) {
    return check_rate(requests_, principal);
}

void Authentication::set_requests_per_second(int limit) {
    requests_.set(limit, kBurst * limit);
}

std::optional<RateLimit::Share> Authentication::check_rate(
    RateLimit& limit, const std::string& name, std::string_view credential
) {
    auto share = limit.take(name);
    if (!share || share->is_granted) return share;
    const bool is_stranger = &limit == &strangers_;
    Problem problem(
        "rate_limited",
        is_stranger ? std::string("This address sends too many requests without a valid login.")
                    : fmt::format("{} sends more requests than this server allows.", name)
    );
    for (http::Header& header : rate_headers(is_stranger ? "address" : "principal", *share)) {
        std::move(problem).with_header(header.name, std::move(header.value));
    }
    const auto after = std::chrono::ceil<std::chrono::seconds>(share->wait).count();
    throw std::move(problem)
        .with_header("Retry-After", std::to_string(after))
        .with_failed_login(credential);
}

Principal Authentication::refuse_stranger(
    const http::Request& request, std::string_view credential, const std::string& why
) {
    check_rate(strangers_, request.remote, credential);
    throw Problem("unauthenticated", why).with_failed_login(credential);
}

/// Whom the proxy has logged in; empty if it names no person.
std::optional<Principal> Authentication::named_by_proxy(const http::Request& request) {
    const ProxyLogin& login = *proxy_login_;
    for (const std::string_view name : std::initializer_list<std::string_view>{
             login.user_header, login.groups_header, login.email_header, kProxySecretHeader
         }) {
        check_single(request, name);
    }
    const std::string_view user = request.header(login.user_header);
    if (user.empty()) return std::nullopt;
    if (!is_equal_secret(request.header(kProxySecretHeader), login.secret)) {
        refuse_stranger(request, "proxy", "The proxy did not send its secret.");
    }
    Person person{.name = std::string(user), .groups = {}};
    person.display_name = request.header(login.email_header);
    std::string_view groups = request.header(login.groups_header);
    while (!groups.empty()) {
        const std::size_t comma = std::min(groups.find(','), groups.size());
        std::string_view group = groups.substr(0, comma);
        while (group.starts_with(' ')) group.remove_prefix(1);
        while (group.ends_with(' ')) group.remove_suffix(1);
        if (!group.empty()) person.groups.emplace_back(group);
        groups.remove_prefix(std::min(comma + 1, groups.size()));
    }
    return service_.access.by_proxy(person);
}

/// Of an API token, or of a token of the OpenID provider. Empty if it is neither.
std::optional<Principal> Authentication::by_bearer(
    const http::Request& request, std::string_view token
) {
    const bool is_ours = token_id(token).has_value();
    if (is_ours || service_.sign_in == nullptr || !service_.sign_in->takes_bearers()) {
        return service_.access.by_token(token);
    }
    try {
        return service_.sign_in->by_bearer(std::string(token));
    } catch (const oidc::OidcError& error) {
        if (error.kind() == oidc::OidcError::Kind::Unavailable) throw;
        refuse_stranger(request, "oidc", error.what());
    }
    return std::nullopt;
}

/// Empty: the certificate has no name that can be a principal's.
std::optional<Principal> Authentication::by_certificate(const http::Request& request) {
    const http::ClientCertificate& certificate = *request.certificate;
    const auto expires_at = std::chrono::time_point_cast<Duration>(certificate.expires_at);
    // A connection may be older than that.
    if (expires_at <= service_.clock.now()) {
        refuse_stranger(request, "certificate", "The client certificate has expired.");
    }
    if (certificate.name.empty()) return std::nullopt;
    return service_.access.by_certificate(certificate.name, expires_at);
}

Principal Authentication::authenticate(
    const http::Request& request, const Route& route, const Peer& peer
) {
    check_single(request, "Authorization");
    if (const std::string_view token = bearer_token(request); !token.empty()) {
        auto principal = by_bearer(request, token);
        if (principal) return std::move(*principal);
        return refuse_stranger(request, "token", "The token is not valid, or it has expired.");
    }
    if (peer.is_foreign_page) {
        return refuse_stranger(request, "", "A page of another origin logs in by a token only.");
    }
    const std::string_view session = cookie(request, request.is_tls ? "__Host-ebb" : "ebb");
    if (!is_safe_method(request.method)) check_same_site(request, !session.empty());
    if (!service_.needs_login) {
        return {.name = "anonymous", .grants = {{.role = Role::Admin}}};
    }
    if (peer.is_proxy && proxy_login_) {
        if (auto principal = named_by_proxy(request)) return std::move(*principal);
    }
    if (!session.empty()) {
        auto principal = service_.access.by_session(session);
        if (principal) return std::move(*principal);
    }
    if (request.certificate) {
        if (auto principal = by_certificate(request)) return std::move(*principal);
    }
    if (route.permission == "none") {
        check_rate(strangers_, request.remote);
        return {.name = "anonymous"};
    }
    return refuse_stranger(
        request,
        !session.empty()      ? "session"
        : request.certificate ? "certificate"
                              : "",
        !session.empty()      ? "The session has ended; log in again."
        : request.certificate ? "The client certificate has no subject alternative name that is a "
                                "URI, a DNS name or a mail address."
                              : "The request has no token and no session."
    );
}

Principal Authentication::identify(Call& call, const Route& route) {
    try {
        return route.identify(call);
    } catch (const Problem& problem) {
        check_rate(strangers_, call.request.remote, problem.failed_login());
        throw;
    }
}

}  // namespace ebb::server
