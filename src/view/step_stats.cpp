#include "view/step_stats.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include <ebb/diagram.h>

#include "view/start_delay.h"

namespace ebb::view {

namespace {

constexpr double kHalf = 0.5;
constexpr double kMost = 0.95;

/// What is known of one node.
struct NodeStats {
    std::string kind{};
    std::int64_t visits = 0;
    std::int64_t attempts = 0;
    std::int64_t retried = 0;  ///< visits with more than one attempt
    std::int64_t failed = 0;   ///< for good
    std::int64_t compensated = 0;
    std::int64_t open = 0;          ///< they have not ended
    std::vector<double> seconds{};  ///< of the visits that completed, from the first attempt on
    std::vector<double> waits{};    ///< from when the first attempt could have begun until it did

    void add(const StepView& step) {
        kind = step.kind;
        ++visits;
        attempts += step.attempts;
        if (step.attempts > 1) ++retried;
        using enum StepMark::State;
        if (step.status == Failed || step.status == CompensationFailed) ++failed;
        if (step.status == Compensated) ++compensated;
        const bool is_open = step.status == Pending || step.status == Running ||
                             step.status == Retrying || step.status == Waiting;
        if (is_open) ++open;
        if (step.status != Completed || step.started_at == TimePoint{}) return;
        seconds.push_back(std::chrono::duration<double>(step.finished_at - step.started_at).count()
        );
    }
};

/// The value that so large a part of them does not exceed; null if there are none. Sorted.
Json quantile(const std::vector<double>& sorted, double part) {
    if (sorted.empty()) return nullptr;
    const auto last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(part * last + kHalf)];
}

Json node_json(const std::string& node, NodeStats stats) {
    std::sort(stats.seconds.begin(), stats.seconds.end());
    std::sort(stats.waits.begin(), stats.waits.end());
    return {
        {"node", node},
        {"kind", stats.kind},
        {"visits", stats.visits},
        {"attempts", stats.attempts},
        {"retried", stats.retried},
        {"failed", stats.failed},
        {"compensated", stats.compensated},
        {"open", stats.open},
        {"p50_seconds", quantile(stats.seconds, kHalf)},
        {"p95_seconds", quantile(stats.seconds, kMost)},
        {"wait_p95_seconds", quantile(stats.waits, kMost)},
    };
}

void add_waits(const std::vector<HistoryEvent>& events, std::map<std::string, NodeStats>& nodes) {
    for (const StartDelay& start : start_delays(events)) {
        const auto node = nodes.find(start.node);
        if (node == nodes.end()) continue;
        node->second.waits.push_back(std::chrono::duration<double>(start.delay).count());
    }
}

}  // namespace

Json step_stats_json(
    Engine& reader, Store& store, const Clock& clock, const std::string& workflow, int version
) {
    const auto end = clock.steady_now() + StepStats::kTimeMax;
    const InstanceHits hits =
        store.search({.workflow = workflow, .version = version, .limit = StepStats::kInstancesMax});
    // By the first instance that has the node, and in it by its first event: the order of the flow.
    std::vector<std::string> order;
    std::map<std::string, NodeStats> nodes;
    TimePoint since{};
    int read = 0;
    int left_out = 0;
    bool is_complete = !hits.next.has_value();
    for (const InstanceRow& row : hits.rows) {
        if (clock.steady_now() >= end) {
            is_complete = false;
            break;
        }
        since = row.created_at;
        if (row.revision > StepStats::kEventsMax) {
            ++left_out;
            continue;
        }
        for (const StepView& step : reader.show(row.id).steps) {
            const auto [found, is_new] = nodes.try_emplace(step.node);
            if (is_new) order.push_back(step.node);
            found->second.add(step);
        }
        add_waits(store.history({.instance = row.id, .limit = StepStats::kEventsMax}), nodes);
        ++read;
    }
    Json items = Json::array();
    for (const std::string& node : order) items.push_back(node_json(node, std::move(nodes[node])));
    return {
        {"workflow", workflow},
        {"version", version},
        {"instances", read},
        {"left_out", left_out},
        {"complete", is_complete},
        {"since", time_json(since)},
        {"items", std::move(items)},
    };
}

}  // namespace ebb::view
