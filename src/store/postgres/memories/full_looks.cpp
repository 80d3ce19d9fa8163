#include "store/postgres/memories/full_looks.h"

#include <algorithm>

namespace ebb::postgres {

bool FullLooks::may_begin(TimePoint now, Reason reason) const {
    // The second is for a clock that was set back.
    if (!are_dear() || now < last_ || reason == Reason::Told) return true;
    const int share = reason == Reason::Usual ? 16 : 4;
    return now - last_ >= std::min(cost_ * share, kPauseMax);
}

void FullLooks::note(TimePoint ended, Duration took) {
    quickest_ = std::min(quickest_, std::max(took, Duration::zero()));
    const Duration free = std::max(kFree, quickest_ * 3);
    cost_ = std::max(took - free, Duration::zero());
    last_ = ended;
}

}  // namespace ebb::postgres
