#pragma once

#include <set>
#include <string>
#include <vector>

#include "player.h"

namespace ebb::golden {

/// What of a play must be the same whatever went wrong with the store on the way.
struct Ending {
    std::string status;
    std::string output;                    ///< without the times of decisions
    std::string error;                     ///< its code
    std::vector<std::string> compensated;  ///< nodes, in order
    /// Nodes whose handlers completed, or were stopped: a success that is lost with its worker
    /// after it was asked to stop counts as stopped.
    std::multiset<std::string> ended;

    bool operator==(const Ending&) const = default;
};

Ending ending_of(Player& player);

/// For people: one line per field.
std::string to_text(const Ending& ending);

enum class Rest {
    Reached,  ///< nothing is left to do but by people
    Unknown,
};

/// What the independent checker of the simulation finds wrong with the history. Empty = nothing.
std::string broken_rule(const Player& player, const Case& test_case, Store& store, Rest rest);

}  // namespace ebb::golden
