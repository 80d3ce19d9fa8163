#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <ebb/completion.h>

namespace ebb {

/// How an asynchronous call ended: with a result or with what it would have thrown.
struct AsyncEnd {
    std::optional<StepResult> result{};
    std::exception_ptr error{};  ///< set if there is no result
};

namespace detail {

/// One asynchronous call: what it was given, and who learns of its end. Thread-safe.
class CompletionState {
 public:
    /// Called once, from any thread; may destroy the state's other owners.
    using OnEnd = std::function<void(AsyncEnd end)>;

    CompletionState(StepContext context, const Payload& input, OnEnd on_end);
    /// The last copy is gone: unless it has ended, the call has failed.
    ~CompletionState();
    CompletionState(const CompletionState&) = delete;
    CompletionState& operator=(const CompletionState&) = delete;

    const StepContext& context() const { return context_; }

    const Payload& input() const { return input_; }

    /// False: it had ended before.
    bool settle(AsyncEnd end);

 private:
    StepContext context_;
    StepChoice choice_;  // of context_
    const Payload input_;
    std::once_flag ended_;
    OnEnd on_end_;
};

}  // namespace detail

/// Begins a call of `handler` and returns; `on_end` hears of its end, perhaps before this returns.
void begin_async(
    const AsyncHandler& handler,
    const Payload& input,
    StepContext context,
    detail::CompletionState::OnEnd on_end
);

}  // namespace ebb
