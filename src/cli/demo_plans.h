#pragma once

#include <map>
#include <optional>
#include <string>

#include <ebb/context.h>
#include <ebb/id.h>

#include "cli/demo_workflows.h"
#include "support/sync.h"

namespace ebb::cli {

/// What an instance of the demo is going to meet.
struct DemoPlan {
    std::optional<DemoFailure> failure{};
    int failures_left = 0;      ///< calls that fail; the next one succeeds
    bool has_bad_undo = false;  ///< its first compensation fails for good
    int slowness = 1;           ///< how many times longer than usual its calls take
    std::uint64_t seed = 0;
};

/// The plans of the instances. An instance without one gets a plan of its own. Thread-safe.
class DemoPlans {
 public:
    void set(const InstanceId& id, DemoPlan plan);

    struct Call {
        Duration takes{};
        std::optional<DemoFailure> failure{};
        std::string reference{};  ///< of its output
    };

    /// What the next call does.
    Call next(const StepContext& step);

    /// A plan for an instance of the workflow.
    static DemoPlan make(const DemoWorkflow& workflow, DemoDice& dice);

 private:
    static constexpr std::size_t kPlansMax = 20'000;

    Mutex mutex_;
    std::map<InstanceId, DemoPlan> plans_ EBB_GUARDED_BY(mutex_);
};

/// Throws the failure, or returns the output.
Payload outcome_of(const DemoPlans::Call& call);

}  // namespace ebb::cli
