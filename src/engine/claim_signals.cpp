#include "engine/claim_signals.h"

#include <iterator>

namespace ebb::engine {

void ClaimSignals::note_due(TimePoint due) {
    if (due == kNever) return;
    bool is_first = false;
    {
        const Lock lock(mutex_);
        is_first = dues_.empty() || due < *dues_.begin();
        dues_.insert(due);
        if (dues_.size() > kDuesMax) dues_.erase(std::prev(dues_.end()));
    }
    if (is_first) ring();
}

TimePoint ClaimSignals::next_due() const {
    const Lock lock(mutex_);
    return dues_.empty() ? kNever : *dues_.begin();
}

bool ClaimSignals::forget_until(TimePoint now) {
    const Lock lock(mutex_);
    const auto end = dues_.upper_bound(now);
    const bool had_some = end != dues_.begin();
    dues_.erase(dues_.begin(), end);
    return had_some;
}

}  // namespace ebb::engine
