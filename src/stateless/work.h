#pragma once

#include <optional>

#include <ebb/stateless.h>

#include "core/kernel/decide.h"
#include "core/kernel/state.h"

// What is to be done next, derived from the state alone: where the durable engine has rows in a
// table of tasks, a snapshot has its tokens.

namespace ebb::stateless {

struct Work {
    enum class Kind {
        Stop,   ///< no handler of a stopping token is running here
        Timer,  ///< a deadline, a delay, the end of a wait
        Call,
    };

    Kind kind = Kind::Call;
    TokenId token = 0;  ///< of a timer: as event::TimerFired has it
    TimePoint due{};    ///< zero = at once
    Visit visit = 0;    ///< of the token
};

/// Calls visit(work) for everything that will have to be done, in no order: for nothing, where only
/// the outside can bring the instance on.
template <typename Visit>
void each_work(const InstanceState& state, Visit visit);

/// Which of two things that are due comes first: stops, then timers by their time (what is too late
/// must not begin), then calls in the
/// order in which their tokens came to their steps, so that branches take turns.
bool goes_before(const Work& left, const Work& right);

/// When there is something to do: zero = at once, kNever = not by itself.
TimePoint next_due(const InstanceState& state);

/// The token that decides the snapshot's status; null when none lives.
const Token* leading_token(const InstanceState& state);

SnapshotStatus status_of(const InstanceState& state);

/// Is the token's own task not held back by a pause, a dead letter or a rollback?
bool may_go_on(const InstanceState& state, const Token& token);

/// What the token does next by itself.
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
