// Goal: what depends on time: how long the provider's answers are used, how far clocks may differ,
// when a login is over. Method: a clock that stands still, and a provider that is a function.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "server/auth/oidc/claims.h"
#include "server/auth/oidc/jws.h"
#include "server/auth/oidc/login.h"
#include "server/auth/oidc/provider.h"
#include "support/clock.h"
#include "unit/oidc/oidc_tokens.h"

namespace ebb::server::oidc {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::kFirstKey;
using tests::kFirstToken;
using tests::kSecondKey;
using tests::kSecondToken;

const TimePoint kIssued{1'800'000'000s};
const std::string kIssuer = "https://login.example.com";

OidcLogin settings() {
    return {.issuer = kIssuer, .client_id = "ebb", .audience = "https://ebb.example.com"};
}

/// What `action` throws; empty if it does not.
template <class Action>
std::string refusal(Action action) {
    try {
        action();
    } catch (const OidcError& error) {
        return error.what();
    }
    return {};
}

class OidcProvider : public ::testing::Test {
 protected:
    HttpResponse answer(const HttpRequest& request) {
        asked.push_back(request.url.substr(kIssuer.size()));
        if (is_away) throw HttpError(HttpError::Kind::ConnectionFailed, "no route");
        Json json = {
            {"issuer", kIssuer},
            {"authorization_endpoint", kIssuer + "/auth"},
            {"token_endpoint", kIssuer + "/token"},
            {"jwks_uri", kIssuer + "/jwks"},
        };
        if (asked.back() == "/jwks") json = {{"keys", keys}};
        return {.status = 200, .body = json.dump()};
    }

    std::ptrdiff_t count(const std::string& path) const {
        return std::count(asked.begin(), asked.end(), path);
    }

    ManualClock clock{kIssued};
    Json keys = Json::array({Json::parse(kFirstKey)});
    bool is_away = false;
    std::vector<std::string> asked;
    Fetch fetch = [this](const HttpRequest& request) { return answer(request); };
    Provider provider{settings(), fetch, clock};
    const std::string first{kFirstToken};
    const std::string second{kSecondToken};
};

TEST_F(OidcProvider, checks_signatures_of_both_kinds_of_keys) {
    keys.push_back(Json::parse(kSecondKey));
    EXPECT_EQ(provider.claims(first).at("sub"), "ann");
    EXPECT_EQ(provider.claims(second).at("sub"), "ann");
    std::string forged = first;
    forged.replace(forged.find('.') + 5, 1, forged[forged.find('.') + 5] == 'A' ? "B" : "A");
    EXPECT_THAT(refusal([&] { provider.claims(forged); }), HasSubstr("signature"));
}

TEST_F(OidcProvider, is_asked_once_an_hour) {
    provider.claims(first);
    clock.advance(59min);
    provider.claims(first);
    EXPECT_EQ(asked.size(), 2);
    clock.advance(1min);
    provider.claims(first);
    EXPECT_EQ(asked.size(), 4);
}

TEST_F(OidcProvider, stays_in_use_as_it_was_while_it_is_away) {
    provider.claims(first);
    is_away = true;
    clock.advance(2h);
    EXPECT_EQ(provider.claims(first).at("sub"), "ann");
    is_away = false;
    keys = Json::array();
    clock.advance(kAskAgainAfter);
    EXPECT_THAT(refusal([&] { provider.claims(first); }), HasSubstr("no key"));
}

TEST_F(OidcProvider, is_asked_for_new_keys_once_a_minute) {
    provider.claims(first);
    keys = Json::array();
    for (int i = 0; i < 3; ++i) {
        EXPECT_THAT(refusal([&] { provider.claims(second); }), HasSubstr("no key"));
    }
    EXPECT_EQ(count("/jwks"), 2);
    keys = Json::array({Json::parse(kSecondKey)});
    clock.advance(kUnknownKeyEvery);
    EXPECT_EQ(provider.claims(second).at("sub"), "ann");
    EXPECT_EQ(count("/jwks"), 3);
}

TEST_F(OidcProvider, is_not_asked_again_at_once_by_requests_that_must_not_wait) {
    is_away = true;
    const auto ask = [&] { provider.claims(first, Patience::Refuses); };
    EXPECT_THAT(refusal(ask), HasSubstr("no route"));
    EXPECT_THAT(refusal(ask), HasSubstr("does not answer"));
    EXPECT_EQ(asked.size(), 1);
    is_away = false;
    clock.advance(kAskAgainAfter);
    EXPECT_EQ(refusal(ask), "");
}

TEST_F(OidcProvider, never_takes_a_token_without_a_signature_or_with_a_shared_secret) {
    // {"alg":"none"} and {"alg":"HS256"}
    for (const std::string head : {"eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9"}) {
        const std::string token = head + first.substr(first.find('.'));
        EXPECT_THAT(refusal([&] { read_token(token); }), HasSubstr("algorithm"));
    }
}

Json claims_at(TimePoint now) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
    return {
        {"iss", kIssuer},
        {"aud", "ebb"},
        {"sub", "ann"},
        {"nonce", "n"},
        {"iat", seconds.count()},
        {"exp", seconds.count() + 600},
    };
}

std::string id_token_refusal(const Json& claims, TimePoint now) {
    return refusal([&] {
        check_id_token(
            claims,
            {.issuer = kIssuer, .client_id = "ebb", .nonce = "n", .begun_at = kIssued, .now = now}
        );
    });
}

TEST(OidcClaims, may_be_off_by_a_minute_and_no_more) {
    const Json claims = claims_at(kIssued);
    EXPECT_EQ(id_token_refusal(claims, kIssued), "");
    EXPECT_EQ(id_token_refusal(claims, kIssued + 600s + kSkew - 1us), "");
    EXPECT_THAT(id_token_refusal(claims, kIssued + 600s + kSkew), HasSubstr("exp"));
    EXPECT_EQ(id_token_refusal(claims, kIssued - kSkew), "");
    EXPECT_THAT(id_token_refusal(claims, kIssued - kSkew - 1us), HasSubstr("iat"));
    EXPECT_EQ(id_token_refusal(claims_at(kIssued - kSkew), kIssued), "");
    EXPECT_THAT(id_token_refusal(claims_at(kIssued - kSkew - 1s), kIssued), HasSubstr("older"));
}

TEST(OidcClaims, are_never_times_beyond_all_times) {
    Json claims = claims_at(kIssued);
    claims["exp"] = 1e300;
    EXPECT_EQ(id_token_refusal(claims, kIssued), "");
    EXPECT_GT(end_of_token(claims), kIssued);
    claims["exp"] = -1e300;
    EXPECT_THAT(id_token_refusal(claims, kIssued), HasSubstr("exp"));
}

TEST(OidcClaims, of_an_access_token_are_not_those_of_an_id_token) {
    Json claims = claims_at(kIssued);
    const AccessTokenRules rules{.issuer = kIssuer, .audience = "ebb", .now = kIssued};
    EXPECT_THAT(refusal([&] { check_access_token(claims, rules); }), HasSubstr("nonce"));
    claims.erase("nonce");
    EXPECT_EQ(refusal([&] { check_access_token(claims, rules); }), "");
    claims["aud"] = Json::array({"other"});
    EXPECT_THAT(refusal([&] { check_access_token(claims, rules); }), HasSubstr("aud"));
}

TEST(OidcPaths, lead_to_pages_of_this_server_only) {
    for (const char* path : {"/", "/instances?status=failed#top", "/a//b", "/%2F%2Fevil"}) {
        EXPECT_TRUE(is_own_path(path, "")) << path;
    }
    for (const char* path :
         {"", "a", "//a", "/\\a", "/a\\b", "/a b", "/a\r\nb", "https://a/", "/\xc3\xa4"}) {
        EXPECT_FALSE(is_own_path(path, "")) << path;
    }
    EXPECT_TRUE(is_own_path("/ebb/x", "/ebb"));
    EXPECT_FALSE(is_own_path("/ebb", "/ebb"));
    EXPECT_FALSE(is_own_path("/ebbing/x", "/ebb"));
}

TEST(OidcUrls, are_https_or_of_loopback) {
    const auto is_good = [](const std::string& url) {
        try {
            check_provider_url(url, "It");
            return true;
        } catch (const Error&) {
            return false;
        }
    };
    for (const char* url :
         {"https://a", "https://a:8/b", "http://127.0.0.1:9", "http://[::1]/", "http://localhost/x"
         }) {
        EXPECT_TRUE(is_good(url)) << url;
    }
    for (const char* url :
         {"http://a",
          "http://127.evil.example",
          "http://127.0.0.1.evil.example",
          "ftp://a",
          "a",
          "",
          "https://a?b",
          "https://a#b",
          "http://10.0.0.1"}) {
        EXPECT_FALSE(is_good(url)) << url;
    }
}

TEST_F(OidcProvider, ends_a_login_that_takes_longer_than_ten_minutes) {
    const auto store = make_memory_admin_store();
    Logins logins(settings(), fetch, *store, clock);
    const auto finish_after = [&](Duration time) {
        const auto started = logins.start({"", "/", "https://ebb.example.com/callback"});
        const std::size_t at = started.location.find("state=") + 6;
        clock.advance(time);
        return refusal([&] {
            logins.finish(
                {.state = started.location.substr(at, 43),
                 .error = "access_denied",
                 .browser = started.browser},
                "https://ebb.example.com/"
            );
        });
    };
    EXPECT_THAT(finish_after(kLoginLife - 1us), HasSubstr("access_denied"));
    EXPECT_THAT(finish_after(kLoginLife), HasSubstr("over"));
}

}  // namespace
}  // namespace ebb::server::oidc
