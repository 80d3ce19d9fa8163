#include "plugins/webhooks/message.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/handler.h>

#include "core/kernel/notices.h"
#include "core/model/label_values.h"
#include "support/json.h"
#include "support/secret_bytes.h"

namespace ebb::webhooks {

namespace {

using OrderedJson = nlohmann::ordered_json;
using engine::Webhook;

constexpr std::string_view kCloudEventSource = "ebb";

template <typename Value>
std::string text_of(const Value& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->template get<std::string>()
                                                     : std::string();
}

/// The characters that Slack gives a meaning to.
std::string slack_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '&') {
            escaped += "&amp;";
        } else if (c == '<') {
            escaped += "&lt;";
        } else if (c == '>') {
            escaped += "&gt;";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

Message standard_message(const Event& event) {
    const OrderedJson head{{"type", event.type}, {"timestamp", event.timestamp}};
    std::string body = head.dump();
    body.pop_back();
    body += ",\"data\":" + event.data + "}";
    return {{{"Content-Type", "application/json"}}, std::move(body)};
}

/// Binary mode: the attributes are headers.
Message cloud_message(const Event& event) {
    Message message;
    message.headers = {
        {"Content-Type", "application/json"},
        {"ce-specversion", "1.0"},
        {"ce-id", event.id},
        {"ce-source", std::string(kCloudEventSource)},
        {"ce-type", "ebb." + event.type},
        {"ce-time", event.timestamp},
    };
    const std::string instance = text_of(Json::parse(event.data), "instance");
    if (!instance.empty()) message.headers.emplace_back("ce-subject", instance);
    message.body = event.data;
    return message;
}

Message slack_message(const Event& event) {
    const Json data = Json::parse(event.data);
    std::string text = slack_text(sentence_of(event));
    const std::string instance = text_of(data, "instance");
    const std::string link = text_of(data.value("links", Json::object()), "decide");
    if (!link.empty()) text += fmt::format("\n<{}|Confirm or reject>", slack_text(link));
    OrderedJson blocks = OrderedJson::array();
    blocks.push_back(
        OrderedJson{{"type", "section"}, {"text", OrderedJson{{"type", "mrkdwn"}, {"text", text}}}}
    );
    if (!instance.empty()) {
        const std::string context = fmt::format("`{}` · {}", slack_text(instance), event.type);
        OrderedJson element{{"type", "mrkdwn"}, {"text", context}};
        blocks.push_back(
            OrderedJson{{"type", "context"}, {"elements", OrderedJson::array({std::move(element)})}}
        );
    }
    const OrderedJson body{{"text", text}, {"blocks", std::move(blocks)}};
    return {{{"Content-Type", "application/json"}}, body.dump()};
}

/// A run of text, in which nothing has a meaning for Teams.
OrderedJson teams_text(std::string_view text, bool is_main) {
    OrderedJson run{{"type", "TextRun"}, {"text", text}};
    if (is_main) {
        run["weight"] = "bolder";
    } else {
        run["isSubtle"] = true;
    }
    return {{"type", "RichTextBlock"}, {"inlines", OrderedJson::array({std::move(run)})}};
}

/// What a workflow of Teams ("when a webhook request is received") posts: an Adaptive Card.
Message teams_message(const Event& event) {
    const Json data = Json::parse(event.data);
    const std::string instance = text_of(data, "instance");
    OrderedJson body = OrderedJson::array();
    body.push_back(teams_text(sentence_of(event), true));
    if (!instance.empty()) {
        body.push_back(teams_text(fmt::format("{} · {}", instance, event.type), false));
    }
    OrderedJson actions = OrderedJson::array();
    const Json links = data.value("links", Json::object());
    const auto add = [&](const char* title, const char* link) {
        const std::string url = text_of(links, link);
        if (url.empty()) return;
        actions.push_back({{"type", "Action.OpenUrl"}, {"title", title}, {"url", url}});
    };
    add("Confirm or reject", "decide");
    add("Open the instance", "ui");
    OrderedJson card{
        {"$schema", "http://adaptivecards.io/schemas/adaptive-card.json"},
        {"type", "AdaptiveCard"},
        {"version", "1.4"},
        {"body", std::move(body)}
    };
    if (!actions.empty()) card["actions"] = std::move(actions);
    OrderedJson attachment{
        {"contentType", "application/vnd.microsoft.card.adaptive"}, {"content", std::move(card)}
    };
    const OrderedJson message{
        {"type", "message"}, {"attachments", OrderedJson::array({std::move(attachment)})}
    };
    return {{{"Content-Type", "application/json"}}, message.dump()};
}

}  // namespace

Event parse_event(const Payload& input) {
    const OrderedJson json = OrderedJson::parse(input, nullptr, false);
    Event event;
    bool is_event = false;
    if (json.is_object()) {
        event.subscription = text_of(json, "subscription");
        event.id = text_of(json, "id");
        event.type = text_of(json, "type");
        event.timestamp = text_of(json, "timestamp");
        const auto data = json.find("data");
        is_event = data != json.end() && data->is_object() && !event.subscription.empty() &&
                   !event.id.empty() && !event.type.empty();
        if (is_event) event.data = data->dump();
    }
    if (is_event) return event;
    throw HandlerFailure(
        "The input is not an event to deliver.",
        {.code = "invalid_input", .is_permanent = true, .retry_after = {}, .details = {}}
    );
}

Message make_message(const Webhook& webhook, const Event& event) {
    if (webhook.format == "cloudevents") return cloud_message(event);
    if (webhook.format == "slack") return slack_message(event);
    if (webhook.format == "teams") return teams_message(event);
    return standard_message(event);
}

Headers signed_headers(
    const Webhook& webhook, const std::string& id, const std::string& body, TimePoint now
) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    const std::string stamp = std::to_string(seconds);
    const std::string text = fmt::format("{}.{}.{}", id, stamp, body);
    std::string signatures;
    const auto sign = [&](const std::string& secret) {
        if (secret.empty()) return;
        if (!signatures.empty()) signatures += ' ';
        signatures += "v1," + base64(hmac_sha256(engine::webhook_key(secret), text));
    };
    sign(webhook.secret);
    if (now < webhook.old_until) sign(webhook.old_secret);
    Headers headers{{"webhook-id", id}, {"webhook-timestamp", stamp}};
    if (!signatures.empty()) headers.emplace_back("webhook-signature", signatures);
    return headers;
}

Event with_more(Event event, const More& more) {
    const std::string instance = text_of(Json::parse(event.data), "instance");
    if (instance.empty()) return event;
    std::string text;
    if (!more.labels.empty()) text += ",\"labels\":" + to_text(labels_to_json(more.labels));
    if (!more.site.empty()) {
        OrderedJson links{
            {"ui", fmt::format("{}/instances/{}", more.site, instance)},
            {"api", fmt::format("{}/api/v1/instances/{}", more.site, instance)},
        };
        if (!more.decision_link.empty()) links["decide"] = more.decision_link;
        text += ",\"links\":" + links.dump();
    }
    // As it stands, so that its numbers keep their digits.
    if (!more.payload.empty()) text += ",\"payload\":" + more.payload;
    event.data.insert(event.data.size() - 1, text);
    return event;
}

std::string sentence_of(const Event& event) {
    if (event.type == kPingType) return "A test message from Ebb.";
    const Json data = Json::parse(event.data);
    if (event.type == kWorkerLostType) {
        return fmt::format(
            "The worker {} is lost: it has stopped sending heartbeats.", text_of(data, "worker")
        );
    }
    if (event.type == kQueueBlockedType) {
        return fmt::format(
            "The queue \"{}\" is blocked: {} tasks wait for the handler {}, which no worker has.",
            text_of(data, "queue"),
            data.value("tasks", 0),
            text_of(data, "handler")
        );
    }
    const std::string key = text_of(data, "key");
    std::string what = event.type.substr(event.type.find('.') + 1);
    for (char& c : what) {
        if (c == '_') c = ' ';
    }
    std::string text = text_of(data, "workflow");
    if (!key.empty()) text += " " + key;
    if (event.type.starts_with("instance.")) {
        text += ": " + what;
    } else {
        text += ": " + event.type.substr(0, event.type.find('.')) + " " + what;
    }
    const std::string step = text_of(data, "step");
    if (!step.empty()) text += " at " + step;
    const auto error = data.find("error");
    if (error != data.end() && error->is_object()) {
        const std::string message = text_of(*error, "message");
        text +=
            fmt::format(" ({}{}{})", text_of(*error, "code"), message.empty() ? "" : ": ", message);
    }
    const auto decision = data.find("decision");
    if (decision != data.end() && decision->is_object()) {
        text += fmt::format(" ({} by {})", text_of(*decision, "verdict"), text_of(*decision, "by"));
    }
    return text;
}

}  // namespace ebb::webhooks
