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

/// Facts about the instance that the kernel needs besides its state. They never change.
struct InstanceIdentity {
    InstanceId id;
    std::string key;
};

/// What the idempotency keys of an instance begin with. The id alone is not enough if the
/// application chose it: it may choose it again for another run.
inline const InstanceId& key_root(const InstanceIdentity& identity, const InstanceState& state) {
    return state.run ? *state.run : identity.id;
}

/// What `event` means for an instance of `program` in `state`. A pure function: the same arguments
/// give the same answer, byte for byte. For Started, `state` is a default-constructed one. Never
/// throws for anything that users can cause: a failed expression, or a stale or impossible event,
/// is an outcome of the decision.
Decision decide(
    const Program& program,
    const InstanceIdentity& identity,
    InstanceState state,
    const Event& event,
    const HistoryView& history,
    TimePoint now
);

/// The handler and queue that can make the call that a token waits for. The strings belong to the
/// program.
struct CallPlace {
    std::string_view handler;
    std::string_view queue;
    std::string_view concurrency_key;
};

/// The place of the call that `token` waits for now. Empty if the token is not at a handler, or is
/// stopping, frozen or parked.
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
    Seq payload = 0;  ///< the event with the payload for a paused step; 0 = none
    bool is_compensation = false;
    bool non_idempotent = false;
    int max_attempts = 1;
    Duration timeout{0};
    TimePoint deadline = kNever;  ///< of the step or of the instance, whichever is earlier
    std::string idempotency_key;
    const Payload* metadata = nullptr;  ///< of the node; belongs to the program
    // compensation only
    Seq compensated = 0;    ///< the event of the step to undo
    InstanceId key_root{};  ///< the step's own idempotency key begins with it
};

/// The call that `token` waits for now; empty if call_place is empty.
std::optional<Invocation> invocation(
    const Program& program,
    const InstanceIdentity& identity,
    const InstanceState& state,
    TokenId token
);

}  // namespace ebb
