#include "engine/attempt.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/call.h"
#include "engine/history_reader.h"
#include "support/json.h"

namespace ebb::engine {

bool Attempt::begin(TimePoint now) {
    started_at_ = now.time_since_epoch().count();
    return move(Phase::Queued, Phase::Running);
}

void Attempt::request_stop(StopReason reason) {
    StopReason none = StopReason::None;
    stop_reason_.compare_exchange_strong(none, reason);
    stop_.request_stop();
}

TimePoint deadline_of(const Attempt& attempt) {
    const Invocation& invocation = attempt.call().invocation;
    if (invocation.timeout <= Duration::zero()) return invocation.deadline;
    return std::min(invocation.deadline, attempt.started_at() + invocation.timeout);
}

namespace {

struct Input {
    Payload payload;
    std::optional<CompensatedStep> compensated;
};

CompensatedStep::Outcome to_public(Outcome outcome) {
    switch (outcome) {
        case Outcome::Completed:
            return CompensatedStep::Outcome::Completed;
        case Outcome::Failed:
            return CompensatedStep::Outcome::Failed;
        case Outcome::Unknown:
            return CompensatedStep::Outcome::Unknown;
    }
    return CompensatedStep::Outcome::Unknown;
}

/// What a compensation is called with: {"input", "output", "error", "outcome"} of what it undoes.
Payload compensation_input(const CompensatedStep& step, Outcome outcome) {
    const auto or_null = [](const Payload& payload) {
        return payload.empty() ? std::string_view("null") : std::string_view(payload);
    };
    return fmt::format(
        R"({{"input":{},"output":{},"error":{},"outcome":"{}"}})",
        or_null(step.input),
        or_null(step.output),
        or_null(step.error),
        to_string(outcome)
    );
}

Payload input_of(Environment& environment, const Attempt::Call& call, Seq seq) {
    if (call.input) return *call.input;
    return read_payload(environment.store, call.instance, seq);
}

/// What is known of why the step did not complete, as {"code", "message", ...}.
Payload error_of(const HistoryEvent& event) {
    if (event.type == HistoryType::StepFailed) return event.payload;
    const Json stopped = Json::parse(event.payload, nullptr, false);
    if (stopped.is_object() && stopped.contains("error")) return to_text(stopped["error"]);
    return R"({"code":"stopped","message":"It was stopped before it had completed."})";
}

Input prepare_compensation(Environment& environment, const Attempt::Call& call) {
    Store& store = environment.store;
    const HistoryEvent event = call.compensated
                                   ? *call.compensated
                                   : read_event(store, call.instance, call.invocation.compensated);
    const Outcome outcome = outcome_of(event);
    CompensatedStep step{
        .idempotency_key = fmt::format("{}:{}", call.instance.to_string(), event.visit),
        .input = event.ref == 0 ? Payload() : input_of(environment, call, event.ref),
        .output = {},
        .error = {},
        .outcome = to_public(outcome),
    };
    if (event.type == HistoryType::StepCompleted) {
        step.output = event.payload;
    } else {
        step.error = error_of(event);
    }
    Payload payload = compensation_input(step, outcome);
    return {std::move(payload), std::move(step)};
}

Input prepare(Environment& environment, const Attempt::Call& call) {
    if (call.invocation.is_compensation) return prepare_compensation(environment, call);
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
        .max_attempts = invocation.max_attempts,
        .idempotency_key = invocation.idempotency_key,
        .deadline = deadline_of(attempt),
        .stop = attempt.stop_token(),
        .compensates = {},
    };
}

/// A handler that fails because it was asked to stop fails for that reason, whatever it throws.
Event event_of_failure(const Environment& environment, const Attempt& attempt, Failure failure) {
    const AttemptRef& ref = attempt.call().invocation.attempt;
    const std::string& worker = environment.options.worker_id;
    if (attempt.stop_reason() == Attempt::StopReason::Shutdown) {
        // Its failure is not its own doing: another worker calls it again at once.
        return event::LeaseLost{ref, worker};
    }
    const bool is_late = attempt.stop_reason() == Attempt::StopReason::Timeout ||
                         environment.now() >= deadline_of(attempt);
    if (is_late && !failure.is_permanent) failure.code = "timeout";
    return event::StepFailed{ref, std::move(failure), attempt.started_at(), worker};
}

}  // namespace

Event run_attempt(Environment& environment, const Attempt& attempt) {
    const Attempt::Call& call = attempt.call();
    const Invocation& invocation = call.invocation;
    Input input = prepare(environment, call);
    StepContext context = make_context(attempt);
    context.compensates = std::move(input.compensated);
    const Handler* handler = environment.handlers.find(invocation.handler);
    CallResult result = call_handler(
        *handler,
        input.payload,
        context,
        {environment.limits(), environment.options.error_bytes_max}
    );
    if (auto* output = std::get_if<Payload>(&result)) {
        return event::StepCompleted{
            invocation.attempt,
            std::move(*output),
            attempt.started_at(),
            environment.options.worker_id
        };
    }
    return event_of_failure(environment, attempt, std::move(std::get<Failure>(result)));
}

Event event_of_given_up(const Environment& environment, const Attempt& attempt) {
    const AttemptRef& ref = attempt.call().invocation.attempt;
    const std::string& worker = environment.options.worker_id;
    if (attempt.stop_reason() != Attempt::StopReason::Timeout) {
        return event::LeaseLost{ref, worker};
    }
    Failure failure{
        .code = "timeout",
        .message = fmt::format(
            "The handler \"{}\" did not return in time, nor within the grace after it was asked to "
            "stop.",
            attempt.call().invocation.handler
        ),
        .is_permanent = false,
        .retry_after = {},
        .details = {},
    };
    return event::StepFailed{ref, std::move(failure), attempt.started_at(), worker};
}

}  // namespace ebb::engine
