#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

// The parts of prometheus-cpp from which the metrics are made.

namespace ebb::metrics {

using CounterFamily = prometheus::Family<prometheus::Counter>;
using HistogramFamily = prometheus::Family<prometheus::Histogram>;
using Bounds = prometheus::Histogram::BucketBoundaries;

/// The value of a label for everything that has no value of its own.
inline constexpr std::string_view kOther = "other";

CounterFamily& counter_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help
);
HistogramFamily& histogram_family(
    prometheus::Registry& registry, const std::string& name, const std::string& help
);

/// Seconds from a millisecond to a quarter of an hour.
const Bounds& call_seconds();
/// Seconds from 10 ms to 30 days.
const Bounds& instance_seconds();

/// The first names that it meets, up to a limit; all others are `other`.
class LabelValues {
 public:
    /// Every name beyond `max` increments `dropped`.
    LabelValues(std::size_t max, prometheus::Counter& dropped) : max_(max), dropped_(dropped) {}

    std::string of(std::string_view name);

 private:
    const std::size_t max_;
    prometheus::Counter& dropped_;
    std::set<std::string, std::less<>> known_;
};

}  // namespace ebb::metrics
