#pragma once

#include <algorithm>
#include <optional>

#include <ebb/clock.h>

namespace ebb::sqlite {

/// Leases are durations, but the rows of the workers name dates, which every process on this
/// machine can read. After the clock was set, these dates mean nothing until each living worker has
/// sent its next heartbeat. This notices such a jump and waits for as long as a lease. Not
/// thread-safe.
class LeaseDates {
 public:
    /// A lease of this length was given here.
    void note_lease(Duration lease) { longest_ = std::max(longest_, lease); }

    /// To be called again and again. True: the clock was set since the last look.
    bool look(const Clock& clock) {
        const TimePoint date = clock.now();
        const SteadyPoint steady = clock.steady_now();
        const bool was_set =
            last_ && std::chrono::abs((date - last_->date) - (steady - last_->steady)) > kDrift;
        last_ = {date, steady};
        if (was_set) trusted_from_ = steady + grace();
        return was_set;
    }

    bool are_trusted(const Clock& clock) const { return clock.steady_now() >= trusted_from_; }

    /// How long a living worker may take to send a heartbeat.
    Duration grace() const { return longest_; }

 private:
    struct Look {
        TimePoint date;
        SteadyPoint steady;
    };

    static constexpr Duration kDrift = std::chrono::seconds(1);

    Duration longest_ = std::chrono::seconds(10);
    std::optional<Look> last_;
    SteadyPoint trusted_from_{};
};

}  // namespace ebb::sqlite
