#include <algorithm>
#include <unordered_map>

#include <ebb/rollback_depth.h>

#include "support/sync.h"

namespace ebb {

namespace {

class Depths final : public RollbackDepth {
 public:
    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        const Lock lock(mutex_);
        for (const HistoryEntry& event : events) count(instance.id, event.type);
    }

    int depth(const InstanceId& instance) const override {
        const Lock lock(mutex_);
        const auto found = depths_.find(instance);
        return found == depths_.end() ? 0 : found->second.deepest;
    }

    int deepest() const override {
        const Lock lock(mutex_);
        int deepest = 0;
        for (const auto& [instance, depth] : depths_) deepest = std::max(deepest, depth.deepest);
        return deepest;
    }

 private:
    struct Depth {
        int running = 0;  ///< rollbacks that have begun and not finished
        int undone = 0;   ///< by them
        int deepest = 0;
    };

    void count(const InstanceId& instance, std::string_view type) EBB_REQUIRES(mutex_) {
        if (type == "rollback_started") {
            Depth& depth = depths_[instance];
            if (depth.running++ == 0) depth.undone = 0;
        }
        const bool is_undone = type == "step_compensated" || type == "compensation_failed" ||
                               type == "compensation_skipped" || type == "state_restored";
        const auto found = depths_.find(instance);
        if (found == depths_.end()) return;
        Depth& depth = found->second;
        if (is_undone) depth.deepest = std::max(depth.deepest, ++depth.undone);
        if (type == "rollback_finished" && depth.running > 0) --depth.running;
    }

    mutable Mutex mutex_;
    std::unordered_map<InstanceId, Depth> depths_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<RollbackDepth> make_rollback_depth() {
    return std::make_shared<Depths>();
}

}  // namespace ebb
