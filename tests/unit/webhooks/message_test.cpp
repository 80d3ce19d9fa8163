// Goal: what is sent for an event, byte by byte. Method: the pure functions, and the vector that
// Standard Webhooks publishes.

#include "plugins/webhooks/message.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/handler.h>

#include "support/secret_bytes.h"

namespace ebb::webhooks {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr const char* kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

Event event() {
    return parse_event(Payload::text(R"({
        "subscription": "ops", "id": "evt_i_7", "type": "instance.failed",
        "timestamp": "2026-11-23T13:00:00.000000Z",
        "data": {"instance": "i", "workflow": "order", "key": "o-1", "status": "failed",
                 "step": "charge", "error": {"code": "card_declined", "message": "a < b"}}
    })"));
}

std::string value_of(const Headers& headers, const std::string& name) {
    for (const auto& [key, value] : headers) {
        if (key == name) return value;
    }
    return "(absent)";
}

TEST(WebhookSignature, is_that_of_the_published_vector) {
    engine::Webhook webhook;
    webhook.secret = kSecret;
    const Headers headers = signed_headers(
        webhook, "msg_p5jXN8AQM9LWM0D4loKWxJek", R"({"test": 2432232314})", TimePoint(1614265330s)
    );
    EXPECT_EQ(value_of(headers, "webhook-id"), "msg_p5jXN8AQM9LWM0D4loKWxJek");
    EXPECT_EQ(value_of(headers, "webhook-timestamp"), "1614265330");
    EXPECT_EQ(
        value_of(headers, "webhook-signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    );
}

TEST(WebhookSignature, both_secrets_sign_until_the_rotation_is_over) {
    engine::Webhook webhook;
    webhook.secret = kSecret;
    webhook.old_secret = "whsec_" + base64(std::string(32, 'k'));
    webhook.old_until = TimePoint(100s);
    const auto signatures = [&](TimePoint now) {
        const auto headers = signed_headers(webhook, "i", "b", now);
        return value_of(headers, "webhook-signature");
    };
    EXPECT_THAT(signatures(TimePoint(99s)), HasSubstr(" v1,"));
    EXPECT_EQ(signatures(TimePoint(100s)).find(' '), std::string::npos);
}

TEST(WebhookMessage, standard_has_type_timestamp_and_data) {
    const Message message = make_message({}, event());
    const auto body = nlohmann::json::parse(message.body);
    EXPECT_EQ(body.at("type"), "instance.failed");
    EXPECT_EQ(body.at("timestamp"), "2026-11-23T13:00:00.000000Z");
    EXPECT_EQ(body.at("data").at("key"), "o-1");
    EXPECT_EQ(make_message({}, event()).body, message.body);
}

TEST(WebhookMessage, cloudevents_has_its_attributes_as_headers) {
    engine::Webhook webhook;
    webhook.format = "cloudevents";
    const Message message = make_message(webhook, event());
    EXPECT_EQ(value_of(message.headers, "ce-specversion"), "1.0");
    EXPECT_EQ(value_of(message.headers, "ce-id"), "evt_i_7");
    EXPECT_EQ(value_of(message.headers, "ce-type"), "ebb.instance.failed");
    EXPECT_EQ(value_of(message.headers, "ce-subject"), "i");
    EXPECT_EQ(nlohmann::json::parse(message.body).at("workflow"), "order");
}

TEST(WebhookMessage, slack_has_one_escaped_sentence) {
    engine::Webhook webhook;
    webhook.format = "slack";
    const auto body = nlohmann::json::parse(make_message(webhook, event()).body);
    EXPECT_EQ(body.at("text"), "order o-1: failed at charge (card_declined: a &lt; b)");
    EXPECT_EQ(body.at("blocks").at(0).at("text").at("type"), "mrkdwn");
}

TEST(WebhookMessage, slack_has_the_link_of_a_decision) {
    engine::Webhook webhook;
    webhook.format = "slack";
    More more{.site = "https://e.example.com", .decision_link = "https://e.example.com/c/a.b"};
    const auto text = [&] {
        const auto body =
            nlohmann::json::parse(make_message(webhook, with_more(event(), more)).body);
        EXPECT_EQ(body.at("blocks").at(0).at("text").at("text"), body.at("text"));
        return body.at("text").get<std::string>();
    };
    EXPECT_THAT(text(), EndsWith("\n<https://e.example.com/c/a.b|Confirm or reject>"));
    more.decision_link.clear();
    EXPECT_THAT(text(), Not(HasSubstr("|")));
}

TEST(WebhookMessage, teams_gets_a_card_in_which_texts_are_only_texts) {
    engine::Webhook webhook;
    webhook.format = "teams";
    const More more{
        .site = "https://e.example.com", .decision_link = "https://e.example.com/c/a.b"
    };
    const auto card = [&](const Event& each) {
        const auto body = nlohmann::json::parse(make_message(webhook, each).body);
        EXPECT_EQ(body.at("type"), "message");
        const auto& attachment = body.at("attachments").at(0);
        EXPECT_EQ(attachment.at("contentType"), "application/vnd.microsoft.card.adaptive");
        EXPECT_EQ(attachment.at("content").at("type"), "AdaptiveCard");
        return attachment.at("content");
    };
    const auto plain = card(event());
    // A TextBlock would read Markdown.
    EXPECT_EQ(plain.at("body").at(0).at("type"), "RichTextBlock");
    EXPECT_EQ(
        plain.at("body").at(0).at("inlines").at(0).at("text"),
        "order o-1: failed at charge (card_declined: a < b)"
    );
    EXPECT_FALSE(plain.contains("actions"));
    const auto linked = card(with_more(event(), more));
    EXPECT_EQ(linked.at("actions").at(0).at("url"), "https://e.example.com/c/a.b");
    EXPECT_EQ(linked.at("actions").at(1).at("url"), "https://e.example.com/instances/i");
}

TEST(WebhookMessage, an_input_that_is_not_an_event_fails_for_good) {
    for (const char* input : {"null", "[]", "{}", R"({"subscription":"a","id":"b"})"}) {
        try {
            parse_event(Payload::text(input));
            FAIL() << input;
        } catch (const HandlerFailure& failure) {
            EXPECT_TRUE(failure.options().is_permanent);
        }
    }
}

TEST(SecretBytes, hmac_is_that_of_rfc_4231) {
    EXPECT_EQ(
        hex_of(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    );
    EXPECT_EQ(
        hex_of(hmac_sha256(
            std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"
        )),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    );
}

TEST(SecretBytes, base64_has_one_text_for_each_value) {
    for (const std::string& bytes :
         {std::string(), std::string("a"), std::string("\xff\x00z", 3)}) {
        EXPECT_EQ(parse_base64(base64(bytes)), bytes);
    }
    for (const char* wrong : {"YQ", "YQ=", "YR==", "Y Q=", "YQ==="}) {
        EXPECT_EQ(parse_base64(wrong), std::nullopt) << wrong;
    }
}

TEST(WebhookMessage, more_is_added_as_it_stands) {
    const Event bare = event();
    EXPECT_EQ(with_more(bare, {}).data, bare.data);
    const More more{
        .labels = {{"tenant", LabelValue("acme")}},
        .site = "https://e.com",
        .payload = R"({"n":12345678901234567890.50})",
    };
    const std::string data = with_more(bare, more).data;
    EXPECT_THAT(data, HasSubstr(R"("labels":{"tenant":"acme"})"));
    EXPECT_THAT(data, HasSubstr(R"("ui":"https://e.com/instances/i")"));
    EXPECT_THAT(data, HasSubstr(R"("payload":{"n":12345678901234567890.50}})"));
    EXPECT_TRUE(Json::accept(data));
    // A ping is about no instance.
    Event ping = bare;
    ping.data = "{}";
    EXPECT_EQ(with_more(ping, more).data, "{}");
}

}  // namespace
}  // namespace ebb::webhooks
