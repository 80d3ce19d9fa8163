#include "call/compensation.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/json.h"

namespace ebb {

std::string_view to_string(CompensatedStep::Outcome outcome) {
    switch (outcome) {
        case CompensatedStep::Outcome::Completed:
            return "completed";
        case CompensatedStep::Outcome::Failed:
            return "failed";
        case CompensatedStep::Outcome::Unknown:
            return "unknown";
    }
    return "unknown";
}

namespace {

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

/// What is known of why the step did not complete, as {"code", "message", ...}.
Payload error_of_undone(const HistoryEvent& event) {
    if (event.type == HistoryType::StepFailed) return event.payload;
    const Json stopped = Json::parse(event.payload, nullptr, false);
    if (stopped.is_object() && stopped.contains("error")) return to_text(stopped["error"]);
    return R"({"code":"stopped","message":"It was stopped before it had completed."})";
}

Payload input_text(const CompensatedStep& step, Outcome outcome) {
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

}  // namespace

CompensationCall prepare_compensation(
    const InstanceId& key_root, const HistoryEvent& undone, Payload step_input
) {
    const Outcome outcome = outcome_of(undone);
    CompensatedStep step{
        .idempotency_key = fmt::format("{}:{}", key_root.to_string(), undone.visit),
        .input = std::move(step_input),
        .output = {},
        .error = {},
        .outcome = to_public(outcome),
    };
    if (undone.type == HistoryType::StepCompleted) {
        step.output = undone.payload;
    } else {
        step.error = error_of_undone(undone);
    }
    Payload input = input_text(step, outcome);
    return {std::move(input), std::move(step)};
}

}  // namespace ebb
