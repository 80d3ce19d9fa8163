#pragma once

#include <algorithm>

#include "engine/environment.h"
#include "engine/pace.h"

namespace ebb::engine {

/// How many more tasks this worker should hold. Thread-safe.
class Room {
 public:
    Room(const Environment& environment, const Pace& pace)
        : environment_(environment), pace_(pace) {}

    int free_capacity() const { return capacity(pace_.in_flight_target()); }

    /// Is there enough room to make a claim worthwhile? Not for every single task: a claim is
    /// expensive, and a claim of many tasks costs hardly more than a claim of one.
    bool is_worth_a_claim() const {
        const int target = pace_.in_flight_target();
        const int worthwhile = std::min(environment_.options.claim_batch_max, (target + 1) / 2);
        return environment_.statistics.in_flight == 0 || capacity(target) >= worthwhile;
    }

 private:
    int capacity(int target) const {
        const int held = environment_.statistics.in_flight;
        // A call without a thread does not occupy a thread; it only counts toward everything that
        // is held.
        const int with_threads = std::max(held - environment_.statistics.async_calls, 0);
        const int rest = environment_.options.in_flight_max - held;
        return std::clamp(target - with_threads, 0, std::max(rest, 0));
    }

    const Environment& environment_;
    const Pace& pace_;
};

}  // namespace ebb::engine
