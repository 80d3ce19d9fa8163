#pragma once

#include <algorithm>
#include <atomic>

#include <ebb/time.h>

namespace ebb::engine {

/// How long handlers take here, and so how many tasks are worth holding: with slow handlers no more
/// than there are threads, so that other workers get the rest; with fast ones as many as are worked
/// off within a moment. Thread-safe.
class Pace {
 public:
    Pace(int threads, int in_flight_max) : threads_(threads), in_flight_max_(in_flight_max) {}

    void record(Duration call) {
        const auto sample = std::max<Duration::rep>(call.count(), 0);
        const auto known = average_.load(std::memory_order_relaxed);
        // Lost updates of other threads do not matter: it is an estimate.
        const auto next = known < 0 ? sample : known + (sample - known) / 8;
        average_.store(next, std::memory_order_relaxed);
    }

    /// Not thread-safe with itself: the committer's.
    void record_commit(Duration commit) {
        const auto sample = std::max<Duration::rep>(commit.count(), 0);
        const auto known = commit_.load(std::memory_order_relaxed);
        commit_.store(known + (sample - known) / 8, std::memory_order_relaxed);
    }

    /// How long results may wait for others to share their commit: about what a commit takes, where
    /// handlers are so quick that more will come in the meantime; else zero.
    Duration gathering_time() const {
        const Duration commit(commit_.load(std::memory_order_relaxed));
        const Duration call(average_.load(std::memory_order_relaxed));
        return call < commit / 4 ? std::min(commit, kGatheringMax) : Duration::zero();
    }

    int in_flight_target() const {
        const auto average = average_.load(std::memory_order_relaxed);
        if (average < 0) return std::min(threads_, in_flight_max_);
        const auto per_thread = kHorizon.count() / std::max<Duration::rep>(average, 1);
        const auto target = threads_ * (1 + per_thread);
        return static_cast<int>(std::min<Duration::rep>(target, in_flight_max_));
    }

    /// Tasks that would wait longer for a thread are left to others.
    static constexpr Duration kHorizon = std::chrono::milliseconds(50);
    /// No result waits longer for others.
    static constexpr Duration kGatheringMax = std::chrono::milliseconds(1);

 private:
    const int threads_;
    const int in_flight_max_;
    std::atomic<Duration::rep> average_{-1};
    std::atomic<Duration::rep> commit_{0};
};

}  // namespace ebb::engine
