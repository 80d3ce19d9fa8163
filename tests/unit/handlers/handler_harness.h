#pragma once

#include <filesystem>
#include <string>

#include <ebb/handlers.h>

#include "support/json.h"
#include "support/uuid.h"

namespace ebb {

/// The circumstances of a first call.
inline StepContext a_context() {
    StepContext context;
    context.instance = *InstanceId::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    context.workflow = "order";
    context.workflow_version = 3;
    context.step = "pay";
    context.handler = "charge";
    context.attempt = 2;
    context.idempotency_key = "key-1";
    return context;
}

inline Payload call(
    const Json& spec, const Payload& input, const StepContext& context = a_context()
) {
    return make_handler("charge", spec.dump(), std::filesystem::temp_directory_path())(
        input, context
    );
}

/// The failure of a call that must fail.
struct Failed {
    std::string message;
    HandlerFailure::Options options;
    Json details;
};

inline Failed failure_of(
    const Json& spec, const Payload& input = "{}", const StepContext& context = a_context()
) {
    try {
        const Payload output = call(spec, input, context);
        ADD_FAILURE() << "the call succeeded with " << output;
    } catch (const HandlerFailure& failure) {
        const auto& options = failure.options();
        return {
            failure.what(), options, options.details.empty() ? Json() : Json::parse(options.details)
        };
    }
    return {};
}

}  // namespace ebb
