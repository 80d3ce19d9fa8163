#pragma once

#include <ebb/handler.h>
#include <ebb/id.h>

#include "core/kernel/history.h"

namespace ebb {

/// What the call of a compensation is made with.
struct CompensationCall {
    Payload input;  ///< {"input", "output", "error", "outcome"} of what it undoes
    CompensatedStep step;
};

/// Makes it from the event of the step that is undone and from the input that the step had.
CompensationCall prepare_compensation(
    const InstanceId& key_root, const HistoryEvent& undone, Payload step_input
);

}  // namespace ebb
