#include "call/completion.h"

#include <utility>

#include <fmt/format.h>

#include <ebb/handler.h>

namespace ebb {

namespace detail {

CompletionState::CompletionState(StepContext context, const Payload& input, OnEnd on_end)
    : context_(std::move(context)), input_(input), on_end_(std::move(on_end)) {
    context_.choice = &choice_;
}

CompletionState::~CompletionState() {
    settle(
        {.result = {},
         .error = std::make_exception_ptr(HandlerFailure(
             fmt::format(
                 "The asynchronous handler \"{}\" dropped its completion without completing it.",
                 context_.handler
             ),
             {.code = "abandoned", .is_permanent = false, .retry_after = {}, .details = {}}
         ))}
    );
}

bool CompletionState::settle(AsyncEnd end) {
    bool is_first = false;
    std::call_once(ended_, [&] { is_first = true; });
    if (!is_first) return false;
    // What the handler said through the context counts like what it says with the result.
    if (end.result) {
        StepChoice& choice = end.result->choice;
        if (choice.handle.empty()) choice.handle = std::move(choice_.handle);
        choice.is_paused = choice.is_paused || choice_.is_paused;
    }
    std::exchange(on_end_, nullptr)(std::move(end));
    return true;
}

bool settle(CompletionState& state, StepResult result) {
    return state.settle({.result = std::move(result), .error = {}});
}

bool settle(CompletionState& state, std::exception_ptr error) {
    return state.settle({.result = {}, .error = std::move(error)});
}

bool settle_with_input(CompletionState& state) {
    return settle(state, StepResult{.output = state.input()});
}

const StepContext& context_of(const CompletionState& state) {
    return state.context();
}

}  // namespace detail

void begin_async(
    const AsyncHandler& handler,
    const Payload& input,
    StepContext context,
    detail::CompletionState::OnEnd on_end
) {
    const auto state =
        std::make_shared<detail::CompletionState>(std::move(context), input, std::move(on_end));
    try {
        handler(input, state);
    } catch (...) {
        state->settle({.result = {}, .error = std::current_exception()});
    }
}

}  // namespace ebb
