#pragma once

#include <atomic>

#include <ebb/clock.h>

#include "support/sync.h"

namespace ebb::postgres {

/// The server's clock as this process knows it: what the server has said, and
/// the time that has passed here since. So neither the date of this machine nor
/// a jump of it matters. Before the server has said anything it is the system's
/// clock. Thread-safe.
class ServerClock final : public Clock {
 public:
    TimePoint now() const override;

    SteadyPoint steady_now() const override { return system_.steady_now(); }

    /// The server said `server` at some moment between the two.
    void learn(SteadyPoint sent, TimePoint server, SteadyPoint received);

    /// How far `now` may be wrong, as of the last answer: half the time that an
    /// answer took.
    Duration error() const;

    /// How far this machine's date is ahead of the server's; negative: behind.
    Duration skew() const { return system_.now() - now(); }

    /// How far two clocks that are not set may drift apart: one part of so many.
    static constexpr int kDriftShare = 5'000;

 private:
    static constexpr Duration::rep kUnknown = Duration::min().count();

    const SystemClock system_;
    std::atomic<Duration::rep> offset_{kUnknown};  // of the server's clock from the steady one
    mutable Mutex mutex_;
    Duration error_ EBB_GUARDED_BY(mutex_) = Duration::max();
    SteadyPoint learned_ EBB_GUARDED_BY(mutex_){};
};

}  // namespace ebb::postgres
