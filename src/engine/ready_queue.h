#pragma once

#include <deque>
#include <vector>

#include "engine/attempt.h"
#include "support/sync.h"

namespace ebb::engine {

/// Attempts that wait for a thread, first come, first served. Thread-safe.
class ReadyQueue {
 public:
    void push(std::vector<AttemptPtr> attempts);
    /// Waits for one. Null when the queue was closed.
    AttemptPtr pop();
    /// Null when there is none now.
    AttemptPtr try_pop();
    std::size_t size() const;
    /// Lets every waiting thread return.
    void close();

 private:
    mutable Mutex mutex_;
    CondVar changed_;
    std::deque<AttemptPtr> attempts_ EBB_GUARDED_BY(mutex_);
    int idle_ EBB_GUARDED_BY(mutex_) = 0;
    bool is_closed_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::engine
