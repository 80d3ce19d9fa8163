#include "server/api/start_desk.h"

#include <iterator>
#include <utility>

namespace ebb::server {

void StartDesk::take(StartOrder order) {
    Lock lock(mutex_);
    orders_.push_back(std::move(order));
    if (std::exchange(is_working_, true)) return;
    while (!orders_.empty()) {
        std::vector<StartOrder> orders = next_orders();
        lock.unlock();
        try {
            start(orders);
        } catch (const std::exception&) {
            // There is no memory. Requests without an answer get a 500 when their orders go away.
        }
        lock.lock();
    }
    is_working_ = false;
}

std::vector<StartOrder> StartDesk::next_orders() {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < orders_.size() && count < kOrdersMax; ++count) {
        bytes += orders_[count].start.input.size();
        if (count > 0 && bytes > kBytesMax) break;
    }
    const auto end = orders_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<StartOrder> orders(
        std::make_move_iterator(orders_.begin()), std::make_move_iterator(end)
    );
    orders_.erase(orders_.begin(), end);
    return orders;
}

void StartDesk::start(std::vector<StartOrder>& orders) {
    std::vector<AuditEntry> entries;
    std::vector<InstanceStart> starts;
    for (const StartOrder& order : orders) {
        entries.push_back(order.entry);
        starts.push_back(order.start);
    }
    try {
        // Before the acts: what cannot be recorded is not done.
        audit_.write(std::move(entries));
    } catch (const std::exception&) {
        const StartOrder::Outcome failed{.error = std::current_exception()};
        for (const StartOrder& order : orders) order.done(failed);
        return;
    }
    std::vector<StartedInstance> started;
    try {
        started = engine_.start_each(starts);
    } catch (const std::exception&) {
        // One of them may be to blame: each gets an answer of its own.
        for (const StartOrder& order : orders) start_one(order);
        return;
    }
    for (std::size_t i = 0; i < orders.size(); ++i) orders[i].done({.started = started[i]});
}

void StartDesk::start_one(const StartOrder& order) {
    StartOrder::Outcome outcome;
    try {
        outcome.started = engine_.start_each({&order.start, 1}).front();
    } catch (const std::exception&) {
        outcome.error = std::current_exception();
    }
    order.done(outcome);
}

}  // namespace ebb::server
