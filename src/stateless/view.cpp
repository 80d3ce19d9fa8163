#include "stateless/view.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "call/event_view.h"
#include "stateless/work.h"
#include "support/clock.h"

namespace ebb::stateless {

namespace {

const Token* earliest_retry(const InstanceState& state) {
    const Token* earliest = nullptr;
    for (const Token& token : state.tokens) {
        if (token.status != TokenStatus::Retrying || token.stopping) continue;
        if (earliest == nullptr || token.due < earliest->due) earliest = &token;
    }
    return earliest;
}

std::string until_text(TimePoint due) {
    return due == kNever ? std::string() : fmt::format(" until {}", format_time(due));
}

WaitingFor wait_of(const Snapshot::Data& data, const Token& token) {
    const ProgramNode& node = data.program().node(token.node);
    WaitingFor wait{.node = node.name, .what = node.name, .until = token.due, .sentence = {}};
    const bool is_compensation = token.compensates != 0;
    const std::string step =
        fmt::format("{} \"{}\"", is_compensation ? "The compensation of step" : "Step", node.name);
    switch (token.status) {
        case TokenStatus::Ready:
            wait.kind = "handler";
            wait.what = is_compensation ? node.compensate->handler : node.handler;
            wait.sentence = fmt::format("{} will call the handler \"{}\".", step, wait.what);
            return wait;
        case TokenStatus::Retrying:
            wait.kind = "retry";
            wait.what = is_compensation ? node.compensate->handler : node.handler;
            wait.sentence = fmt::format(
                "{} is retried (attempt {}) at {}.", step, token.attempt, format_time(token.due)
            );
            return wait;
        case TokenStatus::WaitingTimer:
            wait.kind = "timer";
            wait.sentence = fmt::format("\"{}\" waits{}.", node.name, until_text(token.due));
            return wait;
        case TokenStatus::WaitingDecision:
            wait.kind = "decision";
            wait.sentence =
                fmt::format("The decision \"{}\" is awaited{}.", node.name, until_text(token.due));
            return wait;
        case TokenStatus::WaitingSignal:
            wait.kind = "signal";
            wait.what = node.signal;
            wait.sentence =
                fmt::format("The signal \"{}\" is awaited{}.", node.signal, until_text(token.due));
            return wait;
        case TokenStatus::Forked:
            wait.kind = "branches";
            wait.sentence = fmt::format("\"{}\" waits for its branches.", node.name);
            return wait;
        case TokenStatus::Frozen:
            wait.kind = "operator";
            wait.sentence = fmt::format("{} waits for an operator.", step);
            return wait;
    }
    return wait;
}

}  // namespace

NodeIndex current_node(const Snapshot::Data& data) {
    if (const Token* token = leading_token(data.state)) return token->node;
    if (data.state.status == InstanceStatus::Completed) return kNoNode;
    const Kept* error = data.state.error == 0 ? nullptr : data.record.find(data.state.error);
    return error == nullptr ? kNoNode : error->node;
}

NodeIndex start_node(const Snapshot::Data& data) {
    const Kept* started = data.record.find(1);
    return started == nullptr ? kNoNode : started->node;
}

std::optional<RetryState> retry_state(const Snapshot::Data& data) {
    const Token* token = earliest_retry(data.state);
    if (token == nullptr) return std::nullopt;
    return RetryState{
        .node = data.program().node(token->node).name,
        .attempts = token->attempt - 1,
        .next_retry_at = token->due,
    };
}

std::vector<WaitingFor> waiting_for(const Snapshot::Data& data) {
    std::vector<WaitingFor> waits;
    if (data.state.status == InstanceStatus::Paused) {
        waits.push_back(
            {.kind = "operator",
             .node = {},
             .what = "resume",
             .sentence = "The instance is paused by an operator."}
        );
    }
    if (data.state.status == InstanceStatus::Moved) {
        waits.push_back(
            {.kind = "snapshot",
             .node = {},
             .what = "import",
             .sentence = "The instance was moved: it continues elsewhere."}
        );
        return waits;
    }
    for (const Token& token : data.state.tokens) {
        if (!token.stopping) waits.push_back(wait_of(data, token));
    }
    return waits;
}

Payload output_of(const Snapshot::Data& data) {
    const bool has_output =
        data.state.status == InstanceStatus::Completed && data.state.result != 0;
    return has_output ? data.record.payload(data.state.result) : Payload();
}

Payload error_of(const Snapshot::Data& data) {
    const Kept* error = data.state.error == 0 ? nullptr : data.record.find(data.state.error);
    return error == nullptr ? Payload() : error_of(data.record.to_event(*error));
}

std::string failure_message(std::string_view failure) {
    const Json json = Json::parse(failure, nullptr, false);
    if (!json.is_object()) return "unknown";
    const auto message = json.find("message");
    return message != json.end() && message->is_string() ? message->get<std::string>() : "unknown";
}

InstanceSummary summary_of(const Snapshot::Data& data, TimePoint now) {
    const Kept* started = data.record.find(1);
    return {
        .id = data.identity.id,
        .workflow = data.definition().name,
        .version = data.definition().version,
        .key = data.identity.key,
        .status = data.state.status,
        .priority = data.definition().priority,
        .revision = data.version,
        .created_at = started == nullptr ? TimePoint{} : started->at,
        .updated_at = now,
        .finished_at = is_terminal(data.state.status) ? now : TimePoint{},
    };
}

}  // namespace ebb::stateless
