#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/id.h>

#include "core/kernel/decision.h"
#include "core/kernel/event.h"
#include "core/kernel/history.h"
#include "core/kernel/program.h"

namespace ebb {

/// What the kernel knows of the instance besides its state: constant over its life.
struct InstanceIdentity {
    InstanceId id;
    std::string key;
};

/// What `event` means for an instance of `program` in `state`: a pure function, the same answer for
/// the same arguments byte for byte. `state` of Started is a default-constructed one. Never throws
/// for anything that users can cause: an expression that fails, a stale or impossible event are
/// outcomes of the decision.
Decision decide(
    const Program& program,
    const InstanceIdentity& identity,
    InstanceState state,
    const Event& event,
    const HistoryView& history,
    TimePoint now
);

/// Who can make the call that a token waits for. The words are the program's.
struct CallPlace {
    std::string_view handler;
    std::string_view queue;
    std::string_view concurrency_key;
};

/// Where the call that `token` waits for now is to be made; empty when it does not stand at a
/// handler, is stopping, frozen or parked.
std::optional<CallPlace> call_place(
    const Program& program, const InstanceState& state, TokenId token
);

/// What the worker needs to call the handler of a token.
struct Invocation {
    AttemptRef attempt;
    std::string node;
    std::string handler;
    std::string queue;
    std::string concurrency_key;
    Seq input = 0;    ///< the event with the input
    Seq payload = 0;  ///< the event with what came for a paused step; 0 = nothing
    bool is_compensation = false;
    bool non_idempotent = false;
    int max_attempts = 1;
    Duration timeout{0};
    TimePoint deadline = kNever;  ///< of the step, then of the instance: whichever is earlier
    std::string idempotency_key;
    const Payload* metadata = nullptr;  ///< of the node; the program's
    // compensation only
    Seq compensated = 0;  ///< the event of the step that is undone
};

/// The call that `token` waits for now; empty when call_place is.
std::optional<Invocation> invocation(
    const Program& program,
    const InstanceIdentity& identity,
    const InstanceState& state,
    TokenId token
);

}  // namespace ebb
