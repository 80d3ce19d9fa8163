#include "engine/hint_box.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ebb::engine {

template <class Change>
void HintBox::note(Change change) {
    if (alarm_ == nullptr) return;
    ++noted_;
    bool is_first = false;
    {
        const Lock lock(mutex_);
        is_first = hint_.is_empty();
        change();
    }
    if (is_first) alarm_->ring();
}

void HintBox::note_work(std::string_view handler, std::string_view queue, TimePoint due) {
    note([&]() EBB_REQUIRES(mutex_) {
        for (Hint::Work& known : hint_.work) {
            if (known.handler != handler || known.queue != queue) continue;
            known.due = std::min(known.due, due);
            return;
        }
        if (hint_.work.size() < Hint::kWorkMax) {
            hint_.work.push_back({std::string(handler), std::string(queue), due});
        } else {
            hint_.is_any_work = true;
        }
    });
}

void HintBox::note_any_work() {
    note([&]() EBB_REQUIRES(mutex_) { hint_.is_any_work = true; });
}

void HintBox::note_stop(const InstanceId& instance) {
    note([&]() EBB_REQUIRES(mutex_) {
        const auto& stops = hint_.stops;
        if (stops.size() >= kStopsMax || (!stops.empty() && stops.back() == instance)) return;
        hint_.stops.push_back(instance);
    });
}

bool HintBox::is_empty() const {
    const Lock lock(mutex_);
    return hint_.is_empty();
}

Hint HintBox::take() {
    const Lock lock(mutex_);
    Hint taken = std::exchange(hint_, {});
    if (taken.stops.size() > Hint::kStopsMax) {
        const auto rest = taken.stops.begin() + Hint::kStopsMax;
        hint_.stops.assign(rest, taken.stops.end());
        taken.stops.erase(rest, taken.stops.end());
    }
    return taken;
}

}  // namespace ebb::engine
