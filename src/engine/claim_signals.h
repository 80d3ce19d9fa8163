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
    /// The alarm to ring; set once, before anything else is called.
    void connect(Alarm& alarm) { alarm_ = &alarm; }

    /// There may be something to claim now.
    void ring() {
        if (alarm_ != nullptr) alarm_->ring();
    }

    /// Another process has put a task, or is about to. If one look finds nothing, the next one
    /// comes soon.
    void ring_with_news() {
        has_news_ = true;
        ring();
    }

    bool take_news() { return has_news_.exchange(false); }

    /// Whether other processes announce immediately what they put, so that polling can be rare.
    /// Returns the previous value.
    bool set_is_told(bool is_told) { return is_told_.exchange(is_told); }

    bool is_told() const { return is_told_; }

    /// A task will be due at that time.
    void note_due(TimePoint due);
    /// The earliest noted time.
    TimePoint next_due() const;
    /// Forgets what is due by `now`, because a claim is about to look. True: there was something.
    bool forget_until(TimePoint now);

    /// Slots of queues with limits have become free here: other tasks of these queues may start.
    void note_free_slots(int count) {
        free_slots_ += count;
        ring();
    }

    int take_free_slots() { return free_slots_.exchange(0); }

    /// There are more tasks to claim than there was room for: ring when there is room.
    void want_room() { wants_room_ = true; }

    bool wants_room() const { return wants_room_; }

    void offer_room() {
        if (wants_room_.exchange(false)) ring();
    }

    /// The maximum number of remembered times. Polling finds the others.
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
