#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/engine.h>
#include <ebb/handler.h>

#include "call/call.h"
#include "call/observers.h"
#include "engine/limited_queues.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/log.h"

namespace ebb::engine {

/// The counters behind EngineCounters. Each is exact; together they are not a snapshot.
struct Statistics {
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::uint64_t> finished{0};
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::uint64_t> attempts_failed{0};
    std::atomic<std::uint64_t> commits{0};
    std::atomic<std::uint64_t> conflicts{0};
    std::atomic<std::uint64_t> claims{0};
    std::atomic<std::uint64_t> tasks_claimed{0};
    std::atomic<std::uint64_t> leases_lost{0};
    std::atomic<std::uint64_t> store_errors{0};
    std::atomic<int> in_flight{0};
    std::atomic<int> slots{0};  ///< held in queues with limits
    std::atomic<int> stuck_handlers{0};
    std::atomic<int> async_calls{0};  ///< in progress, without a thread
};

/// One look at both clocks. It says which steady time a date has, as long as nobody sets the clock.
struct Moment {
    TimePoint date;
    SteadyPoint steady;

    SteadyPoint at(TimePoint when) const;
    TimePoint at(SteadyPoint when) const;
};

/// Whether this engine may hold leases now. Written by the runner and the keeper, read by all.
struct WorkerState {
    std::atomic<bool> is_driven{false};    ///< by threads, or by somebody who polls
    std::atomic<bool> has_threads{false};  ///< of its own
    std::atomic<bool> is_draining{false};  ///< takes nothing new any more
    /// Another process has its name, and all that was leased to it. It drains.
    std::atomic<bool> is_displaced{false};
    /// The database denies it what it needs. Somebody must change that: it takes nothing new.
    std::atomic<bool> is_denied{false};
    std::atomic<Duration::rep> denial_told_at{0};
    std::atomic<Duration::rep> leases_valid_until{0};

    /// False: the last heartbeat is so old that others may have taken our tasks over.
    bool has_valid_leases(SteadyPoint now) const {
        return now.time_since_epoch().count() < leases_valid_until.load();
    }

    /// Will another heartbeat tell what is still ours?
    bool may_come_back() const { return is_driven && !is_draining; }

    bool may_hold(SteadyPoint now) const {
        return is_driven && !is_draining && has_valid_leases(now);
    }
};

/// What the parts of one engine share: the store, the time, the options and the counters.
/// Everything that is not atomic is constant after construction.
class Environment {
    SystemClock system_clock_;  // before the others: they may ask it for the time

 public:
    /// Throws Error with InvalidArgument when an option cannot be right.
    Environment(Store& store_in, const HandlerRegistry& handlers_in, EngineOptions options_in);
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    Store& store;
    const HandlerRegistry& handlers;
    const EngineOptions options;  ///< with all defaults resolved
    const Clock& clock;
    const Log log;
    const TimePoint started_at;
    Statistics statistics;
    WorkerState worker;
    LimitedQueues limited;
    Observers observers;  ///< filled before anything runs

    /// The date: of what is written into the store and compared there (due times, deadlines).
    TimePoint now() const { return clock.now(); }

    /// For everything that takes a while: leases, heartbeats, timeouts, pauses.
    SteadyPoint steady_now() const { return clock.steady_now(); }

    Moment moment() const { return {now(), steady_now()}; }

    /// This worker, as the store tells it from others that had its name.
    WorkerProcess process() const { return {options.worker_id, started_at}; }

    PayloadLimits limits() const { return {options.payload_bytes_max, options.json_depth_max}; }

    CallLimits call_limits() const { return {limits(), options.error_bytes_max}; }

    /// Is the handler registered here, and the queue served?
    bool can_run(std::string_view handler, std::string_view queue) const;

    /// Can it, and without a claim: has the queue no limits?
    bool may_keep(std::string_view handler, std::string_view queue) const {
        return can_run(handler, queue) && !limited.has(queue);
    }

    /// How long the handler may go on after it was asked to stop.
    Duration grace_of(std::string_view handler) const;
    /// Of all that may be running.
    Duration longest_grace() const;

    /// Logs and counts an exception of the store; `what` is a stable snake_case name. Where the
    /// database denies what a worker needs, this is logged now and then, with all that is missing.
    void report(std::string_view what, const std::exception& error);

    /// Logs and counts an exception of what a worker can do without.
    void warn(std::string_view what, const std::exception& error);

 private:
    static EngineOptions resolve(EngineOptions options);
};

/// It is no fault of one instance: the database lets nobody do this who has no right to it, or
/// whose program does not know its tables. What was to be written is kept until it lets us.
bool is_denial(const std::exception& error);
/// The same may succeed later as it is.
bool may_pass(const Error& error);

/// How often the database is asked again after it has denied something.
inline constexpr Duration kDenialPause = std::chrono::seconds(5);

/// The name and process of this machine, for the worker's row.
std::string host_name();
std::int64_t process_id();

}  // namespace ebb::engine
