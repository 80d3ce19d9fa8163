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

    /// Somebody has put something, or is about to: where one look finds nothing, the next comes
    /// soon.
    void ring_with_news() {
        has_news_ = true;
        ring();
    }

    bool take_news() { return has_news_.exchange(false); }

    /// Others tell at once what they put, so that looking for it can be rare. Returns what was so.
    bool set_is_told(bool is_told) { return is_told_.exchange(is_told); }

    bool is_told() const { return is_told_; }

    /// Something will be due then.
    void note_due(TimePoint due);
    /// The earliest noted time.
    TimePoint next_due() const;
    /// Forgets what is due by `now`, because a claim is about to look. True: there was something.
    bool forget_until(TimePoint now);

    /// Slots of queues with limits have become free here: others of their tasks may start.
    void note_free_slots(int count) {
        free_slots_ += count;
        ring();
    }

    int take_free_slots() { return free_slots_.exchange(0); }

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
    std::atomic<int> free_slots_{0};
    std::atomic<bool> has_news_{false};
    std::atomic<bool> is_told_{false};
    mutable Mutex mutex_;
    std::set<TimePoint> dues_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
