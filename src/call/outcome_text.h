#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kernel/event.h"

// The outcome of an attempt as text, as a worker without the kernel hands it in: it waits on the
// row of its task until an engine decides it. docs/reference/sql-workers.md has its members.

namespace ebb {

/// `outcome` must be a StepCompleted, StepFailed or StepPaused.
std::string encode_outcome(const Event& outcome);

/// The outcome of an attempt of `token`. An output that is not JSON, or too large, is a permanent
/// failure. None if the text is not one that encode_outcome can have made.
std::optional<Event> decode_outcome(std::string_view text, TokenId token);

/// The attempt that an outcome is of. For other events: of no token.
AttemptRef attempt_of(const Event& outcome);

}  // namespace ebb
