// What the kernel takes for granted about a state. The kernel keeps these invariants itself, but a
// row that a person or a faulty disk has changed must not crash the process.

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/kernel/names.h"
#include "core/kernel/state_text.h"

namespace ebb {

namespace {

bool may_be_at(const Token& token, const ProgramNode& node) {
    if (token.compensates != 0) {
        return token.status == TokenStatus::Ready || token.status == TokenStatus::Retrying ||
               token.status == TokenStatus::Frozen;
    }
    switch (token.status) {
        case TokenStatus::Ready:
        case TokenStatus::Retrying:
            return node.op == Op::Step;
        case TokenStatus::WaitingTimer:
            return node.op == Op::Timer || node.after > Duration::zero();
        case TokenStatus::WaitingDecision:
            return node.op == Op::Decision;
        case TokenStatus::WaitingSignal:
            return node.op == Op::Signal || node.op == Op::Step;
        case TokenStatus::Forked:
            return node.op == Op::Fork;
        case TokenStatus::Frozen:
            return true;
    }
    return false;
}

/// Counters are never close to the limits of their type.
constexpr std::int64_t kCountMax = std::int64_t{1} << 53;
constexpr std::int32_t kAttemptsMax = std::int32_t{1} << 30;

class StateCheck {
 public:
    StateCheck(const InstanceState& state, const Program& program)
        : state_(state), program_(program) {}

    std::string fault() const {
        if (!have_fitting_counters()) return "a counter is out of range";
        // SQL has put it, and its first event waits in its inbox.
        if (state_ == InstanceState{}) return {};
        if (std::string fault = fault_of_scopes(); !fault.empty()) return fault;
        if (std::string fault = fault_of_tokens(); !fault.empty()) return fault;
        if (state_.savepoint && !fits(*state_.savepoint)) return "its savepoint is not a savepoint";
        if (!are_records_fitting()) return "what it records about attempts does not fit its steps";
        if (std::string fault = fault_of_rules(); !fault.empty()) return fault;
        return fault_of_rollbacks();
    }

 private:
    bool is_count(std::int64_t value, std::int64_t max = kCountMax) const {
        return value >= 0 && value <= max;
    }

    bool is_seq(Seq seq) const { return is_count(seq, state_.last_seq); }

    bool is_node(NodeIndex node, Op op) const {
        return node != kNoNode && program_.node(node).op == op;
    }

    bool have_fitting_counters() const {
        const bool are_signals_fitting =
            std::all_of(state_.signals.begin(), state_.signals.end(), [&](const auto& signal) {
                return is_seq(signal.event);
            });
        return is_count(state_.last_seq) && is_count(state_.last_token) &&
               is_count(state_.last_scope) && is_count(state_.last_visit) &&
               is_seq(state_.result) && is_seq(state_.error) && are_signals_fitting;
    }

    bool are_records_fitting() const {
        return std::all_of(state_.records.begin(), state_.records.end(), [&](const auto& record) {
            return is_node(record.node, Op::Step) && is_count(record.visit, state_.last_visit) &&
                   is_count(record.attempts, kAttemptsMax) && is_seq(record.failure) &&
                   state_.find_record(record.node) == &record;
        });
    }

    bool are_loops(const std::vector<LoopTurn>& loops) const {
        return std::all_of(loops.begin(), loops.end(), [&](const LoopTurn& turn) {
            const bool is_loop = is_node(turn.loop, Op::Loop) || is_node(turn.loop, Op::Sequence);
            return is_loop && is_count(turn.turn);
        });
    }

    bool fits(const Scope& scope) const {
        const Token* parent = state_.find_token(scope.parent);
        const auto shared = [&](const Scope& other) { return other.parent == scope.parent; };
        return is_node(scope.node, Op::Fork) && parent != nullptr && parent->scope < scope.id &&
               parent->node == scope.node && parent->status == TokenStatus::Forked &&
               program_.node(scope.node).branches.size() == scope.branches.size() &&
               is_seq(scope.opened) &&
               std::count_if(state_.scopes.begin(), state_.scopes.end(), shared) == 1 &&
               std::all_of(
                   scope.branches.begin(),
                   scope.branches.end(),
                   [&](const auto& branch) { return is_seq(branch.output); }
               );
    }

    std::string fault_of_scopes() const {
        ScopeId last = 0;
        for (const Scope& scope : state_.scopes) {
            if (scope.id <= last || scope.id > state_.last_scope || !fits(scope)) {
                return "a scope does not fit its block";
            }
            last = scope.id;
        }
        return {};
    }

    std::string fault_of_place(const Token& token) const {
        if (token.node == kNoNode) return "a token has no node";
        const Scope* scope = state_.find_scope(token.scope);
        if (token.scope != 0 && scope == nullptr) {
            return fmt::format("token {} is in a scope that does not exist", token.id);
        }
        const auto branches =
            scope == nullptr ? std::int32_t{0} : static_cast<std::int32_t>(scope->branches.size());
        if (token.scope == 0 && token.compensates == 0 && state_.rules) {
            // A transition, which can only be at the step of its trigger, or inside its sequence.
            const NodeIndex inside = program_.node(token.node).transition;
            const bool is_there = token.branch == token.node || token.branch == inside;
            const auto nodes = static_cast<NodeIndex>(program_.definition().steps.size());
            if (is_there && token.branch >= 0 && token.branch < nodes && token.fired > 0) return {};
            return fmt::format("token {} is not a transition", token.id);
        }
        const bool is_outside = token.scope == 0 || token.compensates != 0;
        const bool is_fitting =
            is_outside ? token.branch == -1 : token.branch >= 0 && token.branch < branches;
        if (is_fitting) return {};
        return fmt::format("token {} is in a branch that does not exist", token.id);
    }

    /// The activity of a token must fit the kind of its node.
    std::string fault_of_work(const Token& token) const {
        const ProgramNode& node = program_.node(token.node);
        if (token.compensates != 0 && !node.compensate) {
            return fmt::format("token {} compensates a step that has no compensation", token.id);
        }
        if (!may_be_at(token, node)) {
            return fmt::format(
                "token {} is {} at \"{}\", which is a {}",
                token.id,
                to_string(token.status),
                node.name,
                to_string(node.op)
            );
        }
        const bool is_forked = token.status == TokenStatus::Forked;
        const auto is_its_own = [&](const Scope& scope) { return scope.parent == token.id; };
        if (is_forked && std::none_of(state_.scopes.begin(), state_.scopes.end(), is_its_own)) {
            return fmt::format("token {} is forked without a scope", token.id);
        }
        return {};
    }

    std::string fault_of(const Token& token) const {
        if (std::string fault = fault_of_place(token); !fault.empty()) return fault;
        if (std::string fault = fault_of_work(token); !fault.empty()) return fault;
        const bool are_counts =
            is_count(token.visit, state_.last_visit) && is_count(token.attempt, kAttemptsMax) &&
            is_count(token.attempt_base, kAttemptsMax) && is_count(token.losses, kAttemptsMax) &&
            is_count(token.pauses, kAttemptsMax);
        if (token.id < 1 || token.id > state_.last_token || !are_counts) {
            return fmt::format("token {} is not counted by the state", token.id);
        }
        const bool are_seqs = is_seq(token.input) && is_seq(token.payload) &&
                              is_seq(token.compensates) && is_seq(token.failed) &&
                              is_seq(token.fired);
        if (!are_seqs) {
            return fmt::format("token {} refers to an event that does not exist", token.id);
        }
        if (!are_loops(token.loops)) {
            return fmt::format("token {} is in a loop that does not exist", token.id);
        }
        return {};
    }

    std::string fault_of_tokens() const {
        if (state_.tokens.empty() != is_terminal(state_.status) && !may_be_without_tokens()) {
            return fmt::format(
                "the instance is {} and has {} tokens",
                to_string(state_.status),
                state_.tokens.size()
            );
        }
        TokenId last = 0;
        for (const Token& token : state_.tokens) {
            if (std::string fault = fault_of(token); !fault.empty()) return fault;
            if (token.id == last) return fmt::format("two tokens have the number {}", token.id);
            if (token.id < last) return "its tokens are not in order";
            last = token.id;
        }
        return is_each_place_taken_once() ? std::string() : "two tokens are in one branch";
    }

    InstanceStatus phase() const {
        const bool is_moved = state_.status == InstanceStatus::Moved;
        const InstanceStatus status = is_moved ? state_.moved_from : state_.status;
        return status == InstanceStatus::Paused ? state_.paused_from : status;
    }

    /// The instance waits for an operator, or a handler works on the exception.
    bool is_in_exception() const {
        if (!state_.rules || state_.rules->exception == 0) return false;
        const auto handler = static_cast<NodeIndex>(program_.rules()->triggers().size());
        const auto is_handling = [&](const Token& token) {
            return token.scope == 0 && token.compensates == 0 && token.branch == handler;
        };
        return phase() == InstanceStatus::DeadLetter ||
               std::any_of(state_.tokens.begin(), state_.tokens.end(), is_handling);
    }

    /// Such an instance waits for a write, and need not have a pending token.
    bool may_be_without_tokens() const {
        if (!state_.rules || program_.rules() == nullptr || is_terminal(state_.status)) {
            return false;
        }
        const bool may_wait = program_.rules()->rules().on_idle == Rules::OnIdle::Wait;
        return is_in_exception() || (may_wait && phase() == InstanceStatus::Running);
    }

    std::string fault_of_rules() const {
        if (state_.rules.has_value() != (program_.rules() != nullptr)) {
            return "its workflow has rules, or the state has, but not both";
        }
        if (!state_.rules) return {};
        const auto& values = state_.rules->values;
        const bool are_written = std::all_of(values.begin(), values.end(), [&](const auto& value) {
            return is_seq(value.written);
        });
        const auto& marks = state_.rules->marks;
        const bool are_failed = std::all_of(marks.begin(), marks.end(), [&](const auto& mark) {
            return is_seq(mark.failed);
        });
        if (!are_written || !are_failed || !is_seq(state_.rules->exception)) {
            return "its attributes or triggers refer to an event that does not exist";
        }
        if (state_.rules->exception != 0 && !is_in_exception()) {
            return "it is in an exception that neither an operator nor a handler deals with";
        }
        return ebb::fault_of(*state_.rules, *program_.rules());
    }

    bool is_each_place_taken_once() const {
        if (state_.tokens.size() < 2) return true;
        std::vector<std::pair<ScopeId, std::int32_t>> places;
        for (const Token& token : state_.tokens) {
            if (token.compensates == 0) places.emplace_back(token.scope, token.branch);
        }
        std::sort(places.begin(), places.end());
        return std::adjacent_find(places.begin(), places.end()) == places.end();
    }

    bool fits(const SavepointMark& mark) const {
        return is_node(mark.node, Op::Savepoint) && is_seq(mark.reached) && is_seq(mark.input) &&
               is_count(mark.resumes, kAttemptsMax) && are_loops(mark.loops);
    }

    std::string fault_of(const Rollback& rollback) const {
        const bool is_of_losers = rollback.kind == Rollback::Kind::Losers;
        const bool is_of_final = is_of_losers && state_.rules && state_.rules->is_finishing;
        if (is_of_losers != (rollback.scope != 0) && !is_of_final) return "a rollback of nothing";
        if (rollback.scope != 0 && state_.find_scope(rollback.scope) == nullptr) {
            return "a rollback of a scope that does not exist";
        }
        const auto of_the_same = [&](const Rollback& other) {
            return other.scope == rollback.scope;
        };
        const auto count =
            std::count_if(state_.rollbacks.begin(), state_.rollbacks.end(), of_the_same);
        const bool is_alone = rollback.scope != 0 ? count == 1 : state_.rollbacks.size() == 1;
        const bool are_seqs = is_seq(rollback.cause) && is_seq(rollback.first) &&
                              is_count(rollback.cursor, state_.last_seq + 1) &&
                              is_seq(rollback.floor);
        return is_alone && are_seqs ? std::string() : "a rollback that is not possible";
    }

    std::string fault_of_rollbacks() const {
        for (const Rollback& rollback : state_.rollbacks) {
            if (std::string fault = fault_of(rollback); !fault.empty()) return fault;
        }
        return {};
    }

    const InstanceState& state_;
    const Program& program_;
};

}  // namespace

std::string fault_of(const InstanceState& state, const Program& program) {
    return StateCheck(state, program).fault();
}

}  // namespace ebb
