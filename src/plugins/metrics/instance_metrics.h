#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <ebb/metrics.h>
#include <ebb/worker_observer.h>

#include "plugins/metrics/families.h"
#include "support/sync.h"

namespace ebb::metrics {

/// Counts what this process commits and how long its calls take.
class InstanceMetrics final : public WorkerObserver {
 public:
    InstanceMetrics(
        prometheus::Registry& registry, CounterFamily& dropped, const MetricsOptions& options
    );

    void on_call(const StepContext& step, const CallDelay& delay) override;
    void after_step(const StepContext& step, const CallEnd& end) override;
    void on_start(const InstanceSummary& instance) override;
    void on_end(const InstanceSummary& instance) override;
    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override;

 private:
    template <typename T>
    using ByName = std::map<std::string, T, std::less<>>;

    /// The counters of one step, so that no labels are put together for each event.
    struct Step {
        std::string workflow;
        std::string name;
        prometheus::Histogram* duration = nullptr;
        ByName<prometheus::Counter*> attempts;  ///< by outcome
    };

    /// Of one workflow.
    struct Workflow {
        std::string name;
        prometheus::Counter* started = nullptr;
        ByName<prometheus::Counter*> compensations;                            ///< by outcome
        ByName<std::pair<prometheus::Counter*, prometheus::Histogram*>> ends;  ///< by status
        ByName<Step*> steps;
    };

    Workflow& workflow(std::string_view name) EBB_REQUIRES(mutex_);
    Step& step(std::string_view workflow, std::string_view step) EBB_REQUIRES(mutex_);
    void count_attempt(
        const InstanceSummary& instance, const HistoryEntry& event, std::string_view outcome
    ) EBB_REQUIRES(mutex_);
    void count_compensation(const InstanceSummary& instance, std::string_view outcome)
        EBB_REQUIRES(mutex_);
    void count(const InstanceSummary& instance, const HistoryEntry& event, std::string& code)
        EBB_REQUIRES(mutex_);

    CounterFamily& started_;
    CounterFamily& finished_;
    HistogramFamily& instance_duration_;
    CounterFamily& attempts_;
    HistogramFamily& step_duration_;
    HistogramFamily& schedule_to_start_;
    CounterFamily& compensations_;
    CounterFamily& rollbacks_;
    CounterFamily& dead_lettered_;

    Mutex mutex_;
    LabelValues workflow_values_ EBB_GUARDED_BY(mutex_);
    LabelValues step_values_ EBB_GUARDED_BY(mutex_);
    LabelValues queue_values_ EBB_GUARDED_BY(mutex_);
    LabelValues code_values_ EBB_GUARDED_BY(mutex_);
    ByName<std::unique_ptr<Workflow>> workflows_ EBB_GUARDED_BY(mutex_);
    /// By the values of their labels.
    std::map<std::pair<std::string, std::string>, Step> steps_ EBB_GUARDED_BY(mutex_);
    ByName<prometheus::Histogram*> queues_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::metrics
