#pragma once

#include <atomic>
#include <cstdint>

#include <ebb/time.h>

namespace ebb {

namespace detail {

/// Where the ids of new instances continue. A clock and its copy begin on their own.
struct IdStamp {
    IdStamp() = default;

    IdStamp(const IdStamp&) noexcept {}

    IdStamp& operator=(const IdStamp&) noexcept { return *this; }

    std::atomic<std::uint64_t> last{0};
};

}  // namespace detail

/// The source of time for the engine and the embedded stores. It has two readings, because an
/// operator can set the system's clock while they run: compare dates with `now`, and measure
/// durations with `steady_now`. Thread-safe.
class Clock {
 public:
    virtual ~Clock() = default;

    /// The current date. It jumps forward or back when the clock is set.
    virtual TimePoint now() const = 0;

    /// Time that has passed since some moment in the past. Never goes back, and does not jump when
    /// the clock is set. The default follows `now`, which is right for a clock that is never set.
    virtual SteadyPoint steady_now() const { return SteadyPoint(now().time_since_epoch()); }

    /// The clock that this one follows: two clocks with the same source show the same time, except
    /// for a skew. The default is the clock itself.
    virtual const Clock& source() const { return *this; }

    /// Of a source: the ids that it dates rise, and never depend on another clock's dates.
    detail::IdStamp& id_stamp() const { return id_stamp_; }

 private:
    mutable detail::IdStamp id_stamp_;
};

/// The system's UTC clock. Its steady reading continues while the machine sleeps, because other
/// machines do not wait for it. All system clocks have the same source.
class SystemClock : public Clock {
 public:
    TimePoint now() const override;
    SteadyPoint steady_now() const override;
    const Clock& source() const override;
};

/// A clock that stands still until you move it, for tests and simulation. Give it to the store
/// (MemoryOptions, SqliteOptions, PostgresOptions); the store's engines use it, too.
/// Engine::next_due says where to move it. Its steady reading begins at an hour, far from its date,
/// as on a machine that has just booted.
class ManualClock : public Clock {
 public:
    explicit ManualClock(TimePoint start) : now_(start.time_since_epoch().count()) {}

    TimePoint now() const override { return TimePoint(Duration(now_.load())); }

    SteadyPoint steady_now() const override { return SteadyPoint(Duration(steady_.load())); }

    /// Time passes.
    void advance(Duration by) {
        jump(by);
        if (by > Duration::zero()) steady_ += by.count();
    }

    /// Time passes until `to`. An earlier date sets the clock back: then no time passes.
    void set(TimePoint to) { advance(to - now()); }

    /// The clock is set forward or back; no time passes.
    void jump(Duration by) { now_ += by.count(); }

 private:
    std::atomic<Duration::rep> now_;
    std::atomic<Duration::rep> steady_{Duration(std::chrono::hours(1)).count()};
};

}  // namespace ebb
