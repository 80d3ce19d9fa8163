#include "store/postgres/server_clock.h"

#include <algorithm>

namespace ebb::postgres {

TimePoint ServerClock::now() const {
    const Duration::rep offset = offset_.load(std::memory_order_relaxed);
    if (offset == kUnknown) return system_.now();
    return TimePoint(system_.steady_now().time_since_epoch() + Duration(offset));
}

void ServerClock::learn(SteadyPoint sent, TimePoint server, SteadyPoint received) {
    // Whatever happened on the way, the truth lies between these two.
    const Duration low = server.time_since_epoch() - received.time_since_epoch();
    const Duration high = server.time_since_epoch() - sent.time_since_epoch();
    const Duration error = (high - low) / 2;
    const Lock lock(mutex_);
    const bool is_first = offset_.load() == kUnknown;
    const Duration drifted =
        is_first ? Duration::max() : error_ + (received - learned_) / kDriftShare;
    learned_ = received;
    if (is_first || error <= drifted) {
        offset_ = (low + error).count();
        error_ = error;
        return;
    }
    // An answer that took long says little; but the clock may have been set since
    // the last one.
    const Duration known{offset_.load()};
    const Duration nearest = std::clamp(known, low, high);
    offset_ = nearest.count();
    error_ = nearest == known ? drifted : error;
}

Duration ServerClock::error() const {
    const Lock lock(mutex_);
    return error_;
}

}  // namespace ebb::postgres
