#include "server/api/start_desk.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <ebb/error.h>

namespace ebb::server {

namespace {

/// Whether they can be one call of start_all().
bool are_alike(const InstanceStart& one, const InstanceStart& other) {
    const StartOptions& a = one.options;
    const StartOptions& b = other.options;
    return one.workflow == other.workflow && a.version == b.version && a.priority == b.priority &&
           a.by == b.by && a.labels == b.labels;
}

/// Whether one of several starts is to blame, so that none was stored. What the store says concerns
/// all of them, and they may have been stored.
bool is_of_one(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    return known != nullptr && !to_string(known->code()).starts_with("store_");
}

}  // namespace

void StartDesk::take(StartOrder order) {
    if (!order.start.options.key.empty()) {
        Orders alone;
        alone.push_back(std::move(order));
        if (record(alone)) start_one(alone.front());
        return;
    }
    Lock lock(mutex_);
    orders_.push_back(std::move(order));
    if (std::exchange(is_working_, true)) return;
    while (!orders_.empty()) {
        const Orders orders = next_orders();
        lock.unlock();
        try {
            if (record(orders)) start(orders);
        } catch (const std::exception&) {
            // There is no memory. Requests without an answer get a 500 when their orders go away.
        }
        lock.lock();
    }
    is_working_ = false;
}

StartDesk::Orders StartDesk::next_orders() {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < orders_.size() && count < kOrdersMax; ++count) {
        bytes += orders_[count].start.input.size();
        if (count > 0 && bytes > kBytesMax) break;
    }
    const auto end = orders_.begin() + static_cast<std::ptrdiff_t>(count);
    Orders orders(std::make_move_iterator(orders_.begin()), std::make_move_iterator(end));
    orders_.erase(orders_.begin(), end);
    return orders;
}

bool StartDesk::record(const Orders& orders) {
    std::vector<AuditEntry> entries;
    for (const StartOrder& order : orders) entries.push_back(order.entry);
    try {
        // Before the acts: what cannot be recorded is not done.
        audit_.write(std::move(entries));
        return true;
    } catch (const std::exception&) {
        const StartOrder::Outcome failed{.error = std::current_exception()};
        for (const StartOrder& order : orders) order.done(failed);
        return false;
    }
}

void StartDesk::start(const Orders& orders) {
    std::vector<std::vector<const StartOrder*>> groups;
    for (const StartOrder& order : orders) {
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) {
            return are_alike(each.front()->start, order.start);
        });
        if (group == groups.end()) {
            groups.push_back({&order});
        } else {
            group->push_back(&order);
        }
    }
    for (const auto& group : groups) start_alike(group);
}

void StartDesk::start_alike(const std::vector<const StartOrder*>& orders) {
    std::vector<Payload> inputs;
    for (const StartOrder* order : orders) inputs.push_back(order->start.input);
    const InstanceStart& first = orders.front()->start;
    std::vector<StartedInstance> started;
    try {
        started = engine_.start_all(first.workflow, inputs, first.options);
    } catch (const std::exception& error) {
        if (orders.size() > 1 && is_of_one(error)) {
            for (const StartOrder* order : orders) start_one(*order);
            return;
        }
        const StartOrder::Outcome failed{.error = std::current_exception()};
        for (const StartOrder* order : orders) order->done(failed);
        return;
    }
    for (std::size_t i = 0; i < orders.size(); ++i) orders[i]->done({.started = started[i]});
}

void StartDesk::start_one(const StartOrder& order) {
    StartOrder::Outcome outcome;
    try {
        const InstanceStart& start = order.start;
        outcome.started = engine_.start(start.workflow, start.input, start.options);
    } catch (const std::exception&) {
        outcome.error = std::current_exception();
    }
    order.done(outcome);
}

}  // namespace ebb::server
