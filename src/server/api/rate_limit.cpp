#include "server/api/rate_limit.h"

#include <algorithm>

namespace ebb::server {

namespace {

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::optional<Duration> RateLimit::take(const std::string& name) {
    const Lock lock(mutex_);
    if (per_second_ == 0) return std::nullopt;
    const SteadyPoint now = clock_.steady_now();
    auto found = buckets_.find(name);
    if (found == buckets_.end()) {
        if (buckets_.size() >= kNamesMax) forget_full(now);
        // A name among that many is not slowed down: memory stays bounded instead.
        if (buckets_.size() >= kNamesMax) return std::nullopt;
        found = buckets_.emplace(name, Bucket{static_cast<double>(burst_), now}).first;
    }
    Bucket& bucket = found->second;
    bucket = {filled(bucket, now), now};
    if (bucket.tokens < 1) {
        const double missing = (1 - bucket.tokens) / per_second_;
        return std::chrono::ceil<Duration>(std::chrono::duration<double>(missing));
    }
    bucket.tokens -= 1;
    return std::nullopt;
}

void RateLimit::set(int per_second, int burst) {
    const Lock lock(mutex_);
    per_second_ = per_second;
    burst_ = burst;
}

double RateLimit::filled(const Bucket& bucket, SteadyPoint now) const {
    const double gained = seconds(now - bucket.at) * per_second_;
    return std::min(bucket.tokens + gained, static_cast<double>(burst_));
}

void RateLimit::forget_full(SteadyPoint now) {
    std::erase_if(buckets_, [&](const auto& entry) { return filled(entry.second, now) >= burst_; });
}

}  // namespace ebb::server
