#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/clock.h>

#include "server/http/http.h"
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

    /// What a request gets, and what is left after it.
    struct Share {
        bool is_granted = true;
        int burst = 0;       ///< tokens of a full bucket
        int remaining = 0;   ///< tokens that are there now
        Duration window{0};  ///< in which an empty bucket fills
        Duration wait{0};    ///< until there is a token, if none is granted
        Duration reset{0};   ///< until the bucket is full again
    };

    /// Takes a token, if there is one. Nothing: there is no limit for this name.
    std::optional<Share> take(const std::string& name);
    /// From now on. What was used stays used.
    void set(int per_second, int burst);

 private:
    struct Bucket {
        double tokens = 0;
        SteadyPoint at{};
    };

    double filled(const Bucket& bucket, SteadyPoint now) const EBB_REQUIRES(mutex_);
    Duration time_for(double tokens) const EBB_REQUIRES(mutex_);
    void forget_full(SteadyPoint now) EBB_REQUIRES(mutex_);

    Mutex mutex_;
    int per_second_ EBB_GUARDED_BY(mutex_);
    int burst_ EBB_GUARDED_BY(mutex_);
    const Clock& clock_;
    std::map<std::string, Bucket> buckets_ EBB_GUARDED_BY(mutex_);
};

/// The headers RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers): what the
/// limit named `policy` allows, and what is left of it.
std::vector<http::Header> rate_headers(std::string_view policy, const RateLimit::Share& share);

}  // namespace ebb::server
