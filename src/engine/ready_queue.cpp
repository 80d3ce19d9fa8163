#include "engine/ready_queue.h"

#include <algorithm>
#include <utility>

namespace ebb::engine {

void ReadyQueue::push(std::vector<AttemptPtr> attempts) {
    if (attempts.empty()) return;
    int to_wake = 0;
    {
        const Lock lock(mutex_);
        to_wake = std::min(idle_, static_cast<int>(attempts.size()));
        for (AttemptPtr& attempt : attempts) {
            const std::int64_t rank = attempt->call().rank;
            attempts_.push_back({rank, ++last_number_, std::move(attempt)});
            std::push_heap(attempts_.begin(), attempts_.end());
        }
    }
    for (; to_wake > 0; --to_wake) changed_.notify_one();
}

AttemptPtr ReadyQueue::take_first() {
    std::pop_heap(attempts_.begin(), attempts_.end());
    AttemptPtr attempt = std::move(attempts_.back().attempt);
    attempts_.pop_back();
    return attempt;
}

AttemptPtr ReadyQueue::pop() {
    Lock lock(mutex_);
    while (attempts_.empty() && !is_closed_) {
        ++idle_;
        changed_.wait(lock);
        --idle_;
    }
    return attempts_.empty() ? nullptr : take_first();
}

AttemptPtr ReadyQueue::try_pop() {
    const Lock lock(mutex_);
    return attempts_.empty() ? nullptr : take_first();
}

std::size_t ReadyQueue::size() const {
    const Lock lock(mutex_);
    return attempts_.size();
}

void ReadyQueue::close() {
    {
        const Lock lock(mutex_);
        is_closed_ = true;
    }
    changed_.notify_all();
}

}  // namespace ebb::engine
