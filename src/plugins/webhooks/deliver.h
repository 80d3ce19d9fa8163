#pragma once

#include <string>

#include <ebb/clock.h>
#include <ebb/handler.h>

#include "store/store.h"

namespace ebb::webhooks {

struct DeliveryOptions {
    /// Also delivers to loopback, private and link-local addresses. Otherwise a subscription could
    /// make this process call the services of its own network.
    bool allows_private = false;
    std::string user_agent = "ebb";
};

/// Adds the handler `ebb:deliver`, which delivers an event to the endpoint of its subscription. The
/// store and the clock must outlive the registry.
void add_deliver_handler(
    HandlerRegistry& registry, Store& store, const Clock& clock, const DeliveryOptions& options
);

}  // namespace ebb::webhooks
