#pragma once

#include <string>

#include "cli/options.h"

namespace ebb::cli {

class Session;

/// Of `ebb webhook`, besides WebhookOptions.
struct DeliveryOptions {
    std::string delivery{};    ///< of redeliver
    std::string status{};      ///< of deliveries; empty = all
    int limit = 20;            ///< of deliveries
    bool has_payload = false;  ///< of put
    std::string where{};       ///< of put; empty = all instances
};

int manage_webhooks(
    Session& session, const WebhookOptions& options, const DeliveryOptions& deliveries
);

}  // namespace ebb::cli
