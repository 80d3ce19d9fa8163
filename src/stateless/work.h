#pragma once

#include <optional>

#include <ebb/stateless.h>

#include "core/kernel/decide.h"
#include "core/kernel/state.h"

// The next pieces of work, derived from the state alone: what the durable engine keeps in a table
// of tasks, a snapshot has in its tokens.

namespace ebb::stateless {

struct Work {
    enum class Kind {
        Stop,   ///< no handler of a stopping token is running here
        Timer,  ///< a deadline, a delay or the end of a wait
        Call,
    };

    Kind kind = Kind::Call;
    TokenId token = 0;  ///< for a timer: as in event::TimerFired
    TimePoint due{};    ///< zero = immediately
    Visit visit = 0;    ///< of the token
};

/// Calls visit(work) for all pending work, in no particular order. Makes no call if only an event
/// from outside can advance the instance.
template <typename Visit>
void each_work(const InstanceState& state, Visit visit);

/// The order of two due pieces of work: stops first, then timers by their time (a late call must
/// not begin), then calls in the order in which their tokens reached their steps, so that branches
/// take turns.
bool goes_before(const Work& left, const Work& right);

/// When there is something to do: zero = immediately, kNever = not without an outside event.
TimePoint next_due(const InstanceState& state);

/// The token that decides the snapshot's status; null if there is no live token.
const Token* leading_token(const InstanceState& state);

SnapshotStatus status_of(const InstanceState& state);

/// True unless a pause, a dead letter or a rollback holds back the token's own task.
bool may_go_on(const InstanceState& state, const Token& token);

/// The next work of the token that needs no outside event.
std::optional<Work> work_of(const Token& token);

template <typename Visit>
void each_work(const InstanceState& state, Visit visit) {
    if (is_terminal(state.status) || state.status == InstanceStatus::Moved) return;
    if (state.deadline != kNever) {
        visit(Work{.kind = Work::Kind::Timer, .token = kInstanceToken, .due = state.deadline});
    }
    for (const Token& token : state.tokens) {
        if (token.stopping) {
            visit(Work{.kind = Work::Kind::Stop, .token = token.id});
            continue;
        }
        if (token.deadline != kNever) {
            const TokenId timer = deadline_task(token.id);
            visit(Work{.kind = Work::Kind::Timer, .token = timer, .due = token.deadline});
        }
        if (!may_go_on(state, token)) continue;
        if (const std::optional<Work> work = work_of(token)) visit(*work);
    }
}

}  // namespace ebb::stateless
