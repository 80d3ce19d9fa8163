#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include <ebb/clock.h>

#include "support/sync.h"

namespace ebb::server {

/// How often each of many names may do something: a bucket per name that holds `burst` tokens and
/// is refilled with `per_second`. Thread-safe, and bounded: it forgets names whose bucket is full,
/// and it stops looking at new ones when kNamesMax others have used theirs.
class RateLimit {
 public:
    static constexpr std::size_t kNamesMax = 10'000;

    /// `per_second` 0 = no limit.
    RateLimit(int per_second, int burst, const Clock& clock)
        : per_second_(per_second), burst_(burst), clock_(clock) {}

    /// Takes a token. If there is none: how long it takes until there is one.
    std::optional<Duration> take(const std::string& name);
    /// From now on. What was used stays used.
    void set(int per_second, int burst);

 private:
    struct Bucket {
        double tokens = 0;
        SteadyPoint at{};
    };

    double filled(const Bucket& bucket, SteadyPoint now) const EBB_REQUIRES(mutex_);
    void forget_full(SteadyPoint now) EBB_REQUIRES(mutex_);

    Mutex mutex_;
    int per_second_ EBB_GUARDED_BY(mutex_);
    int burst_ EBB_GUARDED_BY(mutex_);
    const Clock& clock_;
    std::map<std::string, Bucket> buckets_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::server
