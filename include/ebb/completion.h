#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <ebb/context.h>
#include <ebb/json.h>

namespace ebb {

namespace detail {

class CompletionState;
using CompletionPtr = std::shared_ptr<CompletionState>;

bool settle(CompletionState& state, StepResult result);
bool settle(CompletionState& state, std::exception_ptr error);
bool settle_with_input(CompletionState& state);
const StepContext& context_of(const CompletionState& state);

}  // namespace detail

/// What an asynchronous handler gets in place of a return statement: it may keep it, return, and
/// complete it later from any thread. Copies complete the same call. `complete` and `fail` return
/// whether the engine took the outcome: false if the call was completed before, was given up after
/// its timeout, or if the engine is gone; then they do nothing. They neither block nor do any I/O:
/// the engine writes the outcome in a thread of its own, or with the next `poll`.
///
/// Between the handler's return and the completion the call has no thread. It holds its lease, its
/// timeout counts, its stop token fires (in the engine's thread), and `drain` waits for it, as for
/// any other call. Up to EngineOptions::in_flight_max calls are in flight at once. If the last copy
/// goes away before it was completed, the attempt fails with the code `abandoned`. Thread-safe.
template <typename Output = void>
class Completion {
 public:
    explicit Completion(detail::CompletionPtr state) : state_(std::move(state)) {}

    /// Completes the call successfully with this output, which can be a StepResult. An output that
    /// JSON does not have, such as NaN, or that does not convert, fails the call, as if the handler
    /// had thrown: nothing is thrown to the caller.
    template <typename Value = Output>
    bool complete(const Value& output) const {
        static_assert(
            std::is_convertible_v<const Value&, Output> || std::is_same_v<Value, StepResult>,
            "Completion<Output>::complete takes an Output or an ebb::StepResult."
        );
        if constexpr (std::is_same_v<Value, StepResult>) {
            return detail::settle(*state_, output);
        } else {
            Payload payload;
            try {
                payload = Payload::of(static_cast<const Output&>(output));
            } catch (...) {
                return detail::settle(*state_, std::current_exception());
            }
            return detail::settle(*state_, StepResult{.output = std::move(payload)});
        }
    }

    /// Fails the call as if the handler had thrown `error`.
    template <typename Error>
    bool fail(const Error& error) const {
        if constexpr (std::is_same_v<Error, std::exception_ptr>) {
            return detail::settle(*state_, error);
        } else if constexpr (std::is_convertible_v<const Error&, std::string>) {
            return detail::settle(*state_, std::make_exception_ptr(std::runtime_error(error)));
        } else {
            return detail::settle(*state_, std::make_exception_ptr(error));
        }
    }

    const StepContext& context() const { return detail::context_of(*state_); }

 private:
    detail::CompletionPtr state_;
};

/// For a handler without an output, which passes its input on.
template <>
class Completion<void> {
 public:
    explicit Completion(detail::CompletionPtr state) : state_(std::move(state)) {}

    bool complete() const { return detail::settle_with_input(*state_); }

    template <typename Error>
    bool fail(const Error& error) const {
        return Completion<Payload>(state_).fail(error);
    }

    const StepContext& context() const { return detail::context_of(*state_); }

 private:
    detail::CompletionPtr state_;
};

/// Begins one call and returns. The input is JSON text.
using AsyncHandler =
    std::function<void(const Payload& input, const detail::CompletionPtr& completion)>;

}  // namespace ebb
