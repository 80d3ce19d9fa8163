#include "engine/attempt.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "call/call.h"
#include "call/compensation.h"
#include "call/port.h"
#include "engine/history_reader.h"

namespace ebb::engine {

namespace {

/// A call that takes a day writes a few hundred events about its progress.
constexpr Duration kProgressPauseMin = std::chrono::seconds(1);
constexpr int kProgressShare = 50;

}  // namespace

bool Attempt::begin(const Moment& now) {
    started_at_ = now.date.time_since_epoch().count();
    running_since_ = now.steady.time_since_epoch().count();
    set_time_limit(time_limit_of(*this, now));
    return move(Phase::Queued, Phase::Running);
}

void Attempt::request_stop(StopReason reason) {
    StopReason none = StopReason::None;
    stop_reason_.compare_exchange_strong(none, reason);
    stop_.request_stop();
}

void Attempt::note_progress(Payload value) const {
    const Lock lock(mutex_);
    progress_ = std::move(value);
    has_progress_ = true;
}

std::optional<Payload> Attempt::take_progress(SteadyPoint now) const {
    if (!has_progress_) return std::nullopt;
    const Duration pause = std::max(kProgressPauseMin, running_for(now) / kProgressShare);
    const Lock lock(mutex_);
    if (now - progress_taken_at_ < pause) return std::nullopt;
    progress_taken_at_ = now;
    has_progress_ = false;
    return std::move(progress_);
}

std::optional<Payload> Attempt::take_last_progress() const {
    if (!has_progress_.exchange(false)) return std::nullopt;
    const Lock lock(mutex_);
    return std::move(progress_);
}

SteadyPoint time_limit_of(const Attempt& attempt, const Moment& now) {
    const Invocation& invocation = attempt.call().invocation;
    const SteadyPoint deadline = now.at(invocation.deadline);
    if (invocation.timeout <= Duration::zero()) return deadline;
    const Duration left = invocation.timeout - attempt.running_for(now.steady);
    return std::min(deadline, now.steady + left);
}

namespace {

/// The date that the handler sees.
TimePoint deadline_of(const Attempt& attempt) {
    const Invocation& invocation = attempt.call().invocation;
    if (invocation.timeout <= Duration::zero()) return invocation.deadline;
    return std::min(invocation.deadline, attempt.started_at() + invocation.timeout);
}

struct Input {
    Payload payload;
    std::optional<CompensatedStep> compensated;
};

Payload input_of(Environment& environment, const Attempt::Call& call, Seq seq) {
    if (call.input) return *call.input;
    return read_payload(environment.store, call.instance, seq);
}

Input input_of_compensation(Environment& environment, const Attempt::Call& call) {
    Store& store = environment.store;
    const HistoryEvent event = call.compensated
                                   ? *call.compensated
                                   : read_event(store, call.instance, call.invocation.compensated);
    Payload step_input = event.ref == 0 ? Payload() : input_of(environment, call, event.ref);
    CompensationCall prepared =
        ebb::prepare_compensation(call.invocation.key_root, event, std::move(step_input));
    return {std::move(prepared.input), std::move(prepared.step)};
}

Input prepare(Environment& environment, const Attempt::Call& call) {
    if (call.invocation.is_compensation) return input_of_compensation(environment, call);
    return {input_of(environment, call, call.invocation.input), std::nullopt};
}

StepContext make_context(const Attempt& attempt) {
    const Attempt::Call& call = attempt.call();
    const Invocation& invocation = call.invocation;
    const Definition& definition = call.program->definition();
    return {
        .instance = call.instance,
        .workflow = definition.name,
        .workflow_version = definition.version,
        .step = invocation.node,
        .handler = invocation.handler,
        .attempt = invocation.attempt.attempt,
        .pauses = invocation.attempt.pauses,
        .max_attempts = invocation.max_attempts,
        .idempotency_key = invocation.idempotency_key,
        .deadline = deadline_of(attempt),
        .stop = attempt.stop_token(),
        .compensates = {},
        .payload = {},
        .transaction = nullptr,
        .choice = nullptr,
        .metadata = *invocation.metadata,
        .port = nullptr,
    };
}

/// Calls the handler and then checks the state in which it has left its transaction.
Handler within(const Handler& handler, const StoreTransaction& transaction) {
    return [&](const Payload& input, const StepContext& context) {
        Payload output = handler(input, context);
        transaction.check();
        return output;
    };
}

/// If a handler fails after it was asked to stop, the reason of the stop is the reason of the
/// failure, whatever it throws.
Event event_of_failure(const Environment& environment, const Attempt& attempt, Failure failure) {
    const AttemptRef& ref = attempt.call().invocation.attempt;
    const std::string& worker = environment.options.worker_id;
    const Attempt::StopReason reason = attempt.stop_reason();
    if (reason == Attempt::StopReason::Shutdown || reason == Attempt::StopReason::LeaseLost) {
        // The handler did not cause the failure: another worker calls it again immediately.
        return event::LeaseLost{ref, worker};
    }
    const bool is_late = attempt.stop_reason() == Attempt::StopReason::Timeout ||
                         environment.steady_now() >= attempt.time_limit();
    if (is_late && !failure.is_permanent) failure.code = "timeout";
    // It is unknown whether it would have failed by itself, and what it had done by then.
    const bool was_ended_by_us = reason == Attempt::StopReason::Unwanted;
    if (was_ended_by_us && !failure.is_permanent) failure.code = "stopped";
    return event::StepFailed{ref, std::move(failure), attempt.started_at(), worker};
}

/// The parts of the engine that a call can use from its thread.
class AttemptPort final : public detail::CallPort {
 public:
    AttemptPort(const Environment& environment, const Attempt& attempt, const StepContext& context)
        : environment_(environment), attempt_(attempt), context_(context) {}

    void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept override {
        write_handler_log(environment_.log, context_, level, message, fields);
    }

    void progress(Payload value) const override {
        check_progress(value, environment_.limits());
        attempt_.note_progress(std::move(value));
    }

    std::string traceparent() const override { return traceparent_of(environment_, attempt_); }

 private:
    const Environment& environment_;
    const Attempt& attempt_;
    const StepContext& context_;
};

}  // namespace

PreparedCall prepare_call(Environment& environment, const Attempt& attempt) {
    const Attempt::Call& call = attempt.call();
    Input input = prepare(environment, call);
    PreparedCall prepared{.input = std::move(input.payload), .context = make_context(attempt)};
    prepared.context.compensates = std::move(input.compensated);
    if (const Seq payload = call.invocation.payload; payload != 0) {
        prepared.context.payload = read_payload(environment.store, call.instance, payload);
    }
    return prepared;
}

std::string traceparent_of(const Environment& environment, const Attempt& attempt) noexcept {
    const Attempt::Call& call = attempt.call();
    const Invocation& invocation = call.invocation;
    return environment.observers.traceparent(
        {.instance = call.instance,
         .visit = invocation.attempt.visit,
         .attempt = invocation.attempt.attempt,
         .is_compensation = invocation.is_compensation}
    );
}

void observe_begin(
    const Environment& environment, const Attempt& attempt, const PreparedCall& prepared
) {
    const Observers& observers = environment.observers;
    if (observers.empty()) return;
    const Attempt::Call& call = attempt.call();
    const CallDelay delay{
        .queue = call.invocation.queue,
        .waited = std::max(environment.now() - call.due, Duration::zero()),
    };
    observers.on_call(prepared.context, delay, environment.log);
    observers.before_step(prepared.context, prepared.input, environment.log);
}

Event event_of_result(
    const Environment& environment, const Attempt& attempt, CallResult result, StepChoice choice
) {
    const AttemptRef& ref = attempt.call().invocation.attempt;
    const std::string& worker = environment.options.worker_id;
    auto* output = std::get_if<Payload>(&result);
    if (output == nullptr) {
        return event_of_failure(environment, attempt, std::move(std::get<Failure>(result)));
    }
    if (choice.is_paused) return event::StepPaused{ref, worker};
    return event::StepCompleted{
        ref, std::move(*output), attempt.started_at(), worker, std::move(choice.handle)
    };
}

Event run_attempt(
    Environment& environment, const Attempt& attempt, const StoreTransaction* transaction
) {
    PreparedCall prepared = prepare_call(environment, attempt);
    StepContext& context = prepared.context;
    StepChoice choice;
    context.choice = &choice;
    const AttemptPort port(environment, attempt, context);
    context.port = &port;
    const auto held = environment.entry_handlers.find(*attempt.call().program, context.handler);
    const Handler* handler = held.get();
    Handler checked;
    if (transaction != nullptr) {
        context.transaction = &transaction->handle();
        checked = within(*held, *transaction);
        handler = &checked;
    }
    Handler guarded;
    if (environment.observers.has_interceptors()) {
        guarded = environment.observers.guard(*handler);
        handler = &guarded;
    }
    observe_begin(environment, attempt, prepared);
    CallResult result = call_handler(*handler, prepared.input, context, environment.call_limits());
    if (!environment.observers.empty()) {
        const Duration duration = attempt.running_for(environment.steady_now());
        environment.observers.after_step(context, result, duration, environment.log);
    }
    return event_of_result(environment, attempt, std::move(result), std::move(choice));
}

Event event_of_given_up(const Environment& environment, const Attempt& attempt) {
    const AttemptRef& ref = attempt.call().invocation.attempt;
    const std::string& worker = environment.options.worker_id;
    if (attempt.stop_reason() != Attempt::StopReason::Timeout) {
        return event::LeaseLost{ref, worker};
    }
    const std::string& handler = attempt.call().invocation.handler;
    Failure failure{
        .code = "timeout",
        .message = fmt::format(
            "The handler \"{}\" did not {} in time, nor within the grace after it was asked to "
            "stop.",
            handler,
            environment.handlers.find_async(handler) == nullptr ? "return" : "complete"
        ),
        .is_permanent = false,
        .retry_after = {},
        .details = {},
    };
    return event::StepFailed{ref, std::move(failure), attempt.started_at(), worker};
}

}  // namespace ebb::engine
