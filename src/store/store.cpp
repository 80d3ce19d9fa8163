#include "store/store.h"

#include <algorithm>

#include <ebb/store.h>

namespace ebb {

namespace {

// Keeps the rank of "never" and of absurd times clear of overflow whatever the priority is.
constexpr std::int64_t kRankBound = std::int64_t{1} << 61;

}  // namespace

std::int64_t rank_of(TimePoint due, int priority) {
    const std::int64_t at = std::clamp(due.time_since_epoch().count(), -kRankBound, kRankBound);
    return at - std::int64_t{priority} * kHeadStartPerPriority.count();
}

void StoreDeleter::operator()(Store* store) const noexcept {
    delete store;
}

}  // namespace ebb
