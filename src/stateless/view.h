#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stateless/data.h"

// What people and drivers see of a snapshot, derived from its state and its record.

namespace ebb::stateless {

/// kNoNode if there is none.
NodeIndex current_node(const Snapshot::Data& data);

std::optional<RetryState> retry_state(const Snapshot::Data& data);
/// Of the graph, if the run was started at one of its nodes.
NodeIndex start_node(const Snapshot::Data& data);

std::vector<WaitingFor> waiting_for(const Snapshot::Data& data);

/// Empty until completed.
Payload output_of(const Snapshot::Data& data);

/// {"code", "message", ..., "step"} of the failure; empty if there is none.
Payload error_of(const Snapshot::Data& data);

/// The message in a failure's payload.
std::string failure_message(std::string_view failure);

}  // namespace ebb::stateless
