#include "core/kernel/names.h"

#include <array>
#include <utility>

#include "core/kernel/event.h"
#include "core/kernel/history.h"
#include "core/kernel/program.h"
#include "core/kernel/state.h"

namespace ebb {

namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

template <typename Enum, std::size_t N>
std::string_view name_of(const Names<Enum, N>& names, Enum value) {
    return names[static_cast<std::size_t>(value)].second;
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_of(const Names<Enum, N>& names, std::string_view text) {
    for (const auto& [value, name] : names) {
        if (name == text) return value;
    }
    return std::nullopt;
}

// Each table is in the order of its enum, so that a value is its own index.
constexpr Names<HistoryType, 51> kHistoryTypes{{
    {HistoryType::Started, "started"},
    {HistoryType::InputResolved, "input_resolved"},
    {HistoryType::StepCompleted, "step_completed"},
    {HistoryType::StepRetried, "step_retried"},
    {HistoryType::StepFailed, "step_failed"},
    {HistoryType::StepStopped, "step_stopped"},
    {HistoryType::StepSkipped, "step_skipped"},
    {HistoryType::StepProgressed, "step_progressed"},
    {HistoryType::LeaseLost, "lease_lost"},
    {HistoryType::BranchTaken, "branch_taken"},
    {HistoryType::ScopeOpened, "scope_opened"},
    {HistoryType::BranchCompleted, "branch_completed"},
    {HistoryType::BranchFailed, "branch_failed"},
    {HistoryType::ScopeJoined, "scope_joined"},
    {HistoryType::LoopFinished, "loop_finished"},
    {HistoryType::TimerStarted, "timer_started"},
    {HistoryType::TimerFired, "timer_fired"},
    {HistoryType::DecisionAwaited, "decision_awaited"},
    {HistoryType::DecisionMade, "decision_made"},
    {HistoryType::DecisionCompleted, "decision_completed"},
    {HistoryType::SignalAwaited, "signal_awaited"},
    {HistoryType::SignalReceived, "signal_received"},
    {HistoryType::SignalCompleted, "signal_completed"},
    {HistoryType::SavepointReached, "savepoint_reached"},
    {HistoryType::RollbackStarted, "rollback_started"},
    {HistoryType::CompensationRetried, "compensation_retried"},
    {HistoryType::StepCompensated, "step_compensated"},
    {HistoryType::CompensationFailed, "compensation_failed"},
    {HistoryType::CompensationSkipped, "compensation_skipped"},
    {HistoryType::CompensationStopped, "compensation_stopped"},
    {HistoryType::RollbackFinished, "rollback_finished"},
    {HistoryType::Resumed, "resumed"},
    {HistoryType::DeadLettered, "dead_lettered"},
    {HistoryType::Requeued, "requeued"},
    {HistoryType::StepRequeued, "step_requeued"},
    {HistoryType::CancelRequested, "cancel_requested"},
    {HistoryType::AbortRequested, "abort_requested"},
    {HistoryType::RecoverRequested, "recover_requested"},
    {HistoryType::Paused, "paused"},
    {HistoryType::Unpaused, "unpaused"},
    {HistoryType::Moved, "moved"},
    {HistoryType::Arrived, "arrived"},
    {HistoryType::AttributesWritten, "attributes_written"},
    {HistoryType::StateWritten, "state_written"},
    {HistoryType::StateRestored, "state_restored"},
    {HistoryType::ExceptionRaised, "exception_raised"},
    {HistoryType::Migrated, "migrated"},
    {HistoryType::Completed, "completed"},
    {HistoryType::Failed, "failed"},
    {HistoryType::Cancelled, "cancelled"},
    {HistoryType::Aborted, "aborted"},
}};

constexpr Names<InstanceStatus, 9> kInstanceStatuses{{
    {InstanceStatus::Running, "running"},
    {InstanceStatus::Paused, "paused"},
    {InstanceStatus::Compensating, "compensating"},
    {InstanceStatus::DeadLetter, "dead_letter"},
    {InstanceStatus::Moved, "moved"},
    {InstanceStatus::Completed, "completed"},
    {InstanceStatus::Failed, "failed"},
    {InstanceStatus::Cancelled, "cancelled"},
    {InstanceStatus::Aborted, "aborted"},
}};

constexpr Names<TokenStatus, 7> kTokenStatuses{{
    {TokenStatus::Ready, "ready"},
    {TokenStatus::Retrying, "retrying"},
    {TokenStatus::WaitingTimer, "waiting_timer"},
    {TokenStatus::WaitingDecision, "waiting_decision"},
    {TokenStatus::WaitingSignal, "waiting_signal"},
    {TokenStatus::Forked, "forked"},
    {TokenStatus::Frozen, "frozen"},
}};

constexpr Names<Op, 11> kOps{{
    {Op::Step, "step"},
    {Op::Branch, "branch"},
    {Op::Fork, "fork"},
    {Op::Loop, "loop"},
    {Op::Timer, "timer"},
    {Op::Decision, "decision"},
    {Op::Signal, "signal"},
    {Op::Savepoint, "savepoint"},
    {Op::Fail, "fail"},
    {Op::Graph, "graph"},
    {Op::Sequence, "sequence"},
}};

constexpr Names<Outcome, 3> kOutcomes{{
    {Outcome::Completed, "completed"},
    {Outcome::Failed, "failed"},
    {Outcome::Unknown, "unknown"},
}};

constexpr std::array<std::string_view, 19> kEvents{
    "started",           "step_completed",  "step_failed",
    "timer_fired",       "decision_made",   "signal_received",
    "cancel_requested",  "abort_requested", "paused",
    "resumed",           "requeued",        "lease_lost",
    "token_stopped",     "step_paused",     "move_requested",
    "arrived",           "step_progressed", "attributes_written",
    "recover_requested",
};
static_assert(kEvents.size() == std::variant_size_v<Event>);

}  // namespace

std::string_view to_string(HistoryType type) {
    return name_of(kHistoryTypes, type);
}

std::optional<HistoryType> parse_history_type(std::string_view text) {
    return value_of(kHistoryTypes, text);
}

std::string_view to_string(InstanceStatus status) {
    return name_of(kInstanceStatuses, status);
}

std::optional<InstanceStatus> parse_status(std::string_view text) {
    return value_of(kInstanceStatuses, text);
}

bool is_terminal(InstanceStatus status) {
    return status >= InstanceStatus::Completed;
}

std::string_view to_string(TokenStatus status) {
    return name_of(kTokenStatuses, status);
}

std::optional<TokenStatus> parse_token_status(std::string_view text) {
    return value_of(kTokenStatuses, text);
}

std::string_view to_string(Op op) {
    return name_of(kOps, op);
}

std::string_view to_string(Outcome outcome) {
    return name_of(kOutcomes, outcome);
}

bool holds_output(HistoryType type) {
    switch (type) {
        case HistoryType::StepCompleted:
        case HistoryType::ScopeJoined:
        case HistoryType::LoopFinished:
        case HistoryType::TimerFired:
        case HistoryType::DecisionCompleted:
        case HistoryType::SignalCompleted:
            return true;
        default:
            return false;
    }
}

bool is_undoable(HistoryType type) {
    return type == HistoryType::StepCompleted || type == HistoryType::StepFailed ||
           type == HistoryType::StepStopped || type == HistoryType::AttributesWritten;
}

bool settles_compensation(HistoryType type) {
    return type == HistoryType::StepCompensated || type == HistoryType::CompensationSkipped ||
           type == HistoryType::StepRequeued || type == HistoryType::StateRestored;
}

std::string_view event_name(const Event& event) {
    return kEvents[event.index()];
}

}  // namespace ebb
