#include <vector>

#include <ebb/clock.h>

#include "server/http/connection.h"

namespace ebb::http {

bool Hall::enter(const std::string& address) {
    if (open >= options.limits.connections_max) return false;
    const Lock lock(mutex_);
    // All clients of one Unix socket have the same address.
    std::size_t& count = by_address_[address];
    const bool is_unix = address.starts_with("unix:");
    if (!is_unix && count >= options.limits.connections_per_address_max) return false;
    ++count;
    ++open;
    return true;
}

void Hall::leave(const std::string& address, const LiveConnection* connection) {
    const Lock lock(mutex_);
    const auto found = by_address_.find(address);
    if (found != by_address_.end() && --found->second == 0) by_address_.erase(found);
    connections_.erase(connection);
    --open;
    changed_.notify_all();
}

void Hall::add(const std::shared_ptr<LiveConnection>& connection) {
    const Lock lock(mutex_);
    connections_.emplace(connection.get(), connection);
}

void Hall::for_each(const std::function<void(LiveConnection&)>& each) {
    std::vector<std::shared_ptr<LiveConnection>> living;
    {
        const Lock lock(mutex_);
        for (const auto& [key, weak] : connections_) {
            if (auto connection = weak.lock()) living.push_back(std::move(connection));
        }
    }
    for (const auto& connection : living) each(*connection);
}

void Hall::begin_busy() {
    const Lock lock(mutex_);
    ++busy_;
}

void Hall::end_busy() {
    const Lock lock(mutex_);
    --busy_;
    changed_.notify_all();
}

bool Hall::wait_for_requests(std::chrono::milliseconds limit) {
    const SystemClock clock;
    const SteadyPoint end = clock.steady_now() + limit;
    Lock lock(mutex_);
    while (busy_ > 0) {
        const Duration left = end - clock.steady_now();
        if (left <= left.zero()) return false;
        changed_.wait_for(lock, left);
    }
    return true;
}

void Hall::wait_until_empty(std::chrono::milliseconds limit) {
    const SystemClock clock;
    const SteadyPoint end = clock.steady_now() + limit;
    Lock lock(mutex_);
    while (open > 0) {
        const Duration left = end - clock.steady_now();
        if (left <= left.zero()) return;
        changed_.wait_for(lock, left);
    }
}

Limits::Milliseconds Hall::idle_timeout() const {
    const Limits& limits = options.limits;
    const bool is_crowded = open * 5 > limits.connections_max * 4;
    return is_crowded ? limits.busy_idle_timeout : limits.idle_timeout;
}

}  // namespace ebb::http
