#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "engine/hint.h"
#include "engine/service.h"
#include "support/sync.h"

namespace ebb::engine {

/// Hints for other processes, until the herald sends them. Thread-safe.
class HintBox {
 public:
    /// Connects the herald, whose alarm rings when there is something to send. Before this call
    /// nothing is kept. Call it once, before anything else.
    void connect(Alarm& alarm) { alarm_ = &alarm; }

    /// A task that any worker may claim when it is due.
    void note_work(std::string_view handler, std::string_view queue, TimePoint due);
    /// Tasks have become claimable, but their queues and times are not known.
    void note_any_work();
    /// The work that another worker may be doing for this instance is no longer needed.
    void note_stop(const InstanceId& instance);

    bool is_empty() const;
    /// As many hints as fit one message.
    Hint take();

    /// How many have been noted since the last call, also those that say what another one says.
    std::int64_t take_noted() { return noted_.exchange(0); }

    /// The maximum number of remembered stops. Heartbeats report the others.
    static constexpr std::size_t kStopsMax = 10'000;

 private:
    template <class Change>
    void note(Change change);

    Alarm* alarm_ = nullptr;
    std::atomic<std::int64_t> noted_{0};
    mutable Mutex mutex_;
    Hint hint_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
