#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/attempt.h"
#include "support/sync.h"

namespace ebb::engine {

/// Attempts that wait for a thread, by rank: priority first, unless a task has waited long. Of
/// equal rank, first come, first served. Thread-safe.
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

    struct Entry {
        std::int64_t rank = 0;
        std::uint64_t number = 0;  ///< of its coming
        AttemptPtr attempt;

        /// As std's heaps want it: the greatest is taken first.
        bool operator<(const Entry& other) const {
            return std::pair(rank, number) > std::pair(other.rank, other.number);
        }
    };

    AttemptPtr take_first() EBB_REQUIRES(mutex_);

    std::vector<Entry> attempts_ EBB_GUARDED_BY(mutex_);  // a heap
    std::uint64_t last_number_ EBB_GUARDED_BY(mutex_) = 0;
    int idle_ EBB_GUARDED_BY(mutex_) = 0;
    bool is_closed_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::engine
