#include "server/api/rate_limit.h"

#include <algorithm>

#include <fmt/format.h>

namespace ebb::server {

namespace {

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

std::int64_t whole_seconds(Duration duration) {
    return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

}  // namespace

std::optional<RateLimit::Share> RateLimit::take(const std::string& name) {
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
    Share share{.burst = burst_, .window = time_for(burst_)};
    share.is_granted = bucket.tokens >= 1;
    if (share.is_granted) {
        bucket.tokens -= 1;
    } else {
        share.wait = time_for(1 - bucket.tokens);
    }
    share.remaining = static_cast<int>(bucket.tokens);
    share.reset = time_for(burst_ - bucket.tokens);
    return share;
}

Duration RateLimit::time_for(double tokens) const {
    return std::chrono::ceil<Duration>(std::chrono::duration<double>(tokens / per_second_));
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
    std::erase_if(buckets_, [&](const auto& entry) EBB_REQUIRES(mutex_) {
        return filled(entry.second, now) >= burst_;
    });
}

std::vector<http::Header> rate_headers(std::string_view policy, const RateLimit::Share& share) {
    return {
        {"RateLimit-Policy",
         fmt::format("\"{}\";q={};w={}", policy, share.burst, whole_seconds(share.window))},
        {"RateLimit",
         fmt::format("\"{}\";r={};t={}", policy, share.remaining, whole_seconds(share.reset))},
    };
}

}  // namespace ebb::server
