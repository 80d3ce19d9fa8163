#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/observer.h>
#include <ebb/print.h>
#include <ebb/store.h>
#include <ebb/time.h>

// What one process does, in numbers, in the text format of Prometheus. `ebb serve` answers with it
// at /metrics. A program of your own prints `text()` where it likes, or gives `collectable()` to an
// exposer of prometheus-cpp. Component ebb::metrics.

namespace prometheus {
class Collectable;
}

namespace ebb {

class Clock;
class Engine;

struct MetricsOptions {
    /// Workflows with values of their own. Everything about further ones is counted as `other`, and
    /// `ebb_metric_values_dropped_total` counts their names.
    std::size_t workflows_max = 200;
    std::size_t steps_max = 1'000;  ///< the same for the steps of all workflows together
    /// The store is read at most this often, and never for more than a twentieth of the time.
    Duration store_pause = std::chrono::seconds(15);
    const Clock* clock = nullptr;  ///< null = the system clock; must outlive the metrics
};

/// One value of a metric.
struct MetricValue {
    std::vector<std::pair<std::string, std::string>> labels{};
    double value = 0;
};

/// A metric that is read when someone asks. A counter never decreases, and its name ends in
/// `_total`.
struct Metric {
    enum class Kind { Gauge, Counter };

    std::string name;
    std::string help;
    Kind kind = Kind::Gauge;
    std::vector<MetricValue> values{};
};

/// `gauge`, `counter`.
std::string_view to_string(Metric::Kind kind);

/// An HTTP request that was answered.
struct AnsweredRequest {
    std::string_view method;
    std::string_view route;  ///< the template, never the path
    int status = 200;
    Duration took{0};
    std::size_t bytes_in = 0;
    std::size_t bytes_out = 0;
};

/// The metrics of one process. Thread-safe. docs/reference/metrics.md lists their names.
///
/// No label has values that users can create without limit: no ids, keys, worker names or persons.
class Metrics {
 public:
    virtual ~Metrics() = default;

    /// Observes the engine and reports its counters. Call it before Engine::run and before the
    /// first instance. The engine must live as long as someone reads the metrics.
    virtual void watch(Engine& engine) = 0;
    /// Reports what is in the store: instances, tasks, queues, workers, decisions. `reader` must
    /// live as long as someone reads the metrics; it may be an engine that only reads.
    virtual void watch_store(Engine& reader) = 0;
    /// A store for an engine whose calls are measured. `store` and the metrics must outlive it.
    virtual StorePtr measure(Store& store) = 0;
    /// Adds metrics that `source` returns whenever someone reads. It is called from any thread, by
    /// one at a time. What it throws is dropped with its metrics.
    virtual void add(std::function<std::vector<Metric>()> source) = 0;
    virtual void note(const AnsweredRequest& request) = 0;

    /// Everything in Prometheus's text format, version 0.0.4. Reads the store if that is due.
    virtual std::string text() = 0;
    /// The same for an exposer of prometheus-cpp; lives as long as the metrics.
    virtual const prometheus::Collectable& collectable() const = 0;
};

std::shared_ptr<Metrics> make_metrics(const MetricsOptions& options = {});

}  // namespace ebb
