#pragma once

#include <string>
#include <vector>

#include "core/kernel/effects.h"
#include "core/kernel/history.h"
#include "core/kernel/state.h"

namespace ebb {

/// The handler name under which any worker claims a task: timers, deadlines and stops need no user
/// code.
inline constexpr std::string_view kEngineHandler = "";
inline constexpr std::string_view kDefaultQueue = "default";

/// What a decision wants of the row (instance, token) in `tasks`.
struct TaskChange {
    enum class Kind {
        Put,  ///< make or replace it: handler, queue and due as given, not leased, not parked
        Remove,
        Park,  ///< it cannot be claimed until Unpark; a lease that is held stays
        Unpark,
        Stop,  ///< handler becomes the engine's, due now; a lease that is held stays and is asked
               ///< to stop
    };

    Kind kind = Kind::Put;
    TokenId token = 0;
    std::string handler;
    std::string queue{kDefaultQueue};
    std::string concurrency_key{};  ///< what the queue's limit per key counts; empty = none
    TimePoint due{};
    bool is_continued = false;  ///< Put: the step follows on the one just finished, so its worker
                                ///< may keep the lease

    bool operator==(const TaskChange&) const = default;
};

/// What an event means for an instance, as data: commit it completely or not at all.
struct Decision {
    enum class Verdict {
        Changed,
        Ignored,  ///< stale or repeated: nothing to write, the sender's work is done
        Refused,  ///< not possible now: see `refusal`
    };

    struct Refusal {
        std::string code;  ///< `invalid_state`, `not_waiting`, `not_allowed`, `limit_exceeded`
        std::string message;
    };

    Verdict verdict = Verdict::Changed;
    Refusal refusal;
    InstanceState state;
    std::vector<HistoryEvent> history;  ///< to append; seqs are set
    std::vector<TaskChange> tasks;      ///< at most one per token
    Effects effects;                    ///< what else is written with it; nearly always nothing
};

}  // namespace ebb
