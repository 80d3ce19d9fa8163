#include "stateless/work.h"

#include <algorithm>

namespace ebb::stateless {

namespace {

int weight(const Token& token) {
    if (token.stopping) return 1;
    switch (token.status) {
        case TokenStatus::Ready:
            return 0;
        case TokenStatus::Retrying:
            return 2;
        case TokenStatus::Frozen:
            return 3;
        case TokenStatus::WaitingTimer:
        case TokenStatus::WaitingDecision:
        case TokenStatus::WaitingSignal:
            return 4;
        case TokenStatus::Forked:
            return 5;
    }
    return 5;
}

bool leads(const Token& left, const Token& right) {
    if (weight(left) != weight(right)) return weight(left) < weight(right);
    if (left.status == TokenStatus::Retrying && left.due != right.due) return left.due < right.due;
    return left.id < right.id;
}

}  // namespace

bool may_go_on(const InstanceState& state, const Token& token) {
    const bool may_start =
        state.status == InstanceStatus::Running || state.status == InstanceStatus::Compensating;
    return may_start && !token.is_parked;
}

std::optional<Work> work_of(const Token& token) {
    switch (token.status) {
        case TokenStatus::Ready:
            return Work{.kind = Work::Kind::Call, .token = token.id, .visit = token.visit};
        case TokenStatus::Retrying:
            return Work{
                .kind = Work::Kind::Call, .token = token.id, .due = token.due, .visit = token.visit
            };
        case TokenStatus::WaitingTimer:
        case TokenStatus::WaitingDecision:
        case TokenStatus::WaitingSignal:
            if (token.due == kNever) return std::nullopt;
            return Work{.kind = Work::Kind::Timer, .token = token.id, .due = token.due};
        case TokenStatus::Forked:
        case TokenStatus::Frozen:
            return std::nullopt;
    }
    return std::nullopt;
}

bool goes_before(const Work& left, const Work& right) {
    if (left.kind != right.kind) return left.kind < right.kind;
    if (left.kind == Work::Kind::Timer && left.due != right.due) return left.due < right.due;
    if (left.visit != right.visit) return left.visit < right.visit;
    return left.token < right.token;
}

TimePoint next_due(const InstanceState& state) {
    TimePoint next = kNever;
    each_work(state, [&](const Work& work) { next = std::min(next, work.due); });
    return next;
}

const Token* leading_token(const InstanceState& state) {
    const auto found = std::min_element(state.tokens.begin(), state.tokens.end(), leads);
    return found == state.tokens.end() ? nullptr : &*found;
}

SnapshotStatus status_of(const InstanceState& state) {
    switch (state.status) {
        case InstanceStatus::Completed:
            return SnapshotStatus::Completed;
        case InstanceStatus::Failed:
        case InstanceStatus::Cancelled:
        case InstanceStatus::Aborted:
            return SnapshotStatus::Failed;
        case InstanceStatus::Paused:
        case InstanceStatus::DeadLetter:
        case InstanceStatus::Moved:
            break;
        case InstanceStatus::Running:
        case InstanceStatus::Compensating: {
            const Token* token = leading_token(state);
            if (token == nullptr) break;
            if (token->stopping || token->status == TokenStatus::Ready) {
                return SnapshotStatus::Active;
            }
            if (token->status == TokenStatus::Retrying) return SnapshotStatus::Error;
            break;
        }
    }
    return SnapshotStatus::Paused;
}

}  // namespace ebb::stateless
