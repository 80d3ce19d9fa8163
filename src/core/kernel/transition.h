#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/kernel/decide.h"
#include "core/rules/write.h"

// The workbench of one decision: the state while it changes, and what is to be written. Private to
// the kernel.

namespace ebb::kernel {

/// A token on its way to a node: arrivals are worked off in order, so that deep recursion cannot
/// happen.
struct Arrival {
    TokenId token = 0;
    NodeIndex node = kNoNode;
};

/// The past as this decision sees it: what the view knows plus what the decision has appended so
/// far.
class PresentHistory {
 public:
    PresentHistory(const HistoryView& past, const std::vector<HistoryEvent>& appended)
        : past_(past), appended_(appended) {}

    Payload payload(Seq seq) const;
    std::optional<Seq> output_of(std::string_view node) const;
    std::optional<HistoryEvent> previous_undoable(
        Seq before, Seq floor, std::string_view path_prefix
    ) const;

 private:
    const HistoryEvent* find_appended(Seq seq) const;
    bool is_settled_here(Seq seq) const;

    const HistoryView& past_;
    const std::vector<HistoryEvent>& appended_;
};

/// Nodes that may be visited in one decision: that nothing is called or waited for in between can
/// only be a circle without an end, and all of it would be one commit.
inline constexpr Visit kVisitsPerDecisionMax = 10'000;

/// Of the output of a parallel block, which holds those of its branches.
inline constexpr std::size_t kJoinBytesMax = std::size_t{16} << 20;
inline constexpr int kJoinDepthMax = 128;

class Transition {
 public:
    Transition(
        const Program& program_in,
        const InstanceIdentity& identity_in,
        InstanceState state_in,
        const HistoryView& past,
        TimePoint now_in
    );
    Transition(const Transition&) = delete;
    Transition& operator=(const Transition&) = delete;

    const Program& program;
    const InstanceIdentity& identity;
    const TimePoint now;
    InstanceState state;
    std::vector<HistoryEvent> history;
    std::vector<TaskChange> tasks;
    std::vector<Arrival> arrivals;
    PresentHistory past;
    Decision::Verdict verdict = Decision::Verdict::Changed;
    Decision::Refusal refusal;

    const ProgramNode& node_of(const Token& token) const { return program.node(token.node); }

    /// Appends an event of the instance; `at` and `seq` are set here.
    Seq append(HistoryEvent event);
    /// Appends an event at the token's place: node, path, token, visit, attempt are filled in.
    Seq append_at(const Token& token, HistoryType type, Seq ref = 0, Payload payload = {});

    /// The branches around a scope, outermost first, as history paths say it.
    std::string path_of(ScopeId scope, std::int32_t branch) const;

    std::string path_of(const Token& token) const { return path_of(token.scope, token.branch); }

    /// Sets what the token's task row must become; the last word wins.
    void set_task(TaskChange change);
    /// What it is to become so far; null = what it is.
    TaskChange* find_task(TokenId token);
    void remove_task(TokenId token);
    /// Makes the task that the token's status asks for, or none while nothing may start.
    void schedule(Token& token);
    /// Nobody may start the token's handler until unpark.
    void park(Token& token);
    void unpark(Token& token);

    Token& add_token(Token token);
    /// Forgets the token, its task and the task of its deadline.
    void erase_token(TokenId id);

    /// True when the token has got to where it stands in this very decision, so that no worker can
    /// have begun it.
    bool is_new_here(const Token& token) const { return token.visit > first_visit_; }

    /// How many nodes this decision has visited.
    Visit visits() const { return state.last_visit - first_visit_; }

    void refuse(std::string code, std::string message);

    void ignore() { verdict = Decision::Verdict::Ignored; }

    /// What the instance does, paused or not.
    InstanceStatus phase() const {
        return state.status == InstanceStatus::Paused ? state.paused_from : state.status;
    }

    void set_phase(InstanceStatus phase);

    /// Ends a pause, if there is one.
    void set_status(InstanceStatus status) {
        state.status = status;
        state.paused_from = InstanceStatus::Running;
    }

    bool may_start() const {
        return state.status == InstanceStatus::Running ||
               state.status == InstanceStatus::Compensating;
    }

    bool is_over() const { return is_terminal(state.status); }

 private:
    const Visit first_visit_;
};

// advance.cpp: tokens move through nodes.
/// Sends the token on to `node` (kNoNode: to the end of its branch).
void go_to(Transition& t, const Token& token, NodeIndex node);
/// Works off all arrivals and lets rollbacks go on until nothing moves any more.
void settle(Transition& t);

// step.cpp: what becomes of attempts.
void enter_step(Transition& t, Token& token);
/// What the token's step counts concurrency by, as text; empty = nothing. Throws ExpressionError.
std::string concurrency_key_of(const Transition& t, const Token& token);
/// How often and how long the handler of the token's step, or of its compensation, is tried.
const AttemptPolicy& attempts_of(const Transition& t, const Token& token);
/// Starts the time that all attempts have together.
void begin_step_timeout(Transition& t, Token& token);
/// Makes the task that wakes the token at its deadline.
void schedule_step_timeout(Transition& t, const Token& token);
void on_step_deadline(Transition& t, TokenId id);
/// Does a failure for good freeze the instance instead of rolling it back?
bool freezes_on_failure(const Transition& t);
void on_step_completed(Transition& t, const event::StepCompleted& e);
void on_step_failed(Transition& t, const event::StepFailed& e);
void on_step_paused(Transition& t, const event::StepPaused& e);
void on_step_progressed(Transition& t, const event::StepProgressed& e);
/// A payload has come for the paused step; `payload` is its event.
void resume_step(Transition& t, Token& token, Seq payload);
void on_lease_lost(Transition& t, const event::LeaseLost& e);
void on_token_stopped(Transition& t, const event::TokenStopped& e);
/// The node where `token` stands has failed for good, outside any attempt of a handler.
void fail_node(Transition& t, TokenId token, Failure failure);
/// The token has done its last node, but the instance cannot end: the failure is the instance's.
void fail_end(Transition& t, TokenId token, Failure failure);
/// The same as fail_node when its handler was called: `attempt` stays in the history, and the step
/// is compensated.
void fail_step(Transition& t, TokenId token, Failure failure, HistoryEvent details);

// edge.cpp: ways through graphs.
/// Where the output of a step leads; `handle` is the one that its handler named. Throws
/// ExpressionError.
struct Way {
    std::string handle;  ///< empty = the default edge
    NodeIndex target = kNoNode;
    bool is_unmatched = false;  ///< no edge has the handle
};

Way way_of(const Transition& t, const Token& token, const event::StepCompleted& e);
/// The failure of a step whose output leads nowhere.
Failure unmatched_failure(const Transition& t, const Token& token, const std::string& handle);
/// The token goes on by the edge with this handle, which the history tells.
void leave_by(Transition& t, const Token& token, const ProgramNode::Edge& edge, Seq ref);
/// A node of a graph that failed for good, as `cause` says, is left by its edge for that, if it has
/// one.
bool leave_by_error(Transition& t, Token& token, const Failure& failure, Seq cause);

// scope.cpp: parallel blocks.
void enter_fork(Transition& t, Token& token);
void end_branch(Transition& t, TokenId token);
/// Which branch of `scope` the place (inner scope, branch) lies in; -1 = none.
std::int32_t branch_within(
    const InstanceState& state, ScopeId scope, ScopeId inner, std::int32_t branch
);
/// A branch cannot complete any more: its block bears it, or the failure goes up. `cause` is the
/// failure's event. False when it went up to the instance.
bool bear_branch_failure(Transition& t, const Token& token, Seq cause);
/// All that a join did not need is gone or undone: the flow goes on behind the block.
void complete_join(Transition& t, ScopeId scope);

// wait.cpp: time, people, signals.
void enter_timer(Transition& t, Token& token);
void enter_decision(Transition& t, Token& token);
void enter_signal(Transition& t, Token& token);
/// kNever = none.
void set_instance_deadline(Transition& t, TimePoint deadline);
void on_timer_fired(Transition& t, const event::TimerFired& e);
void on_decision_made(Transition& t, const event::DecisionMade& e);
void on_signal_received(Transition& t, const event::SignalReceived& e);
/// The step waits for a payload from outside, unless one is here already.
void await_payload(Transition& t, Token& token);

// rollback.cpp
void begin_instance_rollback(Transition& t, Rollback::Kind kind, Seq cause, Seq first);
void begin_losers_rollback(Transition& t, Scope& scope, Seq cause);
/// Ends what stands in the branches of `scope` that `is_ended` names (all tokens for scope 0).
/// Handlers that may be running are asked to stop and stay as stopping tokens.
enum class StopMode { AwaitRunning, DropRunning };
void stop_tokens(
    Transition& t, ScopeId scope, const std::vector<std::int32_t>& branches, StopMode mode
);
/// Takes the next steps of all rollbacks. True when something changed.
bool progress_rollbacks(Transition& t);
void on_compensation_completed(Transition& t, Token& token, const event::StepCompleted& e);
/// A token that will not go on: says in the history whether its handler had been called, and
/// forgets it.
void end_stopped_token(
    Transition& t, TokenId token, bool was_called, Outcome outcome, Payload error = {}
);
/// The same of a compensation that will not go on.
void end_stopped_compensation(Transition& t, TokenId token, Outcome outcome);

// rules.cpp: what fires transitions is a condition over attributes.
/// A write as it was decided, and with which output the instance ends if it does.
struct Written {
    rules::Outcome outcome;
    Payload result;
};

/// The instance's first write.
void start_rules(Transition& t, const Payload& input);
/// What the output of a transition writes, before anything of it is in the history.
Written write_output(Transition& t, const Token& token, const Payload& output);
/// Takes the write over; `output` is the event of the transition's output.
void end_transition(Transition& t, TokenId token, Written written, Seq output);
void on_attributes_written(Transition& t, const event::AttributesWritten& e);
/// Asks all conditions of an instance that is in an exception. False = refused, since it would be
/// in one again.
bool leave_exception(Transition& t, Seq request);
/// A rollback passes over the output of a transition: its attributes get back what they were,
/// unless they were written since.
void restore_attributes(Transition& t, const HistoryEvent& completed);

// move.cpp
/// True: the instance is elsewhere, so whatever happens here but its arrival is ignored or refused.
bool is_answered_by_move(Transition& t, const Event& event);
void on_move_requested(Transition& t, const event::MoveRequested& e);
void on_arrived(Transition& t, const event::Arrived& e);

// operator.cpp
void on_cancel_requested(Transition& t, const event::CancelRequested& e);
void on_abort_requested(Transition& t, const event::AbortRequested& e);
void on_paused(Transition& t, const event::Paused& e);
void on_resumed(Transition& t, const event::Resumed& e);
void on_requeued(Transition& t, const event::Requeued& e);
void enter_dead_letter(Transition& t, Seq cause);
void unpark_all(Transition& t);
void refuse_finished(Transition& t, std::string_view what);
/// True (and ignores) when this request was seen already; else remembers it. Empty ids are never
/// remembered.
bool is_repeated(Transition& t, const std::string& request_id);

// payload.cpp
/// `in_doubt`: an earlier call may have had an effect, so the outcome is not just `failed`.
Payload failure_payload(const Failure& failure, bool in_doubt = false);
/// After such a failure nobody knows whether the handler had its effect.
bool leaves_doubt(std::string_view failure_code);
/// The instance ends: everything live is forgotten.
void finish(Transition& t, InstanceStatus status, HistoryEvent event);
/// How long until the next attempt after `failures` failed ones; spread by jitter that depends only
/// on its arguments.
Duration retry_delay(const Backoff& backoff, int failures, const InstanceId& id, Visit visit);

/// What the expressions at a token's place may read. Parses payloads only when they are asked for.
class TokenVariables : public Variables {
 public:
    TokenVariables(const Transition& t, const Token& token) : t_(t), token_(token) {}

    /// Sees `output` as well.
    TokenVariables(const Transition& t, const Token& token, const Payload& output)
        : t_(t), token_(token), output_(&output) {}

    const Json* find(std::string_view name) const override;
    const Json* find_step(std::string_view name) const override;

 private:
    const Json& keep(std::string_view name, Json value) const;

    const Transition& t_;
    const Token& token_;
    const Payload* output_ = nullptr;
    mutable std::deque<std::pair<std::string, Json>> known_;
    mutable std::deque<std::pair<std::string, Json>> known_steps_;
};

}  // namespace ebb::kernel
