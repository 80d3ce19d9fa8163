#pragma once

#include <optional>
#include <string>

#include <ebb/context.h>
#include <ebb/fields.h>

namespace ebb {

/// Why a step that is compensated did not complete.
struct CompensatedError {
    std::string code;
    std::string message;
};
EBB_FIELDS_OR_DEFAULT(CompensatedError, code, message)

EBB_ENUM_NAMED(
    CompensatedStep::Outcome, (Completed, "completed"), (Failed, "failed"), (Unknown, "unknown")
)

/// The input of a handler that is a compensation, with the types of the step's input and output:
///
///     handlers.add("refund", [](const ebb::Compensated<Order, Receipt>& step) {
///         if (step.output) bank.refund(step.output->charge);
///     });
///
/// A step that failed or was stopped is compensated, too: then it has no output, and what it did is
/// found by the step's idempotency key (StepContext::compensates). If the step failed with
/// `invalid_input`, its own handler could not read the input either: then `input` is what its
/// default constructor makes.
template <typename Input, typename Output = Payload>
struct Compensated {
    Input input{};
    std::optional<Output> output;           ///< empty unless the step completed
    std::optional<CompensatedError> error;  ///< empty if the step completed
    CompensatedStep::Outcome outcome = CompensatedStep::Outcome::Unknown;
};

template <typename Input, typename Output>
void ebb_read(const ValueReader& json, Compensated<Input, Output>& step) {
    json.member("output", step.output);
    json.member("error", step.error);
    json.member("outcome", step.outcome);
    const bool is_readable = !step.error || step.error->code != "invalid_input";
    if (is_readable) json.member("input", step.input);
}

template <typename Input, typename Output>
void ebb_write(ValueWriter& json, const Compensated<Input, Output>& step) {
    json.begin_object();
    json.member("input", step.input);
    json.member("output", step.output);
    json.member("error", step.error);
    json.member("outcome", step.outcome);
}

}  // namespace ebb
