#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "engine/turn.h"
#include "store/store.h"

namespace ebb::engine {

/// Turns that are written together: decided, and not settled yet.
struct Batch {
    std::vector<Turn> turns;
    int tries = 0;
};

/// A batch on its way through the store, and what became of it. While it is on its way nobody is
/// the committer for it: others decide and write other instances meanwhile.
struct Flight {
    Batch batch;
    SteadyPoint begun{};
    SteadyPoint ended{};
    std::vector<CommitResult> results;
    std::exception_ptr error;  ///< set: there are no results
};

using FlightPtr = std::shared_ptr<Flight>;

}  // namespace ebb::engine
