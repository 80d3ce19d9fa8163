#include "core/kernel/transition.h"

#include <algorithm>
#include <utility>

namespace ebb::kernel {

const HistoryEvent* PresentHistory::find_appended(Seq seq) const {
    if (appended_.empty() || seq < appended_.front().seq) return nullptr;
    return &appended_[static_cast<std::size_t>(seq - appended_.front().seq)];
}

void PresentHistory::prepare(const std::vector<Seq>& seqs) const {
    std::vector<Seq> past;
    for (const Seq seq : seqs) {
        if (find_appended(seq) == nullptr) past.push_back(seq);
    }
    past_.prepare(past);
}

Payload PresentHistory::payload(Seq seq) const {
    const HistoryEvent* event = find_appended(seq);
    while (event != nullptr && event->payload.empty() && event->ref != 0) {
        seq = event->ref;
        event = find_appended(seq);
    }
    return event != nullptr ? event->payload : past_.payload(seq);
}

std::optional<HistoryEvent> PresentHistory::find_event(Seq seq) const {
    if (const HistoryEvent* event = find_appended(seq)) return *event;
    return past_.find_event(seq);
}

std::optional<Seq> PresentHistory::output_of(std::string_view node) const {
    for (auto event = appended_.rbegin(); event != appended_.rend(); ++event) {
        if (event->node == node && holds_output(event->type)) return event->seq;
    }
    return past_.output_of(node);
}

bool PresentHistory::is_settled_here(Seq seq) const {
    return std::any_of(appended_.begin(), appended_.end(), [seq](const HistoryEvent& event) {
        return event.ref == seq && settles_compensation(event.type);
    });
}

std::optional<HistoryEvent> PresentHistory::previous_undoable(
    Seq before, Seq floor, std::string_view path_prefix
) const {
    for (auto event = appended_.rbegin(); event != appended_.rend(); ++event) {
        if (event->seq <= floor) return std::nullopt;
        const bool is_candidate = (before == 0 || event->seq < before) &&
                                  is_undoable(event->type) &&
                                  std::string_view(event->path).starts_with(path_prefix);
        if (is_candidate && !is_settled_here(event->seq)) return *event;
    }
    auto found = past_.previous_undoable(before, floor, path_prefix);
    while (found && is_settled_here(found->seq)) {
        found = past_.previous_undoable(found->seq, floor, path_prefix);
    }
    return found;
}

Transition::Transition(
    const Program& program_in,
    const InstanceIdentity& identity_in,
    InstanceState state_in,
    const HistoryView& past_in,
    TimePoint now_in
)
    : program(program_in),
      identity(identity_in),
      now(now_in),
      state(std::move(state_in)),
      past(past_in, history),
      first_visit_(state.last_visit) {}

Seq Transition::append(HistoryEvent event) {
    event.seq = ++state.last_seq;
    event.at = now;
    history.push_back(std::move(event));
    return state.last_seq;
}

Seq Transition::append_at(const Token& token, HistoryType type, Seq ref, Payload payload) {
    HistoryEvent event;
    event.type = type;
    if (token.node != kNoNode) event.node = node_of(token).name;
    event.path = path_of(token);
    event.token = token.id;
    event.visit = token.visit;
    event.attempt = token.attempt;
    event.ref = ref;
    event.payload = std::move(payload);
    return append(std::move(event));
}

std::string Transition::path_of(ScopeId scope, std::int32_t branch) const {
    if (scope == 0) return {};
    const Scope* inner = state.find_scope(scope);
    const Token* parent = state.find_token(inner->parent);
    std::string path = parent->scope == 0 ? std::string() : path_of(*parent) + "/";
    path += std::to_string(scope) + ":";
    if (branch >= 0)
        path += program.node(inner->node).branches[static_cast<std::size_t>(branch)].name;
    return path;
}

TaskChange* Transition::find_task(TokenId token) {
    const auto found = std::find_if(tasks.begin(), tasks.end(), [token](const TaskChange& change) {
        return change.token == token;
    });
    return found == tasks.end() ? nullptr : &*found;
}

void Transition::set_task(TaskChange change) {
    if (TaskChange* existing = find_task(change.token)) {
        *existing = std::move(change);
    } else {
        tasks.push_back(std::move(change));
    }
}

void Transition::remove_task(TokenId token) {
    set_task({.kind = TaskChange::Kind::Remove, .token = token, .handler = {}, .due = {}});
}

namespace {

TimePoint wake_time(const Token& token, TimePoint now) {
    switch (token.status) {
        case TokenStatus::Ready:
            return now;
        case TokenStatus::Retrying:
        case TokenStatus::WaitingTimer:
        case TokenStatus::WaitingDecision:
        case TokenStatus::WaitingSignal:
            return token.due;
        case TokenStatus::Forked:
        case TokenStatus::Frozen:
            return kNever;
    }
    return kNever;
}

bool has_handler(const Token& token) {
    return token.status == TokenStatus::Ready || token.status == TokenStatus::Retrying;
}

}  // namespace

void Transition::schedule(Token& token) {
    const TimePoint due = wake_time(token, now);
    token.is_parked = due != kNever && !may_start();
    if (due == kNever || token.is_parked) {
        remove_task(token.id);
        return;
    }
    TaskChange change;
    change.token = token.id;
    change.due = due;
    if (has_handler(token)) {
        const ProgramNode& node = node_of(token);
        change.handler = token.compensates != 0 ? node.compensate->handler : node.handler;
        change.queue = node.queue;
        change.concurrency_key = token.concurrency_key;
        change.is_continued = due <= now;
    }
    set_task(std::move(change));
}

bool Transition::is_put_here(const Token& token) {
    const TaskChange* change = find_task(token.id);
    return change != nullptr && change->kind == TaskChange::Kind::Put;
}

void Transition::park(Token& token) {
    if (token.is_parked || token.stopping || wake_time(token, now) == kNever) return;
    if (is_put_here(token)) {
        token.is_parked = true;
        remove_task(token.id);
    } else {
        set_task({.kind = TaskChange::Kind::Park, .token = token.id, .handler = {}, .due = {}});
    }
}

void Transition::unpark(Token& token) {
    if (token.stopping || wake_time(token, now) == kNever) return;
    if (is_put_here(token)) return;
    if (token.is_parked) {
        schedule(token);
    } else {
        set_task({.kind = TaskChange::Kind::Unpark, .token = token.id, .handler = {}, .due = {}});
    }
}

Token& Transition::add_token(Token token) {
    token.id = ++state.last_token;
    state.tokens.push_back(std::move(token));
    return state.tokens.back();
}

void Transition::erase_token(TokenId id) {
    const Token* token = state.find_token(id);
    if (token == nullptr) return;
    remove_task(id);
    if (token->deadline != kNever) remove_task(deadline_task(id));
    std::erase_if(state.tokens, [id](const Token& other) { return other.id == id; });
}

void Transition::refuse(std::string code, std::string message) {
    verdict = Decision::Verdict::Refused;
    refusal = {std::move(code), std::move(message)};
}

void Transition::set_phase(InstanceStatus phase) {
    if (state.status == InstanceStatus::Paused) {
        state.paused_from = phase;
    } else {
        state.status = phase;
    }
}

}  // namespace ebb::kernel

namespace ebb {

Token* InstanceState::find_token(TokenId id) {
    for (Token& token : tokens) {
        if (token.id == id) return &token;
    }
    return nullptr;
}

const Token* InstanceState::find_token(TokenId id) const {
    for (const Token& token : tokens) {
        if (token.id == id) return &token;
    }
    return nullptr;
}

const StepRecord* InstanceState::find_record(NodeIndex node) const {
    for (const StepRecord& record : records) {
        if (record.node == node) return &record;
    }
    return nullptr;
}

Scope* InstanceState::find_scope(ScopeId id) {
    for (Scope& scope : scopes) {
        if (scope.id == id) return &scope;
    }
    return nullptr;
}

const Scope* InstanceState::find_scope(ScopeId id) const {
    for (const Scope& scope : scopes) {
        if (scope.id == id) return &scope;
    }
    return nullptr;
}

}  // namespace ebb
