#include "plugins/metrics/families.h"

namespace ebb::metrics {

CounterFamily& counter_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help
) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

HistogramFamily& histogram_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help
) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

const Bounds& call_seconds() {
    static const Bounds bounds{
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 900
    };
    return bounds;
}

const Bounds& instance_seconds() {
    static const Bounds bounds{
        0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1'800, 7'200, 43'200, 86'400, 604'800, 2'592'000
    };
    return bounds;
}

std::string LabelValues::of(std::string_view name) {
    if (known_.find(name) != known_.end()) return std::string(name);
    if (known_.size() < max_) return *known_.emplace(name).first;
    dropped_.Increment();
    return std::string(kOther);
}

}  // namespace ebb::metrics
