#include "engine/async.h"

#include <utility>

#include "call/completion.h"
#include "call/port.h"
#include "engine/checks.h"

namespace ebb::engine {

bool Gate::enter() {
    const Lock lock(mutex_);
    if (is_closed_) return false;
    ++inside_;
    return true;
}

void Gate::leave() {
    const Lock lock(mutex_);
    if (--inside_ == 0) left_.notify_all();
}

void Gate::close() {
    Lock lock(mutex_);
    is_closed_ = true;
    while (inside_ > 0) left_.wait(lock);
}

namespace {

/// One call that continues without a thread.
class Call final : public AsyncCall {
 public:
    Call(Environment& environment, AttemptPtr attempt, AsyncEnds& ends, std::shared_ptr<Gate> gate)
        : environment_(environment),
          attempt_(std::move(attempt)),
          ends_(ends),
          gate_(std::move(gate)) {}

    bool end(End end, const StepContext& context) noexcept override {
        const Gate::Pass pass(*gate_);
        if (!pass) return false;
        try {
            return ends_.on_async_end(attempt_, event_of(std::move(end), context));
        } catch (const std::exception& error) {
            end_process(environment_.log, "ending an attempt must not fail", error);
        }
    }

    void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept override {
        const Gate::Pass pass(*gate_);
        if (!pass) return;
        const Attempt::Call& call = attempt_->call();
        StepContext context;
        context.instance = call.instance;
        context.workflow = call.program->definition().name;
        context.step = call.invocation.node;
        context.handler = call.invocation.handler;
        context.attempt = call.invocation.attempt.attempt;
        context.pauses = call.invocation.attempt.pauses;
        write_handler_log(environment_.log, context, level, message, fields);
    }

    void progress(Payload value) const override {
        const Gate::Pass pass(*gate_);
        if (!pass) return;
        check_progress(value, environment_.limits());
        attempt_->note_progress(std::move(value));
    }

    std::string traceparent() const override {
        const Gate::Pass pass(*gate_);
        return pass ? traceparent_of(environment_, *attempt_) : std::string();
    }

 private:
    Event event_of(End end, const StepContext& context) {
        // What is checked and described is the same as for a handler that returns or throws.
        const Handler ended = [&](const Payload&, const StepContext&) -> Payload {
            if (end.error) std::rethrow_exception(end.error);
            environment_.observers.check_output(context, end.output);
            return std::move(end.output);
        };
        CallResult result = call_handler(ended, {}, context, environment_.call_limits());
        if (!environment_.observers.empty()) {
            const Duration duration = attempt_->running_for(environment_.steady_now());
            environment_.observers.after_step(context, result, duration, environment_.log);
        }
        return event_of_result(environment_, *attempt_, std::move(result), *context.choice);
    }

    Environment& environment_;
    const AttemptPtr attempt_;
    AsyncEnds& ends_;
    const std::shared_ptr<Gate> gate_;
};

}  // namespace

void begin_async_call(
    Environment& environment,
    const AttemptPtr& attempt,
    AsyncEnds& ends,
    const std::shared_ptr<Gate>& gate
) {
    PreparedCall prepared = prepare_call(environment, *attempt);
    const auto handler =
        environment.entry_handlers.find_async(*attempt->call().program, prepared.context.handler);
    observe_begin(environment, *attempt, prepared);
    const AsyncHandler guarded = [&](const Payload& input, const detail::CompletionPtr& state) {
        environment.observers.check_call(detail::context_of(*state), input);
        (*handler)(input, state);
    };
    auto call = std::make_shared<Call>(environment, attempt, ends, gate);
    begin_async(guarded, prepared.input, std::move(prepared.context), std::move(call));
}

}  // namespace ebb::engine
