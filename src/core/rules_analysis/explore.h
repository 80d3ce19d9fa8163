#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ebb/definition.h>

// Plays every order of the transitions of a small workflow with the real kernel.

namespace ebb::rules_analysis {

struct ExploreOptions {
    Payload input = "{}";
    std::size_t states_max = 10'000;
    /// More outputs of one transition than this are not tried.
    std::size_t outputs_max = 256;
};

struct Exploration {
    /// How instances end: `completed: booked`, or `exception no_condition`.
    struct Ending {
        std::string what{};
        Payload attributes{};
        /// How many orders of events end so; empty = without a limit, because some path is a
        /// circle.
        std::optional<std::uint64_t> ways{};
    };

    std::size_t states = 0;
    bool is_complete = true;
    /// All orders; kWaysMax stands for as many or more.
    std::optional<std::uint64_t> ways{};
    std::vector<Ending> endings{};
    /// Outputs that the kernel refused, by the code of the refusal.
    std::map<std::string, std::size_t> refused{};
    /// What must hold in each state and does not, with the state's attributes. Empty: all is well.
    std::vector<std::string> faults{};
};

inline constexpr std::uint64_t kWaysMax = UINT64_MAX;

/// Explores a valid definition with rules. Transitions write the values that their `writes` list;
/// of an attribute without a list, one value of each kind that the conditions can tell apart. They
/// do not fail, a transition with `steps` counts as one call, and no application writes from
/// outside. Throws Error with InvalidArgument if the input is refused, or if a transition has more
/// outputs than the limit.
Exploration explore(const Definition& definition, const ExploreOptions& options);

}  // namespace ebb::rules_analysis
