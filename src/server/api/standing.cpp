#include "server/api/standing.h"

#include <algorithm>

namespace ebb::server {

Standing Standing::read(Query& query) {
    Standing standing;
    standing.waiting_ = query.choices(
        "waiting", {"decision", "signal", "timer", "retry", "worker", "queue", "operator"}
    );
    standing.node_ = query.text("node");
    standing.worker_ = query.text("worker");
    return standing;
}

void Standing::look_at(Service& service, const std::vector<InstanceRow>& rows) {
    if (is_empty()) return;
    if (outliner_ == nullptr) {
        outliner_ = std::make_unique<view::Outliner>(service.reads, service.clock.now());
    }
    if (!worker_) return;
    std::vector<InstanceId> ids;
    for (const InstanceRow& row : rows) ids.push_back(row.id);
    held_.clear();
    for (const TaskRef& task : service.reads.leased_tasks(*worker_, ids)) {
        held_.insert(task.instance);
    }
}

// The cheapest comes first.
bool Standing::holds(const InstanceRow& row) {
    if (worker_ && !held_.contains(row.id)) return false;
    if (node_) {
        const auto nodes = outliner_->nodes(row);
        if (std::find(nodes.begin(), nodes.end(), *node_) == nodes.end()) return false;
    }
    if (waiting_.empty()) return true;
    const auto waits = outliner_->read(row).waiting_for;
    return std::any_of(waits.begin(), waits.end(), [&](const WaitingFor& wait) {
        return std::find(waiting_.begin(), waiting_.end(), wait.kind) != waiting_.end();
    });
}

}  // namespace ebb::server
