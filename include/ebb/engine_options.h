#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ebb/observer.h>
#include <ebb/time.h>

// How an engine works, and what it counts.

namespace ebb {

class Clock;
class LogSink;

/// All options of an engine. A duration of zero or less is an error unless the option allows it.
struct EngineOptions {
    static constexpr Duration kLeaseMin = std::chrono::milliseconds(100);
    static constexpr Duration kLeaseMax = std::chrono::hours(24);
    static constexpr std::size_t kWorkerIdBytesMax = 200;

    /// At most kWorkerIdBytesMax bytes of UTF-8 text without spaces and control characters. Must be
    /// unique among live engines; empty = made from host, process and a random number. A worker
    /// that comes back under its old name immediately takes over the tasks that it held when it
    /// died. If the old worker still lives, it is displaced (Engine::is_displaced).
    std::string worker_id{};
    int threads = 0;  ///< handler threads; 0 = one per core, at least 2
    /// Tasks held at once, running and queued in this process. A worker holds at most one task for
    /// each thread if handlers are slow, and as many as it finishes in 50 ms if they are quick.
    /// Asynchronous calls (<ebb/completion.h>) need no thread: only this bounds how many are in
    /// flight.
    int in_flight_max = 4'096;
    int claim_batch_max = 256;  ///< tasks taken with one claim
    std::size_t claim_bytes_max =
        std::size_t{16} << 20;   ///< of their states and inputs; a single task may need more
    int commit_batch_max = 512;  ///< instances written in one transaction
    std::size_t commit_bytes_max =
        std::size_t{16}
        << 20;  ///< of state and payloads in one transaction; a single instance may need more
    std::vector<std::string> queues{};  ///< the queues to serve; empty = all
    /// Other workers take over a dead worker's tasks this long after its last heartbeat; kLeaseMin
    /// to kLeaseMax.
    Duration lease = std::chrono::seconds(10);
    Duration poll_min =
        std::chrono::milliseconds(5);             ///< between claims that found something to do
    Duration poll_max = std::chrono::seconds(1);  ///< between claims when idle
    /// The same if other processes notify this one of new work (PostgreSQL, by LISTEN); at least
    /// poll_max.
    Duration poll_max_told = std::chrono::seconds(20);
    /// How long a handler may continue after it was asked to stop, before the engine gives it up;
    /// longer if its own grace is longer (HandlerRegistry::set_grace).
    Duration stop_grace = std::chrono::seconds(5);
    std::size_t payload_bytes_max = std::size_t{1} << 20;
    int json_depth_max = 64;
    std::size_t error_bytes_max = 8 << 10;  ///< of a failure's message; the rest is cut off
    /// <ebb/clock.h>; null = the store's. Any other than the store's is refused (InvalidArgument),
    /// because tasks would not become due at the right time. Must outlive the engine.
    const Clock* clock = nullptr;
    LogSink* log = nullptr;  ///< <ebb/log.h>; null = silent; must outlive the engine
    /// Notified of all events of instances, in this order (<ebb/observer.h>).
    std::vector<std::shared_ptr<Observer>> observers{};
};

/// Monotonic counters of a worker since the engine was created.
struct EngineCounters {
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    std::uint64_t steps = 0;
    std::uint64_t attempts_failed = 0;
    std::uint64_t commits = 0;  ///< transactions
    std::uint64_t conflicts = 0;
    std::uint64_t claims = 0;
    std::uint64_t tasks_claimed = 0;
    std::uint64_t leases_lost = 0;
    std::uint64_t store_errors = 0;   ///< calls of the store that failed and were retried
    std::uint64_t mail_received = 0;  ///< requests from transactions that were decided here
    std::uint64_t mail_refused = 0;   ///< those of them that were not possible any more
    std::uint64_t mail_dropped = 0;   ///< those whose instance had ended first
    int in_flight = 0;
    int stuck_handlers = 0;  ///< calls given up after a timeout that have not returned yet
};

}  // namespace ebb
