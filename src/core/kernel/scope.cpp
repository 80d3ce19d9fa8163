#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/kernel/transition.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

int count(const Scope& scope, BranchOutcome::Status status) {
    return static_cast<int>(std::count_if(
        scope.branches.begin(),
        scope.branches.end(),
        [status](const BranchOutcome& branch) { return branch.status == status; }
    ));
}

bool is_settling(const Transition& t, ScopeId scope) {
    return std::any_of(
        t.state.rollbacks.begin(),
        t.state.rollbacks.end(),
        [scope](const Rollback& rollback) {
            return rollback.kind == Rollback::Kind::Losers && rollback.scope == scope;
        }
    );
}

/// {branch: output} of the branches that completed, in the order of the definition.
Payload join_output(const Transition& t, const Scope& scope) {
    const ProgramNode& node = t.program.node(scope.node);
    std::vector<Seq> outputs;
    for (const BranchOutcome& branch : scope.branches) {
        if (branch.status == BranchOutcome::Status::Completed) outputs.push_back(branch.output);
    }
    t.past.prepare(outputs);
    std::string output = "{";
    for (std::size_t i = 0; i < scope.branches.size(); ++i) {
        if (scope.branches[i].status != BranchOutcome::Status::Completed) continue;
        if (output.size() > 1) output += ',';
        append_json_string(output, node.branches[i].name);
        output += ':';
        output += t.past.payload(scope.branches[i].output);
    }
    return output + "}";
}

/// Called when a branch has completed or its failure was borne: does the join have what it needs?
void check_join(Transition& t, ScopeId id) {
    Scope& scope = *t.state.find_scope(id);
    const ProgramNode& node = t.program.node(scope.node);
    if (count(scope, BranchOutcome::Status::Completed) < node.join || is_settling(t, id)) return;
    const bool has_losers =
        count(scope, BranchOutcome::Status::Completed) < static_cast<int>(scope.branches.size());
    if (!has_losers) return complete_join(t, id);
    std::vector<std::int32_t> losers;
    for (std::size_t i = 0; i < scope.branches.size(); ++i) {
        if (scope.branches[i].status == BranchOutcome::Status::Completed) continue;
        losers.push_back(static_cast<std::int32_t>(i));
        if (scope.branches[i].status == BranchOutcome::Status::Open) {
            scope.branches[i].status = BranchOutcome::Status::Stopped;
        }
    }
    stop_tokens(t, id, losers, node.keep_losers ? StopMode::DropRunning : StopMode::AwaitRunning);
    if (node.keep_losers) return complete_join(t, id);
    begin_losers_rollback(t, *t.state.find_scope(id), t.state.last_seq);
}

}  // namespace

void enter_fork(Transition& t, Token& parent) {
    const ProgramNode& node = t.node_of(parent);
    const TokenId parent_id = parent.id;
    parent.status = TokenStatus::Forked;
    t.remove_task(parent_id);
    const Seq opened = t.append_at(parent, HistoryType::ScopeOpened, parent.input);
    Scope scope{
        .id = ++t.state.last_scope,
        .parent = parent_id,
        .node = parent.node,
        .opened = opened,
        .branches = std::vector<BranchOutcome>(node.branches.size())
    };
    const ScopeId scope_id = scope.id;
    const Token child{
        .node = parent.node, .scope = scope_id, .visit = parent.visit, .input = parent.input
    };
    t.state.scopes.push_back(std::move(scope));
    for (std::size_t i = 0; i < node.branches.size(); ++i) {
        Token token = child;
        token.branch = static_cast<std::int32_t>(i);
        go_to(t, t.add_token(std::move(token)), node.branches[i].entry);
    }
}

void end_branch(Transition& t, TokenId id) {
    const Token token = *t.state.find_token(id);
    HistoryEvent event;
    event.type = HistoryType::BranchCompleted;
    event.node = t.program.node(t.state.find_scope(token.scope)->node).name;
    event.path = t.path_of(token);
    event.token = id;
    event.ref = token.input;
    t.append(std::move(event));
    BranchOutcome& branch =
        t.state.find_scope(token.scope)->branches[static_cast<std::size_t>(token.branch)];
    branch = {.status = BranchOutcome::Status::Completed, .output = token.input};
    t.erase_token(id);
    check_join(t, token.scope);
}

std::int32_t branch_within(
    const InstanceState& state, ScopeId scope, ScopeId inner, std::int32_t branch
) {
    while (inner != 0 && inner != scope) {
        const Token* parent = state.find_token(state.find_scope(inner)->parent);
        inner = parent->scope;
        branch = parent->branch;
    }
    return inner == scope ? branch : -1;
}

bool bear_branch_failure(Transition& t, const Token& token, Seq cause) {
    ScopeId scope_id = token.scope;
    std::int32_t index = token.branch;
    while (scope_id != 0) {
        Scope& scope = *t.state.find_scope(scope_id);
        const ProgramNode& node = t.program.node(scope.node);
        const int failed = count(scope, BranchOutcome::Status::Failed) + 1;
        if (static_cast<int>(scope.branches.size()) - failed >= node.join) {
            scope.branches[static_cast<std::size_t>(index)].status = BranchOutcome::Status::Failed;
            HistoryEvent event;
            event.type = HistoryType::BranchFailed;
            event.node = node.name;
            event.path = t.path_of(scope_id, index);
            event.ref = cause;
            t.append(std::move(event));
            t.erase_token(token.id);
            stop_tokens(
                t,
                scope_id,
                {index},
                node.keep_losers ? StopMode::DropRunning : StopMode::AwaitRunning
            );
            return true;
        }
        const Token* parent = t.state.find_token(scope.parent);
        scope_id = parent->scope;
        index = parent->branch;
    }
    return false;
}

namespace {

/// Empty where it may be as large as it is. In a loop, what a block makes of its own output grows
/// twofold and more with every turn.
std::string join_excess(const Payload& output) {
    if (output.size() > kJoinBytesMax) {
        return fmt::format(
            "The output of the block has {} bytes; {} are allowed.", output.size(), kJoinBytesMax
        );
    }
    const int depth = json_depth(output);
    if (depth <= kJoinDepthMax) return {};
    return fmt::format(
        "The output of the block is nested {} deep; {} are allowed.", depth, kJoinDepthMax
    );
}

}  // namespace

void complete_join(Transition& t, ScopeId id) {
    const Scope scope = *t.state.find_scope(id);
    Token& parent = *t.state.find_token(scope.parent);
    parent.status = TokenStatus::Ready;
    std::erase_if(t.state.scopes, [id](const Scope& other) { return other.id == id; });
    Payload output = join_output(t, scope);
    if (std::string excess = join_excess(output); !excess.empty()) {
        return fail_node(
            t,
            parent.id,
            {.code = "payload_too_large", .message = std::move(excess), .is_permanent = true}
        );
    }
    parent.input = t.append_at(parent, HistoryType::ScopeJoined, 0, std::move(output));
    go_to(t, parent, t.node_of(parent).next);
}

}  // namespace ebb::kernel
