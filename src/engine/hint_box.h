#pragma once

#include <atomic>
#include <string_view>

#include "engine/hint.h"
#include "engine/service.h"
#include "support/sync.h"

namespace ebb::engine {

/// Hints for other processes, until the herald sends them. Thread-safe.
class HintBox {
 public:
    /// There is a herald, whose alarm rings when there is something to say. Before that nothing is
    /// kept. Once, before anything else is called.
    void connect(Alarm& alarm) { alarm_ = &alarm; }

    /// A task that any worker may claim when it is due.
    void note_work(std::string_view handler, std::string_view queue, TimePoint due);
    /// Tasks have become claimable of which no more is known.
    void note_any_work();
    /// Nobody waits any more for what some other worker may be doing for this instance.
    void note_stop(const InstanceId& instance);

    bool is_empty() const;
    /// As much as fits one message.
    Hint take();

    /// More are not remembered: heartbeats tell the rest.
    static constexpr std::size_t kStopsMax = 10'000;

 private:
    template <class Change>
    void note(Change change);

    Alarm* alarm_ = nullptr;
    mutable Mutex mutex_;
    Hint hint_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
