#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include <ebb/clock.h>

#include "support/sync.h"

namespace ebb::server {

/// The threads that may block: on the store, and on the engine. Bounded: what does not fit is
/// refused at once.
class Pool {
 public:
    struct Options {
        int threads = 8;
        std::size_t queue_max = 256;
        Duration wait_max = std::chrono::seconds(2);
    };

    Pool(Options options, const Clock& clock);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// `work` runs soon; `late` instead, if it would have had to wait for too long. False: the
    /// queue is full, and neither will run.
    bool post(std::function<void()> work, std::function<void()> late);

    /// How much has been posted and has not begun.
    std::size_t waiting() const;

    /// How often a thread was woken, in all.
    std::uint64_t wakeups() const;

    /// Whether nothing that was posted has waited for longer than `limit`: for health checks.
    bool is_moving(Duration limit) const;

    /// Waits until all that was posted is done, and ends the threads. Idempotent.
    void stop();

 private:
    struct Item {
        std::function<void()> work;
        std::function<void()> late;
        SteadyPoint posted{};
    };

    void run();
    void wake_one() EBB_REQUIRES(mutex_);

    const Options options_;
    const Clock& clock_;
    mutable Mutex mutex_;
    CondVar changed_;
    std::deque<Item> queue_ EBB_GUARDED_BY(mutex_);
    int idle_ EBB_GUARDED_BY(mutex_) = 0;            // threads that wait for work
    bool is_waking_ EBB_GUARDED_BY(mutex_) = false;  // one of them is on its way
    std::uint64_t wakeups_ EBB_GUARDED_BY(mutex_) = 0;
    bool is_stopped_ EBB_GUARDED_BY(mutex_) = false;
    std::vector<std::jthread> threads_;
};

}  // namespace ebb::server
