#pragma once

#include <optional>
#include <string>
#include <vector>

#include <ebb/engine.h>

#include "store/store.h"
#include "view/payload_json.h"

// The deliveries of a webhook, and how they go.

namespace ebb::view {

struct DeliveryQuery {
    std::string webhook;
    /// `pending` (not tried yet), `retrying`, `delivered`, `skipped` (the webhook was disabled or
    /// deleted), `dead_letter`, `stopped` (an operator has ended it); empty = all.
    std::string status{};
    std::optional<InstanceId> before{};
    int limit = 50;
};

struct DeliveryPage {
    std::vector<Json> deliveries{};
    /// The next page is before it; none at the end. A page with a status may be short.
    std::optional<InstanceId> next{};
};

/// The newest first. Throws InvalidArgument for another status.
DeliveryPage list_deliveries(Engine& engine, Store& store, const DeliveryQuery& query);

/// What was sent to webhooks about one instance, the newest event first. Each lookup uses an index.
struct InstanceDeliveries {
    /// At most kDeliveriesOfInstanceMax, each with the member `webhook`.
    std::vector<Json> deliveries{};
    bool is_complete = true;  ///< false: there are more events or deliveries than are looked at
};

inline constexpr int kDeliveriesOfInstanceMax = 50;

InstanceDeliveries deliveries_of(Engine& engine, Store& store, const InstanceId& id);

/// Delivers an event again, under its old id: a dead letter is requeued, and for what has ended
/// there is a new delivery. Throws InstanceNotFound if this webhook does not have it, and
/// InvalidState if it is under way.
void redeliver(
    Engine& engine,
    Store& store,
    const std::string& webhook,
    const InstanceId& delivery,
    const std::string& by
);

}  // namespace ebb::view
