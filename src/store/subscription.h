#pragma once

#include <cstdint>
#include <string>

#include <ebb/id.h>
#include <ebb/time.h>

#include "core/kernel/effects.h"

// Who wants to hear of events, and the events that have not been relayed yet.

namespace ebb {

/// What a subscription is for, as its document says, and how its deliveries go.
struct Subscription {
    static constexpr int kCountMax = 64;
    static constexpr std::int64_t kFailuresMax = 50;  ///< in a row; then it is suspended

    std::string name;
    std::string document;  ///< JSON text; holds the secrets, so it is never shown as it is
    bool is_enabled = true;
    std::int64_t failures = 0;  ///< failed deliveries in a row
    TimePoint suspended_at{};   ///< zero: it is not suspended
    TimePoint updated_at{};

    bool operator==(const Subscription&) const = default;
};

/// How a delivery has ended.
struct DeliveryNote {
    std::string subscription;
    bool has_succeeded = false;
    TimePoint now{};
};

/// A notice that waits to be relayed.
struct OutboxRow {
    InstanceId instance;
    Notice notice;

    bool operator==(const OutboxRow&) const = default;
};

/// `COUNT:LATEST`: what HeartbeatResult::subscriptions_mark says of these.
std::string mark_of(std::int64_t count, TimePoint updated_at);
/// Throws LimitExceeded.
void check_subscription_count(std::int64_t others);

}  // namespace ebb
