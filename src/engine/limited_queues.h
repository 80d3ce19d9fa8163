#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "support/sync.h"

namespace ebb::engine {

/// The queues that have limits, as far as this worker knows: from its last heartbeat, and from what
/// was set here. A task of theirs is always claimed. Thread-safe; asking costs nothing where there
/// are none.
class LimitedQueues {
 public:
    bool is_empty() const { return is_empty_.load(std::memory_order_relaxed); }

    bool has(std::string_view queue) const;
    /// Sorted.
    std::vector<std::string> names() const;
    /// Returns whether it is news.
    bool set(std::vector<std::string> names);
    void set_one(std::string_view queue, bool has_limits);

 private:
    std::atomic<bool> is_empty_{true};
    mutable Mutex mutex_;
    std::vector<std::string> names_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
