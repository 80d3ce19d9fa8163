#pragma once

#include <variant>

#include <ebb/handler.h>

#include "core/kernel/event.h"
#include "support/json.h"

namespace ebb {

struct CallLimits {
    PayloadLimits payload;
    std::size_t error_bytes_max = 8 << 10;
};

/// The outcome of a handler's call.
using CallResult = std::variant<Payload, Failure>;

/// Calls a handler. Whatever it throws becomes a Failure, and a result that is not JSON or too
/// large becomes one as well (`invalid_output`, permanent). Throws nothing.
CallResult call_handler(
    const Handler& handler,
    const Payload& input,
    const StepContext& context,
    const CallLimits& limits
);

}  // namespace ebb
