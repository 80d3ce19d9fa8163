#include "stateless/check.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

#include "stateless/view.h"
#include "stateless/work.h"

namespace ebb::stateless {

void throw_corrupt(const std::string& why) {
    throw Error(ErrorCode::CorruptState, "The snapshot cannot be understood: " + why + ".");
}

void check_events(
    std::span<const Kept> events, const InstanceState& state, const Program& program
) {
    Seq last = 0;
    for (const Kept& event : events) {
        if (event.seq <= last) {
            throw_corrupt(fmt::format("two of its events have the number {}", event.seq));
        }
        last = event.seq;
        if (event.ref >= event.seq) {
            throw_corrupt(fmt::format("event {} refers to a later one", event.seq));
        }
        if (!event.is_undoable) continue;
        const bool can_be = is_undoable(event.type) && event.attempt > 0 && event.node != kNoNode &&
                            program.node(event.node).compensate;
        if (!can_be) {
            throw_corrupt(fmt::format("event {} is said to be undoable and cannot be", event.seq));
        }
    }
    if (last > state.last_seq) {
        throw_corrupt(
            fmt::format("it has an event {}, and its state counts only {}", last, state.last_seq)
        );
    }
}

namespace {

bool fits(const Token& token, const ProgramNode& node) {
    if (token.compensates != 0) {
        return token.status == TokenStatus::Ready || token.status == TokenStatus::Retrying ||
               token.status == TokenStatus::Frozen;
    }
    switch (token.status) {
        case TokenStatus::Ready:
        case TokenStatus::Retrying:
            return node.op == Op::Step;
        case TokenStatus::WaitingTimer:
            return node.op == Op::Timer;
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

void check_token(const InstanceState& state, const Token& token, const Program& program) {
    const ProgramNode& node = program.node(token.node);
    const auto same_id = [&](const Token& other) { return other.id == token.id; };
    if (std::count_if(state.tokens.begin(), state.tokens.end(), same_id) != 1) {
        throw_corrupt(fmt::format("two tokens have the number {}", token.id));
    }
    if (token.id < 1 || token.id > state.last_token || token.visit > state.last_visit) {
        throw_corrupt(fmt::format("token {} is not counted by the state", token.id));
    }
    if (!fits(token, node)) {
        throw_corrupt(fmt::format(
            "token {} is {} at \"{}\", which is a {}",
            token.id,
            to_string(token.status),
            node.name,
            to_string(node.op)
        ));
    }
    for (const LoopTurn& turn : token.loops) {
        const bool is_loop = turn.loop != kNoNode && program.node(turn.loop).op == Op::Loop;
        if (!is_loop) throw_corrupt(fmt::format("token {} is in a loop that is none", token.id));
    }
}

void check_state(const Snapshot::Data& data) {
    const InstanceState& state = data.state;
    for (const Token& token : state.tokens) check_token(state, token, data.program());
    if (state.tokens.empty() != is_terminal(state.status)) {
        throw_corrupt(fmt::format(
            "the instance is {} and has {} tokens", to_string(state.status), state.tokens.size()
        ));
    }
}

void check_references(const Snapshot::Data& data) {
    each_root(data.state, [&](Seq seq) {
        if (data.record.find_payload(seq) == nullptr) {
            throw_corrupt(fmt::format("its event {} is needed and missing", seq));
        }
    });
}

}  // namespace

void check_snapshot(const Snapshot::Data& data, const Derived& derived) {
    check_state(data);
    check_references(data);
    const std::string_view status = to_string(status_of(data.state));
    if (derived.status && *derived.status != status) {
        throw_corrupt(fmt::format(
            "its status says \"{}\", and its state is \"{}\"; use the engine to change it",
            *derived.status,
            status
        ));
    }
    const NodeIndex node = current_node(data);
    const std::string_view name =
        node == kNoNode ? std::string_view() : data.program().node(node).name;
    if (derived.current_node && *derived.current_node != name) {
        throw_corrupt(fmt::format(
            "its currentNodeId says \"{}\", and its state stands at \"{}\"; use the engine to "
            "change "
            "it",
            *derived.current_node,
            name
        ));
    }
}

}  // namespace ebb::stateless
