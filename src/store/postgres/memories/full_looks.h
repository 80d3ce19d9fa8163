#pragma once

#include <ebb/time.h>

namespace ebb::postgres {

/// Rations the looks that walk over all entries of an index. They are free as long as they are
/// quick. An old snapshot keeps the entries of rows that are gone, and then a look can take very
/// long. The more expensive the last look was, the longer the pause until the next one, so that the
/// looks always take a small share of the time. Not thread-safe.
class FullLooks {
 public:
    enum class Reason {
        Usual,         ///< there are cheaper looks that will do: 1 part of 16 of the time
        FoundNothing,  ///< a cheaper look has found nothing: 1 part of 4
        Told           ///< and something is said to be there: at any price
    };

    bool may_begin(TimePoint now, Reason reason) const;
    void note(TimePoint ended, Duration took);

    /// The last one was not free.
    bool are_dear() const { return cost_ > Duration::zero(); }

    /// A look that takes no longer is free, and so is one that takes three times the quickest: far
    /// from the server none is quick.
    static constexpr Duration kFree = std::chrono::milliseconds(2);
    static constexpr Duration kPauseMax = std::chrono::seconds(10);

 private:
    Duration quickest_ = Duration::max();
    Duration cost_{0};
    TimePoint last_{};
};

}  // namespace ebb::postgres
