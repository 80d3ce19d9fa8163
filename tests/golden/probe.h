#pragma once

#include <string>
#include <vector>

#include "core/kernel/decide.h"

namespace ebb::golden {

/// Something that could happen to an instance in a certain state.
struct Probe {
    std::string name;   ///< of the event, as the table of transitions has it
    TokenId token = 0;  ///< to which it happens; 0 = the instance
    Event event;
    TimePoint now{};  ///< when
};

/// Every kind of event for every token of `state`, and all that people can ask for.
std::vector<Probe> probes_of(const InstanceState& state, const Program& program, TimePoint now);

/// What a token does, as the table has it: its status, `stopping`, or that of a compensation.
std::string state_of(const Token& token);

/// All names that state_of can give.
std::vector<std::string> token_states();

}  // namespace ebb::golden
