#include <map>
#include <string>
#include <tuple>

#include <ebb/clock.h>
#include <ebb/engine.h>
#include <ebb/metrics.h>

#include "plugins/metrics/instance_metrics.h"
#include "plugins/metrics/measured_store.h"
#include "plugins/metrics/store_gauges.h"
#include "plugins/metrics/text.h"

namespace ebb {

std::string_view to_string(Metric::Kind kind) {
    return kind == Metric::Kind::Counter ? "counter" : "gauge";
}

namespace {

using metrics::InstanceMetrics;
using metrics::StoreCalls;

/// Beyond this many routes, methods and statuses together, a request is counted as `other`.
constexpr std::size_t kRequestSeriesMax = 2'000;

const Clock& clock_of(const MetricsOptions& options) {
    static const SystemClock system;
    return options.clock == nullptr ? system : *options.clock;
}

const metrics::Bounds& body_bytes() {
    static const metrics::Bounds bounds{100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000};
    return bounds;
}

prometheus::MetricFamily to_family(const Metric& metric) {
    const bool is_counter = metric.kind == Metric::Kind::Counter;
    prometheus::MetricFamily family{
        .name = metric.name,
        .help = metric.help,
        .type = is_counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
        .metric = {},
    };
    for (const MetricValue& value : metric.values) {
        prometheus::ClientMetric& sample = family.metric.emplace_back();
        for (const auto& [name, text] : value.labels) sample.label.push_back({name, text});
        if (is_counter) {
            sample.counter.value = value.value;
        } else {
            sample.gauge.value = value.value;
        }
    }
    return family;
}

Metric build_info() {
    return {
        .name = "ebb_build_info",
        .help = "Which Ebb this is; its value is 1.",
        .values = {{.labels = {{"version", EBB_VERSION}, {"compiler", __VERSION__}}, .value = 1}},
    };
}

/// What was counted, and what is read when someone asks.
class PrometheusMetrics final : public Metrics, public prometheus::Collectable {
 public:
    explicit PrometheusMetrics(const MetricsOptions& options)
        : options_(options),
          dropped_(metrics::counter_family(
              registry_,
              "ebb_metric_values_dropped_total",
              "Names that are counted as `other`, because there are too many of them."
          )),
          instances_(std::make_shared<InstanceMetrics>(registry_, dropped_, options)),
          calls_(std::make_shared<StoreCalls>(registry_, clock_of(options))),
          request_duration_(metrics::histogram_family(
              registry_,
              "http_server_request_duration_seconds",
              "Time from a request to its answer."
          )),
          request_bytes_(metrics::histogram_family(
              registry_, "http_server_request_body_size_bytes", "Sizes of requests' bodies."
          )),
          response_bytes_(metrics::histogram_family(
              registry_, "http_server_response_body_size_bytes", "Sizes of answers' bodies."
          )) {
        add([] { return std::vector<Metric>{build_info()}; });
        add(metrics::process_metrics);
    }

    void watch(Engine& engine) override {
        engine.add_observer(instances_);
        const Lock lock(mutex_);
        engines_.push_back(&engine);
    }

    void watch_store(Engine& reader) override {
        const auto gauges = std::make_shared<metrics::StoreGauges>(
            reader, clock_of(options_), options_.store_pause
        );
        add([gauges] { return gauges->collect(); });
    }

    StorePtr measure(Store& store) override {
        return StorePtr(new metrics::MeasuredStore(store, calls_));
    }

    void add(std::function<std::vector<Metric>()> source) override {
        const Lock lock(mutex_);
        sources_.push_back(std::move(source));
    }

    void note(const AnsweredRequest& request) override {
        const Series series = series_of(request);
        series.duration->Observe(std::chrono::duration<double>(request.took).count());
        series.bytes_in->Observe(static_cast<double>(request.bytes_in));
        series.bytes_out->Observe(static_cast<double>(request.bytes_out));
    }

    std::string text() override { return metrics::text_of(Collect()); }

    const prometheus::Collectable& collectable() const override { return *this; }

    std::vector<prometheus::MetricFamily> Collect() const override {
        std::vector<prometheus::MetricFamily> families = registry_.Collect();
        const auto take = [&](const std::vector<Metric>& metrics) {
            for (const Metric& metric : metrics) families.push_back(to_family(metric));
        };
        const Lock lock(mutex_);
        if (!engines_.empty()) take(metrics::engine_metrics(engines_));
        for (const auto& source : sources_) {
            try {
                take(source());
            } catch (const std::exception&) {
                // Its metrics are missing, and the others are there.
            }
        }
        std::erase_if(families, [](const auto& family) { return family.metric.empty(); });
        return families;
    }

 private:
    struct Series {
        prometheus::Histogram* duration = nullptr;
        prometheus::Histogram* bytes_in = nullptr;
        prometheus::Histogram* bytes_out = nullptr;
    };

    Series series_of(const AnsweredRequest& request) {
        const Lock lock(requests_mutex_);
        const auto known =
            requests_.find(std::tuple(request.route, request.method, request.status));
        if (known != requests_.end()) return known->second;
        const bool is_full = requests_.size() >= kRequestSeriesMax;
        const std::string route(is_full ? metrics::kOther : request.route);
        const std::string method(is_full ? metrics::kOther : request.method);
        Series& series = requests_[{route, method, request.status}];
        if (series.duration != nullptr) return series;
        prometheus::Labels labels{{"http_request_method", method}, {"http_route", route}};
        series.bytes_in = &request_bytes_.Add(labels, body_bytes());
        series.bytes_out = &response_bytes_.Add(labels, body_bytes());
        const std::string status = std::to_string(request.status);
        labels["http_response_status_code"] = status;
        if (request.status >= 500) labels["error_type"] = status;
        series.duration = &request_duration_.Add(labels, metrics::call_seconds());
        return series;
    }

    const MetricsOptions options_;
    prometheus::Registry registry_;
    metrics::CounterFamily& dropped_;
    const std::shared_ptr<InstanceMetrics> instances_;
    const std::shared_ptr<StoreCalls> calls_;
    metrics::HistogramFamily& request_duration_;
    metrics::HistogramFamily& request_bytes_;
    metrics::HistogramFamily& response_bytes_;
    Mutex requests_mutex_;
    /// By route, method and status.
    std::map<std::tuple<std::string, std::string, int>, Series, std::less<>> requests_
        EBB_GUARDED_BY(requests_mutex_);
    mutable Mutex mutex_;
    std::vector<const Engine*> engines_ EBB_GUARDED_BY(mutex_);
    std::vector<std::function<std::vector<Metric>()>> sources_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<Metrics> make_metrics(const MetricsOptions& options) {
    return std::make_shared<PrometheusMetrics>(options);
}

}  // namespace ebb
