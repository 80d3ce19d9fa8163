#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ebb/engine.h>

namespace ebb::sim {

/// The process that requests exports and imports.
inline constexpr const char* kMover = "mover";

/// One call of a handler that was really made.
struct Call {
    std::string worker;
    int instance = 0;  ///< which of the run
    std::string node;
    std::string handler;
    std::int64_t visit = 0;
    int attempt = 0;
    int pauses = 0;           ///< of the visit before this call
    std::int64_t undoes = 0;  ///< the event that this compensation undoes; 0 = a forward call
    bool is_made = true;      ///< false: it could not be, since its input was out of reach
    /// `completed`, `failed`, `paused`; empty: it never returned to its worker.
    std::string outcome;
    std::string handle{};              ///< that it named, of the edge to leave by; empty: none
    std::optional<Payload> payload{};  ///< the payload that came after its pause
    Payload input{};                   ///< that it was called with; empty: unknown
    Payload result{};                  ///< the output, or the code of the failure
    std::string message{};             ///< of the failure; empty: the engine's own words
    /// How long it wants to be left alone after its failure; nothing: as its step says.
    std::optional<std::int64_t> retry_after_ms{};
};

/// What people requested.
struct Asked {
    int instance = 0;
    std::string type;  ///< of the event that it makes; `export`, `import`
    std::string by;
    std::string role;
    std::string node;              ///< the decision (empty: the only one), the signal
    Payload payload{};             ///< of a signal
    std::optional<Payload> input;  ///< of a requeue
    bool is_taken = false;         ///< the answer was that it has changed the instance
};

/// What is known of one instance when a run is over: all that the checker sees.
struct Evidence {
    std::string definition;  ///< JSON
    /// The versions 2, 3 ... of the workflow, which may have been registered.
    std::vector<std::string> versions{};
    std::string status;
    std::vector<HistoryEntry> history;
    int tasks_live = 0;  ///< rows that a worker may claim now or later
    int tasks_parked = 0;
    bool is_at_rest = true;     ///< faults have stopped and all that was due was done
    bool has_true_time = true;  ///< no clock was wrong
    bool knows_calls = true;    ///< false: `calls` says nothing
    std::vector<Call> calls;
    Payload input{};              ///< that it was started with; empty: unknown
    bool knows_requests = false;  ///< false: `requests` says nothing
    std::vector<Asked> requests{};
};

struct RunResult {
    std::vector<Evidence> evidence;  ///< by instance, perhaps several times: each time of rest
    std::string stuck;               ///< not empty: the cluster did not come to rest
    std::string crowded;             ///< not empty: a queue's limits did not hold
    std::string side_rows;           ///< not empty: they do not say what the states say
    std::string silent;              ///< not empty: a living worker let its leases run out
    int limited = 0;                 ///< claims in queues with limits
    std::uint64_t digest = 0;        ///< of all histories: equal runs have equal ones
    int calls = 0;
    int events = 0;                       ///< at the end, of all instances
    int instances = 0;                    ///< the last so many of `evidence` are how it ended
    std::map<std::string, int> faults;    ///< that happened
    std::map<std::string, int> seen;      ///< `instance running`, `step retrying`
    std::map<std::string, int> requests;  ///< `cancel taken`, `cancel refused`, `cancel repeated`
};

}  // namespace ebb::sim
