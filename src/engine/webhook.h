#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>
#include <ebb/time.h>

#include "store/store.h"
#include "support/secret_box.h"

// What the document of a subscription says.

namespace ebb::engine {

/// A webhook as an operator describes it. Its secrets are never printed, except when they are made.
struct Webhook {
    static constexpr std::size_t kNameBytesMax = 64;
    static constexpr std::size_t kUrlBytesMax = 2'048;
    static constexpr std::size_t kRecipientsMax = 16;  ///< of mail
    static constexpr std::size_t kPatternsMax = 64;
    static constexpr std::size_t kPatternBytesMax = 128;
    /// How long the secret before a rotation still signs, unless another time is asked for.
    static constexpr Duration kRotation = std::chrono::hours(24);
    static constexpr Duration kRotationMax = std::chrono::hours(30 * 24);

    std::string name;
    std::string url;                     ///< `https://...`, `http://...`, or `mailto:...`
    std::string format = "standard";     ///< `standard`, `cloudevents`, `slack`, `teams` or `email`
    std::vector<std::string> events;     ///< types with `*` and `?`; empty = all
    std::vector<std::string> workflows;  ///< names with `*` and `?`; empty = all
    /// A filter that holds for the instance when its event is delivered; empty = all.
    std::string where{};
    std::string secret;      ///< `whsec_` and base64; it may be sealed, see SecretBox
    std::string old_secret;  ///< that before the last rotation; empty = none
    TimePoint old_until{};   ///< until then the old one signs, too
    bool is_enabled = true;
    bool has_payload = false;  ///< the payload of the event is sent, too

    bool operator==(const Webhook&) const = default;
};

/// Throws CorruptState if the document cannot be read.
Webhook parse_webhook(const Subscription& subscription);
/// A subscription that has not failed yet.
Subscription subscription_of(const Webhook& webhook, TimePoint now);

/// Throws InvalidArgument, with what is wrong, where, and what is allowed.
void check_webhook(const Webhook& webhook);

/// `whsec_` and base64 of 32 random bytes.
std::string make_webhook_secret();
/// The key in a secret; throws InvalidArgument for anything but `whsec_` and the base64 of 24 to 64
/// bytes.
std::string webhook_key(std::string_view secret);

/// Whether it can be a recipient or a sender of mail: `LOCAL@DOMAIN` in ASCII, without quotes.
bool is_mail_address(std::string_view text);
/// The addresses of `mailto:ops@example.com,ann@example.com`; none for another URL.
std::vector<std::string> mail_recipients(const std::string& url);

/// What may be shown: the document without its secrets, and how its deliveries go.
Json webhook_json(const Subscription& subscription);

// What an operator does, through the API or on the database.

/// Reads `url`, `format`, `events`, `workflows`, `where`, `secret`, `payload` and `enabled` of a
/// JSON object. Throws InvalidArgument for anything else, and for what check_webhook refuses.
Webhook read_webhook(const std::string& name, const Json& settings);
/// Throws InvalidArgument if there is none.
Subscription find_webhook(Store& store, const std::string& name);
/// Adds or replaces it. Without a secret of its own it keeps the one that it has, or gets a new
/// one. Failures and a suspension are forgotten. Returns webhook_json, with `secret` if that was
/// made. `box` seals a new secret; null = it is stored in clear text, which is refused if the store
/// has sealed ones.
Json put_webhook(Store& store, Webhook webhook, const SecretBox* box = nullptr);
/// Makes a new secret. The old one signs, too, for the given time. Returns webhook_json and
/// `secret`.
Json rotate_webhook(
    Store& store, const std::string& name, Duration keep_old, const SecretBox* box = nullptr
);
/// The webhook with its secrets as they were before they were sealed. Throws Error.
Webhook with_open_secrets(Webhook webhook, const SecretBox* box);
/// Lets a worker send a notice of the type `ping` soon. Refuses a webhook that is disabled.
void ping_webhook(Store& store, const std::string& name);
/// Lets a worker send an event again, as a new delivery with the old id of the event: `key` and
/// `input` are those of a delivery that has ended. Refuses a webhook that is disabled.
void deliver_again(Store& store, const std::string& key, const Payload& input);

}  // namespace ebb::engine
