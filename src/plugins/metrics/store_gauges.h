#pragma once

#include <vector>

#include <ebb/clock.h>
#include <ebb/engine.h>
#include <ebb/metrics.h>

namespace ebb::metrics {

/// What is in a store. Reads it rarely, however often it is asked.
class StoreGauges {
 public:
    StoreGauges(Engine& reader, const Clock& clock, Duration pause)
        : reader_(reader), clock_(clock), pause_(pause) {}

    /// One caller at a time.
    std::vector<Metric> collect();

 private:
    std::vector<Metric> read();

    Engine& reader_;
    const Clock& clock_;
    const Duration pause_;
    SteadyPoint next_read_{};
    std::vector<Metric> last_;
};

/// The counters of all engines together.
std::vector<Metric> engine_metrics(const std::vector<const Engine*>& engines);

/// Of this process, from /proc; on systems without it, none.
std::vector<Metric> process_metrics();

}  // namespace ebb::metrics
