#include "engine/service.h"

namespace ebb::engine {

void Alarm::ring() {
    {
        const Lock lock(mutex_);
        is_rung_ = true;
    }
    rung_changed_.notify_all();
    if (echo_) echo_();
}

void Alarm::wait(Duration limit) {
    Lock lock(mutex_);
    // A spurious wake-up only makes the service look once too often.
    if (!is_rung_ && limit > Duration::zero()) rung_changed_.wait_for(lock, limit);
    is_rung_ = false;
}

}  // namespace ebb::engine
