#include "core/kernel/decide.h"

#include <algorithm>
#include <utility>

#include "core/kernel/projections.h"
#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb {

namespace kernel {
namespace {

void on_started(Transition& t, const event::Started& e) {
    if (t.state.last_seq != 0) return t.ignore();
    t.state.run = e.run;
    HistoryEvent started;
    started.type = HistoryType::Started;
    started.payload = e.input;
    started.worker = e.by;
    if (e.entry != kNoNode) started.node = t.program.node(e.entry).name;
    const Seq input = t.append(std::move(started));
    if (!put_labels(t, e)) return;
    const Duration deadline = t.program.definition().deadline;
    if (deadline > Duration::zero()) set_instance_deadline(t, t.now + deadline);
    if (t.program.rules() != nullptr) return start_rules(t, e.input);
    const NodeIndex entry = e.entry != kNoNode ? e.entry : t.program.entry();
    go_to(t, t.add_token({.input = input}), entry);
}

struct Dispatch {
    Transition& t;

    void operator()(const event::Started& e) const { on_started(t, e); }

    void operator()(const event::StepCompleted& e) const { on_step_completed(t, e); }

    void operator()(const event::StepFailed& e) const { on_step_failed(t, e); }

    void operator()(const event::TimerFired& e) const { on_timer_fired(t, e); }

    void operator()(const event::DecisionMade& e) const { on_decision_made(t, e); }

    void operator()(const event::SignalReceived& e) const { on_signal_received(t, e); }

    void operator()(const event::CancelRequested& e) const { on_cancel_requested(t, e); }

    void operator()(const event::AbortRequested& e) const { on_abort_requested(t, e); }

    void operator()(const event::Paused& e) const { on_paused(t, e); }

    void operator()(const event::Resumed& e) const { on_resumed(t, e); }

    void operator()(const event::Requeued& e) const { on_requeued(t, e); }

    void operator()(const event::LeaseLost& e) const { on_lease_lost(t, e); }

    void operator()(const event::TokenStopped& e) const { on_token_stopped(t, e); }

    void operator()(const event::MoveRequested& e) const { on_move_requested(t, e); }

    void operator()(const event::Arrived& e) const { on_arrived(t, e); }

    void operator()(const event::StepPaused& e) const { on_step_paused(t, e); }

    void operator()(const event::StepProgressed& e) const { on_step_progressed(t, e); }

    void operator()(const event::AttributesWritten& e) const { on_attributes_written(t, e); }

    void operator()(const event::RecoverRequested& e) const { on_recover_requested(t, e); }
};

}  // namespace
}  // namespace kernel

Decision decide(
    const Program& program,
    const InstanceIdentity& identity,
    InstanceState state,
    const Event& event,
    const HistoryView& history,
    TimePoint now
) {
    const kernel::Projection before(state);
    kernel::Transition t(program, identity, std::move(state), history, now);
    if (!kernel::is_answered_by_move(t, event)) std::visit(kernel::Dispatch{t}, event);
    Effects effects;
    if (t.verdict == Decision::Verdict::Changed) {
        kernel::settle(t);
        effects = before.changes(t);
    }
    return {
        .verdict = t.verdict,
        .refusal = std::move(t.refusal),
        .state = std::move(t.state),
        .history = std::move(t.history),
        .tasks = std::move(t.tasks),
        .effects = std::move(effects)
    };
}

namespace {

/// The token if it waits for a call now; else null.
const Token* find_calling(const InstanceState& state, TokenId id) {
    const Token* token = state.find_token(id);
    const bool may_start =
        state.status == InstanceStatus::Running || state.status == InstanceStatus::Compensating;
    if (token == nullptr || !may_start || token->stopping || token->is_parked) return nullptr;
    const bool has_handler =
        token->status == TokenStatus::Ready || token->status == TokenStatus::Retrying;
    return has_handler ? token : nullptr;
}

}  // namespace

std::optional<CallPlace> call_place(
    const Program& program, const InstanceState& state, TokenId id
) {
    const Token* token = find_calling(state, id);
    if (token == nullptr) return std::nullopt;
    const ProgramNode& node = program.node(token->node);
    return CallPlace{
        .handler = token->compensates != 0 ? node.compensate->handler : node.handler,
        .queue = node.queue,
        .concurrency_key = token->concurrency_key,
    };
}

std::optional<Invocation> invocation(
    const Program& program, const InstanceIdentity& identity, const InstanceState& state, TokenId id
) {
    constexpr std::size_t kKeyBytes = 64;  // enough for an id, a word and a number
    const Token* token = find_calling(state, id);
    if (token == nullptr) return std::nullopt;
    const ProgramNode& node = program.node(token->node);
    const bool is_compensation = token->compensates != 0;
    const AttemptPolicy& policy = is_compensation ? node.compensate->attempts : node.attempts;
    std::string key;
    key.reserve(kKeyBytes);
    key += key_root(identity, state).to_string();
    key += is_compensation ? ":undo:" : ":";
    append_number(key, is_compensation ? token->compensates : token->visit);
    // In its place: there is one for every call.
    std::optional<Invocation> made(std::in_place);
    made->attempt = present_attempt(*token);
    made->node = node.name;
    made->handler = is_compensation ? node.compensate->handler : node.handler;
    made->queue = node.queue;
    made->concurrency_key = token->concurrency_key;
    made->input = token->input;
    made->payload = token->payload;
    made->is_compensation = is_compensation;
    made->non_idempotent = node.non_idempotent;
    made->max_attempts = policy.max_attempts + token->attempt_base;
    made->timeout = policy.timeout;
    made->deadline = std::min(token->deadline, state.deadline);
    made->idempotency_key = std::move(key);
    made->metadata = &node.metadata;
    made->compensated = token->compensates;
    made->key_root = key_root(identity, state);
    return made;
}

}  // namespace ebb
