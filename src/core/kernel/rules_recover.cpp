// Instances with rules that continue from an earlier write: from a savepoint after a failure, or
// because an operator takes them back. What was undone is in the history, and what follows it, too.

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/rules_parts.h"
#include "support/json.h"

namespace ebb::kernel {

namespace {

using Verdict = rules::Outcome::Verdict;

/// False = refused, with the reason set.
bool may_recover(Transition& t, const event::RecoverRequested& e) {
    if (t.program.rules() == nullptr) {
        t.refuse(
            "invalid_argument",
            "Only instances of a workflow with rules can be taken back to a write."
        );
    } else if (t.is_over()) {
        refuse_finished(t, "taken back");
    } else if (is_rolled_back(t)) {
        t.refuse(
            "invalid_state", "The instance is already being rolled back: wait until that has ended."
        );
    } else {
        const auto event = e.to > 0 ? t.past.find_event(e.to) : std::nullopt;
        const bool is_write = event && (event->type == HistoryType::Started ||
                                        event->type == HistoryType::AttributesWritten);
        if (is_write) return true;
        t.refuse(
            "invalid_argument",
            fmt::format(
                "The event {} is not a write of this instance; its trace lists the writes.", e.to
            )
        );
    }
    return false;
}

Payload request_payload(const event::RecoverRequested& e) {
    Payload text =
        fmt::format("{{\"to\":{},\"then\":\"{}\",\"by\":", e.to, e.stops ? "stop" : "rematch");
    append_json_string(text, e.by);
    return text + "}";
}

/// An operator must change the attributes first.
void wait_for_operator(Transition& t, Seq cause) {
    HistoryEvent event;
    event.type = HistoryType::ExceptionRaised;
    event.ref = cause;
    event.payload = failure_payload(
        {.code = "recovered",
         .message = "An operator has taken the instance back, and must let it continue."}
    );
    t.state.rules->exception = t.append(std::move(event));
    enter_dead_letter(t, t.state.rules->exception);
}

}  // namespace

void unfire(Transition& t, const Token& token) {
    const bool has_fired = t.state.rules && is_transition(token) && !is_armed(t, token) &&
                           !token.stopping && !is_exception_handler(t, token);
    if (has_fired) rules::unfire(rules_of(t), *t.state.rules, token.branch);
}

void on_recover_requested(Transition& t, const event::RecoverRequested& e) {
    if (is_repeated(t, e.request_id)) return;
    if (!may_recover(t, e)) return;
    HistoryEvent request;
    request.type = HistoryType::RecoverRequested;
    request.payload = request_payload(e);
    const Seq cause = t.append(std::move(request));
    if (t.state.savepoint && t.state.savepoint->reached > e.to) t.state.savepoint.reset();
    begin_instance_rollback(t, Rollback::Kind::Recover, cause, 0);
    t.state.rollbacks.back().floor = e.to;
    if (t.may_start()) unpark_all(t);
}

void resume_rules(Transition& t, Seq cause) {
    Written written = decide_write(
        t, {.source = rules::Write::Source::Resume, .seq = t.state.last_seq + 1}, nullptr
    );
    rules::Outcome& outcome = written.outcome;
    if (outcome.verdict == Verdict::Refused) {
        outcome.verdict = Verdict::Exception;
        outcome.cause = outcome.code;
    }
    take(t, {.cause = cause, .is_resume = true}, std::move(written));
}

void finish_recovery(Transition& t, const Rollback& rollback) {
    t.state.error = 0;
    t.set_phase(InstanceStatus::Running);
    set_instance_deadline(t, rollback.deadline);
    const Json request = Json::parse(t.past.payload(rollback.cause));
    if (request.at("then") == "stop") return wait_for_operator(t, rollback.cause);
    resume_rules(t, rollback.cause);
}

}  // namespace ebb::kernel
