#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/id.h>
#include <ebb/label.h>
#include <ebb/status.h>
#include <ebb/time.h>

#include "core/rules/state.h"

// The whole control state of an instance. Its size depends on what is live, never on what has
// happened.

namespace ebb {

/// The number of a history event within its instance, from 1. 0 = none.
using Seq = std::int64_t;
/// The number of a token within its instance, from 1. Token 0 stands for the instance itself (its
/// deadline).
using TokenId = std::int64_t;
/// The number of a scope within its instance, from 1. 0 = the instance's own top level.
using ScopeId = std::int64_t;
/// Counts the arrivals of tokens at nodes within an instance, from 1. A visit keeps its number over
/// all attempts, so the number makes the idempotency key.
using Visit = std::int64_t;
/// An index into Program::nodes.
using NodeIndex = std::int32_t;

inline constexpr TokenId kInstanceToken = 0;

/// The task (instance, -n) wakes token n at its deadline; (instance, 0) the instance at its own.
inline constexpr TokenId deadline_task(TokenId token) {
    return -token;
}

inline constexpr NodeIndex kNoNode = -1;

enum class TokenStatus {
    Ready,     ///< has a handler to run, or is running it
    Retrying,  ///< failed and waits for its next attempt
    WaitingTimer,
    WaitingDecision,
    WaitingSignal,
    Forked,  ///< is at a parallel block whose branches are its children
    Frozen,  ///< failed for good in dead-letter mode; waits for an operator
};

std::string_view to_string(TokenStatus status);

/// One active loop around a token.
struct LoopTurn {
    NodeIndex loop = kNoNode;
    std::int64_t turn = 0;

    bool operator==(const LoopTurn&) const = default;
};

/// One person's vote on a decision with a quorum.
struct Vote {
    std::string by;

    bool operator==(const Vote&) const = default;
};

/// A place where the instance currently stands.
struct Token {
    TokenId id = 0;
    NodeIndex node = kNoNode;
    TokenStatus status = TokenStatus::Ready;
    ScopeId scope = 0;         ///< the scope that this token is a branch of
    std::int32_t branch = -1;  ///< which branch
    Visit visit = 0;
    std::int32_t attempt =
        0;  ///< 1-based number of the current attempt of this visit; 0 if nothing is attempted
    /// Attempts that no longer count: lost leases, and those before a requeue or a resume.
    std::int32_t attempt_base = 0;
    std::int32_t losses = 0;      ///< leases lost during this visit
    std::int32_t pauses = 0;      ///< of this visit: a resumed call is the same attempt
    Seq input = 0;                ///< the event that holds the current data
    Seq payload = 0;              ///< the payload for a paused step, until it completes; 0 = none
    TimePoint due = kNever;       ///< when it wakes: retry, timer, deadline of a wait
    TimePoint deadline = kNever;  ///< of the whole step visit
    Seq compensates = 0;          ///< this token runs the compensation of that event; 0 = forward
    Seq failed = 0;               ///< frozen: the event with the reason
    std::string concurrency_key;  ///< of the current step; empty = none
    bool is_parked = false;       ///< has no task row: it arrived while nothing may start
    bool stopping = false;        ///< asked to stop; its result is still awaited
    bool in_doubt = false;        ///< a call of this visit may have had an unseen effect
    bool is_at_end = false;  ///< frozen after the last node: only the instance's output is missing
    Seq fired = 0;           ///< of a transition: the event with the attributes that fired it
    std::vector<LoopTurn> loops;  ///< innermost last
    std::vector<Vote> votes;

    bool operator==(const Token&) const = default;
};

/// How one branch of a scope ended.
struct BranchOutcome {
    enum class Status { Open, Completed, Failed, Stopped };

    Status status = Status::Open;
    Seq output = 0;

    bool operator==(const BranchOutcome&) const = default;
};

/// One activation of a parallel block.
struct Scope {
    ScopeId id = 0;
    TokenId parent = 0;  ///< the forked token that continues after the join
    NodeIndex node = kNoNode;
    Seq opened = 0;  ///< the event that opened it: the floor of a rollback of its losers
    std::vector<BranchOutcome> branches;

    bool operator==(const Scope&) const = default;
};

/// A rollback in progress: of the whole instance, or of the branches that a join did not need.
struct Rollback {
    enum class Kind { Failure, Cancel, Losers, Recover };

    Kind kind = Kind::Failure;
    ScopeId scope = 0;  ///< Losers: the scope of the branches; 0 = stopped by a final condition
    Seq cause = 0;      ///< the event that started it
    Seq first =
        0;  ///< the failed step's own event, compensated before all others; 0 = done or none
    Seq cursor = 0;  ///< only completions before it remain to be checked; 0 = not started
    Seq floor = 0;   ///< completions up to here are kept
    TimePoint deadline = kNever;  ///< the instance's deadline, which applies again if it resumes

    bool operator==(const Rollback&) const = default;
};

/// Where the rollback of a failing instance ends: the last savepoint that was reached.
struct SavepointMark {
    NodeIndex node = kNoNode;
    Seq reached = 0;
    std::int32_t resumes = 0;
    std::vector<LoopTurn> loops;
    Seq input = 0;

    bool operator==(const SavepointMark&) const = default;
};

/// How the last visit of a step went. Kept only for steps of which an expression reads `attempts`
/// or `error`.
struct StepRecord {
    NodeIndex node = kNoNode;
    Visit visit = 0;
    std::int32_t attempts = 0;  ///< the number of the last attempt that has ended
    Seq failure = 0;            ///< the event of the last failed attempt of this visit; 0 = none

    bool operator==(const StepRecord&) const = default;
};

/// A signal that came before any token waited for it.
struct BufferedSignal {
    std::string name;
    Seq event = 0;

    bool operator==(const BufferedSignal&) const = default;
};

/// The last ids of outside requests, so that repeating one changes nothing.
inline constexpr std::size_t kRememberedRequestsMax = 16;
inline constexpr std::size_t kBufferedSignalsMax = 64;
/// The maximum size of a step's concurrency_key, once it is evaluated.
inline constexpr std::size_t kConcurrencyKeyBytesMax = 256;
/// A step visit that loses its worker this often fails as `worker_lost`, because a handler that
/// kills its process must not do so forever.
inline constexpr std::int32_t kLostLeasesMax = 5;
/// The delay after the second loss. It quadruples with each further loss.
inline constexpr Duration kLossDelay = std::chrono::seconds(1);

struct InstanceState {
    InstanceStatus status = InstanceStatus::Running;
    InstanceStatus paused_from =
        InstanceStatus::Running;  ///< what `resume` returns to; meaningful while paused
    InstanceStatus moved_from =
        InstanceStatus::Running;  ///< the status to restore on arrival; meaningful while moved
    Seq last_seq = 0;             ///< of the newest history event
    TokenId last_token = 0;
    ScopeId last_scope = 0;
    Visit last_visit = 0;  ///< the step budget counts it, too
    TimePoint deadline = kNever;
    Seq result = 0;  ///< the event that holds the output; set when completed
    Seq error = 0;   ///< the event with the reason why it compensates, failed or is dead-lettered
    std::optional<SavepointMark> savepoint;
    std::vector<Token> tokens;  ///< by ascending id
    std::vector<Scope> scopes;
    std::vector<Rollback> rollbacks;  ///< at most one of the instance, and then no other
    std::vector<StepRecord> records;  ///< at most one for each step
    std::vector<BufferedSignal> signals;
    std::vector<std::string> requests;  ///< oldest first, at most kRememberedRequestsMax
    /// Tells this run from others of the same instance id; absent if the id is never used again.
    std::optional<InstanceId> run;
    Labels labels;
    std::optional<rules::State> rules;  ///< absent if the workflow has steps

    bool operator==(const InstanceState&) const = default;

    Token* find_token(TokenId id);
    const Token* find_token(TokenId id) const;
    Scope* find_scope(ScopeId id);
    const Scope* find_scope(ScopeId id) const;
    const StepRecord* find_record(NodeIndex node) const;
};

class Program;

/// The state as one compact JSON text with node names, stable byte for byte.
std::string encode_state(const InstanceState& state, const Program& program);

/// The reverse. Throws Error with CorruptState if `text` is not a state of `program`.
InstanceState decode_state(std::string_view text, const Program& program);

}  // namespace ebb
