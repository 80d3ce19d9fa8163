#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <ebb/time.h>

namespace ebb::postgres {

/// When the dead rows of the tasks table are worth a vacuum. Each claimed task leaves two of them.
/// By default the server's autovacuum comes once a minute: by then, 10,000 claims a second have
/// left a table of hundreds of megabytes. Thread-safe.
class DeadTasks {
 public:
    void note_claimed(std::int64_t tasks) { claimed_ += tasks; }

    /// False: this process has claimed so little that the database need not be asked.
    bool is_worth_a_look() {
        if (claimed_ < kClaimsMin) return false;
        claimed_ = 0;
        return true;
    }

    /// `dead`: the rows that the database counts.
    bool is_worth_a_vacuum(std::int64_t dead) {
        const bool is_worth = dead >= limit_;
        if (!is_worth) limit_ = std::clamp(2 * dead, kDeadMin, limit_.load());
        return is_worth;
    }

    /// A vacuum has left so many, because an old snapshot still sees them: the next one comes when
    /// there are twice as many.
    void note_left(std::int64_t dead) { limit_ = std::max(kDeadMin, 2 * dead); }

    static constexpr std::int64_t kClaimsMin = 1'000;
    /// About 20 MB with their index entries.
    static constexpr std::int64_t kDeadMin = 100'000;
    /// Between two looks.
    static constexpr Duration kPause = std::chrono::seconds(5);

 private:
    std::atomic<std::int64_t> claimed_{0};
    std::atomic<std::int64_t> limit_{kDeadMin};
};

}  // namespace ebb::postgres
