#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rules/program.h"
#include "core/rules/state.h"

// What one write of attributes means: which transitions it fires, whether the instance has come to
// its end, or to an exception. A pure function of the state; tokens, history and tasks are its
// caller's.

namespace ebb::rules {

struct Write {
    enum class Source {
        Start,       ///< the instance's input
        Transition,  ///< what a transition yields
        Outside,     ///< an application or an operator
        Repair,      ///< an operator, or an exception's handler: any attribute, all are asked
    };

    Source source = Source::Outside;
    Payload values = "null";  ///< an object of attributes, or null for no change
    int trigger = -1;         ///< Transition: which one
    /// Transition: the state when it fired. A value that equals the one given there is no write.
    Payload given{};
    std::int64_t fired = 0;  ///< Transition: the event that fired it
    std::int64_t seq = 0;    ///< the number that the event of this write will have
    /// The other transitions that are pending, by their trigger.
    std::vector<bool> pending{};
};

struct Outcome {
    enum class Verdict {
        Goes,       ///< transitions are pending, or `fired` now are
        Finishes,   ///< a final condition holds; what is pending is awaited
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
    std::vector<int> fired;    ///< triggers, in the definition's order
    int final_condition = -1;  ///< that holds
    std::string cause;  ///< `no_condition`, `no_progress`, `max_fires`, or the exception's name
    std::vector<Change> changes;  ///< in the definition's order
    /// Of those attributes that others have changed since the transition fired.
    std::vector<int> overwrote;
    std::string code{};
    std::string message{};
};

/// Never throws for anything that a user can cause.
Outcome write(const Program& program, const State& state, const Write& write);

}  // namespace ebb::rules
