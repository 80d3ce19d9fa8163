#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/kernel/decide.h"
#include "core/rules/write.h"

// The working data of one decision: the state while it changes, and the output so far. Private to
// the kernel.

namespace ebb::kernel {

/// A token on its way to a node. Arrivals are processed in order, so there is no deep recursion.
struct Arrival {
    TokenId token = 0;
    NodeIndex node = kNoNode;
};

/// The past as this decision sees it: the view plus the events that the decision has appended so
/// far.
class PresentHistory {
 public:
    PresentHistory(const HistoryView& past, const std::vector<HistoryEvent>& appended)
        : past_(past), appended_(appended) {}

    void prepare(const std::vector<Seq>& seqs) const;
    Payload payload(Seq seq) const;
    std::optional<HistoryEvent> find_event(Seq seq) const;
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

/// The maximum number of nodes visited in one decision. If more are visited without a call or a
/// wait in between, the flow is in an endless loop, and all of it would be one commit.
inline constexpr Visit kVisitsPerDecisionMax = 10'000;

/// Limits for the output of a parallel block, which holds the outputs of its branches.
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
    /// Appends an event at the token's place and fills in node, path, token, visit and attempt.
    Seq append_at(const Token& token, HistoryType type, Seq ref = 0, Payload payload = {});

    /// The branches around a scope, outermost first, in the form of history paths.
    std::string path_of(ScopeId scope, std::int32_t branch) const;

    std::string path_of(const Token& token) const { return path_of(token.scope, token.branch); }

    /// Sets what the token's task row must become. The last call wins.
    void set_task(TaskChange change);
    /// The change so far; null = no change.
    TaskChange* find_task(TokenId token);
    void remove_task(TokenId token);
    /// Creates the task that the token's status asks for, or none while nothing may start.
    void schedule(Token& token);
    /// The token's handler must not start until unpark.
    void park(Token& token);
    void unpark(Token& token);

    Token& add_token(Token token);
    /// Removes the token, its task and the task of its deadline.
    void erase_token(TokenId id);

    /// True if the token reached its node in this decision, so that no worker can have begun it.
    bool is_new_here(const Token& token) const { return token.visit > first_visit_; }

    /// Has this decision made the token's task, so that no worker can have it yet?
    bool is_put_here(const Token& token);

    /// The number of nodes that this decision has visited.
    Visit visits() const { return state.last_visit - first_visit_; }

    void refuse(std::string code, std::string message);

    void ignore() { verdict = Decision::Verdict::Ignored; }

    /// The activity of the instance, paused or not.
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
/// Sends the token to `node` (kNoNode: to the end of its branch).
void go_to(Transition& t, const Token& token, NodeIndex node);
/// The token begins with the node that it is at.
void enter(Transition& t, Token& token);
/// Processes all arrivals and advances rollbacks until nothing moves any more.
void settle(Transition& t);

// step.cpp: how attempts end.
void enter_step(Transition& t, Token& token);
/// The text by which the token's step counts concurrency; empty = none. Throws ExpressionError.
std::string concurrency_key_of(const Transition& t, const Token& token);
/// How often the handler of the token's step or compensation is attempted, and for how long.
const AttemptPolicy& attempts_of(const Transition& t, const Token& token);
/// Starts the time limit of all attempts together.
void begin_step_timeout(Transition& t, Token& token);
/// Creates the task that wakes the token at its deadline.
void schedule_step_timeout(Transition& t, const Token& token);
void on_step_deadline(Transition& t, TokenId id);
/// Does a permanent failure freeze the instance instead of rolling it back?
bool freezes_on_failure(const Transition& t);
void on_step_completed(Transition& t, const event::StepCompleted& e);
void on_step_failed(Transition& t, const event::StepFailed& e);
void on_step_paused(Transition& t, const event::StepPaused& e);
void on_step_progressed(Transition& t, const event::StepProgressed& e);
/// A payload has come for the paused step; `payload` is its event.
void resume_step(Transition& t, Token& token, Seq payload);
void on_lease_lost(Transition& t, const event::LeaseLost& e);
void on_token_stopped(Transition& t, const event::TokenStopped& e);
/// The node of `token` has failed for good, outside of any attempt of a handler.
void fail_node(Transition& t, TokenId token, Failure failure);
/// The token has completed its last node, but the instance cannot end: the failure belongs to the
/// instance.
void fail_end(Transition& t, TokenId token, Failure failure);
/// The same as fail_node if its handler was called: `attempt` stays in the history, and the step is
/// compensated.
void fail_step(Transition& t, TokenId token, Failure failure, HistoryEvent details);

// edge.cpp: edges of graphs.
/// The edge for the output of a step; `handle` is the one that its handler named. Throws
/// ExpressionError.
struct Way {
    std::string handle;  ///< empty = the default edge
    NodeIndex target = kNoNode;
    bool is_unmatched = false;  ///< no edge has the handle
};

Way way_of(const Transition& t, const Token& token, const event::StepCompleted& e);
/// The failure of a step for whose output there is no edge.
Failure unmatched_failure(const Transition& t, const Token& token, const std::string& handle);
/// The token takes the edge with this handle, which the history records.
void leave_by(Transition& t, const Token& token, const ProgramNode::Edge& edge, Seq ref);
/// A graph node that failed for good, with the failure event `cause`, leaves by its edge for
/// failures, if it has one.
bool leave_by_error(Transition& t, Token& token, const Failure& failure, Seq cause);

// scope.cpp: parallel blocks.
void enter_fork(Transition& t, Token& token);
void end_branch(Transition& t, TokenId token);
/// The branch of `scope` that contains the place (inner scope, branch); -1 = none.
std::int32_t branch_within(
    const InstanceState& state, ScopeId scope, ScopeId inner, std::int32_t branch
);
/// A branch cannot complete any more. Either its block tolerates this, or the failure propagates
/// upwards. `cause` is the failure's event. False if it propagated to the instance.
bool bear_branch_failure(Transition& t, const Token& token, Seq cause);
/// All branches that a join did not need are gone or undone: the flow continues after the block.
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
/// The step waits for a payload from outside, unless one has already come.
void await_payload(Transition& t, Token& token);

// rollback.cpp
void begin_instance_rollback(Transition& t, Rollback::Kind kind, Seq cause, Seq first);
void begin_losers_rollback(Transition& t, Scope& scope, Seq cause);
/// Ends the tokens in the branches of `scope` that `is_ended` names (all tokens for scope 0).
/// Handlers that may be running are asked to stop, and their tokens remain as stopping tokens.
enum class StopMode { AwaitRunning, DropRunning };
void stop_tokens(
    Transition& t, ScopeId scope, const std::vector<std::int32_t>& branches, StopMode mode
);
/// Takes the next steps of all rollbacks. True if something changed.
bool progress_rollbacks(Transition& t);
void on_compensation_completed(Transition& t, Token& token, const event::StepCompleted& e);
/// Ends a token that will not continue: records whether its handler was called, and removes it.
void end_stopped_token(
    Transition& t, TokenId token, bool was_called, Outcome outcome, Payload error = {}
);
/// The same for a compensation that will not continue.
void end_stopped_compensation(Transition& t, TokenId token, Outcome outcome);

// rules.cpp: conditions over attributes fire transitions.
/// A decided write, and the output of the instance if the write ends it.
struct Written {
    rules::Outcome outcome;
    Payload result;
};

/// The instance's first write.
void start_rules(Transition& t, const Payload& input);
/// Does the token's step end a transition? Not if it is inside a sequence.
bool ends_transition(const Transition& t, const Token& token);
/// What the output of a transition writes. Nothing of it is in the history yet.
Written write_output(Transition& t, const Token& token, const Payload& output);
/// Applies the write; `output` is the event of the transition's output.
void end_transition(Transition& t, TokenId token, Written written, Seq output);
/// The last node of the transition has completed.
void end_sequence(Transition& t, TokenId token);
/// A transition has failed for good, as `cause` says, and the others go on. False where the
/// workflow wants something else.
bool hold_back(Transition& t, TokenId failed, Seq cause);
/// What a final condition did not wait for is stopped and undone: the instance completes.
void finish_final(Transition& t, const Rollback& rollback);
void on_attributes_written(Transition& t, const event::AttributesWritten& e);
// rules_time.cpp: conditions that must be true for a while.
/// The token has come to a transition whose time has not begun.
bool must_wait(const Transition& t, const Token& token);
void arm(Transition& t, Token& token);
/// The token waits at its transition until the condition has been true for long enough.
bool is_armed(const Transition& t, const Token& token);
void fire_armed(Transition& t, Token& token);

// rules_recover.cpp
void on_recover_requested(Transition& t, const event::RecoverRequested& e);
/// The transition of the token, if it is one, will be undone: it has not fired.
void unfire(Transition& t, const Token& token);
/// A rollback has ended at a savepoint: all conditions are checked on the restored attributes.
void resume_rules(Transition& t, Seq cause);
/// A rollback has ended at the write to which an operator has taken the instance back.
void finish_recovery(Transition& t, const Rollback& rollback);

// rules_exception.cpp
/// Checks all conditions of an instance that is in an exception. False = refused, because it would
/// be in an exception again.
bool leave_exception(Transition& t, Seq request);
/// A rollback passes the write of a transition: its attributes get their previous values back,
/// unless they were written since then, and it does not count as fired any more.
void restore_attributes(Transition& t, const HistoryEvent& write);

// move.cpp
/// True if the instance is elsewhere. Then every event except its arrival is ignored or refused.
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
/// Refuses what an instance that has ended cannot do: `why` follows "has already failed".
void refuse_ended(Transition& t, std::string_view why);
/// It can no longer be `what`.
void refuse_finished(Transition& t, std::string_view what);
/// True (and ignores the event) if this request was seen before; else remembers it. Empty ids are
/// never remembered.
bool is_repeated(Transition& t, const std::string& request_id);

// labeling.cpp
/// The labels that were given and those of the definition. False = refused: one is not allowed, or
/// its template fails.
bool put_labels(Transition& t, const event::Started& e);

// payload.cpp
/// `in_doubt`: an earlier call may have had an effect, so the outcome is not just `failed`.
Payload failure_payload(const Failure& failure, bool in_doubt = false);
/// After such a failure it is unknown whether the handler had its effect.
bool leaves_doubt(std::string_view failure_code);
/// The instance ends: all live tokens and scopes are removed.
void finish(Transition& t, InstanceStatus status, HistoryEvent event);
/// The delay before the next attempt after `failures` failed ones, with jitter that depends only on
/// the arguments.
Duration retry_delay(const Backoff& backoff, int failures, const InstanceId& id, Visit visit);

/// What the expressions at a token's place may read. Parses payloads only on demand.
class TokenVariables : public Variables {
 public:
    TokenVariables(const Transition& t, const Token& token) : t_(t), token_(token) {}

    /// Can also read `output`.
    TokenVariables(const Transition& t, const Token& token, const Payload& output)
        : t_(t), token_(token), output_(&output) {}

    const Json* find(std::string_view name) const override;
    const Json* find_step(std::string_view name) const override;
    const Json* find_attempts(std::string_view name) const override;

 private:
    const Json& keep(std::string_view name, Json value) const;

    const Transition& t_;
    const Token& token_;
    const Payload* output_ = nullptr;
    mutable std::deque<std::pair<std::string, Json>> known_;
    mutable std::deque<std::pair<std::string, Json>> known_steps_;
    mutable std::deque<std::pair<std::string, Json>> known_attempts_;
};

}  // namespace ebb::kernel
