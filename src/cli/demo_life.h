#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ebb/engine.h>
#include <ebb/handler.h>
#include <ebb/store.h>

#include "cli/demo.h"

namespace ebb::cli {

/// Fills an empty store with the past of the demo: instances are started, run, decided, cancelled
/// and repaired by an engine that this thread drives, while the clock of the store moves from the
/// first day to the present. For one call of `live`.
class DemoLife {
 public:
    /// All must outlive it; the store must use the clock.
    DemoLife(Store& store, DemoClock& clock, DemoPlans& plans, std::uint64_t seed);

    /// Until `present`.
    void live(TimePoint present);

 private:
    using Act = std::function<void()>;

    void set_up(bool has_carriers);
    void plan_starts(TimePoint present);
    void plan_what_is_open(TimePoint present);

    /// `when` is a point of the past; acts at one time keep their order.
    void at(TimePoint when, Act act) { acts_.emplace(when, std::move(act)); }

    void run_until(TimePoint end);

    void start(const DemoWorkflow& workflow, const DemoPlan& plan, bool is_open);
    /// What people do to an instance of this workflow that has just been started.
    void plan_people(const InstanceId& id, const std::string& workflow, const DemoPlan& plan);
    void decide(const InstanceId& id, const std::string& node, const std::string& by);
    /// Does what can be done to the instance now, and nothing if it is over or elsewhere.
    static void attempt(const Act& act);

    Store& store_;
    DemoClock& clock_;
    DemoPlans& plans_;
    DemoDice dice_;
    int number_ = 0;
    std::multimap<TimePoint, Act> acts_;
    HandlerRegistry handlers_;
    std::unique_ptr<Engine> engine_;
};

}  // namespace ebb::cli
