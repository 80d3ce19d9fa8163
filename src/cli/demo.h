#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>

#include <ebb/clock.h>
#include <ebb/engine.h>
#include <ebb/handler.h>
#include <ebb/store.h>

#include "cli/demo_plans.h"

namespace ebb::cli {

/// The clock of a store that is filled with the past: it stands where it is put, until `go_live`.
/// From then on it follows `live`, which must outlive it.
class DemoClock final : public Clock {
 public:
    DemoClock(TimePoint start, const Clock& live) : past_(start), live_(live) {}

    TimePoint now() const override { return is_live_ ? live_.now() : past_.now(); }

    SteadyPoint steady_now() const override {
        return is_live_ ? live_.steady_now() + shift_ : past_.steady_now();
    }

    const Clock& source() const override { return is_live_ ? live_.source() : *this; }

    void advance(Duration by) { past_.advance(by); }

    /// An earlier time changes nothing.
    void advance_to(TimePoint to) {
        if (to > past_.now()) past_.set(to);
    }

    /// Before other threads read the clock.
    void go_live() {
        shift_ = past_.steady_now() - live_.steady_now();
        is_live_ = true;
    }

 private:
    ManualClock past_;
    const Clock& live_;
    Duration shift_{0};
    bool is_live_ = false;
};

/// `ebb serve --demo`: a database with a month of sample data, to which new instances are added
/// while it is served.
class Demo {
 public:
    static constexpr Duration kPast = std::chrono::hours(24 * 30);
    /// What waits for people stays below these bounds, as where people work.
    static constexpr int kDecisionsMax = 24;
    static constexpr int kDeadLettersMax = 12;
    static constexpr int kShipmentsMax = 12;  ///< no worker ships abroad

    /// `live` must outlive it. The life is the same for one seed, but for ids and the waits between
    /// attempts.
    explicit Demo(const Clock& live, std::uint64_t seed = 1);
    Demo(const Demo&) = delete;
    Demo& operator=(const Demo&) = delete;

    /// Opens the database and fills it, unless it is the demo's from an earlier start. Throws Error
    /// with InvalidArgument if it has other instances; nothing is changed then. The store must not
    /// outlive this object.
    StorePtr open(const std::string& url);

    /// The handlers of the workflows, which take the time that such things take.
    HandlerRegistry handlers();

    /// A thread that starts an instance now and then. The engine, which must run, and this object
    /// must outlive it.
    std::jthread begin(Engine& engine);

    /// One turn of that thread: starts an instance, and decides or requeues as operators would if
    /// too many instances wait.
    void turn(Engine& engine, DemoDice& dice);

 private:
    void go_on(const std::stop_token& stop, Engine& engine);

    const Clock& live_;
    std::uint64_t seed_;
    DemoClock clock_;
    DemoPlans plans_;
    int number_ = 0;  ///< of the next instance's key
};

}  // namespace ebb::cli
