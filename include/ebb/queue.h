#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ebb/time.h>

// Queues and workers: how many tasks of a queue run at the same time over all workers, and which
// worker can run which handler.

namespace ebb {

/// At most `starts` attempts begin within any `period`, over all workers.
struct QueueRate {
    int starts = 0;
    Duration period{0};

    bool operator==(const QueueRate&) const = default;
};

/// The limits of one queue over all workers that share a store. An absent limit does not apply.
struct QueueLimits {
    /// How many of its tasks workers hold at the same time; 0 = none starts, so the queue is
    /// paused.
    std::optional<int> concurrency{};
    /// The same for each value of the steps' `concurrency_key`; it does not apply to steps without
    /// a key.
    std::optional<int> concurrency_per_key{};
    std::optional<QueueRate> rate{};

    bool operator==(const QueueLimits&) const = default;

    bool is_unlimited() const { return !concurrency && !concurrency_per_key && !rate; }

    static constexpr int kConcurrencyMax = 1'000'000;
    static constexpr int kStartsMax = 1'000'000;
    static constexpr Duration kPeriodMin = std::chrono::milliseconds(1);
    static constexpr Duration kPeriodMax = std::chrono::hours(24 * 31);
    /// The number of queues of one store that can have limits.
    static constexpr int kQueuesMax = 1'000;
};

/// A queue that has limits or tasks.
struct QueueView {
    std::string name;
    QueueLimits limits;
    TimePoint updated_at{};     ///< of the limits; zero if there are none
    std::int64_t running = 0;   ///< tasks of its steps that a worker holds
    std::int64_t waiting = 0;   ///< tasks that are due: for a worker, or for the limits
    std::int64_t sleeping = 0;  ///< tasks that are due later: retries
    std::int64_t slots = 0;     ///< how many of its `concurrency` are in use
    std::int64_t starts = 0;    ///< how many starts of its rate are used up now
    TimePoint next_start{};     ///< when the rate admits another start; zero = now

    bool operator==(const QueueView&) const = default;
};

/// A worker that has sent heartbeats and not signed off.
struct WorkerView {
    std::string id;
    std::string host;
    std::int64_t pid = 0;
    std::vector<std::string> handlers;
    std::vector<std::string> queues;  ///< empty = all
    int threads = 0;                  ///< handlers at once; 0 while it drains
    TimePoint started_at{};
    TimePoint expires_at{};    ///< of its leases, unless it sends another heartbeat
    bool is_alive = false;     ///< by the clock of this engine
    bool is_draining = false;  ///< it takes no new tasks, according to its last heartbeat
    std::int64_t tasks = 0;    ///< that it holds: running, or about to

    bool operator==(const WorkerView&) const = default;
};

/// Due tasks that no live worker can run.
struct UnservedTasks {
    std::string handler;
    std::string queue;
    std::int64_t count = 0;

    bool operator==(const UnservedTasks&) const = default;
};

}  // namespace ebb
