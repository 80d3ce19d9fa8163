#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/log.h>
#include <ebb/print.h>
#include <ebb/time.h>

namespace ebb {

class Transaction;

/// The step that a compensation undoes.
struct CompensatedStep {
    enum class Outcome { Completed, Failed, Unknown };

    std::string idempotency_key;  ///< of the forward step's calls
    Payload input;
    Payload output;  ///< empty unless it completed
    Payload error;   ///< empty if it completed; otherwise {"code", "message", ...}
    Outcome outcome = Outcome::Completed;
};

/// `completed`, `failed`, `unknown`.
std::string_view to_string(CompensatedStep::Outcome outcome);

/// What a handler says about its result in addition to the output.
struct StepChoice {
    std::string handle{};    ///< of the graph's edge to leave by; empty = the default one
    bool is_paused = false;  ///< call this step again when a payload arrives from outside
};

namespace detail {

/// The way from a call to the engine that makes it. Thread-safe.
class CallPort {
 public:
    virtual ~CallPort() = default;
    virtual void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept = 0;
    /// Throws Error.
    virtual void progress(Payload value) const = 0;

    /// Empty: the call is not traced.
    virtual std::string traceparent() const { return {}; }
};

}  // namespace detail

/// The context of one call of a handler. Valid for the duration of the call; for an asynchronous
/// handler (Completion::context), as long as its completion.
struct StepContext {
    InstanceId instance;
    std::string workflow;
    int workflow_version = 1;
    std::string step;  ///< the node's name
    std::string handler;
    int attempt = 1;  ///< 1 = the first call; a call after a pause is the attempt that paused
    int pauses = 0;   ///< how often this visit of the step has paused before this call
    int max_attempts = 1;
    /// The same for every attempt of one visit of the step, also after a pause; different for the
    /// next turn of a loop and for the compensation. Pass it to every service that the handler
    /// calls, so that the service recognizes a repeated call.
    std::string idempotency_key;
    TimePoint deadline = kNever;  ///< of this attempt, as far as timeouts bound it
    /// Asks the handler to stop: timeout, cancel, a failed sibling, shutdown, or a lost lease.
    std::stop_token stop;
    std::optional<CompensatedStep> compensates;  ///< set when this call is a compensation
    /// The payload that arrived for this step after it had paused; every later attempt sees it,
    /// too. Empty before.
    std::optional<Payload> payload{};
    /// Set in a transactional handler: the open transaction that also commits the end of the step.
    const Transaction* transaction = nullptr;
    /// Where leave_by and pause store their arguments; null in calls that no engine makes.
    StepChoice* choice = nullptr;
    Payload metadata{};                      ///< of the step's node, a JSON object; empty = none
    const detail::CallPort* port = nullptr;  ///< null in calls that no engine makes

    /// For a node of a graph: the result leaves by the edge with this handle. A handle without an
    /// edge fails the step for good, as `unmatched_handle`, unless the graph allows it.
    void leave_by(std::string handle) const {
        if (choice != nullptr) choice->handle = std::move(handle);
    }

    /// Pauses the step: the handler's result is dropped, and the handler is called again with
    /// `payload` when a signal with the step's name arrives. A compensation cannot pause.
    void pause() const {
        if (choice != nullptr) choice->is_paused = true;
    }

    /// Writes to the engine's log (EngineOptions::log), as the event `handler_log` with the
    /// instance, workflow, step, handler and attempt of this call and the message. A field with a
    /// key that Ebb itself writes (`time`, `level`, `event`, `instance`, `workflow`, `step`,
    /// `handler`, `attempt`, `message`) gets an underscore: `attempt_`. Throws nothing.
    void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {})
        const noexcept {
        if (port != nullptr) port->log(level, message, {fields.begin(), fields.size()});
    }

    /// The trace context of this call (W3C Trace Context), for the services that the handler calls:
    /// the value of the header `traceparent`. Empty if this process sends no traces.
    std::string traceparent() const {
        return port != nullptr ? port->traceparent() : std::string();
    }

    static constexpr std::size_t kProgressBytesMax = std::size_t{16} << 10;

    /// Reports how far the call has come, to everyone who looks at the instance
    /// (StepView::progress, `ebb show`, `ebb history`). Returns at once: only the newest value is
    /// kept, and the worker writes it with its next heartbeat, within a second, as a history event
    /// `step_progressed`. During a long call it writes less often: each pause is 2 % of the time
    /// that the call has run. So a long call leaves a few hundred events at most, and a short one
    /// that succeeds leaves none. An
    /// attempt that fails keeps its last value. Not for what a later attempt must know: it may be
    /// lost in a crash. The stateless engine and compensations drop it. Throws Error if the value
    /// has more than kProgressBytesMax bytes of JSON.
    template <typename Value>
    void progress(const Value& value) const {
        if (port != nullptr) port->progress(Payload::of(value));
    }
};

/// The result of a typed handler that returns more than its output; made by `result`, `next`,
/// `pause`.
struct StepResult {
    Payload output = "null";
    StepChoice choice{};
};

/// An output without a handle.
template <typename Value>
StepResult result(const Value& value) {
    return {.output = Payload::of(value)};
}

/// An output that leaves its node of a graph by the edge with this handle: as
/// StepContext::leave_by.
template <typename Value>
StepResult next(std::string handle, const Value& value) {
    return {.output = Payload::of(value), .choice = {.handle = std::move(handle)}};
}

/// No output yet: as StepContext::pause.
inline StepResult pause() {
    return {.choice = {.is_paused = true}};
}

}  // namespace ebb
