#pragma once

#include <ebb/instance.h>

#include "core/kernel/history.h"

namespace ebb {

HistoryEntry to_entry(const HistoryEvent& event);

/// Why an instance failed, as {"code", "message", ...} with the step that did it.
Payload error_of(const HistoryEvent& event);

}  // namespace ebb
