#include "engine/waiters.h"

namespace ebb::engine {

Waiters::Waiter::Waiter(Waiters& waiters, const InstanceId& id) : waiters_(waiters), id_(id) {
    const Lock lock(waiters_.mutex_);
    waiters_.waiters_.emplace(id, this);
}

Waiters::Waiter::~Waiter() {
    const Lock lock(waiters_.mutex_);
    auto [at, end] = waiters_.waiters_.equal_range(id_);
    while (at != end && at->second != this) ++at;
    if (at != end) waiters_.waiters_.erase(at);
}

std::optional<Result> Waiters::Waiter::wait(Duration limit) {
    Lock lock(waiters_.mutex_);
    if (!result_ && !is_nudged_ && limit > Duration::zero()) changed_.wait_for(lock, limit);
    is_nudged_ = false;
    return result_;
}

void Waiters::expect(const InstanceId& id) {
    const Lock lock(mutex_);
    if (expected_.size() >= kExpectedMax) expected_.clear();
    expected_.insert(id);
}

bool Waiters::is_expected(const InstanceId& id) const {
    const Lock lock(mutex_);
    return expected_.contains(id);
}

bool Waiters::end(const InstanceId& id) {
    const Lock lock(mutex_);
    expected_.erase(id);
    return waiters_.contains(id);
}

void Waiters::notify(const InstanceId& id, const Result& result) {
    const Lock lock(mutex_);
    auto [at, end] = waiters_.equal_range(id);
    for (; at != end; ++at) {
        at->second->result_ = result;
        at->second->changed_.notify_all();
    }
}

void Waiters::nudge() {
    const Lock lock(mutex_);
    for (auto& [id, waiter] : waiters_) {
        waiter->is_nudged_ = true;
        waiter->changed_.notify_all();
    }
}

}  // namespace ebb::engine
