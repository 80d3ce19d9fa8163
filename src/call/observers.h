#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/handler.h>
#include <ebb/interceptor.h>
#include <ebb/observer.h>
#include <ebb/worker_observer.h>

#include "call/call.h"
#include "core/kernel/history.h"
#include "core/kernel/state.h"
#include "support/log.h"

namespace ebb {

/// What an observer is notified of.
struct Notified {
    const char* function;  ///< of Observer
    const InstanceId& instance;
    std::string_view event{};  ///< of the history; empty: a call, or a whole commit
};

/// The observers of one engine, in order; none sees another's exceptions. Filled before anything is
/// observed, then constant.
class Observers {
 public:
    void add(std::shared_ptr<Observer> observer);

    bool empty() const { return observers_.empty(); }

    bool has_interceptors() const { return !interceptors_.empty(); }

    /// Throws what an interceptor throws.
    void check_start(const StartRequest& start) const;
    void check_call(const StepContext& step, const Payload& input) const;
    void check_output(const StepContext& step, const Payload& output) const;
    /// `handler` between the interceptors' checks. Both must outlive what it returns.
    Handler guard(const Handler& handler) const;

    void on_call(const StepContext& step, const CallDelay& delay, const Log& log) const;

    void before_step(const StepContext& step, const Payload& input, const Log& log) const;
    void after_step(
        const StepContext& step, const CallResult& result, Duration duration, const Log& log
    ) const;
    /// Of the first observer that traces the call; empty = none does.
    std::string traceparent(const CallId& call) const noexcept;
    /// Tells all that follows from the events of one commit; `state` is the one after it.
    void committed(
        const InstanceSummary& instance,
        const InstanceState& state,
        std::span<const HistoryEvent> events,
        const Log& log
    ) const;

 private:
    template <typename Tell>
    void each(const Log& log, const Notified& notified, Tell tell) const;

    std::vector<std::shared_ptr<Observer>> observers_;
    std::vector<Interceptor*> interceptors_;   ///< those of `observers_` that may refuse
    std::vector<WorkerObserver*> of_workers_;  ///< those of `observers_` that see the worker
};

}  // namespace ebb
