#include "server/auth/oidc/login.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

#include "handlers/url_template.h"
#include "server/auth/oidc/claims.h"
#include "server/auth/oidc/jws.h"
#include "server/auth/secret.h"
#include "server/auth/signature.h"
#include "support/clock.h"
#include "support/secret_bytes.h"
#include "support/sha256.h"

namespace ebb::server::oidc {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kRow = "oidc_login";
constexpr std::size_t kSecretSize = 43;

/// Different for each login and each purpose, and known to the browser alone.
std::string derived(
    const std::string& browser, std::string_view purpose, const std::string& state
) {
    return base64url(hmac_sha256(browser, fmt::format("{} {}", purpose, state)));
}

/// RFC 7636, 4.2.
std::string challenge_of(const std::string& verifier) {
    const std::string digits = sha256_hex(verifier);
    std::string bytes;
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
    }
    return base64url(bytes);
}

void add_parameter(std::string& url, std::string_view name, std::string_view value) {
    url += url.find('?') == std::string::npos ? '?' : '&';
    url += fmt::format("{}={}", name, percent_encode(value));
}

bool is_word(const std::string& text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

[[noreturn]] void refuse_setting(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

}  // namespace

void check_oidc_login(const OidcLogin& settings) {
    if (!can_verify()) {
        refuse_setting("This build of ebb has no logins by OpenID Connect: it needs libcjose.");
    }
    check_provider_url(settings.issuer, "The OIDC issuer");
    if (settings.client_id.empty()) refuse_setting("A login by OIDC needs a client id.");
    if (!settings.audience.empty() && settings.audience == settings.client_id) {
        refuse_setting(
            "The audience of access tokens is not the client id: that is the one of ID tokens, "
            "which are not for the API."
        );
    }
    const bool has_openid = std::find(settings.scopes.begin(), settings.scopes.end(), "openid") !=
                            settings.scopes.end();
    if (!has_openid) refuse_setting("The scopes of a login by OIDC have \"openid\" among them.");
    if (settings.groups_claim.empty()) refuse_setting("The name of the claim of groups is empty.");
    if (!settings.groups_claim.starts_with('/')) return;
    try {
        const Json::json_pointer pointer(settings.groups_claim);
    } catch (const Json::parse_error&) {
        refuse_setting(
            fmt::format("\"{}\" is not a JSON pointer to a claim.", settings.groups_claim)
        );
    }
}

bool is_own_path(std::string_view path, std::string_view base) {
    if (path.size() > kReturnBytesMax || !path.starts_with('/')) return false;
    // A browser reads `//host` and `/\host` as another host.
    if (path.starts_with("//")) return false;
    const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) {
        return c > 0x20 && c < 0x7f && c != '\\';
    });
    if (!is_plain) return false;
    return base.empty() || (path.starts_with(base) && path.substr(base.size()).starts_with('/'));
}

Logins::Started Logins::start(const Start& start) {
    const Metadata about = provider_.metadata();
    const TimePoint now = clock_.now();
    store_.remove_expired(now);
    // A browser with several tabs has several logins and one cookie.
    const bool has_cookie = start.browser.size() == kSecretSize;
    Started started{.location = about.authorization_endpoint, .browser = start.browser};
    if (!has_cookie) started.browser = make_secret();
    const std::string state = make_secret();
    const ordered_json document = {
        {"browser", hash_secret(started.browser)},
        {"return_to", start.return_to},
        {"redirect_uri", start.redirect_uri},
        {"begun_at", format_time(now)},
    };
    store_.add({std::string(kRow), hash_secret(state), document.dump(), now + kLoginLife});
    const OidcLogin& settings = provider_.settings();
    const auto add = [&](std::string_view name, const std::string& value) {
        add_parameter(started.location, name, value);
    };
    add("response_type", "code");
    add("client_id", settings.client_id);
    add("redirect_uri", start.redirect_uri);
    add("scope", fmt::format("{}", fmt::join(settings.scopes, " ")));
    add("state", state);
    add("nonce", derived(started.browser, "nonce", state));
    add("code_challenge", challenge_of(derived(started.browser, "verifier", state)));
    add("code_challenge_method", "S256");
    return started;
}

Logins::Begun Logins::take(const Return& back) {
    constexpr const char* kOver =
        "The login is over: it takes at most 10 minutes, works once, and ends in the browser where "
        "it began. Begin again.";
    const std::string name = hash_secret(back.state);
    const auto row = back.state.empty() ? std::nullopt : store_.find(kRow, name);
    if (!row || row->expires_at <= clock_.now()) refuse(kOver);
    const auto document = ordered_json::parse(row->document);
    const auto browser = document.at("browser").get<std::string>();
    // Another browser cannot end the login of this one.
    if (!is_equal_secret(browser, hash_secret(back.browser))) refuse(kOver);
    // Only the request that removes the row may go on.
    if (!store_.remove(kRow, name)) refuse(kOver);
    return {
        .return_to = document.at("return_to").get<std::string>(),
        .redirect_uri = document.at("redirect_uri").get<std::string>(),
        .at = parse_time(document.at("begun_at").get<std::string>()).value_or(TimePoint{}),
    };
}

std::string Logins::logout_url(const std::string& home) {
    std::string url = provider_.metadata().end_session_endpoint;
    if (url.empty()) return url;
    add_parameter(url, "client_id", provider_.settings().client_id);
    add_parameter(url, "post_logout_redirect_uri", home);
    return url;
}

Logins::Finished Logins::finish(const Return& back, const std::string& home) {
    const Begun begun = take(back);
    const OidcLogin& settings = provider_.settings();
    const Metadata about = provider_.metadata();
    const bool is_other = !back.issuer.empty() && back.issuer != settings.issuer;
    if (is_other || (about.names_issuer && back.issuer.empty())) {
        refuse("The answer comes from another login provider (\"iss\").");
    }
    if (!back.error.empty()) {
        throw OidcError(
            OidcError::Kind::Denied,
            fmt::format(
                "The login provider has refused the login: {}.",
                is_word(back.error) ? back.error : "without a valid reason"
            )
        );
    }
    if (back.code.empty()) refuse("The browser has brought no code from the login provider.");
    const Provider::Tokens tokens = provider_.exchange({
        .code = back.code,
        .verifier = derived(back.browser, "verifier", back.state),
        .redirect_uri = begun.redirect_uri,
    });
    Json claims = provider_.claims(tokens.id_token);
    check_id_token(
        claims,
        {.issuer = settings.issuer,
         .client_id = settings.client_id,
         .nonce = derived(back.browser, "nonce", back.state),
         .begun_at = begun.at,
         .now = clock_.now()}
    );
    if (const auto more = provider_.userinfo(tokens.access_token)) {
        if (!more->contains("sub") || more->at("sub") != claims.at("sub")) {
            refuse("The userinfo of the login provider is about another person (\"sub\").");
        }
        // What is signed goes first.
        for (const auto& [name, value] : more->items()) claims.emplace(name, value);
    }
    return {
        .person = person_of(claims, settings),
        .return_to = begun.return_to,
        .logout_url = logout_url(home),
    };
}

Logins::Bearer Logins::bearer(const std::string& token) {
    const OidcLogin& settings = provider_.settings();
    const Json claims = provider_.claims(token, Patience::Refuses);
    check_access_token(
        claims, {.issuer = settings.issuer, .audience = settings.audience, .now = clock_.now()}
    );
    return {.person = person_of(claims, settings), .expires_at = end_of_token(claims)};
}

}  // namespace ebb::server::oidc
