#include "plugins/metrics/instance_metrics.h"

#include <nlohmann/json.hpp>

namespace ebb::metrics {

namespace {

constexpr std::size_t kQueuesMax = 200;
constexpr std::size_t kCodesMax = 100;
/// So many names are remembered with their counters.
constexpr std::size_t kRememberedMax = 10'000;

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

/// A text member of the event's payload; empty if there is none.
std::string member(const HistoryEntry& event, const char* name) {
    const Json payload = Json::parse(event.payload, nullptr, false);
    if (!payload.is_object()) return {};
    const auto found = payload.find(name);
    return found != payload.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// How an attempt with this failure has ended.
std::string_view outcome_of(std::string_view code) {
    if (code == "timeout" || code == "stopped") return code;
    return "failed";
}

}  // namespace

InstanceMetrics::InstanceMetrics(
    prometheus::Registry& registry, CounterFamily& dropped, const MetricsOptions& options
)
    : started_(counter_family(
          registry, "ebb_instances_started_total", "Instances that this process has started."
      )),
      finished_(counter_family(
          registry, "ebb_instances_finished_total", "Instances whose end this process committed."
      )),
      instance_duration_(histogram_family(
          registry,
          "ebb_instance_duration_seconds",
          "Time from the start of an instance to its end."
      )),
      attempts_(counter_family(
          registry,
          "ebb_step_attempts_total",
          "Calls of handlers by their outcome, as this process committed them."
      )),
      step_duration_(histogram_family(
          registry, "ebb_step_duration_seconds", "Time that a handler's call of a step took."
      )),
      schedule_to_start_(histogram_family(
          registry,
          "ebb_schedule_to_start_seconds",
          "Time from when a call was due to its beginning: the wait for a worker."
      )),
      compensations_(
          counter_family(registry, "ebb_compensations_total", "Compensations by their outcome.")
      ),
      rollbacks_(
          counter_family(registry, "ebb_rollbacks_total", "Rollbacks that this process has begun.")
      ),
      dead_lettered_(counter_family(
          registry, "ebb_dead_lettered_total", "Instances that began to wait for an operator."
      )),
      workflow_values_(options.workflows_max, dropped.Add({{"label", "workflow"}})),
      step_values_(options.steps_max, dropped.Add({{"label", "step"}})),
      queue_values_(kQueuesMax, dropped.Add({{"label", "queue"}})),
      code_values_(kCodesMax, dropped.Add({{"label", "code"}})) {}

InstanceMetrics::Workflow& InstanceMetrics::workflow(std::string_view name) {
    if (const auto known = workflows_.find(name); known != workflows_.end()) return *known->second;
    const std::string value = workflow_values_.of(name);
    // Whatever has no value of its own shares one entry, and that is found under its value.
    const bool is_remembered = workflows_.size() < kRememberedMax;
    const std::string key = is_remembered ? std::string(name) : value;
    auto& found = workflows_[key];
    if (found == nullptr) {
        found = std::make_unique<Workflow>();
        found->name = value;
        found->started = &started_.Add({{"workflow", value}});
    }
    return *found;
}

InstanceMetrics::Step& InstanceMetrics::step(std::string_view workflow, std::string_view step) {
    Workflow& of = this->workflow(workflow);
    if (const auto known = of.steps.find(step); known != of.steps.end()) return *known->second;
    // One value of the label is counted once for each workflow that has it.
    std::string value = step_values_.of(of.name + '\0' + std::string(step));
    if (value != kOther) value = std::string(step);
    Step& found = steps_[{of.name, value}];
    if (found.duration == nullptr) {
        found.workflow = of.name;
        found.name = value;
        found.duration =
            &step_duration_.Add({{"workflow", of.name}, {"step", value}}, call_seconds());
    }
    if (of.steps.size() < kRememberedMax) of.steps.emplace(step, &found);
    return found;
}

void InstanceMetrics::on_call(const StepContext& /*step*/, const CallDelay& delay) {
    prometheus::Histogram* histogram = nullptr;
    {
        const Lock lock(mutex_);
        auto known = queues_.find(delay.queue);
        if (known == queues_.end()) {
            const std::string value = queue_values_.of(delay.queue);
            const auto key = queues_.size() < kRememberedMax ? delay.queue : value;
            auto& series = schedule_to_start_.Add({{"queue", value}}, call_seconds());
            known = queues_.emplace(key, &series).first;
        }
        histogram = known->second;
    }
    histogram->Observe(seconds(delay.waited));
}

void InstanceMetrics::after_step(const StepContext& step, const CallEnd& end) {
    if (step.compensates) return;
    prometheus::Histogram* histogram = nullptr;
    {
        const Lock lock(mutex_);
        histogram = this->step(step.workflow, step.step).duration;
    }
    histogram->Observe(seconds(end.duration));
}

void InstanceMetrics::on_start(const InstanceSummary& instance) {
    const Lock lock(mutex_);
    workflow(instance.workflow).started->Increment();
}

void InstanceMetrics::on_end(const InstanceSummary& instance) {
    const Lock lock(mutex_);
    Workflow& of = workflow(instance.workflow);
    const std::string_view status = to_string(instance.status);
    auto found = of.ends.find(status);
    if (found == of.ends.end()) {
        const prometheus::Labels labels{{"workflow", of.name}, {"status", std::string(status)}};
        auto& duration = instance_duration_.Add(labels, instance_seconds());
        found = of.ends.emplace(status, std::pair(&finished_.Add(labels), &duration)).first;
    }
    found->second.first->Increment();
    found->second.second->Observe(seconds(instance.finished_at - instance.created_at));
}

void InstanceMetrics::count_attempt(
    const InstanceSummary& instance, const HistoryEntry& event, std::string_view outcome
) {
    Step& of = step(instance.workflow, event.node);
    auto found = of.attempts.find(outcome);
    if (found == of.attempts.end()) {
        auto& counter = attempts_.Add(
            {{"workflow", of.workflow}, {"step", of.name}, {"outcome", std::string(outcome)}}
        );
        found = of.attempts.emplace(outcome, &counter).first;
    }
    found->second->Increment();
}

void InstanceMetrics::count_compensation(
    const InstanceSummary& instance, std::string_view outcome
) {
    Workflow& of = workflow(instance.workflow);
    auto found = of.compensations.find(outcome);
    if (found == of.compensations.end()) {
        auto& counter =
            compensations_.Add({{"workflow", of.name}, {"outcome", std::string(outcome)}});
        found = of.compensations.emplace(outcome, &counter).first;
    }
    found->second->Increment();
}

void InstanceMetrics::count(
    const InstanceSummary& instance, const HistoryEntry& event, std::string& code
) {
    const std::string& type = event.type;
    if (type == "step_completed") return count_attempt(instance, event, "completed");
    if (type == "step_retried" || type == "step_failed") {
        code = member(event, "code");
        // Each lost call has an event of its own.
        if (code != "worker_lost") count_attempt(instance, event, outcome_of(code));
        return;
    }
    // That of a compensation says which.
    if (type == "lease_lost" && event.payload.empty()) {
        return count_attempt(instance, event, "lost");
    }
    if (type == "step_stopped") return count_attempt(instance, event, "stopped");
    if (type == "step_compensated") return count_compensation(instance, "completed");
    if (type == "compensation_retried") return count_compensation(instance, "retried");
    if (type == "compensation_failed") {
        code = member(event, "code");
        return count_compensation(instance, "failed");
    }
    if (type == "compensation_skipped") return count_compensation(instance, "skipped");
    if (type == "rollback_started") {
        rollbacks_
            .Add({{"workflow", workflow(instance.workflow).name}, {"kind", member(event, "kind")}})
            .Increment();
    }
    if (type == "dead_lettered") {
        const std::string value = code.empty() ? "unknown" : code_values_.of(code);
        dead_lettered_.Add({{"workflow", workflow(instance.workflow).name}, {"code", value}}
        ).Increment();
    }
}

void InstanceMetrics::on_committed(
    const InstanceSummary& instance, std::span<const HistoryEntry> events
) {
    const Lock lock(mutex_);
    std::string code;
    for (const HistoryEntry& event : events) count(instance, event, code);
}

}  // namespace ebb::metrics
