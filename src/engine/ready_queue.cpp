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
        for (AttemptPtr& attempt : attempts) attempts_.push_back(std::move(attempt));
    }
    for (; to_wake > 0; --to_wake) changed_.notify_one();
}

AttemptPtr ReadyQueue::pop() {
    Lock lock(mutex_);
    while (attempts_.empty() && !is_closed_) {
        ++idle_;
        changed_.wait(lock);
        --idle_;
    }
    if (attempts_.empty()) return nullptr;
    AttemptPtr attempt = std::move(attempts_.front());
    attempts_.pop_front();
    return attempt;
}

AttemptPtr ReadyQueue::try_pop() {
    const Lock lock(mutex_);
    if (attempts_.empty()) return nullptr;
    AttemptPtr attempt = std::move(attempts_.front());
    attempts_.pop_front();
    return attempt;
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
