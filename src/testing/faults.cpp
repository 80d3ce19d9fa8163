// Calls of handlers that go wrong because the play of crash_everywhere says so.

#include <utility>

#include "call/completion.h"
#include "testing/world_state.h"

namespace ebb::testing::detail {

namespace {

HandlerFailure failed_call() {
    return {
        "The call failed.",
        {.code = "call_failed", .is_permanent = false, .retry_after = {}, .details = {}}
    };
}

HandlerFailure lost_answer() {
    return {
        "The answer of the call was lost.",
        {.code = "answer_lost", .is_permanent = false, .retry_after = {}, .details = {}}
    };
}

/// An asynchronous call whose success the engine never learns.
class LosingCall final : public AsyncCall {
 public:
    LosingCall(ebb::detail::CompletionPtr outer, CallLog& calls)
        : outer_(std::move(outer)), calls_(calls) {}

    bool end(End end, const StepContext& context) noexcept override {
        if (end.error) return outer_->settle(end.error);
        calls_.add_effect(context);
        return outer_->settle(std::make_exception_ptr(lost_answer()));
    }

    void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept override {
        const ebb::detail::CallPort* port = outer_->context().port;
        if (port != nullptr) port->log(level, message, fields);
    }

    void progress(Payload value) const override {
        const ebb::detail::CallPort* port = outer_->context().port;
        if (port != nullptr) port->progress(std::move(value));
    }

    std::string traceparent() const override { return outer_->context().traceparent(); }

 private:
    const ebb::detail::CompletionPtr outer_;
    CallLog& calls_;
};

}  // namespace

CrashPlan::Kind WorldState::fault_of(const StepContext& context) {
    if (++plan.calls != plan.nth || !plan.is_of_handlers()) return CrashPlan::Kind::None;
    plan.step = (context.compensates ? "~" : "") + context.step;
    // What follows the last attempt is the workflow's own plan: it ends differently, and should.
    const bool is_last = context.attempt >= context.max_attempts;
    return plan.kind == CrashPlan::Kind::CallFails && is_last ? CrashPlan::Kind::None : plan.kind;
}

Payload WorldState::call(const Handler& handler, const Payload& input, const StepContext& context) {
    const CrashPlan::Kind fault = fault_of(context);
    if (fault == CrashPlan::Kind::CallFails) throw failed_call();
    Payload output = handler(input, context);
    if (fault != CrashPlan::Kind::AnswerLost) return output;
    // A transaction is rolled back with the failure.
    if (context.transaction == nullptr) calls.add_effect(context);
    throw lost_answer();
}

void WorldState::begin(
    const AsyncHandler& handler, const Payload& input, const ebb::detail::CompletionPtr& completion
) {
    const CrashPlan::Kind fault = fault_of(completion->context());
    if (fault == CrashPlan::Kind::CallFails) throw failed_call();
    if (fault != CrashPlan::Kind::AnswerLost) return handler(input, completion);
    begin_async(
        handler, input, completion->context(), std::make_shared<LosingCall>(completion, calls)
    );
}

}  // namespace ebb::testing::detail
