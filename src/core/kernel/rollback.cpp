#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

bool contains(const std::vector<std::int32_t>& branches, std::int32_t branch) {
    return std::find(branches.begin(), branches.end(), branch) != branches.end();
}

/// Is the place (inner scope, branch) inside one of `branches` of `scope`? Everything is inside
/// scope 0.
bool is_inside(
    const InstanceState& state,
    ScopeId scope,
    const std::vector<std::int32_t>& branches,
    const Token& token
) {
    if (scope == 0) return true;
    return contains(branches, branch_within(state, scope, token.scope, token.branch));
}

bool is_scope_inside(
    const InstanceState& state,
    ScopeId scope,
    const std::vector<std::int32_t>& branches,
    ScopeId inner
) {
    if (inner == scope) return false;
    const Scope* found = state.find_scope(inner);
    const Token* parent = found == nullptr ? nullptr : state.find_token(found->parent);
    return parent != nullptr && is_inside(state, scope, branches, *parent);
}

std::vector<std::int32_t> losing_branches(const Scope& scope) {
    std::vector<std::int32_t> losers;
    for (std::size_t i = 0; i < scope.branches.size(); ++i) {
        if (scope.branches[i].status != BranchOutcome::Status::Completed) {
            losers.push_back(static_cast<std::int32_t>(i));
        }
    }
    return losers;
}

/// No call of the token's attempt can be in progress: its next attempt is not due yet.
bool waits_for_retry(const Transition& t, const Token& token) {
    return token.status == TokenStatus::Retrying && token.due > t.now;
}

/// Ends one token whose handler may be running, without waiting for the handler to end.
void drop_handler(Transition& t, const Token& token) {
    const bool may_run = !waits_for_retry(t, token);
    end_stopped_token(t, token.id, may_run, may_run ? Outcome::Unknown : Outcome::Failed);
}

/// Ends one token whose handler may be running, or asks it to stop.
void stop_handler(Transition& t, Token& token, StopMode mode) {
    if (token.stopping) {
        // Its end is no longer awaited, but the fact that it was called must be kept.
        if (mode == StopMode::DropRunning) {
            end_stopped_token(t, token.id, true, Outcome::Unknown);
        }
        return;
    }
    if (t.is_new_here(token) || t.is_put_here(token) || token.is_parked)
        return end_stopped_token(t, token.id, false, Outcome::Failed);
    if (mode == StopMode::DropRunning) return drop_handler(t, token);
    token.stopping = true;
    if (token.deadline != kNever) t.remove_task(deadline_task(token.id));
    token.deadline = kNever;
    t.set_task({.kind = TaskChange::Kind::Stop, .token = token.id, .handler = {}, .due = t.now});
}

void stop_token(Transition& t, TokenId id, ScopeId scope, StopMode mode) {
    Token& token = *t.state.find_token(id);
    if (token.compensates != 0) {
        // A compensation that is already running is finished by the rollback that takes over:
        // compensations never overlap.
        if (token.status == TokenStatus::Frozen) return t.erase_token(id);
        if (mode == StopMode::DropRunning) {
            const bool may_run = !waits_for_retry(t, token);
            return end_stopped_compensation(t, id, may_run ? Outcome::Unknown : Outcome::Failed);
        }
        token.scope = scope;
        token.branch = -1;
        return;
    }
    switch (token.status) {
        case TokenStatus::Ready:
        case TokenStatus::Retrying:
            return stop_handler(t, token, mode);
        case TokenStatus::WaitingSignal:
            // A paused step was called, and its effects may have to be undone.
            if (t.node_of(token).op == Op::Step)
                return end_stopped_token(t, id, true, Outcome::Unknown);
            [[fallthrough]];
        case TokenStatus::WaitingTimer:
        case TokenStatus::WaitingDecision:
            t.append_at(token, HistoryType::StepSkipped);
            return t.erase_token(id);
        case TokenStatus::Forked:
            // The token stays: the places of what is inside are found through it.
            return;
        case TokenStatus::Frozen:
            return t.erase_token(id);
    }
}

/// Removes every token and scope inside a block that is over.
void erase_contents(Transition& t, ScopeId scope, const std::vector<std::int32_t>& branches) {
    std::vector<TokenId> tokens;
    for (const Token& token : t.state.tokens) {
        if (is_inside(t.state, scope, branches, token)) tokens.push_back(token.id);
    }
    std::vector<ScopeId> scopes;
    for (const Scope& inner : t.state.scopes) {
        if (is_scope_inside(t.state, scope, branches, inner.id)) scopes.push_back(inner.id);
    }
    for (const TokenId id : tokens) t.erase_token(id);
    std::erase_if(t.state.scopes, [&](const Scope& inner) {
        return std::find(scopes.begin(), scopes.end(), inner.id) != scopes.end();
    });
}

}  // namespace

void stop_tokens(
    Transition& t, ScopeId scope, const std::vector<std::int32_t>& branches, StopMode mode
) {
    std::vector<TokenId> inside;
    for (const Token& token : t.state.tokens) {
        if (is_inside(t.state, scope, branches, token)) inside.push_back(token.id);
    }
    std::erase_if(t.state.rollbacks, [&](const Rollback& rollback) {
        return rollback.kind == Rollback::Kind::Losers &&
               (scope == 0 || is_scope_inside(t.state, scope, branches, rollback.scope));
    });
    for (const TokenId id : inside) {
        const auto is_arriving = [id](const Arrival& arrival) { return arrival.token == id; };
        const auto arrival = std::find_if(t.arrivals.begin(), t.arrivals.end(), is_arriving);
        if (arrival != t.arrivals.end()) {
            t.arrivals.erase(arrival);
            t.erase_token(id);
        } else {
            stop_token(t, id, scope, mode);
        }
    }
    if (mode == StopMode::DropRunning) erase_contents(t, scope, branches);
}

void begin_losers_rollback(Transition& t, Scope& scope, Seq cause) {
    HistoryEvent event;
    event.type = HistoryType::RollbackStarted;
    event.node = t.program.node(scope.node).name;
    event.path = t.path_of(*t.state.find_token(scope.parent));
    event.payload = "{\"kind\":\"losers\"}";
    t.append(std::move(event));
    t.state.rollbacks.push_back(
        {.kind = Rollback::Kind::Losers, .scope = scope.id, .cause = cause, .floor = scope.opened}
    );
}

namespace {

std::string_view name_of(Rollback::Kind kind) {
    switch (kind) {
        case Rollback::Kind::Failure:
            return "failure";
        case Rollback::Kind::Cancel:
            return "cancel";
        case Rollback::Kind::Losers:
            return "losers";
        case Rollback::Kind::Recover:
            return "recover";
    }
    return {};
}

}  // namespace

void begin_instance_rollback(Transition& t, Rollback::Kind kind, Seq cause, Seq first) {
    const bool to_savepoint = kind == Rollback::Kind::Failure && t.state.savepoint.has_value();
    for (const Token& token : t.state.tokens) unfire(t, token);
    stop_tokens(t, 0, {}, StopMode::AwaitRunning);
    t.set_phase(InstanceStatus::Compensating);
    t.state.error = cause;
    if (t.state.rules) t.state.rules->exception = 0;
    const TimePoint deadline = std::exchange(t.state.deadline, kNever);
    if (deadline != kNever) t.remove_task(kInstanceToken);
    HistoryEvent event;
    event.type = HistoryType::RollbackStarted;
    event.ref = cause;
    event.payload = fmt::format("{{\"kind\":\"{}\"", name_of(kind));
    if (to_savepoint) {
        event.payload += ",\"savepoint\":";
        append_json_string(event.payload, t.program.node(t.state.savepoint->node).name);
    }
    event.payload += '}';
    t.append(std::move(event));
    t.state.rollbacks.push_back(
        {.kind = kind,
         .cause = cause,
         .first = first,
         .floor = to_savepoint ? t.state.savepoint->reached : 0,
         .deadline = deadline}
    );
}

namespace {

/// The compensation that an event asks for; null if its step has none or its handler was never
/// called.
const Compensation* compensation_of(const Transition& t, const HistoryEvent& event) {
    const NodeIndex index = t.program.find(event.node);
    if (index == kNoNode || event.attempt < 1) return nullptr;
    const auto& compensation = t.program.node(index).compensate;
    return compensation ? &*compensation : nullptr;
}

/// True while handlers that must end first may be running, or a compensation is in progress.
bool is_busy(const Transition& t, const Rollback& rollback) {
    const Scope* scope = rollback.scope == 0 ? nullptr : t.state.find_scope(rollback.scope);
    const std::vector<std::int32_t> losers =
        scope == nullptr ? std::vector<std::int32_t>() : losing_branches(*scope);
    return std::any_of(t.state.tokens.begin(), t.state.tokens.end(), [&](const Token& token) {
        if (!token.stopping && token.compensates == 0) return false;
        if (rollback.scope != 0 && token.compensates != 0 && token.scope == rollback.scope)
            return true;
        return is_inside(t.state, rollback.scope, losers, token);
    });
}

/// Did the event happen in a branch that the join did not need? `prefix` is the path of the block's
/// branches.
bool is_of_loser(
    const Transition& t, const Scope& scope, const HistoryEvent& event, std::size_t prefix
) {
    const std::string_view rest = std::string_view(event.path).substr(prefix);
    const std::string_view name = rest.substr(0, rest.find('/'));
    const auto& branches = t.program.node(scope.node).branches;
    for (std::size_t i = 0; i < branches.size(); ++i) {
        if (branches[i].name == name) {
            return scope.branches[i].status != BranchOutcome::Status::Completed;
        }
    }
    return false;
}

std::optional<HistoryEvent> next_to_compensate(Transition& t, Rollback& rollback) {
    if (const Seq first = std::exchange(rollback.first, 0); first != 0) {
        auto event = t.past.previous_undoable(first + 1, first - 1, {});
        if (event && compensation_of(t, *event) != nullptr) return event;
    }
    const std::string prefix = rollback.scope == 0 ? std::string() : t.path_of(rollback.scope, -1);
    while (true) {
        auto event = t.past.previous_undoable(rollback.cursor, rollback.floor, prefix);
        if (!event) return std::nullopt;
        rollback.cursor = event->seq;
        if (event->type == HistoryType::AttributesWritten) {
            restore_attributes(t, *event);
            continue;
        }
        if (compensation_of(t, *event) == nullptr) continue;
        const Scope* scope = t.state.find_scope(rollback.scope);
        if (scope == nullptr || is_of_loser(t, *scope, *event, prefix.size())) return event;
    }
}

/// The compensation's input as it was when the step began. `event` refers to that input.
std::string concurrency_key_of_undone(const Transition& t, Token token, const HistoryEvent& event) {
    try {
        token.input = event.ref;
        return concurrency_key_of(t, token);
    } catch (const ExpressionError&) {
        return {};
    }
}

void start_compensation(Transition& t, const Rollback& rollback, const HistoryEvent& event) {
    Token token;
    token.node = t.program.find(event.node);
    token.scope = rollback.scope;
    token.visit = ++t.state.last_visit;
    token.attempt = 1;
    token.input = event.seq;
    token.compensates = event.seq;
    token.concurrency_key = concurrency_key_of_undone(t, token, event);
    Token& added = t.add_token(std::move(token));
    begin_step_timeout(t, added);
    t.schedule(added);
}

/// Resumes from the savepoint, if the savepoint allows it and has resumes and time left.
bool resume_from_savepoint(Transition& t, TimePoint deadline) {
    auto& mark = t.state.savepoint;
    if (!mark || deadline <= t.now) return false;
    const ProgramNode& node = t.program.node(mark->node);
    const bool may_resume = node.savepoint.on_rollback == Savepoint::OnRollback::Resume &&
                            mark->resumes < node.savepoint.max_resumes;
    if (!may_resume) return false;
    ++mark->resumes;
    t.state.error = 0;
    t.set_phase(InstanceStatus::Running);
    set_instance_deadline(t, deadline);
    if (t.state.rules) {
        HistoryEvent resumed;
        resumed.type = HistoryType::Resumed;
        resumed.node = node.name;
        resumed.ref = mark->reached;
        resume_rules(t, t.append(std::move(resumed)));
        return true;
    }
    const Token token{
        .node = mark->node,
        .visit = ++t.state.last_visit,
        .input = mark->input,
        .loops = mark->loops
    };
    Token& added = t.add_token(token);
    t.append_at(added, HistoryType::Resumed, mark->reached);
    go_to(t, added, node.next);
    return true;
}

void finish_instance_rollback(Transition& t, const Rollback& rollback) {
    erase_contents(t, 0, {});
    t.state.scopes.clear();
    t.state.rollbacks.clear();
    HistoryEvent finished;
    finished.type = HistoryType::RollbackFinished;
    finished.ref = rollback.cause;
    t.append(std::move(finished));
    if (rollback.kind == Rollback::Kind::Recover) return finish_recovery(t, rollback);
    if (rollback.kind == Rollback::Kind::Failure && resume_from_savepoint(t, rollback.deadline))
        return;
    HistoryEvent end;
    end.ref = rollback.cause;
    const bool is_cancel = rollback.kind == Rollback::Kind::Cancel;
    end.type = is_cancel ? HistoryType::Cancelled : HistoryType::Failed;
    finish(t, is_cancel ? InstanceStatus::Cancelled : InstanceStatus::Failed, std::move(end));
}

void finish_losers_rollback(Transition& t, const Rollback& rollback) {
    const Scope& scope = *t.state.find_scope(rollback.scope);
    HistoryEvent finished;
    finished.type = HistoryType::RollbackFinished;
    finished.node = t.program.node(scope.node).name;
    finished.ref = rollback.cause;
    t.append(std::move(finished));
    erase_contents(t, scope.id, losing_branches(scope));
    std::erase_if(t.state.rollbacks, [&](const Rollback& other) {
        return other.scope == rollback.scope;
    });
    complete_join(t, rollback.scope);
}

}  // namespace

bool progress_rollbacks(Transition& t) {
    if (t.phase() == InstanceStatus::DeadLetter) return false;
    for (Rollback& rollback : t.state.rollbacks) {
        if (is_busy(t, rollback)) continue;
        if (const auto event = next_to_compensate(t, rollback)) {
            start_compensation(t, rollback, *event);
        } else if (rollback.scope == 0 && rollback.kind == Rollback::Kind::Losers) {
            finish_final(t, Rollback(rollback));
        } else if (rollback.scope == 0) {
            finish_instance_rollback(t, Rollback(rollback));
        } else {
            finish_losers_rollback(t, Rollback(rollback));
        }
        return true;
    }
    return false;
}

}  // namespace ebb::kernel
