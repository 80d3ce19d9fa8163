#include "engine/webhook.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "core/filter/filter.h"
#include "core/kernel/notices.h"
#include "engine/system_workflows.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/secret_bytes.h"
#include "support/uuid.h"

namespace ebb::engine {

namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kKeyBytesMin = 24;
constexpr std::size_t kKeyBytesMax = 64;
constexpr std::array<std::string_view, 5> kFormats = {
    "standard", "cloudevents", "slack", "teams", "email"
};

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::InvalidArgument, why);
}

std::string shown(std::string_view text) {
    return clean_text(text, Webhook::kPatternBytesMax);
}

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= Webhook::kNameBytesMax &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
           });
}

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
    });
}

/// `instance.*`, a whole type, or `*`: something that a notice can have.
void check_event(const std::string& pattern) {
    if (pattern.find_first_of("*?") != std::string::npos) return;
    const auto known = std::find(kNoticeTypes.begin(), kNoticeTypes.end(), pattern);
    if (known != kNoticeTypes.end()) return;
    refuse(fmt::format(
        "events: \"{}\" is not an event. Allowed: {}, and patterns with * such as instance.*.",
        shown(pattern),
        fmt::join(kNoticeTypes, ", ")
    ));
}

void check_patterns(const char* what, const std::vector<std::string>& patterns) {
    if (patterns.size() > Webhook::kPatternsMax) {
        refuse(fmt::format("{}: at most {} are allowed.", what, Webhook::kPatternsMax));
    }
    for (const std::string& each : patterns) {
        const bool fits =
            !each.empty() && each.size() <= Webhook::kPatternBytesMax && is_printable(each);
        if (fits) continue;
        refuse(fmt::format(
            "{}: \"{}\" is not a pattern of 1 to {} bytes without spaces.",
            what,
            shown(each),
            Webhook::kPatternBytesMax
        ));
    }
}

void check_url(const std::string& url) {
    const bool is_http = url.starts_with("https://") || url.starts_with("http://");
    const std::size_t host = url.find("//") + 2;
    const std::size_t path = std::min(url.find('/', host), url.size());
    if (!is_http || url.size() > Webhook::kUrlBytesMax || !is_printable(url) || host == path) {
        refuse(fmt::format(
            "url: \"{}\" is not a URL such as https://example.com/hook of at most {} bytes.",
            shown(url),
            Webhook::kUrlBytesMax
        ));
    }
    if (url.substr(host, path - host).find('@') != std::string::npos) {
        refuse(
            "url: a user and a password are not allowed in the URL. The receiver checks the "
            "signature instead."
        );
    }
}

void check_recipients(const std::string& url) {
    const std::vector<std::string> recipients = mail_recipients(url);
    const bool fits = !recipients.empty() && recipients.size() <= Webhook::kRecipientsMax &&
                      std::all_of(recipients.begin(), recipients.end(), is_mail_address);
    if (fits) return;
    refuse(fmt::format(
        "url: with the format email, 1 to {} addresses such as "
        "mailto:ops@example.com,ann@example.com are expected.",
        Webhook::kRecipientsMax
    ));
}

std::string text_setting(const std::string& key, const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    refuse(fmt::format("{}: a text is expected.", key));
}

std::vector<std::string> list_setting(const std::string& key, const Json& value) {
    std::vector<std::string> texts;
    if (!value.is_array()) refuse(fmt::format("{}: a list of texts is expected.", key));
    for (const Json& each : value) texts.push_back(text_setting(key, each));
    return texts;
}

/// Later than the change before, so that all processes see that it has changed.
TimePoint changed_at(Store& store, const std::optional<Subscription>& known) {
    const TimePoint now = store.now();
    return known ? std::max(now, known->updated_at + Duration(1)) : now;
}

void check_filter(const std::string& where) {
    if (where.empty()) return;
    try {
        filter::compile(where, TimePoint{});
    } catch (const ExpressionError& error) {
        refuse(
            fmt::format("where, line {}, column {}: {}", error.line(), error.column(), error.what())
        );
    }
}

std::vector<std::string> texts_of(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found == json.end() ? std::vector<std::string>()
                               : found->get<std::vector<std::string>>();
}

std::string place_of(const std::string& name) {
    return "webhook " + name;
}

/// With a new secret sealed. Without the key it would be the only one in clear text.
Webhook with_stored_secrets(Store& store, Webhook webhook, const SecretBox* box) {
    const std::string place = place_of(webhook.name);
    if (box == nullptr && !webhook.secret.empty() && !is_sealed(webhook.secret)) {
        for (const Subscription& other : store.subscriptions()) {
            if (is_sealed(parse_webhook(other).secret)) throw_no_key(place_of(other.name));
        }
    }
    webhook.secret = stored_secret(box, webhook.secret, place);
    webhook.old_secret = stored_secret(box, webhook.old_secret, place);
    return webhook;
}

Json public_json(const Webhook& webhook) {
    return {
        {"format", webhook.format},
        {"enabled", webhook.is_enabled},
        {"url", webhook.url},
        {"events", webhook.events},
        {"workflows", webhook.workflows},
        {"where", webhook.where},
        {"payload", webhook.has_payload},
    };
}

}  // namespace

Webhook parse_webhook(const Subscription& subscription) {
    Webhook webhook;
    webhook.name = subscription.name;
    webhook.is_enabled = subscription.is_enabled;
    try {
        const Json json = Json::parse(subscription.document);
        webhook.url = json.at("url").get<std::string>();
        webhook.format = json.at("format").get<std::string>();
        webhook.events = texts_of(json, "events");
        webhook.workflows = texts_of(json, "workflows");
        webhook.where = json.value("where", std::string());
        webhook.has_payload = json.value("payload", false);
        webhook.secret = json.value("secret", std::string());
        webhook.old_secret = json.value("old_secret", std::string());
        webhook.old_until = TimePoint(Duration(json.value("old_until", std::int64_t{0})));
        return webhook;
    } catch (const Json::exception&) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format("The document of the webhook \"{}\" cannot be read.", subscription.name)
        );
    }
}

Subscription subscription_of(const Webhook& webhook, TimePoint now) {
    Json json = public_json(webhook);
    json.erase("enabled");
    if (!webhook.secret.empty()) json["secret"] = webhook.secret;
    if (!webhook.old_secret.empty()) {
        json["old_secret"] = webhook.old_secret;
        json["old_until"] = webhook.old_until.time_since_epoch().count();
    }
    return {
        .name = webhook.name,
        .document = to_text(json),
        .is_enabled = webhook.is_enabled,
        .failures = 0,
        .suspended_at = {},
        .updated_at = now,
    };
}

void check_webhook(const Webhook& webhook) {
    if (!is_name(webhook.name)) {
        refuse(fmt::format(
            "\"{}\" is not a name of a webhook: it has 1 to {} letters, digits, `_`, `-` and `.`.",
            shown(webhook.name),
            Webhook::kNameBytesMax
        ));
    }
    if (std::find(kFormats.begin(), kFormats.end(), webhook.format) == kFormats.end()) {
        refuse(fmt::format(
            "format: \"{}\" is not a format. Allowed: {}.",
            shown(webhook.format),
            fmt::join(kFormats, ", ")
        ));
    }
    webhook.format == "email" ? check_recipients(webhook.url) : check_url(webhook.url);
    check_patterns("events", webhook.events);
    for (const std::string& each : webhook.events) check_event(each);
    check_patterns("workflows", webhook.workflows);
    check_filter(webhook.where);
    if (!webhook.secret.empty()) webhook_key(webhook.secret);
}

bool is_mail_address(std::string_view text) {
    constexpr std::size_t kBytesMax = 254;
    constexpr std::string_view kMarks = "!#$%&'*+-/=?^_`{|}~.";
    const std::size_t at = text.find('@');
    if (at == 0 || at == std::string_view::npos || text.size() > kBytesMax) return false;
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    const std::string_view local = text.substr(0, at);
    const std::string_view domain = text.substr(at + 1);
    return !domain.empty() && domain.front() != '.' && domain.front() != '-' &&
           std::all_of(
               local.begin(),
               local.end(),
               [&](char c) { return is_plain(c) || kMarks.find(c) != std::string_view::npos; }
           ) &&
           std::all_of(domain.begin(), domain.end(), [&](char c) {
               return is_plain(c) || c == '-' || c == '.';
           });
}

std::vector<std::string> mail_recipients(const std::string& url) {
    constexpr std::string_view kMailto = "mailto:";
    std::vector<std::string> addresses;
    if (!url.starts_with(kMailto)) return addresses;
    for (std::size_t begin = kMailto.size(); begin <= url.size();) {
        const std::size_t end = std::min(url.find(',', begin), url.size());
        addresses.push_back(url.substr(begin, end - begin));
        begin = end + 1;
    }
    return addresses;
}

std::string make_webhook_secret() {
    return std::string(kSecretPrefix) + base64(secret_bytes(kKeyBytes));
}

std::string webhook_key(std::string_view secret) {
    if (secret.starts_with(kSecretPrefix)) {
        const auto key = parse_base64(secret.substr(kSecretPrefix.size()));
        if (key && key->size() >= kKeyBytesMin && key->size() <= kKeyBytesMax) return *key;
    }
    refuse(fmt::format(
        "secret: a secret is \"{}\" and the base64 of {} to {} random bytes.",
        kSecretPrefix,
        kKeyBytesMin,
        kKeyBytesMax
    ));
}

Json webhook_json(const Subscription& subscription) {
    const Webhook webhook = parse_webhook(subscription);
    Json json = public_json(webhook);
    json["name"] = webhook.name;
    const auto time = [](TimePoint at) {
        return at == TimePoint{} ? Json(nullptr) : Json(format_time(at));
    };
    json["has_secret"] = !webhook.secret.empty();
    json["old_secret_until"] = webhook.old_secret.empty() ? Json(nullptr) : time(webhook.old_until);
    json["failures"] = subscription.failures;
    json["suspended_at"] = time(subscription.suspended_at);
    json["updated_at"] = time(subscription.updated_at);
    return json;
}

Webhook read_webhook(const std::string& name, const Json& settings) {
    if (!settings.is_object()) refuse("The settings of a webhook are a JSON object.");
    Webhook webhook;
    webhook.name = name;
    for (const auto& [key, value] : settings.items()) {
        if (value.is_null()) continue;
        if (key == "url") {
            webhook.url = text_setting(key, value);
        } else if (key == "format") {
            webhook.format = text_setting(key, value);
        } else if (key == "secret") {
            webhook.secret = text_setting(key, value);
        } else if (key == "events") {
            webhook.events = list_setting(key, value);
        } else if (key == "workflows") {
            webhook.workflows = list_setting(key, value);
        } else if (key == "where") {
            webhook.where = text_setting(key, value);
        } else if (key == "enabled" && value.is_boolean()) {
            webhook.is_enabled = value.get<bool>();
        } else if (key == "payload" && value.is_boolean()) {
            webhook.has_payload = value.get<bool>();
        } else {
            refuse(fmt::format(
                "\"{}\" is not a setting of a webhook. Allowed: url, format, events, workflows, "
                "where, secret, and payload and enabled (true or false).",
                shown(key)
            ));
        }
    }
    check_webhook(webhook);
    return webhook;
}

Subscription find_webhook(Store& store, const std::string& name) {
    if (auto found = store.find_subscription(name)) return *std::move(found);
    refuse(fmt::format("There is no webhook \"{}\".", shown(name)));
}

Webhook with_open_secrets(Webhook webhook, const SecretBox* box) {
    const std::string place = place_of(webhook.name);
    webhook.secret = open_secret(box, webhook.secret, place);
    webhook.old_secret = open_secret(box, webhook.old_secret, place);
    return webhook;
}

Json put_webhook(Store& store, Webhook webhook, const SecretBox* box) {
    bool is_new_secret = false;
    const auto known = store.find_subscription(webhook.name);
    if (webhook.secret.empty()) {
        if (known) {
            const Webhook before = parse_webhook(*known);
            webhook.secret = before.secret;
            webhook.old_secret = before.old_secret;
            webhook.old_until = before.old_until;
        }
        // Mail has no signature.
        is_new_secret = webhook.secret.empty() && webhook.format != "email";
        if (is_new_secret) webhook.secret = make_webhook_secret();
    }
    const Subscription subscription =
        subscription_of(with_stored_secrets(store, webhook, box), changed_at(store, known));
    store.put_subscription(subscription);
    Json json = webhook_json(subscription);
    if (is_new_secret) json["secret"] = webhook.secret;
    return json;
}

Json rotate_webhook(
    Store& store, const std::string& name, Duration keep_old, const SecretBox* box
) {
    const Subscription known = find_webhook(store, name);
    if (keep_old < Duration::zero() || keep_old > Webhook::kRotationMax) {
        refuse(fmt::format(
            "keep_old: the old secret can sign for 0s to {}.",
            format_duration(Webhook::kRotationMax)
        ));
    }
    Webhook webhook = parse_webhook(known);
    webhook.old_secret = keep_old == Duration::zero() ? std::string() : webhook.secret;
    webhook.old_until = store.now() + keep_old;
    webhook.secret = make_webhook_secret();
    Subscription changed =
        subscription_of(with_stored_secrets(store, webhook, box), changed_at(store, known));
    changed.failures = known.failures;
    changed.suspended_at = known.suspended_at;
    store.put_subscription(changed);
    Json json = webhook_json(changed);
    json["secret"] = webhook.secret;
    return json;
}

void ping_webhook(Store& store, const std::string& name) {
    const Subscription known = find_webhook(store, name);
    if (!known.is_enabled) {
        refuse(fmt::format("The webhook \"{}\" is disabled, so nothing is sent to it.", name));
    }
    const TimePoint now = store.now();
    const SystemClock system;
    const Clock* of_store = store.traits().clock;
    const OutboxRow row{
        .instance = make_instance_id(of_store != nullptr ? *of_store : system, now),
        .notice =
            {.subscription = name, .seq = 0, .type = std::string(kPingType), .data = "{}", .at = now
            },
    };
    store.add_outbox({&row, 1});
}

void deliver_again(Store& store, const std::string& key, const Payload& input) {
    OutboxRow row = row_of_delivery(key, input);
    const std::string& name = row.notice.subscription;
    if (!find_webhook(store, name).is_enabled) {
        refuse(fmt::format("The webhook \"{}\" is disabled, so nothing is sent to it.", name));
    }
    const Seq event = row.notice.seq;
    for (int nth = 1; nth <= kRedeliveriesMax; ++nth) {
        row.notice.seq = redelivery_seq(event, nth);
        if (store.find_key(kWebhookWorkflow, delivery_key(row))) continue;
        return store.add_outbox({&row, 1});
    }
    throw Error(
        ErrorCode::LimitExceeded,
        fmt::format("An event is delivered again at most {} times.", kRedeliveriesMax)
    );
}

}  // namespace ebb::engine
