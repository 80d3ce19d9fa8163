#pragma once

#include <vector>

#include "core/kernel/transition.h"
#include "core/rules/write.h"

// What the files about workflows with rules share. Private to them.

namespace ebb::kernel {

inline const rules::Program& rules_of(const Transition& t) {
    return *t.program.rules();
}

/// Where a write comes from, for the history.
struct Origin {
    TokenId token = 0;  ///< of the transition
    Seq cause = 0;      ///< the event of its output, of the start, or of a requeue
    /// A write from outside. A requeue is an operator's that changes no attribute.
    const event::AttributesWritten* request = nullptr;
    bool is_failure = false;  ///< the transition has failed and writes nothing; `cause` says so
    bool is_resume = false;   ///< nothing is written; a rollback has ended, as `cause` says
};

/// Is it the place of a transition, or of the handler of exceptions? Its number is the branch.
/// Tokens of blocks inside a transition have another scope.
inline bool is_transition(const Token& token) {
    return token.scope == 0 && token.compensates == 0 && token.branch >= 0;
}

// rules.cpp
/// The transitions that are pending besides the token `id`, by their trigger; last the handler of
/// exceptions.
std::vector<bool> pending_besides(const Transition& t, TokenId id);
/// Of these, the ones that wait until their condition has been true for long enough.
std::vector<bool> armed_in(const Transition& t);
/// What a write means, and the instance's output if it ends with it. Nothing changes yet.
Written decide_write(const Transition& t, const rules::Write& write, const Token* token);
/// Takes it over, with its history.
void take(Transition& t, const Origin& origin, Written written);

/// Is the instance rolled back, or is what a final condition stops undone?
bool is_rolled_back(const Transition& t);

// rules_exception.cpp
bool is_exception_handler(const Transition& t, const Token& token);
/// All attributes as they were when the transition, or the handler, was fired.
Payload attributes_given(const Transition& t, const Token& token);
/// The instance is in an exception.
void raise(Transition& t, const Origin& origin, Seq write, const rules::Outcome& outcome);
/// The attributes are no longer those of an exception.
void end_exception(Transition& t);

/// What ends an exception ends its handler, too, unless that has ended by itself (`ended`): its
/// outcome would come too late.
void end_handler(Transition& t, TokenId ended);

/// A transition that will not write.
struct Unwritten {
    TokenId token = 0;  ///< 0: it is already gone
    int trigger = -1;   ///< to hold back; -1: none
    Seq seq = 0;        ///< the event that says so
};

/// Where nothing else is pending, the conditions decide how the instance continues.
void continue_without(Transition& t, const Unwritten& transition);

// rules_final.cpp
/// A final condition holds and does not wait. `result` is the output of the instance.
void stop_pending(Transition& t, const Origin& origin, const Payload& result);

}  // namespace ebb::kernel
