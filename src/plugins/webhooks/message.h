#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/json.h>
#include <ebb/label.h>
#include <ebb/time.h>

#include "engine/webhook.h"

// What is sent for an event. Pure: the same event gives the same bytes in every attempt.

namespace ebb::webhooks {

/// The input of a delivery.
struct Event {
    std::string subscription;
    std::string id;
    std::string type;
    std::string timestamp;  ///< RFC 3339
    std::string data;       ///< a JSON object, as it is sent
};

/// Throws HandlerFailure for anything but the input of the workflow `ebb:webhook`.
Event parse_event(const Payload& input);

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Message {
    Headers headers;  ///< without signatures
    std::string body;
};

/// By the webhook's format.
Message make_message(const engine::Webhook& webhook, const Event& event);

/// The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks 1.0,
/// with one signature for each secret that is valid at `now`.
Headers signed_headers(
    const engine::Webhook& webhook, const std::string& id, const std::string& body, TimePoint now
);

/// What is known of an event only when it is delivered.
struct More {
    Labels labels{};              ///< of the instance
    std::string site{};           ///< the URL of the server; empty = there are no links
    std::string decision_link{};  ///< by which its reader decides; empty = none
    Payload payload{};            ///< empty = none
};

/// The event with more in its data.
Event with_more(Event event, const More& more);

/// One line for people: `order o-1 failed in charge: card_declined`.
std::string sentence_of(const Event& event);

}  // namespace ebb::webhooks
