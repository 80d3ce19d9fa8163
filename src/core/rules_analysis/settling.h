#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/rules_analysis/search.h"

// What one write means in the abstract: rules::write over regions, with every outcome that is
// possible. The property test in tests/rules compares the two.

namespace ebb::rules_analysis {

/// One state that a write can lead to.
struct Settled {
    AbstractState state;
    int final_condition = -1;  ///< that has completed it
    bool is_stuck = false;     ///< the exception `no_condition`
};

/// One write is followed into at most 2 to the power of this many outcomes.
inline constexpr std::size_t kUncertainMax = 10;

bool is_once(const Subject& subject, std::size_t trigger);
bool has_any(const AbstractState& state, std::uint8_t bits);

class Settling {
 public:
    /// `state` has the new values, and no mark of what has ended. `effect`: what may have changed;
    /// null = nothing.
    Settling(
        const Subject& subject,
        const Truth& truth,
        AbstractState state,
        const Effect* effect,
        Happening how
    )
        : subject_(subject), truth_(truth), state_(std::move(state)), effect_(effect), how_(how) {}

    void run();

    const std::vector<Settled>& settled() const { return settled_; }

    /// Finals that hold while others are pending, and are refused.
    const std::vector<int>& blocked() const { return blocked_; }

    /// Triggers that fire or are armed in some outcome.
    const std::vector<int>& fired() const { return fired_; }

    /// States in which a rollback to a savepoint that is reached now may end.
    const std::vector<AbstractState>& resumed() const { return resumed_; }

    /// False if there are too many outcomes to list them.
    bool is_exhaustive() const { return is_exhaustive_; }

 private:
    const Subject& subject_;
    const Truth& truth_;
    AbstractState state_;
    const Effect* effect_;
    Happening how_;
    std::vector<Settled> settled_;
    std::vector<int> blocked_;
    std::vector<int> fired_;
    std::vector<AbstractState> resumed_;
    bool is_exhaustive_ = true;

    void release(AbstractState state, std::size_t first);
    void decide(const AbstractState& state);
    void end(const AbstractState& state, int final_condition);
    void raise(AbstractState state, bool is_stuck);
    void reach_savepoints(const AbstractState& state);
    void fire(const AbstractState& state);
    void fire_with(const AbstractState& state, const std::vector<bool>& is_true);
    bool may_fire(AbstractState& next, std::size_t trigger, bool is_true) const;
    bool matters(const AbstractState& state, std::size_t trigger) const;
    bool may_release(std::size_t trigger) const;
};

}  // namespace ebb::rules_analysis
