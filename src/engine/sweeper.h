#pragma once

#include <optional>
#include <vector>

#include "engine/environment.h"
#include "engine/repairer.h"
#include "engine/service.h"

namespace ebb::engine {

/// Deletes what has been kept long enough, in small batches with pauses between them, and repairs
/// side rows. One worker at a time has the turn for each; the others ask for it once a minute. And
/// each lets the store reclaim the space of what it has done.
class Sweeper final : public Service {
 public:
    Sweeper(Environment& environment, ProgramCache& programs);

    std::string_view name() const override { return "sweeper"; }

    SteadyPoint tick(SteadyPoint now) override;

 private:
    SteadyPoint sweep_if_due(SteadyPoint now);
    SteadyPoint reclaim_if_due(SteadyPoint now);
    void take_turn();
    void sweep();
    void end_pass();

    Environment& environment_;
    const Duration ask_every_;
    SteadyPoint next_at_;
    SteadyPoint reclaim_at_{};
    std::optional<SweepTurn> turn_;
    std::vector<RetentionRule> rules_;
    std::int64_t purged_ = 0;  // in this turn
    Repairer repairer_;
};

}  // namespace ebb::engine
