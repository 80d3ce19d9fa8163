#pragma once

#include <functional>
#include <memory>
#include <span>

#include <ebb/context.h>
#include <ebb/error.h>
#include <ebb/instance.h>
#include <ebb/json.h>
#include <ebb/time.h>

namespace ebb {

/// What a handler's call came to. Nothing of it is committed yet.
struct CallEnd {
    bool is_completed = true;
    Payload output{};           ///< when it completed
    std::string code{};         ///< else why it failed
    std::string message{};      ///< else: in words
    bool is_permanent = false;  ///< else: it is not tried again
    bool is_paused = false;     ///< it completed nothing: it waits for a payload from outside
    Duration duration{0};
};

/// Is told what happens to instances, by the durable engine and by the stateless one alike. Derive
/// from it and override what is of interest.
///
/// Observers are told in the order in which they were added. What one throws is logged and dropped:
/// it reaches neither the others nor the instance. They see copies and change nothing. Everything
/// but before_step and after_step is told after the change was committed (by the stateless engine:
/// was made part of the next snapshot), in order per instance, by the committing thread: be quick,
/// and do not call the engine.
class Observer {
 public:
    virtual ~Observer() = default;

    /// The instance has been created.
    virtual void on_start(const InstanceSummary& /*instance*/) {}

    /// A handler is about to be called, in the thread that will call it.
    virtual void before_step(const StepContext& /*step*/, const Payload& /*input*/) {}

    /// The handler has returned or thrown; in the same thread. What it came to may still be refused
    /// as stale.
    virtual void after_step(const StepContext& /*step*/, const CallEnd& /*end*/) {}

    /// An attempt of a step or compensation has failed, and the next one begins at `due`.
    virtual void on_retry_scheduled(
        const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/, TimePoint /*due*/
    ) {}

    /// A step or compensation has failed for good.
    virtual void on_error(const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/) {}

    /// Something waits from now on: for a person, a signal, time or an operator, as `event` says.
    virtual void on_pause(const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/) {}

    /// Something that waited goes on.
    virtual void on_resume(const InstanceSummary& /*instance*/, const HistoryEntry& /*event*/) {}

    /// The instance has ended: its status is `completed`, `failed`, `cancelled` or `aborted`.
    virtual void on_end(const InstanceSummary& /*instance*/) {}

    /// A change was committed; told last, with all its events. `instance.revision` is the one that
    /// the change has made.
    virtual void on_committed(
        const InstanceSummary& /*instance*/, std::span<const HistoryEntry> /*events*/
    ) {}
};

/// An observer that hears only of commits: for progress displays.
std::shared_ptr<Observer> make_observer(
    std::function<void(const InstanceSummary& instance, std::span<const HistoryEntry> events)>
        on_committed
);

}  // namespace ebb
