// What is seen while all this happens: by people, of the instances; by the checker, of the queues.

#include <fmt/format.h>

#include "sim/simulation.h"

namespace ebb::sim {

namespace {

constexpr int kTicksBetweenLooks = 10;

}  // namespace

/// Looking changes nothing: with and without it a run is the same.
void Simulation::watch() {
    if (!options_.watches || tick_ % kTicksBetweenLooks != 0) return;
    for (const InstanceId& id : instances_) {
        if (is_gone(id)) continue;
        const InstanceView view = client_->core().show(id);
        ++result_.seen["instance " + std::string(to_string(view.summary.status))];
        for (const StepView& step : view.steps) {
            ++result_.seen["step " + std::string(to_string(step.status))];
        }
    }
}

/// No more starts of a queue than its rate, in the period that ends now.
void Simulation::watch_start(const Claim& claim) {
    ++result_.limited;
    const auto limits = plan_.queues.find(claim.slot);
    if (limits == plan_.queues.end() || !limits->second.rate) return;
    const QueueRate& rate = *limits->second.rate;
    std::vector<TimePoint>& starts = starts_[claim.slot];
    starts.push_back(clock_.now());
    const auto before = std::ssize(starts) - 1 - rate.starts;
    if (before < 0) return;
    if (clock_.now() - starts[static_cast<std::size_t>(before)] >= rate.period) return;
    result_.crowded = fmt::format("more attempts of queue {} start than its rate", claim.slot);
}

/// No more tasks of a queue, or of a key in it, are held than its limits.
void Simulation::watch_limits() {
    if (plan_.queues.empty()) return;
    std::map<std::string, int> held;
    std::map<std::pair<std::string, std::string>, int> held_of_key;
    for (const InstanceId& id : instances_) {
        for (const TaskRow& task : store_->tasks(id)) {
            if (task.lease_owner.empty() || task.handler.empty()) continue;
            ++held[task.queue];
            if (task.concurrency_key.empty()) continue;
            ++held_of_key[{task.queue, task.concurrency_key}];
        }
    }
    for (const auto& [queue, limits] : plan_.queues) {
        if (limits.concurrency && held[queue] > *limits.concurrency) {
            result_.crowded = fmt::format("{} tasks of queue {} are held", held[queue], queue);
        }
    }
    for (const auto& [place, count] : held_of_key) {
        const auto limits = plan_.queues.find(place.first);
        if (limits == plan_.queues.end() || !limits->second.concurrency_per_key) continue;
        if (count <= *limits->second.concurrency_per_key) continue;
        result_.crowded = fmt::format(
            "{} tasks of the key {} in queue {} are held", count, place.second, place.first
        );
    }
}

}  // namespace ebb::sim
