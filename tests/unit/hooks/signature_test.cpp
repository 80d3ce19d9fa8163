// Goal: only who has the secret of a hook is believed, and only for five minutes. Method: the
// vectors that Standard Webhooks and GitHub publish, and every change of one part of them.

#include "plugins/hooks/signature.h"

#include <map>

#include <gmock/gmock.h>

#include "plugins/hooks/check.h"
#include "support/secret_bytes.h"

namespace ebb::hooks {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

using Headers = std::map<std::string, std::string>;

const TimePoint kNow(1614265330s);

Verdict check(
    const Hook& hook,
    const std::string& secrets,
    const Headers& headers,
    const std::string& body,
    TimePoint now = kNow
) {
    const auto header = [&](std::string_view name) {
        const auto found = headers.find(std::string(name));
        return found == headers.end() ? std::string_view() : std::string_view(found->second);
    };
    return verify(hook, split_secrets(hook, secrets), {.header = header, .body = body}, now);
}

Hook hook(const std::string& scheme) {
    return {.name = "h", .scheme = scheme, .workflow = "order"};
}

constexpr const char* kStandardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr const char* kStandardBody = R"({"test": 2432232314})";

Headers standard_headers() {
    return {
        {"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"},
        {"webhook-timestamp", "1614265330"},
        {"webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
    };
}

TEST(HookStandard, accepts_the_published_vector) {
    const Verdict verdict =
        check(hook("standard"), kStandardSecret, standard_headers(), kStandardBody);
    EXPECT_EQ(verdict.problem, "");
    EXPECT_EQ(verdict.delivery, "msg_p5jXN8AQM9LWM0D4loKWxJek");
}

TEST(HookStandard, refuses_any_change) {
    const auto refused = [](Headers headers, const std::string& body, const char* secret) {
        return !check(hook("standard"), secret, headers, body).is_genuine();
    };
    EXPECT_TRUE(refused(standard_headers(), R"({"test": 2432232315})", kStandardSecret));
    const std::string other = "whsec_" + base64(std::string(24, 'x'));
    EXPECT_TRUE(refused(standard_headers(), kStandardBody, other.c_str()));
    for (const auto& [name, value] : standard_headers()) {
        for (std::size_t at = 0; at < value.size(); ++at) {
            Headers changed = standard_headers();
            changed[name][at] = value[at] == '7' ? '8' : '7';
            EXPECT_TRUE(refused(changed, kStandardBody, kStandardSecret)) << name << " " << at;
        }
        Headers missing = standard_headers();
        missing.erase(name);
        EXPECT_TRUE(refused(missing, kStandardBody, kStandardSecret)) << name;
    }
}

TEST(HookStandard, one_of_several_signatures_and_secrets_is_enough) {
    Headers headers = standard_headers();
    headers["webhook-signature"] = "v1,AAAA v1a,BBBB " + headers["webhook-signature"];
    const std::string both = "whsec_" + base64(std::string(24, 'x')) + "\n" + kStandardSecret;
    EXPECT_EQ(check(hook("standard"), both, headers, kStandardBody).problem, "");
}

TEST(HookStandard, holds_for_five_minutes) {
    const auto problem = [](TimePoint now) {
        return check(hook("standard"), kStandardSecret, standard_headers(), kStandardBody, now)
            .problem;
    };
    EXPECT_EQ(problem(kNow + 5min), "");
    EXPECT_EQ(problem(kNow - 5min), "");
    EXPECT_THAT(problem(kNow + 5min + Duration(1)), HasSubstr("5 minutes"));
    EXPECT_THAT(problem(kNow - 5min - Duration(1)), HasSubstr("5 minutes"));
}

TEST(HookGithub, accepts_the_published_vector) {
    const Headers headers{
        {"X-Hub-Signature-256",
         "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
        {"X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"},
    };
    const char* secret =
        "It's a Secret to Every"
        "body";
    const Verdict verdict = check(hook("github"), secret, headers, "Hello, World!");
    EXPECT_EQ(verdict.problem, "");
    EXPECT_EQ(verdict.delivery, "72d3162e-cc78-11e3-81ab-4c9367dc0958");
    EXPECT_THAT(
        check(hook("github"), secret, headers, "Hello, World?").problem, HasSubstr("signature")
    );
    EXPECT_THAT(check(hook("github"), secret, {}, "Hello, World!").problem, HasSubstr("X-Hub"));
}

TEST(HookStripe, signs_time_and_body) {
    const std::string secret = "whsec_test_secret_of_stripe";
    const std::string body = R"({"id": "evt_1", "type": "charge.succeeded"})";
    const std::string mac = hex_of(hmac_sha256(secret, "1614265330." + body));
    const auto verdict = [&](const std::string& header, TimePoint now = kNow) {
        return check(hook("stripe"), secret, {{"Stripe-Signature", header}}, body, now);
    };
    EXPECT_EQ(verdict("t=1614265330,v1=" + mac).delivery, "evt_1");
    EXPECT_EQ(verdict("t=1614265330,v1=00,v0=11,v1=" + mac).problem, "");
    EXPECT_THAT(verdict("t=1614265331,v1=" + mac).problem, HasSubstr("signature"));
    EXPECT_THAT(verdict("t=1614265330,v0=" + mac).problem, HasSubstr("signature"));
    EXPECT_THAT(verdict("v1=" + mac).problem, HasSubstr("signature"));
    EXPECT_THAT(verdict("t=1614265330,v1=" + mac, kNow + 6min).problem, HasSubstr("5 minutes"));
}

TEST(HookHmac, has_a_header_a_prefix_and_an_encoding_of_its_own) {
    Hook own = hook("hmac");
    const std::string secret = "sixteen bytes or more";
    const std::string mac = hmac_sha256(secret, "body");
    EXPECT_THAT(
        check(own, secret, {{"X-Signature", hex_of(mac)}}, "body").delivery, StartsWith("sha256:")
    );
    own.header = "X-Shop-Hmac";
    own.prefix = "v0=";
    own.encoding = "base64";
    EXPECT_EQ(check(own, secret, {{"X-Shop-Hmac", "v0=" + base64(mac)}}, "body").problem, "");
    EXPECT_NE(check(own, secret, {{"X-Shop-Hmac", base64(mac)}}, "body").problem, "");
    EXPECT_NE(check(own, secret, {{"X-Shop-Hmac", "v0=" + hex_of(mac)}}, "body").problem, "");
}

TEST(HookToken, is_a_bearer_token_or_a_header) {
    Hook own = hook("token");
    const std::string secret = "sixteen bytes or more";
    EXPECT_EQ(check(own, secret, {{"Authorization", "Bearer " + secret}}, "{}").problem, "");
    EXPECT_NE(check(own, secret, {{"Authorization", "Basic " + secret}}, "{}").problem, "");
    EXPECT_NE(check(own, secret, {{"Authorization", "Bearer " + secret + "x"}}, "{}").problem, "");
    own.header = "X-Gitlab-Token";
    EXPECT_EQ(check(own, secret, {{"X-Gitlab-Token", secret}}, "{}").problem, "");
    EXPECT_NE(check(own, secret, {{"Authorization", "Bearer " + secret}}, "{}").problem, "");
    EXPECT_EQ(
        check(own, "another secret of it\n" + secret, {{"X-Gitlab-Token", secret}}, "{}").problem,
        ""
    );
}

}  // namespace
}  // namespace ebb::hooks
