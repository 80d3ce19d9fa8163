#include "core/kernel/projections.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb {

std::string_view to_string(Wait::Kind kind) {
    return kind == Wait::Kind::Decision ? "decision" : "signal";
}

namespace {

bool is_wait(const Token& token) {
    return token.status == TokenStatus::WaitingDecision ||
           token.status == TokenStatus::WaitingSignal;
}

/// Elsewhere it has the side rows.
bool has_side_rows(const InstanceState& state) {
    return state.status != InstanceStatus::Moved;
}

/// Failed or DeadLetter; Running for all else.
InstanceStatus failure_of(const InstanceState& state) {
    const InstanceStatus phase =
        state.status == InstanceStatus::Paused ? state.paused_from : state.status;
    const bool is_failure = phase == InstanceStatus::Failed || phase == InstanceStatus::DeadLetter;
    return is_failure ? phase : InstanceStatus::Running;
}

WaitChange begun_wait(const Program& program, const Token& token, TimePoint now) {
    const ProgramNode& node = program.node(token.node);
    WaitChange change{.token = token.id, .wait = {}};
    Wait& wait = change.wait;
    wait.workflow = program.definition().name;
    wait.node = node.name;
    wait.visit = token.visit;
    wait.since = now;
    wait.deadline = token.due;
    if (token.status == TokenStatus::WaitingSignal) {
        wait.kind = Wait::Kind::Signal;
        wait.signal = node.signal;
        return change;
    }
    wait.roles = node.human.roles;
    std::sort(wait.roles.begin(), wait.roles.end());
    wait.roles.erase(std::unique(wait.roles.begin(), wait.roles.end()), wait.roles.end());
    wait.quorum = node.human.quorum;
    wait.confirmed = static_cast<int>(token.votes.size());
    return change;
}

WaitChange ended_wait(TokenId token) {
    return {.token = token, .is_over = true, .wait = {}};
}

std::string member(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

FailureNote begun_failure(const Program& program, InstanceStatus status, Seq event, TimePoint now) {
    FailureNote note;
    note.workflow = program.definition().name;
    note.version = program.definition().version;
    note.status = status;
    note.event = event;
    note.at = now;
    return note;
}

/// `cause`: the event that the state names as its error.
void explain(FailureNote& note, const std::optional<HistoryEvent>& cause) {
    note.code = "unknown";
    if (cause) {
        note.step = cause->node;
        const Json json = Json::parse(cause->payload, nullptr, false);
        if (json.is_object()) {
            if (std::string code = member(json, "code"); !code.empty()) note.code = std::move(code);
            const std::string message = member(json, "message");
            note.message =
                clean_text(message.substr(0, message.find('\n')), FailureNote::kMessageBytesMax);
        }
    }
    note.group = failure_group(note.workflow, note.step, note.code, note.message);
}

}  // namespace

void merge(Effects& effects, Effects later) {
    if (later.is_empty()) return;
    for (WaitChange& change : later.waits) {
        const auto same =
            std::find_if(effects.waits.begin(), effects.waits.end(), [&](const WaitChange& known) {
                return known.token == change.token;
            });
        if (same == effects.waits.end()) {
            effects.waits.push_back(std::move(change));
            continue;
        }
        // All decisions of a commit have the same date, so the first one's is as good.
        *same = std::move(change);
    }
    if (!later.failures.empty()) effects.failures = std::move(later.failures);
    for (auto& [name, value] : later.labels) {
        effects.labels.insert_or_assign(name, std::move(value));
    }
}

Effects side_rows_of(
    const Program& program, const InstanceState& state, const HistoryView* history, TimePoint now
) {
    Effects effects;
    if (!has_side_rows(state)) return effects;
    effects.labels = state.labels;
    for (const Token& token : state.tokens) {
        if (is_wait(token)) effects.waits.push_back(begun_wait(program, token, now));
    }
    const InstanceStatus failure = failure_of(state);
    if (failure == InstanceStatus::Running) return effects;
    FailureNote note = begun_failure(program, failure, state.error, now);
    if (history != nullptr) {
        explain(note, state.error == 0 ? std::nullopt : history->find_event(state.error));
    }
    effects.failures.push_back({.note = std::move(note)});
    return effects;
}

namespace kernel {

Projection::Projection(const InstanceState& before) {
    if (!has_side_rows(before)) return;
    // Labels never change after the start.
    has_labels_ = before.last_seq != 0;
    for (const Token& token : before.tokens) {
        if (!is_wait(token)) continue;
        waits_.push_back({token.id, token.visit, token.votes.size(), token.due});
    }
    failure_ = failure_of(before);
    error_ = before.error;
}

Effects Projection::changes(const Transition& t) const {
    Effects effects;
    const bool has_rows = has_side_rows(t.state);
    const auto stands = [&](const Standing& was) {
        const Token* token = has_rows ? t.state.find_token(was.token) : nullptr;
        return token != nullptr && is_wait(*token);
    };
    for (const Standing& was : waits_) {
        if (!stands(was)) effects.waits.push_back(ended_wait(was.token));
    }
    // They stay when the instance moves away, and an arrival puts them again.
    if (has_rows && !has_labels_) effects.labels = t.state.labels;
    if (has_rows) {
        for (const Token& token : t.state.tokens) {
            if (!is_wait(token)) continue;
            const bool is_known =
                std::any_of(waits_.begin(), waits_.end(), [&](const Standing& was) {
                    return was.token == token.id && was.visit == token.visit &&
                           was.votes == token.votes.size() && was.due == token.due;
                });
            if (!is_known) effects.waits.push_back(begun_wait(t.program, token, t.now));
        }
    }
    const InstanceStatus failure = has_rows ? failure_of(t.state) : InstanceStatus::Running;
    if (failure == failure_ && (failure == InstanceStatus::Running || t.state.error == error_)) {
        return effects;
    }
    if (failure == InstanceStatus::Running) {
        effects.failures.push_back({.is_over = true, .note = {}});
    } else {
        FailureNote note = begun_failure(t.program, failure, t.state.error, t.now);
        explain(note, t.state.error == 0 ? std::nullopt : t.past.find_event(t.state.error));
        effects.failures.push_back({.note = std::move(note)});
    }
    return effects;
}

}  // namespace kernel
}  // namespace ebb
