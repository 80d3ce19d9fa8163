#pragma once

#include <atomic>

#include <ebb/time.h>

namespace ebb {

/// Where the engine and the embedded stores get the time from. Thread-safe.
class Clock {
 public:
    virtual ~Clock() = default;
    virtual TimePoint now() const = 0;
};

/// The system's UTC clock.
class SystemClock : public Clock {
 public:
    TimePoint now() const override;
};

/// A clock that stands still until it is moved: for tests and simulation. Engine::next_due says
/// where to move it.
class ManualClock : public Clock {
 public:
    explicit ManualClock(TimePoint start) : now_(start.time_since_epoch().count()) {}

    TimePoint now() const override { return TimePoint(Duration(now_.load())); }

    void advance(Duration by) { now_ += by.count(); }

    void set(TimePoint to) { now_ = to.time_since_epoch().count(); }

 private:
    std::atomic<Duration::rep> now_;
};

}  // namespace ebb
