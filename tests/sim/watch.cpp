// What people see of the instances while all this happens.

#include "sim/simulation.h"

namespace ebb::sim {

namespace {

constexpr int kTicksBetweenLooks = 10;

}  // namespace

/// Looking changes nothing: with and without it a run is the same.
void Simulation::watch() {
    if (!options_.watches || tick_ % kTicksBetweenLooks != 0) return;
    for (const InstanceId& id : instances_) {
        const InstanceView view = client_->core().show(id);
        ++result_.seen["instance " + view.summary.status];
        for (const StepView& step : view.steps) {
            ++result_.seen["step " + std::string(to_string(step.status))];
        }
    }
}

}  // namespace ebb::sim
