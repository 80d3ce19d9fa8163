#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>

#include <ebb/completion.h>

namespace ebb {

/// The engine's end of an asynchronous call. It may outlive the engine. Thread-safe.
class AsyncCall : public detail::CallPort {
 public:
    /// How the call ended. What the handler said through its context is in `context.choice`.
    struct End {
        Payload output{};
        std::exception_ptr error{};  ///< set: the call has failed, and there is no output
    };

    /// Called once, from any thread, perhaps before the handler has returned. False: the engine
    /// does not wait for it any more. Throws nothing.
    virtual bool end(End end, const StepContext& context) noexcept = 0;
};

namespace detail {

/// What all copies of a completion share. Thread-safe.
class CompletionState {
 public:
    CompletionState(StepContext context, Payload input, std::shared_ptr<AsyncCall> call);
    /// The last copy is gone: unless it has ended, the call has failed.
    ~CompletionState();
    CompletionState(const CompletionState&) = delete;
    CompletionState& operator=(const CompletionState&) = delete;

    const StepContext& context() const { return context_; }

    const Payload& input() const { return input_; }

    /// False: it had ended before, or the engine does not wait for it any more.
    bool settle(StepResult result);
    bool settle(std::exception_ptr error);

 private:
    bool is_first() { return !has_ended_.exchange(true); }

    StepContext context_;
    StepChoice choice_;  // of context_
    const Payload input_;
    const std::shared_ptr<AsyncCall> call_;
    std::atomic<bool> has_ended_{false};
};

}  // namespace detail

/// Begins a call of `handler` and returns; `call` hears of its end.
void begin_async(
    const AsyncHandler& handler,
    const Payload& input,
    StepContext context,
    std::shared_ptr<AsyncCall> call
);

/// What an outer call ends with, from the end of the call inside it. What it throws fails the outer
/// call.
using FinishInner = std::function<Payload(const AsyncCall::End& end, const StepContext& context)>;

/// Begins a call of `handler` inside the call `outer`, which ends when it ends.
void begin_inner_async(
    const AsyncHandler& handler,
    const Payload& input,
    const detail::CompletionPtr& outer,
    FinishInner finish
);

/// Begins a call and waits for its end, in this thread: for callers that cannot wait otherwise.
Payload wait_for_async(
    const AsyncHandler& handler, const Payload& input, const StepContext& context
);

}  // namespace ebb
