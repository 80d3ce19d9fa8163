#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/queue.h>

namespace ebb::sim {

/// What one call of a handler does.
enum class Behaviour {
    Complete,
    Fail,         ///< may be tried again
    FailForGood,  ///< PermanentError
    FailLater,    ///< RetryAfter
    Garble,       ///< returns a text that is not JSON
    Hang,         ///< returns when it is asked to stop
    Ignore,       ///< does not even return then
    Pause,        ///< waits for a payload from outside
    Astray,       ///< names a handle that no edge has
};

/// Something that happens to the cluster from outside.
struct Disturbance {
    enum class Kind {
        Crash,        ///< a worker dies where it stands
        CrashBefore,  ///< it dies before one of its next writes
        CrashAfter,   ///< ... or after it
        Unavailable,
        Busy,
        Full,
        ReadOnly,
        Refused,
        NeverArrived,  ///< in doubt, and was not performed
        InDoubt,       ///< in doubt, and was performed
        Late,          ///< in doubt, and a commit is performed later
        Unreadable,    ///< a read fails
        Stall,         ///< a worker stands still, and its leases run out
        Drain,         ///< a worker ends in order
        TimeJump,      ///< a long time passes
        Skew,          ///< a worker's clock goes wrong
        Duplicate,     ///< the last outcome is reported once more, by another process
        Purge,         ///< what has ended is deleted
        Export,        ///< an instance leaves the cluster ...
        Abroad,        ///< ... continues there ...
        Import,        ///< ... and comes back
        Cancel,
        Abort,
        Pause,
        Resume,
        Decide,
        Signal,
        Requeue,
        Twin,     ///< a second process with a living worker's name
        Write,    ///< of attributes, by an application or an operator
        Rematch,  ///< an operator has all conditions checked
        Recover,  ///< an operator takes an instance with rules back to one of its writes
        Evolve,   ///< the next version of the workflow is registered
    };
    static constexpr int kKinds = static_cast<int>(Kind::Evolve) + 1;

    int tick = 0;  ///< when
    Kind kind = Kind::Crash;
    std::uint64_t pick = 0;  ///< whom, how long ...
};

std::string_view to_string(Behaviour behaviour);
std::string_view to_string(Disturbance::Kind kind);

/// Everything that decides a run. The same plan gives the same run; a smaller one is a simpler run.
struct Plan {
    std::uint64_t seed = 0;
    Definition definition;
    std::vector<Definition> versions{};                     ///< 2, 3 ... of a workflow with rules
    std::vector<Payload> inputs;                            ///< one for each instance
    std::vector<std::vector<std::string>> workers;          ///< the handlers of each
    std::map<std::string, std::vector<Behaviour>> scripts;  ///< by handler; then: Complete
    std::vector<Disturbance> disturbances;                  ///< by rising tick
    std::map<std::string, QueueLimits> queues;              ///< that have limits from the beginning
    int ticks = 0;            ///< how long chance rules; then faults stop
    int percent_helpful = 0;  ///< of the ticks: people give an instance what it waits for
    int seconds_max = 1;      ///< how long a move of the clock may be while work is in progress
    bool goes_on = false;     ///< whether what waits for people then gets what it waits for
};

Plan make_plan(std::uint64_t seed);
/// The same of a workflow with rules.
Plan make_rules_plan(std::uint64_t seed);

/// As text, to be read by people: seed, definition, handlers, disturbances.
std::string describe(const Plan& plan);

}  // namespace ebb::sim
