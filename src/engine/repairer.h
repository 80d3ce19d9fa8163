#pragma once

#include <optional>
#include <vector>

#include "engine/environment.h"
#include "engine/program_cache.h"

namespace ebb::engine {

/// Compares the side rows of all instances with their states, page by page, and corrects what
/// differs: the rows of instances that were here before there were side rows, and what a program of
/// the version before has left out. A pass that has found something is soon followed by another.
class Repairer {
 public:
    Repairer(Environment& environment, ProgramCache& programs, Duration ask_every);

    /// Does what is due at `now`; returns when it wants to be called again.
    SteadyPoint tick(SteadyPoint now);

 private:
    void check_page();
    std::optional<SideRowRepair> repair_of(const SideRowSuspect& suspect);
    /// The dates of its rows, which its state does not know.
    void put_dates(Effects& effects, const InstanceRow& row);
    void end_pass();

    Environment& environment_;
    ProgramCache& programs_;
    const Duration ask_every_;
    SteadyPoint next_at_;
    std::optional<SweepTurn> turn_;
    std::int64_t repaired_ = 0;  // in this pass
};

}  // namespace ebb::engine
