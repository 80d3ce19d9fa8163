#include "server/api/pool.h"

#include <utility>

namespace ebb::server {

Pool::Pool(Options options, const Clock& clock) : options_(options), clock_(clock) {
    for (int i = 0; i < options_.threads; ++i) {
        threads_.emplace_back([this] { run(); });
    }
}

Pool::~Pool() {
    stop();
}

bool Pool::post(std::function<void()> work, std::function<void()> late) {
    const Lock lock(mutex_);
    if (is_stopped_ || queue_.size() >= options_.queue_max) return false;
    queue_.push_back({std::move(work), std::move(late), clock_.steady_now()});
    wake_one();
    return true;
}

void Pool::wake_one() {
    // The one that is waking up takes the work and wakes the next one, if there is more then. With
    // short work, few threads do it all, and hardly ever sleep.
    if (idle_ == 0 || is_waking_) return;
    is_waking_ = true;
    ++wakeups_;
    changed_.notify_one();
}

std::uint64_t Pool::wakeups() const {
    const Lock lock(mutex_);
    return wakeups_;
}

std::size_t Pool::waiting() const {
    const Lock lock(mutex_);
    return queue_.size();
}

bool Pool::is_moving(Duration limit) const {
    const Lock lock(mutex_);
    return queue_.empty() || clock_.steady_now() - queue_.front().posted < limit;
}

void Pool::stop() {
    {
        const Lock lock(mutex_);
        is_stopped_ = true;
        changed_.notify_all();
    }
    threads_.clear();
}

void Pool::run() {
    Lock lock(mutex_);
    while (true) {
        if (queue_.empty()) {
            if (is_stopped_) return;
            ++idle_;
            changed_.wait(lock);
            --idle_;
            is_waking_ = false;
            continue;
        }
        const Item item = std::move(queue_.front());
        queue_.pop_front();
        if (!queue_.empty()) wake_one();
        lock.unlock();
        const bool is_late = clock_.steady_now() - item.posted > options_.wait_max;
        (is_late ? item.late : item.work)();
        lock.lock();
    }
}

}  // namespace ebb::server
