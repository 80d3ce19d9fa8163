#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rules/program.h"
#include "core/rules/state.h"

// The meaning of one write of attributes: the transitions that it fires, and whether the instance
// has ended or is in an exception. A pure function of the state. The caller handles tokens, history
// and tasks.

namespace ebb::rules {

struct Write {
    enum class Source {
        Start,       ///< the instance's input
        Transition,  ///< what a transition yields
        Outside,     ///< an application or an operator
        Repair,      ///< an operator: any attribute; all conditions are checked
        Handler,     ///< an exception's handler: the same
        Failure,     ///< a transition has failed for good, so nothing is written
        Resume,      ///< a rollback has ended here: nothing is written, all conditions are checked
    };

    Source source = Source::Outside;
    Payload values = "null";  ///< an object of attributes, or null for no change
    int trigger = -1;         ///< Transition, Failure: which one
    /// Transition, Handler: the state when it fired. A value that equals the one given there is no
    /// write.
    Payload given{};
    std::int64_t fired = 0;  ///< Transition, Handler: the event that fired it
    /// The number that the event of this write will have. Failure: that of the failure.
    std::int64_t seq = 0;
    /// The other transitions that are pending, by their trigger; last the exception's handler.
    std::vector<bool> pending{};
    /// Of those the ones that wait until their condition has been true for long enough.
    std::vector<bool> armed{};
};

struct Outcome {
    enum class Verdict {
        Goes,       ///< transitions are pending, or `fired` now are
        Finishes,   ///< a final condition holds; what is pending is awaited
        Stops,      ///< a final condition holds; what is pending must be stopped
        Completed,  ///< a final condition holds and nothing is pending
        Exception,  ///< see `cause`
        Refused,    ///< nothing changes: see `code` and `message`
    };

    /// An attribute that was changed, and what it was.
    struct Change {
        int attribute = 0;
        AttributeValue before;
    };

    Verdict verdict = Verdict::Goes;
    State state;
    std::vector<int> fired;       ///< triggers, in the definition's order
    std::vector<int> armed{};     ///< those that fire if their condition stays true
    std::vector<int> disarmed{};  ///< that had been armed and must not fire any more
    int savepoint = -1;           ///< whose condition became true
    int final_condition = -1;     ///< that holds
    /// `no_condition`, `no_progress`, `max_fires`, `failed:TRIGGER`, or the exception's name.
    std::string cause;
    std::vector<Change> changes;  ///< in the definition's order
    /// Of those attributes that others have changed since the transition fired.
    std::vector<int> overwrote;
    std::string code{};
    std::string message{};
};

/// The condition of an armed trigger has been true for long enough.
void fire_armed(const Program& program, State& state, int trigger);
/// The transition has been undone, so the trigger has not fired so often.
void unfire(const Program& program, State& state, int trigger);

/// Never throws for anything that a user can cause.
Outcome write(const Program& program, const State& state, const Write& write);

}  // namespace ebb::rules
