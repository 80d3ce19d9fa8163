#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "call/call.h"
#include "core/kernel/decide.h"
#include "engine/environment.h"
#include "store/store.h"
#include "support/sync.h"

namespace ebb::engine {

/// One pending or running call of a handler. Shared by the committer, which made it, the thread
/// that runs it, and the watchdog. Its phases only go forward. Exactly one of these takes each
/// step:
///
///     Queued -> Running -> Returned     the call ended
///                       -> GivenUp      it did not end in time: its result will be dropped
///            -> Withdrawn               it never began
class Attempt {
 public:
    enum class Phase { Queued, Running, Returned, GivenUp, Withdrawn };

    /// The reason why the handler was asked to stop, if it was.
    enum class StopReason { None, Timeout, Unwanted, LeaseLost, Shutdown };

    /// The call: constant once the attempt is shared.
    struct Call {
        InstanceId instance;
        Invocation invocation;
        std::shared_ptr<const Program> program;
        std::optional<Payload> input;  ///< of the (forward) step; absent: read it from the store
        std::optional<HistoryEvent> compensated;  ///< absent: read it, if it is a compensation
        std::int64_t rank = 0;  ///< the lowest is called first, as in the store's claims
        TimePoint due{};
    };

    explicit Attempt(Call call) : call_(std::move(call)) {}

    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    const Call& call() const { return call_; }

    TaskRef task() const {
        return {.instance = call_.instance, .token = call_.invocation.attempt.token};
    }

    Phase phase() const { return phase_.load(); }

    StopReason stop_reason() const { return stop_reason_.load(); }

    /// When it began; meaningful from Running on.
    TimePoint started_at() const { return TimePoint(Duration(started_at_.load())); }

    /// How long it has been running at `now`.
    Duration running_for(SteadyPoint now) const {
        return now - SteadyPoint(Duration(running_since_.load()));
    }

    /// When its time is up, as far as the watchdog knows; kSteadyNever if it has no limit.
    SteadyPoint time_limit() const { return SteadyPoint(Duration(time_limit_.load())); }

    void set_time_limit(SteadyPoint limit) { time_limit_ = limit.time_since_epoch().count(); }

    /// Queued -> Running. False: it was withdrawn.
    bool begin(const Moment& now);

    /// Queued -> Withdrawn. False: it has begun.
    bool withdraw() { return move(Phase::Queued, Phase::Withdrawn); }

    /// Running -> Returned. False: it was given up, and its result is no longer useful.
    bool finish() { return move(Phase::Running, Phase::Returned); }

    /// Running -> GivenUp. False: it has returned.
    bool give_up() { return move(Phase::Running, Phase::GivenUp); }

    /// Asks the handler to stop; the first reason is kept. Runs the handler's stop callbacks, so
    /// call it from the watchdog only.
    void request_stop(StopReason reason);

    std::stop_token stop_token() const { return stop_.get_token(); }

    /// The progress that the handler reports; only the newest value is kept.
    void note_progress(Payload value) const;
    /// The progress reported since the last call, unless the last call was too recent.
    std::optional<Payload> take_progress(SteadyPoint now) const;
    /// The same, however recent the last call was.
    std::optional<Payload> take_last_progress() const;

 private:
    bool move(Phase from, Phase to) { return phase_.compare_exchange_strong(from, to); }

    const Call call_;
    std::atomic<Phase> phase_{Phase::Queued};
    std::atomic<StopReason> stop_reason_{StopReason::None};
    std::atomic<Duration::rep> started_at_{0};
    std::atomic<Duration::rep> running_since_{0};
    std::atomic<Duration::rep> time_limit_{kSteadyNever.time_since_epoch().count()};
    std::stop_source stop_;
    mutable std::atomic<bool> has_progress_{false};
    mutable Mutex mutex_;
    mutable Payload progress_ EBB_GUARDED_BY(mutex_);
    mutable SteadyPoint progress_taken_at_ EBB_GUARDED_BY(mutex_){};
};

using AttemptPtr = std::shared_ptr<Attempt>;

/// When the time of a running attempt is up: by its own timeout, which is a duration, or by the
/// deadline of its step or instance, which is a date. So the result changes when the clock is set.
/// kSteadyNever if there is no limit.
SteadyPoint time_limit_of(const Attempt& attempt, const Moment& now);

/// The arguments of a handler call. Throws Error if the input cannot be read from the store.
struct PreparedCall {
    Payload input;
    StepContext context;  ///< without choice, port and transaction
};

PreparedCall prepare_call(Environment& environment, const Attempt& attempt);

/// Empty: no observer traces the call.
std::string traceparent_of(const Environment& environment, const Attempt& attempt) noexcept;

/// Notifies the observers that the call begins.
void observe_begin(
    const Environment& environment, const Attempt& attempt, const PreparedCall& prepared
);

/// The outcome of a call, as an event for the kernel.
Event event_of_result(
    const Environment& environment, const Attempt& attempt, CallResult result, StepChoice choice
);

/// Calls the handler of a Running attempt in this thread and returns the outcome as an event for
/// the kernel. Throws Error if the input cannot be read from the store: then nothing was called. A
/// transactional handler gets `transaction`.
Event run_attempt(
    Environment& environment, const Attempt& attempt, const StoreTransaction* transaction = nullptr
);

/// What is committed for an attempt that was given up. A timeout is a failure; after any other
/// reason, the effect of the call is unknown.
Event event_of_given_up(const Environment& environment, const Attempt& attempt);

}  // namespace ebb::engine
