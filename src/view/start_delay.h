#pragma once

#include <string>
#include <vector>

#include <ebb/clock.h>

#include "store/store.h"

namespace ebb::view {

/// How long the first attempt of a visit waited for a worker: from the event that made its task due
/// to its start. A later attempt waits on purpose, for its backoff.
struct StartDelay {
    std::string node;
    Duration delay{};
};

/// Those of a history, or of its first events.
std::vector<StartDelay> start_delays(const std::vector<HistoryEvent>& events);

}  // namespace ebb::view
