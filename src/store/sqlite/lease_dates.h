#pragma once

#include <algorithm>
#include <optional>

#include <ebb/clock.h>

namespace ebb::sqlite {

/// A lease is a duration. Of a worker of the same boot the row says when it ends by the steady
/// clock; of any other worker (of an earlier boot, of a file that was copied, of another virtual
/// machine) there is only a date. After the clock was set, such a date means nothing until each
/// living worker has sent its next heartbeat. This notices the jump and waits for as long as a
/// lease. Not thread-safe.
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
