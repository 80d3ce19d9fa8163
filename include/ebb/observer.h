#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <ebb/context.h>
#include <ebb/error.h>
#include <ebb/instance.h>
#include <ebb/json.h>
#include <ebb/time.h>

namespace ebb {

/// The outcome of a handler's call. It is not committed yet.
struct CallEnd {
    bool is_completed = true;
    Payload output{};           ///< if it completed
    std::string code{};         ///< otherwise: why it failed
    std::string message{};      ///< otherwise: in words
    bool is_permanent = false;  ///< otherwise: it is not retried
    bool is_paused = false;     ///< it did not complete: it waits for a payload from outside
    Duration duration{0};
};

/// One call of a handler.
struct CallId {
    InstanceId instance;
    std::int64_t visit = 0;  ///< of the step or the compensation
    int attempt = 1;
    bool is_compensation = false;
};

/// Receives the events of instances, from the durable engine and from the stateless engine. Derive
/// from it and override the functions that you need.
///
/// The engine notifies observers in the order in which they were added. If an observer throws, the
/// exception is logged and dropped: it affects neither other observers nor the instance. Observers
/// see copies and cannot change anything. Except for before_step and after_step, an observer is
/// notified after the change was committed (in the stateless engine: became part of the next
/// snapshot), in order per instance, by the committing thread. Be quick, and do not call the
/// engine.
class Observer {
 public:
    virtual ~Observer() = default;

    /// The instance has been created.
    virtual void on_start(const InstanceSummary& /*instance*/) {}

    /// A handler is about to be called. Runs in the thread that calls it.
    virtual void before_step(const StepContext& /*step*/, const Payload& /*input*/) {}

    /// The handler has returned or thrown. Runs in the same thread. The outcome may still be
    /// refused as stale.
    virtual void after_step(const StepContext& /*step*/, const CallEnd& /*end*/) {}

    /// An attempt of a step or compensation has failed, and the next one begins at `due`.
    virtual void on_retry_scheduled(
        const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/, TimePoint /*due*/
    ) {}

    /// A step or compensation has failed for good.
    virtual void on_error(const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/) {}

    /// A token starts to wait for a person, a signal, a time or an operator, as `event` says.
    virtual void on_pause(const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/) {}

    /// A token that waited continues.
    virtual void on_resume(const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/) {}

    /// The instance has ended: its status is `completed`, `failed`, `cancelled` or `aborted`.
    virtual void on_end(const InstanceSummary& /*instance*/) {}

    /// A change was committed. Called last, with all events of the change. `instance.revision` is
    /// the revision after the change.
    virtual void on_committed(
        const InstanceSummary& /*instance*/, std::span<const HistoryEntry> /*events*/
    ) {}

    /// The `traceparent` of a call (W3C Trace Context), if this observer traces it; empty = it does
    /// not. Runs in the thread that asks, and only if a handler or a remote worker asks.
    virtual std::string traceparent(const CallId& /*call*/) { return {}; }
};

/// An observer of commits only, for progress displays.
std::shared_ptr<Observer> make_observer(
    std::function<void(const InstanceSummary& instance, std::span<const HistoryEntry> events)>
        on_committed
);

}  // namespace ebb
