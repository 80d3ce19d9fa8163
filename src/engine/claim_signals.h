#pragma once

#include <atomic>
#include <set>

#include <ebb/time.h>

#include "engine/service.h"
#include "support/sync.h"

namespace ebb::engine {

/// What this process knows about when a claim will find something. Thread-safe.
class ClaimSignals {
 public:
    /// Whose alarm rings; set once, before anything else is called.
    void connect(Alarm& alarm) { alarm_ = &alarm; }

    /// There may be something now.
    void ring() {
        if (alarm_ != nullptr) alarm_->ring();
    }

    /// Something will be due then.
    void note_due(TimePoint due);
    /// The earliest noted time.
    TimePoint next_due() const;
    /// Forgets what is due by `now`, because a claim is about to look.
    void forget_until(TimePoint now);

    /// There is more to claim than there was room for: ring when there is.
    void want_room() { wants_room_ = true; }

    bool wants_room() const { return wants_room_; }

    void offer_room() {
        if (wants_room_.exchange(false)) ring();
    }

    /// More are not remembered: polling finds the rest.
    static constexpr std::size_t kDuesMax = 1'024;

 private:
    Alarm* alarm_ = nullptr;
    std::atomic<bool> wants_room_{false};
    mutable Mutex mutex_;
    std::set<TimePoint> dues_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
