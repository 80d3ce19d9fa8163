#include "server/auth/oidc/provider.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>
#include <fmt/format.h>

#include <ebb/error.h>

#include "handlers/url_template.h"
#include "server/auth/oidc/jws.h"
#include "support/json.h"
#include "support/secret_bytes.h"

namespace ebb::server::oidc {

namespace {

constexpr int kDepthMax = 16;
constexpr std::size_t kCodeBytesMax = 64;  // of an error that is shown

[[noreturn]] void fail(const std::string& message) {
    throw OidcError(OidcError::Kind::Unavailable, message);
}

bool is_loopback(const std::string& host) {
    std::array<unsigned char, 4> address{};
    if (inet_pton(AF_INET, host.c_str(), address.data()) == 1) return address[0] == 127;
    return host == "localhost" || host == "[::1]";
}

bool is_provider_url(const std::string& url) {
    const auto parts = parse_url(url);
    if (!parts || parts->host.empty()) return false;
    return parts->scheme == "https" || (parts->scheme == "http" && is_loopback(parts->host));
}

Json parse(const HttpResponse& response, const char* what) {
    Json json;
    try {
        json = parse_json(response.body, what, {kAnswerBytesMax, kDepthMax});
    } catch (const Error&) {
        fail(fmt::format("The {} of the login provider is not JSON.", what));
    }
    if (!json.is_object())
        fail(fmt::format("The {} of the login provider is not an object.", what));
    return json;
}

std::string text_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) return {};
    return found->get<std::string>();
}

bool has_text(const Json& object, const char* name, const char* text) {
    const auto found = object.find(name);
    return found != object.end() && found->is_array() &&
           std::find(found->begin(), found->end(), Json(text)) != found->end();
}

/// Empty if the provider has none and none is needed.
std::string endpoint(const Json& description, const char* name, bool is_needed) {
    std::string url = text_of(description, name);
    if (url.empty() && !is_needed) return url;
    if (is_provider_url(url)) return url;
    fail(fmt::format("The description of the login provider has no valid URL \"{}\".", name));
}

std::string form(const std::vector<std::pair<std::string, std::string>>& fields) {
    std::string body;
    for (const auto& [name, value] : fields) {
        if (!body.empty()) body += '&';
        body += percent_encode(name) + '=' + percent_encode(value);
    }
    return body;
}

/// An error code of the provider: of few characters (RFC 6749, 5.2), and nothing that it sends may
/// make a longer message.
std::string shown_code(const HttpResponse& response) {
    try {
        std::string code = text_of(parse(response, "answer"), "error");
        const bool is_code =
            !code.empty() && code.size() <= kCodeBytesMax &&
            std::all_of(code.begin(), code.end(), [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
            });
        if (is_code) return code;
    } catch (const OidcError&) {
        return fmt::format("status {}", response.status);
    }
    return fmt::format("status {}", response.status);
}

}  // namespace

void check_provider_url(const std::string& url, const std::string& what) {
    if (is_provider_url(url) && url.find_first_of("?#") == std::string::npos) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "{} is not a URL such as https://login.example.com, without a query. Plain http is "
            "only for loopback addresses.",
            what
        )
    );
}

HttpResponse Provider::send(HttpRequest request, const char* what) {
    request.ca_file = settings_.ca_file;
    request.timeout = kAnswerTimeout;
    request.connect_timeout = kConnectTimeout;
    request.response_bytes_max = kAnswerBytesMax;
    request.headers.emplace_back("Accept", "application/json");
    const std::string where = public_url(request.url);
    HttpResponse response;
    try {
        response = fetch_(request);
    } catch (const HttpError& error) {
        if (error.kind() == HttpError::Kind::ResponseTooLarge) {
            fail(fmt::format("The {} at {} has more than {} bytes.", what, where, kAnswerBytesMax));
        }
        fail(fmt::format("The {} at {} cannot be read: {}.", what, where, error.what()));
    }
    if (response.status >= 300 && response.status < 400) {
        // Nothing that a provider sends leads to another host.
        fail(fmt::format("The {} at {} is a redirect, which is not followed.", what, where));
    }
    if (response.status >= 500) {
        fail(fmt::format("The {} at {} has the status {}.", what, where, response.status));
    }
    return response;
}

Json Provider::get(const std::string& url, const char* what, const std::string& bearer) {
    HttpRequest request{.method = "GET", .url = url};
    if (!bearer.empty()) request.headers.emplace_back("Authorization", "Bearer " + bearer);
    const HttpResponse response = send(std::move(request), what);
    if (response.status != 200) {
        fail(fmt::format("The {} at {} has the status {}.", what, public_url(url), response.status)
        );
    }
    return parse(response, what);
}

Metadata Provider::metadata(Patience patience) {
    std::string base = settings_.issuer;
    while (base.ends_with('/')) base.pop_back();
    const auto ask = [&] {
        Json description = get(base + "/.well-known/openid-configuration", "description");
        if (text_of(description, "issuer") != settings_.issuer) {
            fail(fmt::format(
                "The description at {} is of another issuer than {}.", base, settings_.issuer
            ));
        }
        return description;
    };
    const Json description = description_.get(ask, patience, Freshness::Known);
    constexpr const char* kMethods = "token_endpoint_auth_methods_supported";
    const auto iss = description.find("authorization_response_iss_parameter_supported");
    return {
        .authorization_endpoint = endpoint(description, "authorization_endpoint", true),
        .token_endpoint = endpoint(description, "token_endpoint", true),
        .userinfo_endpoint = endpoint(description, "userinfo_endpoint", false),
        .jwks_uri = endpoint(description, "jwks_uri", true),
        .end_session_endpoint = endpoint(description, "end_session_endpoint", false),
        .takes_basic = !description.contains(kMethods) ||
                       has_text(description, kMethods, "client_secret_basic"),
        .names_issuer = iss != description.end() && *iss == Json(true),
    };
}

Provider::Tokens Provider::exchange(const Exchange& exchange) {
    const Metadata about = metadata();
    HttpRequest request{.method = "POST", .url = about.token_endpoint};
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    std::vector<std::pair<std::string, std::string>> fields{
        {"grant_type", "authorization_code"},
        {"code", exchange.code},
        {"redirect_uri", exchange.redirect_uri},
        {"code_verifier", exchange.verifier},
    };
    const bool has_secret = !settings_.client_secret.empty();
    if (has_secret && about.takes_basic) {
        const std::string pair =
            percent_encode(settings_.client_id) + ':' + percent_encode(settings_.client_secret);
        request.headers.emplace_back("Authorization", "Basic " + base64(pair));
    } else {
        fields.emplace_back("client_id", settings_.client_id);
        if (has_secret) fields.emplace_back("client_secret", settings_.client_secret);
    }
    request.body = form(fields);
    const HttpResponse response = send(std::move(request), "answer to the login");
    if (response.status != 200) {
        refuse(
            fmt::format("The login provider does not accept the login: {}.", shown_code(response))
        );
    }
    const Json answer = parse(response, "answer to the login");
    Tokens tokens{text_of(answer, "id_token"), text_of(answer, "access_token")};
    if (tokens.id_token.empty()) refuse("The login provider has sent no ID token.");
    return tokens;
}

std::optional<Json> Provider::userinfo(const std::string& access_token) {
    const std::string url = metadata().userinfo_endpoint;
    if (url.empty() || access_token.empty()) return std::nullopt;
    return get(url, "userinfo", access_token);
}

Json Provider::keys(Patience patience, Freshness freshness) {
    const auto ask = [&] { return get(metadata(patience).jwks_uri, "key set"); };
    return keys_.get(ask, patience, freshness);
}

bool Provider::may_look_for_new_keys() {
    const SteadyPoint now = clock_.steady_now();
    const Lock lock(mutex_);
    if (looked_for_keys_at_ && now - *looked_for_keys_at_ < kUnknownKeyEvery) return false;
    looked_for_keys_at_ = now;
    return true;
}

Json Provider::claims(const std::string& token, Patience patience) {
    const SignedToken parsed = read_token(token);
    auto key = find_key(parsed, keys(patience, Freshness::Known));
    if (!key && may_look_for_new_keys()) {
        key = find_key(parsed, keys(patience, Freshness::New));
    }
    if (!key) refuse("The login provider has no key that fits the token.");
    return verified_claims(parsed, *key);
}

}  // namespace ebb::server::oidc
