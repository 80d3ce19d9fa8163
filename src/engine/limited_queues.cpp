#include "engine/limited_queues.h"

#include <algorithm>
#include <utility>

namespace ebb::engine {

bool LimitedQueues::has(std::string_view queue) const {
    if (is_empty()) return false;
    const Lock lock(mutex_);
    return std::binary_search(names_.begin(), names_.end(), queue);
}

std::vector<std::string> LimitedQueues::names() const {
    if (is_empty()) return {};
    const Lock lock(mutex_);
    return names_;
}

bool LimitedQueues::set(std::vector<std::string> names) {
    const Lock lock(mutex_);
    if (names_ == names) return false;
    names_ = std::move(names);
    is_empty_ = names_.empty();
    return true;
}

void LimitedQueues::set_one(std::string_view queue, bool has_limits) {
    const Lock lock(mutex_);
    const auto at = std::lower_bound(names_.begin(), names_.end(), queue);
    const bool is_known = at != names_.end() && *at == queue;
    if (has_limits && !is_known) names_.emplace(at, queue);
    if (!has_limits && is_known) names_.erase(at);
    is_empty_ = names_.empty();
}

}  // namespace ebb::engine
