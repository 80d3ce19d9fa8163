#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <ebb/json.h>
#include <ebb/label.h>
#include <ebb/time.h>

#include "core/kernel/state.h"

// What can happen to an instance: the inputs of `decide`.

namespace ebb {

/// Which call of which visit an outcome belongs to. An outcome of any other call is stale.
struct AttemptRef {
    TokenId token = 0;
    Visit visit = 0;
    std::int32_t attempt = 0;
    std::int32_t pauses = 0;  ///< a paused and a resumed call have the same attempt

    bool operator==(const AttemptRef&) const = default;
};

/// The call that the token waits for now, or that is being made.
inline AttemptRef present_attempt(const Token& token) {
    return {
        .token = token.id, .visit = token.visit, .attempt = token.attempt, .pauses = token.pauses
    };
}

/// Why an attempt failed.
struct Failure {
    std::string code = "error";  ///< `error`, `timeout`, `in_doubt`, `worker_lost`, `rejected`, or
                                 ///< the handler's own
    std::string message;
    bool is_permanent = false;
    std::optional<Duration> retry_after;  ///< the handler's wish
    std::string details;                  ///< JSON text or empty: stderr, HTTP status...

    bool operator==(const Failure&) const = default;
};

namespace event {

/// The instance is created; `input` was checked.
struct Started {
    Payload input;
    std::string by;
    NodeIndex entry = kNoNode;  ///< a node of the graph to begin at; kNoNode = its own entry
    std::optional<InstanceId> run{};
    Labels labels{};  ///< those that were given; they override the definition's
};

struct StepCompleted {
    AttemptRef attempt;
    Payload output;
    TimePoint started_at{};
    std::string worker;
    std::string handle{};  ///< of a graph's edge; empty = none was named
};

struct StepFailed {
    AttemptRef attempt;
    Failure failure;
    TimePoint started_at{};
    std::string worker;
};

/// The token's due time has come: a retry needs none, but a delay, a wait's deadline or (token 0)
/// the instance's does.
struct TimerFired {
    TokenId token =
        0;  ///< as in the task: negative = the deadline of token -n, whose visit is not looked at
    Visit visit = 0;
};

struct DecisionMade {
    std::string node;  ///< empty = the only one that is awaited
    bool is_confirmed = false;
    std::string by;
    std::string role;  ///< empty = none claimed
    std::string comment;
    std::string request_id;  ///< empty = not idempotent by request
};

struct SignalReceived {
    std::string name;
    Payload payload;
    std::string request_id;
    std::string by{};
};

struct CancelRequested {
    std::string by;
    std::string reason;
};

struct AbortRequested {
    std::string by;
    std::string reason;
};

struct Paused {
    std::string by;
    std::string reason;
};

struct Resumed {
    std::string by;
};

/// An operator lets a dead-lettered instance continue.
struct Requeued {
    std::optional<Payload> new_input;  ///< of the failed steps
    bool skip_compensation = false;    ///< skip the exhausted compensation
    std::string by;
};

/// The lease of the token's task ran out (or its worker died) while its handler may have been
/// running.
struct LeaseLost {
    AttemptRef attempt;
    std::string worker;  ///< the one that lost it
};

/// The task of a stopping token was claimed, so its handler is not running in any worker.
struct TokenStopped {
    TokenId token = 0;
    Visit visit = 0;
    bool was_called = false;  ///< the lease was lost while the handler may have been running
};

/// The attempt's handler wants to be called again when a payload has come from outside.
struct StepPaused {
    AttemptRef attempt;
    std::string worker;
};

/// The attempt's handler says how far it has come.
struct StepProgressed {
    AttemptRef attempt;
    Payload value;
    std::string worker;
};

/// The instance must continue elsewhere, from a snapshot of its state. None of its handlers runs.
struct MoveRequested {
    Seq seen = 0;  ///< the newest event when that was made sure; refused if there is a newer one
    bool ends_pause = false;  ///< it was only paused for the move
    std::string by;
};

/// A moved instance continues here.
struct Arrived {
    Payload details;  ///< for the history
};

/// An application or an operator writes attributes of an instance with rules.
struct AttributesWritten {
    Payload values;          ///< an object of attributes
    bool is_repair = false;  ///< by an operator: any attribute, and all conditions are checked
    std::string by;
    std::string request_id;
};

/// An operator takes an instance with rules back to one of its writes.
struct RecoverRequested {
    Seq to = 0;          ///< the event of the write; all that came after it is undone
    bool stops = false;  ///< no condition is checked then: it is in the exception `recovered`
    std::string by;
    std::string request_id;
};

}  // namespace event

using Event = std::variant<
    event::Started,
    event::StepCompleted,
    event::StepFailed,
    event::TimerFired,
    event::DecisionMade,
    event::SignalReceived,
    event::CancelRequested,
    event::AbortRequested,
    event::Paused,
    event::Resumed,
    event::Requeued,
    event::LeaseLost,
    event::TokenStopped,
    event::StepPaused,
    event::MoveRequested,
    event::Arrived,
    event::StepProgressed,
    event::AttributesWritten,
    event::RecoverRequested>;

/// `started`, `step_completed`, ...: the name in logs, docs and the transition table.
std::string_view event_name(const Event& event);

}  // namespace ebb
