#include "store/subscription.h"

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb {

std::string mark_of(std::int64_t count, TimePoint updated_at) {
    if (count == 0) return {};
    return fmt::format("{}:{}", count, updated_at.time_since_epoch().count());
}

void check_subscription_count(std::int64_t others) {
    if (others < Subscription::kCountMax) return;
    throw Error(
        ErrorCode::LimitExceeded,
        fmt::format(
            "There are already {} subscriptions, and no more are allowed. Delete one first.",
            Subscription::kCountMax
        )
    );
}

}  // namespace ebb
