#include "engine/turn.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/kernel/rules_evolution.h"
#include "engine/checks.h"
#include "engine/history_reader.h"

namespace ebb::engine {

namespace {

TaskChange* find_change(std::vector<TaskChange>& tasks, TokenId token) {
    const auto found = std::find_if(tasks.begin(), tasks.end(), [token](const TaskChange& change) {
        return change.token == token;
    });
    return found == tasks.end() ? nullptr : &*found;
}

bool replaces(const TaskChange& change) {
    return change.kind == TaskChange::Kind::Put || change.kind == TaskChange::Kind::Remove;
}

/// A later Put or Remove replaces what was wanted before; anything else is meant for a row that
/// already exists, so it cannot share a commit with the one that makes it.
bool can_merge(std::vector<TaskChange>& tasks, const std::vector<TaskChange>& more) {
    return std::all_of(more.begin(), more.end(), [&](const TaskChange& change) {
        return replaces(change) || find_change(tasks, change.token) == nullptr;
    });
}

void append(std::vector<HistoryEvent>& history, std::vector<HistoryEvent> more) {
    if (history.empty()) {
        history = std::move(more);
        return;
    }
    std::move(more.begin(), more.end(), std::back_inserter(history));
}

void merge_tasks(std::vector<TaskChange>& tasks, std::vector<TaskChange> more) {
    if (tasks.empty()) {
        tasks = std::move(more);
        return;
    }
    for (TaskChange& change : more) {
        if (TaskChange* existing = find_change(tasks, change.token)) {
            *existing = std::move(change);
        } else {
            tasks.push_back(std::move(change));
        }
    }
}

/// False when the decision cannot share the commit of those before it.
bool add_decision(Turn& turn, Cause& cause, Decision decision) {
    cause.verdict = decision.verdict;
    cause.refusal = std::move(decision.refusal);
    if (decision.verdict != Decision::Verdict::Changed) return true;
    if (!can_merge(turn.tasks, decision.tasks)) return false;
    // If the instance has ended, the store removes every row by itself.
    if (is_terminal(decision.state.status)) turn.tasks.clear();
    merge_tasks(turn.tasks, std::move(decision.tasks));
    append(turn.history, std::move(decision.history));
    merge(turn.effects, std::move(decision.effects));
    turn.state = std::move(decision.state);
    turn.has_changed = true;
    return true;
}

}  // namespace

namespace {

/// False: the cause is refused. An earlier decision of this turn makes a new revision, too. If the
/// row was out of date, the commit loses the compare-and-swap, and the cause is decided again.
bool has_expected_revision(const Turn& turn, const LiveInstance& live, Cause& cause) {
    if (!cause.expected_revision) return true;
    const std::int64_t revision = live.row.revision + (turn.has_changed ? 1 : 0);
    if (revision == *cause.expected_revision) return true;
    cause.verdict = Decision::Verdict::Refused;
    cause.refusal = {
        .code = "revision_changed",
        .message = fmt::format(
            "The instance has revision {}, not {} as expected, and is {} now. Nothing was changed.",
            revision,
            *cause.expected_revision,
            to_string(turn.state.status)
        )
    };
    return false;
}

/// False: the cause is refused, because the first event of the instance still waits in its inbox.
bool has_begun(const Turn& turn, Cause& cause) {
    const bool begins_or_ends = std::holds_alternative<event::Started>(cause.event) ||
                                std::holds_alternative<event::AbortRequested>(cause.event);
    if (turn.state.last_seq != 0 || begins_or_ends) return true;
    cause.verdict = Decision::Verdict::Refused;
    cause.refusal = {
        .code = "invalid_state", .message = "The instance has not begun yet. Try again later."
    };
    return false;
}

/// False: the cause is not decided. It was made of mail that cannot be read, which is then refused;
/// or a commit of another process may have decided the mail.
bool may_decide(Cause& cause, const LiveInstance& live) {
    if (!cause.postmark) return true;
    Postmark& mail = *cause.postmark;
    mail.is_received = is_unread_since(mail.revision, live);
    if (!mail.is_received || mail.key.sender.empty()) return false;
    if (mail.fault.empty()) return true;
    cause.verdict = Decision::Verdict::Refused;
    cause.refusal = {.code = "invalid_argument", .message = mail.fault};
    return false;
}

/// Mail goes with the commit that decides it, whatever it has led to.
void receive_mail(Turn& turn) {
    for (const Cause& cause : turn.causes) {
        if (!cause.postmark || !cause.postmark->is_received) continue;
        turn.received.push_back(cause.postmark->key);
        turn.has_changed = true;
    }
}

/// Whether the event is the deadline of a decision that waits for people.
bool is_overdue(const Event& event, const InstanceState& state) {
    const auto* timer = std::get_if<event::TimerFired>(&event);
    const Token* token = timer != nullptr ? state.find_token(timer->token) : nullptr;
    return token != nullptr && token->status == TokenStatus::WaitingDecision;
}

void decide_causes(Turn& turn, const HistoryReader& reader, LiveInstance& live, Work& work) {
    const InstanceIdentity identity = live.identity();
    for (std::size_t i = 0; i < work.causes.size(); ++i) {
        Cause& cause = work.causes[i];
        if (!has_expected_revision(turn, live, cause) || !may_decide(cause, live)) continue;
        if (!has_begun(turn, cause)) continue;
        Decision decision =
            decide(*turn.program, identity, turn.state, cause.event, reader, turn.now);
        const bool was_overdue = is_overdue(cause.event, turn.state);
        const std::size_t before = turn.history.size();
        if (add_decision(turn, cause, std::move(decision))) {
            if (was_overdue && turn.history.size() > before) {
                turn.overdue.push_back(turn.history[before]);
            }
            continue;
        }
        const auto rest = work.causes.begin() + static_cast<std::ptrdiff_t>(i);
        turn.deferred.assign(
            std::make_move_iterator(rest), std::make_move_iterator(work.causes.end())
        );
        work.causes.erase(rest, work.causes.end());
        return;
    }
}

/// `work` keeps its causes if the state must not be written.
void check_decided(Turn& turn, Work& work) {
    if (!turn.has_changed) return;
    try {
        check_state(turn.state, *turn.program);
    } catch (...) {
        std::move(turn.deferred.begin(), turn.deferred.end(), std::back_inserter(work.causes));
        throw;
    }
}

/// Null: there is none that can be understood.
std::shared_ptr<const Program> newest_of(const LiveInstance& live, ProgramCache& programs) {
    try {
        return programs.find_newest(live.row.workflow);
    } catch (const UnreadableDefinition&) {
        return nullptr;
    }
}

/// The events of the turn are decided on the newest version, if there is one that the instance can
/// follow to.
void follow_newest(Turn& turn, const LiveInstance& live, ProgramCache& programs) {
    if (!is_followed(*live.program) || is_terminal(live.state.status)) return;
    std::shared_ptr<const Program> newest = newest_of(live, programs);
    if (!newest || newest->definition().version <= live.row.version) return;
    RulesMigration migration = migrate(*live.program, *newest, live.state, turn.now);
    if (!migration.obstacle.empty()) return;
    turn.program = std::move(newest);
    turn.state = std::move(migration.state);
    turn.history.push_back(std::move(migration.event));
}

bool asks_all_conditions(const Cause& cause) {
    const auto* write = std::get_if<event::AttributesWritten>(&cause.event);
    return write != nullptr && write->is_repair && write->values == "null";
}

/// Nothing else has changed: then following is not worth a commit, unless it was asked for.
void stay_unless_asked(Turn& turn, const LiveInstance& live) {
    if (turn.has_changed || turn.program == live.program) return;
    for (Cause& cause : turn.causes) {
        if (!asks_all_conditions(cause) || cause.verdict != Decision::Verdict::Ignored) continue;
        cause.verdict = Decision::Verdict::Changed;
        turn.has_changed = true;
    }
    if (turn.has_changed) return;
    turn.program = live.program;
    turn.state = live.state;
    turn.history.clear();
}

}  // namespace

bool is_request(const Cause& cause) {
    return std::holds_alternative<ReplyPtr>(cause.origin);
}

void refuse(std::vector<Cause>& causes, const std::exception_ptr& error) {
    std::erase_if(causes, [&](const Cause& cause) {
        if (!is_request(cause)) return false;
        std::get<ReplyPtr>(cause.origin)->give({.refusal = {}, .error = error});
        return true;
    });
}

Turn decide_turn(const Judge& judge, LivePtr live, Work& work, TimePoint now) {
    Environment& environment = judge.environment;
    if (!environment.worker.is_driven) {
        environment.subscribers.look(environment.store, environment.steady_now());
    }
    Turn turn;
    turn.program = live->program;
    turn.state = live->state;
    turn.now = now;
    turn.conflicts = work.conflicts;
    turn.delays = work.delays;
    if (judge.programs != nullptr) follow_newest(turn, *live, *judge.programs);
    decide_causes(turn, HistoryReader(judge.store, *live, turn.history), *live, work);
    check_decided(turn, work);
    turn.causes = std::move(work.causes);
    stay_unless_asked(turn, *live);
    receive_mail(turn);
    environment.subscribers.add_notices(live->row, turn.state.status, turn.history, turn.effects);
    environment.subscribers.add_overdue(live->row, turn.state.status, turn.overdue, turn.effects);
    for (TaskChange& row : work.rewrites) {
        turn.rewritten.push_back(row.token);
        if (is_terminal(turn.state.status) || find_change(turn.tasks, row.token) != nullptr) {
            continue;
        }
        turn.tasks.push_back(std::move(row));
        turn.has_changed = true;
    }
    turn.live = std::move(live);
    return turn;
}

Commit Turn::to_commit(const std::string& worker) const {
    return {
        .instance = live->row.id,
        .expected_revision = live->row.revision,
        .status = state.status,
        .state = encoded,
        .history = history,
        .tasks = written,
        .received = received,
        .effects = effects.is_empty() ? nullptr : &effects,
        .version = program == live->program ? 0 : program->definition().version,
        .lease_owner = worker,
        .now = now,
    };
}

namespace {

/// Can the task that `change` puts be run here at once?
bool is_runnable_here(const Turn& turn, const TaskChange& change, const Environment& environment) {
    if (!change.is_continued) return false;
    if (!environment.worker.may_hold(environment.steady_now())) return false;
    const auto call = call_place(*turn.program, turn.state, change.token);
    return call && environment.may_keep(*turn.program, call->handler, call->queue);
}

}  // namespace

void choose_writes(Turn& turn, HeldTable& held, const Environment& environment, int& capacity) {
    turn.encoded = encode_state(turn.state, *turn.program);
    turn.written.clear();
    turn.kept.clear();
    for (const TaskChange& change : turn.tasks) {
        const Held* owned = held.find({.instance = turn.live->row.id, .token = change.token});
        const bool may_keep = change.kind == TaskChange::Kind::Put &&
                              is_runnable_here(turn, change, environment) &&
                              (owned != nullptr || capacity > 0);
        if (!may_keep) {
            turn.written.push_back(change);
            turn.written.back().is_continued = false;
            continue;
        }
        turn.kept.push_back(change.token);
        if (owned == nullptr) --capacity;
        // The row of a lease that is kept may name an earlier step: the state is the truth. But it
        // must not keep that step's slot in a queue with limits.
        const bool must_write = owned == nullptr || owned->is_row_dirty || !owned->slot.empty();
        if (must_write) turn.written.push_back(change);
    }
}

std::size_t bytes_of(const Turn& turn) {
    std::size_t bytes = turn.encoded.size();
    for (const HistoryEvent& event : turn.history) bytes += event.payload.size();
    return bytes;
}

}  // namespace ebb::engine
