#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "engine/turn.h"
#include "store/store.h"

namespace ebb::engine {

/// Turns that are written together: decided, but not settled yet.
struct Batch {
    std::vector<Turn> turns;
    int tries = 0;
};

/// A batch on its way through the store, and its outcome. While it is on its way, no thread is the
/// committer for it: other threads decide and write other instances in the meantime.
struct Flight {
    Batch batch;
    SteadyPoint begun{};
    SteadyPoint ended{};
    std::vector<CommitResult> results;
    std::exception_ptr error;  ///< set: there are no results
};

using FlightPtr = std::shared_ptr<Flight>;

}  // namespace ebb::engine
