#include "call/completion.h"

#include <future>
#include <utility>

#include <fmt/format.h>

#include <ebb/handler.h>

#include "support/sync.h"

namespace ebb {

namespace detail {

CompletionState::CompletionState(
    StepContext context, Payload input, std::shared_ptr<AsyncCall> call
)
    : context_(std::move(context)), input_(std::move(input)), call_(std::move(call)) {
    context_.choice = &choice_;
    context_.port = call_.get();
}

CompletionState::~CompletionState() {
    if (has_ended_) return;
    settle(std::make_exception_ptr(HandlerFailure(
        fmt::format(
            "The asynchronous handler \"{}\" dropped its completion without completing it.",
            context_.handler
        ),
        {.code = "abandoned", .is_permanent = false, .retry_after = {}, .details = {}}
    )));
}

bool CompletionState::settle(StepResult result) {
    if (!is_first()) return false;
    // What the handler said through the context counts like what it says with the result.
    if (!result.choice.handle.empty()) choice_.handle = std::move(result.choice.handle);
    choice_.is_paused = choice_.is_paused || result.choice.is_paused;
    return call_->end({.output = std::move(result.output), .error = {}}, context_);
}

bool CompletionState::settle(std::exception_ptr error) {
    return is_first() && call_->end({.output = {}, .error = std::move(error)}, context_);
}

bool settle(CompletionState& state, StepResult result) {
    return state.settle(std::move(result));
}

bool settle(CompletionState& state, std::exception_ptr error) {
    return state.settle(std::move(error));
}

bool settle_with_input(CompletionState& state) {
    return state.settle(StepResult{.output = state.input()});
}

const StepContext& context_of(const CompletionState& state) {
    return state.context();
}

}  // namespace detail

void begin_async(
    const AsyncHandler& handler,
    const Payload& input,
    StepContext context,
    std::shared_ptr<AsyncCall> call
) {
    const auto state =
        std::make_shared<detail::CompletionState>(std::move(context), input, std::move(call));
    try {
        handler(state->input(), state);
    } catch (...) {
        state->settle(std::current_exception());
    }
}

namespace {

class InnerCall final : public AsyncCall {
 public:
    InnerCall(detail::CompletionPtr outer, FinishInner finish)
        : outer_(std::move(outer)), finish_(std::move(finish)) {}

    bool end(End end, const StepContext& context) noexcept override {
        try {
            Payload output = finish_(end, context);
            return outer_->settle(StepResult{std::move(output), *context.choice});
        } catch (...) {
            return outer_->settle(std::current_exception());
        }
    }

    void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept override {
        const detail::CallPort* port = outer_->context().port;
        if (port != nullptr) port->log(level, message, fields);
    }

    void progress(Payload value) const override {
        const detail::CallPort* port = outer_->context().port;
        if (port != nullptr) port->progress(std::move(value));
    }

    std::string traceparent() const override { return outer_->context().traceparent(); }

 private:
    const detail::CompletionPtr outer_;
    const FinishInner finish_;
};

}  // namespace

void begin_inner_async(
    const AsyncHandler& handler,
    const Payload& input,
    const detail::CompletionPtr& outer,
    FinishInner finish
) {
    auto call = std::make_shared<InnerCall>(outer, std::move(finish));
    begin_async(handler, input, outer->context(), std::move(call));
}

namespace {

/// A call whose thread waits for its end.
class AwaitedCall final : public AsyncCall {
 public:
    explicit AwaitedCall(const StepContext& context)
        : port_(context.port), choice_(context.choice) {}

    bool end(End end, const StepContext& context) noexcept override {
        if (end.error) {
            ended_.set_exception(end.error);
        } else {
            if (choice_ != nullptr) *choice_ = *context.choice;
            ended_.set_value(std::move(end.output));
        }
        return true;
    }

    // The caller's port lives as long as its call.
    void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept override {
        const Lock lock(mutex_);
        if (port_ != nullptr) port_->log(level, message, fields);
    }

    void progress(Payload value) const override {
        const Lock lock(mutex_);
        if (port_ != nullptr) port_->progress(std::move(value));
    }

    Payload wait() {
        auto ended = ended_.get_future();
        ended.wait();
        {
            const Lock lock(mutex_);
            port_ = nullptr;
        }
        return ended.get();
    }

 private:
    mutable Mutex mutex_;
    const detail::CallPort* port_ EBB_GUARDED_BY(mutex_);
    StepChoice* const choice_;
    std::promise<Payload> ended_;
};

}  // namespace

Payload wait_for_async(
    const AsyncHandler& handler, const Payload& input, const StepContext& context
) {
    const auto call = std::make_shared<AwaitedCall>(context);
    begin_async(handler, input, context, call);
    return call->wait();
}

}  // namespace ebb
