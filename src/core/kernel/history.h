#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>
#include <ebb/time.h>

#include "core/kernel/state.h"

namespace ebb {

/// What is known about a step's last attempt.
enum class Outcome { Completed, Failed, Unknown };
std::string_view to_string(Outcome outcome);

/// The meaning of a history event. Stores keep its snake_case name (`to_string`).
enum class HistoryType {
    Started,         ///< payload: the instance's input
    InputResolved,   ///< payload: the input that the template yields for the visit
    StepCompleted,   ///< payload: the output; ref: the input's event
    StepRetried,     ///< an attempt failed and another follows; payload: the failure
    StepFailed,      ///< failed for good; payload: the failure; ref: the input's event
    StepStopped,     ///< stopped by a rollback or an abort after it was called, or may have
                     ///< been; payload: {outcome}; ref: the input's event
    StepSkipped,     ///< stopped by a rollback or an abort before it was called
    StepProgressed,  ///< payload: the progress that the running handler reported
    LeaseLost,       ///< payload of a compensation: {of}
    BranchTaken,     ///< of a condition or switch; payload: {branch}
    ScopeOpened,
    BranchCompleted,  ///< ref: the branch's output event
    BranchFailed,
    ScopeJoined,   ///< payload: {branch: output}
    LoopFinished,  ///< attempt: the number of turns; ref: the output's event
    TimerStarted,  ///< payload: {due}
    TimerFired,    ///< ref: the event with the data of the waiting token
    DecisionAwaited,
    DecisionMade,       ///< one vote; payload: {verdict, by, role, comment}
    DecisionCompleted,  ///< payload: input + decision
    SignalAwaited,
    SignalReceived,   ///< payload: the signal's payload
    SignalCompleted,  ///< ref: the signal's event
    SavepointReached,
    RollbackStarted,      ///< payload: {kind, cause, savepoint?}
    CompensationRetried,  ///< ref: the compensated event; payload: the failure
    StepCompensated,      ///< ref: the compensated event; payload: the compensation's output
    CompensationFailed,   ///< exhausted; ref: the compensated event; payload: the failure
    CompensationSkipped,  ///< by an operator; ref: the compensated event
    CompensationStopped,  ///< dropped by an abort or a join while it may have been running;
                          ///< payload: {outcome}; ref: the event that it had to undo
    RollbackFinished,
    Resumed,  ///< from a savepoint; ref: its event
    DeadLettered,
    Requeued,
    StepRequeued,  ///< a failed step is retried; ref: its failure, which no longer needs
                   ///< its own compensation
    CancelRequested,
    AbortRequested,
    RecoverRequested,  ///< payload: {to, then, by}
    Paused,
    Unpaused,
    Moved,              ///< it continues elsewhere, from a snapshot; payload: {by, from}
    Arrived,            ///< it continues here; payload: where it came from
    AttributesWritten,  ///< payload: {values, was, fired, armed?, disarmed?, by?, final?,
                        ///< overwrote?, repair?, resume?}; ref: the output of the transition that
                        ///< wrote them
    StateWritten,       ///< payload: all attributes, the input of the fired transitions; ref: the
                        ///< write, or where its time has passed, the event that armed it
    StateRestored,      ///< by a rollback; payload: {values}; ref: the write that it undoes
    ExceptionRaised,    ///< payload: {code, message}; ref: the write or the failure that caused it
    Migrated,           ///< to another version of its rules; payload: {from, to, values?}
    Completed,          ///< ref: the event with the output, or payload: the output
    Failed,
    Cancelled,
    Aborted,
};

std::string_view to_string(HistoryType type);
std::optional<HistoryType> parse_history_type(std::string_view text);

/// True for events that are a node's output (their payload, or that of their `ref`), which
/// `steps.<name>.output` reads.
bool holds_output(HistoryType type);

/// True for the events that a rollback reads: the ends of steps, and writes of attributes.
bool is_undoable(HistoryType type);

/// True for events after which no rollback undoes their `ref`: it was compensated, restored or
/// skipped, or another end of the same visit will follow.
bool settles_compensation(HistoryType type);

/// One immutable row of an instance's history.
struct HistoryEvent {
    Seq seq = 0;
    HistoryType type = HistoryType::Started;
    std::string node;  ///< the node's name; empty for events of the instance
    std::string path;  ///< the enclosing branches: `2:pay/5:check`; empty at the top level
    TokenId token = 0;
    Visit visit = 0;
    std::int32_t attempt = 0;
    Seq ref = 0;
    Payload payload;  ///< JSON text or empty
    std::string worker;
    TimePoint started_at{};  ///< when the attempt began; zero if there was none
    TimePoint at{};

    bool operator==(const HistoryEvent&) const = default;
};

/// How the attempt behind an undoable event ended, as its compensation sees it.
Outcome outcome_of(const HistoryEvent& event);

/// Read access to the past of one instance, for the few decisions that need it. An implementation
/// may fetch lazily. The same history must always give the same answers. Events of the decision in
/// progress are visible too.
class HistoryView {
 public:
    virtual ~HistoryView() = default;

    /// A hint: the payloads of these events will be read next. A view that reads them from
    /// elsewhere may fetch all of them at once.
    virtual void prepare(const std::vector<Seq>&) const {}

    /// The payload of an event. Follows `ref` if the event has no payload of its own.
    virtual Payload payload(Seq seq) const = 0;

    /// The event itself; empty if it is lost.
    virtual std::optional<HistoryEvent> find_event(Seq seq) const = 0;

    /// The newest event that holds the output of the node `name`; empty if the node has not
    /// completed.
    virtual std::optional<Seq> output_of(std::string_view node) const = 0;

    /// The newest event before `before` and after `floor` that may need compensation
    /// (step_completed, step_failed, step_stopped), lies under `path_prefix`, and is not
    /// settled yet. `before` 0 = from the end.
    virtual std::optional<HistoryEvent> previous_undoable(
        Seq before, Seq floor, std::string_view path_prefix
    ) const = 0;
};

}  // namespace ebb
