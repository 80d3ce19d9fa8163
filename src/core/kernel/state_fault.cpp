#include "core/kernel/state_text.h"

namespace ebb {

namespace {

bool fits(const InstanceState& state, const Scope& scope, const Program& program) {
    const Token* parent = state.find_token(scope.parent);
    return scope.node != kNoNode && parent != nullptr && parent->scope < scope.id &&
           program.node(scope.node).branches.size() == scope.branches.size();
}

const char* fault_of(const InstanceState& state, const Token& token, const Program& program) {
    if (token.node == kNoNode) return "a token stands nowhere";
    const Scope* scope = state.find_scope(token.scope);
    if (token.scope != 0 && scope == nullptr) {
        return "a token is in a scope that is not there";
    }
    const auto branches =
        scope == nullptr ? std::int32_t{0} : static_cast<std::int32_t>(scope->branches.size());
    if (scope != nullptr && token.branch >= branches) {
        return "a token is in a branch that is not there";
    }
    if (token.compensates != 0 && !program.node(token.node).compensate) {
        return "a token compensates a step that has no compensation";
    }
    return nullptr;
}

}  // namespace

const char* fault_of(const InstanceState& state, const Program& program) {
    for (const Scope& scope : state.scopes) {
        if (!fits(state, scope, program)) return "a scope does not fit its block";
    }
    for (const Token& token : state.tokens) {
        if (const char* fault = fault_of(state, token, program)) return fault;
    }
    const bool has_savepoint = state.savepoint.has_value();
    if (has_savepoint && (state.savepoint->node == kNoNode ||
                          program.node(state.savepoint->node).op != Op::Savepoint)) {
        return "its savepoint is none";
    }
    for (const Rollback& rollback : state.rollbacks) {
        if (rollback.scope != 0 && state.find_scope(rollback.scope) == nullptr) {
            return "a rollback of a scope that is not there";
        }
    }
    return nullptr;
}

}  // namespace ebb
