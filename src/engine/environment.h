#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/engine.h>
#include <ebb/handler.h>

#include "call/call.h"
#include "call/entry_handlers.h"
#include "call/observers.h"
#include "core/kernel/program.h"
#include "engine/limited_queues.h"
#include "engine/subscribers.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/log.h"

namespace ebb::engine {

/// The counters behind EngineCounters. Each is exact; together they are not a consistent snapshot.
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
    std::atomic<std::uint64_t> mail_received{0};
    std::atomic<std::uint64_t> mail_refused{0};
    std::atomic<std::uint64_t> mail_dropped{0};
    std::atomic<int> in_flight{0};
    std::atomic<int> slots{0};         ///< held in queues with limits
    std::atomic<int> thread_slots{0};  ///< of these, those whose handlers need a thread
    std::atomic<int> stuck_handlers{0};
    std::atomic<int> async_calls{0};  ///< in progress, without a thread
};

/// One look at both clocks. It converts dates to steady times as long as the clock is not set.
struct Moment {
    TimePoint date;
    SteadyPoint steady;

    SteadyPoint at(TimePoint when) const;
    TimePoint at(SteadyPoint when) const;
};

/// Whether this engine may hold leases now. Written by the runner and the keeper, read by all
/// threads.
struct WorkerState {
    std::atomic<bool> is_driven{false};    ///< by threads, or by a caller that polls
    std::atomic<bool> has_threads{false};  ///< of its own
    std::atomic<bool> is_draining{false};  ///< takes nothing new any more
    /// Another process has this worker's name and all of its leases. This worker drains.
    std::atomic<bool> is_displaced{false};
    /// The database denies this worker what it needs. Until an administrator changes that, the
    /// worker takes nothing new.
    std::atomic<bool> is_denied{false};
    std::atomic<Duration::rep> denial_told_at{0};
    /// What an earlier process of this name has called is known here: its calls continue, or were
    /// never made. So the tasks that it held are not lost.
    std::atomic<bool> knows_calls{false};
    std::atomic<Duration::rep> leases_valid_until{0};
    /// False: the store could not begin a transaction, so steps that need one are left to other
    /// workers.
    std::atomic<bool> may_transact{true};

    /// False: the last heartbeat is so old that other workers may have taken this worker's tasks.
    bool has_valid_leases(SteadyPoint now) const {
        return now.time_since_epoch().count() < leases_valid_until.load();
    }

    /// Will another heartbeat report which tasks this worker still holds?
    bool may_come_back() const { return is_driven && !is_draining; }

    bool may_hold(SteadyPoint now) const {
        return is_driven && !is_draining && has_valid_leases(now);
    }
};

/// The objects that the parts of one engine share: the store, the time, the options and the
/// counters. All non-atomic members are constant after construction.
class Environment {
    SystemClock system_clock_;  // before the other members, which may use it

 public:
    /// Throws Error with InvalidArgument if an option is not valid.
    Environment(Store& store_in, const HandlerRegistry& handlers_in, EngineOptions options_in);
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    Store& store;
    const HandlerRegistry& handlers;
    const EntryHandlers entry_handlers;  ///< as they are called
    const EngineOptions options;         ///< with all defaults resolved
    const Clock& clock;                  ///< for durations; dates come from the store
    const Log log;  ///< at most WarningLimit::kBurst of each warning in a period
    const TimePoint started_at;
    Statistics statistics;
    WorkerState worker;
    LimitedQueues limited;
    Subscribers subscribers;
    Observers observers;  ///< filled before anything runs
    /// Whether tasks of this version are left to other workers, whatever handlers it names; empty =
    /// none are. Set before anything runs.
    std::function<bool(const Definition&)> leaves;

    /// The date by the store's clock. Dates that are written into the store (due times, deadlines)
    /// are compared there and by other workers, whose machines may have different dates.
    TimePoint now() const { return store.now(); }

    /// For everything that has a duration: leases, heartbeats, timeouts, pauses.
    SteadyPoint steady_now() const { return clock.steady_now(); }

    Moment moment() const { return {.date = now(), .steady = steady_now()}; }

    /// This worker, as the store distinguishes it from others that had its name.
    WorkerProcess process() const { return {.id = options.worker_id, .started_at = started_at}; }

    PayloadLimits limits() const {
        return {
            .payload_bytes_max = options.payload_bytes_max, .json_depth_max = options.json_depth_max
        };
    }

    CallLimits call_limits() const {
        return {.payload = limits(), .error_bytes_max = options.error_bytes_max};
    }

    /// Is the handler registered here, and the queue served?
    bool can_run(std::string_view handler, std::string_view queue) const;

    /// Does the handler need a transaction while none can be begun here?
    bool lacks_transaction(std::string_view handler) const {
        return !worker.may_transact && handlers.is_transactional(handler);
    }

    /// Can it run here now, and without a claim: has the queue no limits?
    bool may_keep(const Program& program, std::string_view handler, std::string_view queue) const {
        return can_run(handler, queue) && !limited.has(queue) && !lacks_transaction(handler) &&
               !(leaves && leaves(program.definition()));
    }

    /// How long the handler may continue after it was asked to stop.
    Duration grace_of(std::string_view handler) const;
    /// The longest grace of all handlers that may be running.
    Duration longest_grace() const;

    /// Logs and counts an exception of the store; `what` is a stable snake_case name. If the
    /// database denies what a worker needs, this is logged occasionally, with everything that is
    /// missing.
    void report(std::string_view what, const std::exception& error);

    /// Logs and counts an exception in something that a worker can do without.
    void warn(std::string_view what, const std::exception& error);

 private:
    static EngineOptions resolve(EngineOptions options);
};

/// The error does not concern one instance: the database refuses every user that lacks the right,
/// or every program that does not know its tables. Pending writes are kept until the database
/// accepts them.
bool is_denial(const std::exception& error);
/// The same call may succeed later without any change.
bool may_pass(const Error& error);

/// How often the database is tried again after it has denied something.
inline constexpr Duration kDenialPause = std::chrono::seconds(5);

/// The name and process id of this machine, for the worker's row.
std::string host_name();
std::int64_t process_id();

}  // namespace ebb::engine
