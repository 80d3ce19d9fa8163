#pragma once

#include <map>
#include <set>
#include <string>

#include "probe.h"

namespace ebb::golden {

/// What the kernel makes of every event in every state that was met: the table and the pictures of
/// docs/reference/transitions.md.
class TransitionTable {
 public:
    /// Decides on all probes of a state and records the outcomes. Returns what is wrong; empty =
    /// nothing. If a decision changed something, it must ignore the same event of a worker or a
    /// clock when that event comes again.
    std::string probe(
        const Program& program,
        const InstanceState& state,
        const std::vector<HistoryEvent>& history,
        TimePoint now
    );

    const std::set<std::string>& token_states_met() const { return token_states_; }

    const std::set<std::string>& statuses_met() const { return statuses_; }

    /// As Markdown.
    std::string page() const;

 private:
    using Outcomes = std::set<std::string>;
    using Rows = std::map<std::string, std::map<std::string, Outcomes>>;  // event, state, outcomes

    void note(const Probe& probe, const InstanceState& before, const Decision& decision);

    Rows of_instances_;
    Rows of_tokens_;
    std::set<std::string> statuses_;
    std::set<std::string> token_states_;
};

}  // namespace ebb::golden
