#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <ebb/clock.h>
#include <ebb/engine.h>

#include "store/store.h"
#include "view/payload_json.h"

// How the steps of a workflow's newest instances went.

namespace ebb::view {

struct StepStats {
    static constexpr int kInstancesMax = 200;
    /// An instance with more events is left out: to read it takes too long.
    static constexpr int kEventsMax = 2'000;
    /// No instance is read after this time.
    static constexpr auto kTimeMax = std::chrono::milliseconds(150);
};

/// Reads at most kInstancesMax instances of this version, the newest first, for at most kTimeMax.
/// `reader` and `store` are of one store.
Json step_stats_json(
    Engine& reader, Store& store, const Clock& clock, const std::string& workflow, int version
);

}  // namespace ebb::view
