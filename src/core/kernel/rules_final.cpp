// The end of an instance with rules whose final condition does not wait for what is pending.

#include <utility>

#include <nlohmann/json.hpp>

#include "core/kernel/rules_parts.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

/// A transition that has failed for good is over; a rollback finds the end of its visit here.
void end_frozen(Transition& t) {
    std::vector<TokenId> frozen;
    for (const Token& token : t.state.tokens) {
        const bool is_forward = token.compensates == 0;
        if (is_forward && token.status == TokenStatus::Frozen) frozen.push_back(token.id);
    }
    for (const TokenId id : frozen) {
        const Token& token = *t.state.find_token(id);
        const bool was_called = token.attempt > 0;
        const HistoryEvent failure{
            .type = HistoryType::StepFailed, .payload = t.past.payload(token.failed)
        };
        if (was_called) t.append_at(token, HistoryType::StepRequeued, token.failed);
        end_stopped_token(t, id, was_called, outcome_of(failure), failure.payload);
    }
}

}  // namespace

void stop_pending(Transition& t, const Origin& origin, const Payload& result) {
    t.erase_token(origin.token);
    // Whatever was completed before stays.
    const Seq floor = t.state.last_seq;
    end_frozen(t);
    t.state.error = 0;
    if (t.phase() == InstanceStatus::DeadLetter) {
        t.set_phase(InstanceStatus::Running);
        if (t.may_start()) unpark_all(t);
    }
    stop_tokens(t, 0, {}, StopMode::AwaitRunning);
    HistoryEvent event;
    event.type = HistoryType::RollbackStarted;
    event.payload = "{\"kind\":\"final\",\"output\":" + result + "}";
    const Seq cause = t.append(std::move(event));
    t.state.rollbacks.push_back(
        {.kind = Rollback::Kind::Losers, .scope = 0, .cause = cause, .floor = floor}
    );
}

void finish_final(Transition& t, const Rollback& rollback) {
    HistoryEvent finished;
    finished.type = HistoryType::RollbackFinished;
    finished.ref = rollback.cause;
    t.append(std::move(finished));
    HistoryEvent completed;
    completed.type = HistoryType::Completed;
    // In the order of the attributes.
    const auto started = nlohmann::ordered_json::parse(t.past.payload(rollback.cause));
    completed.payload = started.at("output").dump();
    finish(t, InstanceStatus::Completed, std::move(completed));
    t.state.error = 0;
    t.state.result = t.state.last_seq;
}

}  // namespace ebb::kernel
