#include "engine/inbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ebb::engine {

void Reply::give(Answer answer) {
    // Notified under the lock: the waiter may destroy this as soon as it sees the answer.
    const Lock lock(mutex_);
    if (!answer_) answer_ = std::move(answer);
    given_.notify_all();
}

Reply::Answer Reply::wait() {
    Lock lock(mutex_);
    while (!answer_) given_.wait(lock);
    return *answer_;
}

bool Reply::is_given() const {
    const Lock lock(mutex_);
    return answer_.has_value();
}

void Inbox::post(Item item) {
    const Lock lock(mutex_);
    items_.push_back(std::move(item));
}

void Inbox::put_back(std::vector<Item> items) {
    const Lock lock(mutex_);
    items_.insert(
        items_.begin(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end())
    );
}

bool Inbox::try_enter() {
    const Lock lock(mutex_);
    if (is_taken_) return false;
    is_taken_ = true;
    return true;
}

std::vector<Item> Inbox::take(std::size_t max) {
    const Lock lock(mutex_);
    if (items_.size() <= max) {
        std::vector<Item> taken = std::exchange(items_, {});
        // The next ones will be about as many.
        items_.reserve(taken.size());
        return taken;
    }
    const auto end = items_.begin() + static_cast<std::ptrdiff_t>(max);
    std::vector<Item> taken(std::make_move_iterator(items_.begin()), std::make_move_iterator(end));
    items_.erase(items_.begin(), end);
    return taken;
}

bool Inbox::leave_if_empty() {
    const Lock lock(mutex_);
    if (!items_.empty() || !landed_.empty()) return false;
    is_taken_ = false;
    return true;
}

bool Inbox::leave_unless_landed() {
    const Lock lock(mutex_);
    if (!landed_.empty()) return false;
    is_taken_ = false;
    return true;
}

void Inbox::land(FlightPtr flight) {
    const Lock lock(mutex_);
    landed_.push_back(std::move(flight));
}

std::vector<FlightPtr> Inbox::take_landed() {
    const Lock lock(mutex_);
    return std::exchange(landed_, {});
}

bool Inbox::has_request() const {
    const Lock lock(mutex_);
    return std::any_of(items_.begin(), items_.end(), [](const Item& item) {
        return std::holds_alternative<item::Request>(item);
    });
}

bool Inbox::has_items() const {
    const Lock lock(mutex_);
    return !items_.empty();
}

bool Inbox::leave() {
    const Lock lock(mutex_);
    kCommitter.end();
    is_taken_ = false;
    return items_.empty() && landed_.empty();
}

}  // namespace ebb::engine
