#include "probe.h"

#include <utility>

namespace ebb::golden {

namespace {

constexpr Duration kLater = std::chrono::hours(24 * 365);

TimePoint when(TimePoint due, TimePoint now) {
    return due == kNever ? now : std::max(due, now);
}

void add_probes_of_token(std::vector<Probe>& probes, const Token& token, TimePoint now) {
    const AttemptRef present = present_attempt(token);
    AttemptRef stale = present;
    stale.attempt += 1'000;
    const auto add = [&](const char* name, Event event, TimePoint at) {
        probes.push_back({.name = name, .token = token.id, .event = std::move(event), .now = at});
    };
    const Failure later{.code = "error", .message = "boom"};
    const Failure permanent{.code = "broken", .message = "boom", .is_permanent = true};
    add("step_completed", event::StepCompleted{.attempt = present, .output = "{}"}, now);
    add("step_completed, stale", event::StepCompleted{.attempt = stale, .output = "{}"}, now);
    add("step_failed", event::StepFailed{.attempt = present, .failure = later}, now);
    add("step_failed for good", event::StepFailed{.attempt = present, .failure = permanent}, now);
    add("step_paused", event::StepPaused{.attempt = present, .worker = {}}, now);
    add("lease_lost", event::LeaseLost{.attempt = present, .worker = "w"}, now);
    add("timer_fired",
        event::TimerFired{.token = token.id, .visit = token.visit},
        when(token.due, now));
    add("step_timeout", event::TimerFired{.token = -token.id}, when(token.deadline, now));
    add("token_stopped, called",
        event::TokenStopped{.token = token.id, .visit = token.visit, .was_called = true},
        now);
    add("token_stopped, not called",
        event::TokenStopped{.token = token.id, .visit = token.visit, .was_called = false},
        now);
}

void add_probes_of_people(
    std::vector<Probe>& probes, const InstanceState& state, const Program& program, TimePoint now
) {
    const auto add = [&](const char* name, Event event) {
        probes.push_back({.name = name, .token = 0, .event = std::move(event), .now = now});
    };
    add("cancel", event::CancelRequested{});
    add("abort", event::AbortRequested{});
    add("pause", event::Paused{});
    add("resume", event::Resumed{});
    add("requeue", event::Requeued{});
    add("move", event::MoveRequested{.seen = state.last_seq, .by = {}});
    add("move, looked at too early", event::MoveRequested{.seen = state.last_seq - 1, .by = {}});
    add("arrive", event::Arrived{.details = "{}"});
    add("requeue with input", event::Requeued{.new_input = "{}", .by = {}});
    add("requeue, skip", event::Requeued{.new_input = {}, .skip_compensation = true, .by = {}});
    add("signal not awaited", event::SignalReceived{.name = "?", .payload = "{}"});
    std::string decision;
    std::string signal;
    for (const Token& token : state.tokens) {
        const ProgramNode& node = program.node(token.node);
        if (token.status == TokenStatus::WaitingDecision) decision = node.name;
        if (token.status == TokenStatus::WaitingSignal) signal = node.signal;
    }
    std::string role;
    if (!decision.empty()) {
        const auto& roles = program.node(program.find(decision)).human.roles;
        if (!roles.empty()) role = roles.front();
    }
    add("confirm",
        event::DecisionMade{.node = decision, .is_confirmed = true, .by = "new", .role = role});
    add("reject",
        event::DecisionMade{.node = decision, .is_confirmed = false, .by = "new", .role = role});
    if (!signal.empty()) {
        add("signal that is awaited", event::SignalReceived{.name = signal, .payload = "{}"});
    }
}

}  // namespace

std::vector<Probe> probes_of(const InstanceState& state, const Program& program, TimePoint now) {
    std::vector<Probe> probes;
    for (const Token& token : state.tokens) add_probes_of_token(probes, token, now);
    add_probes_of_people(probes, state, program, now);
    probes.push_back(
        {.name = "deadline",
         .token = 0,
         .event = event::TimerFired{.token = kInstanceToken},
         .now = state.deadline == kNever ? now + kLater : state.deadline}
    );
    return probes;
}

std::string state_of(const Token& token) {
    const std::string status(to_string(token.status));
    if (token.stopping) return "stopping";
    return token.compensates != 0 ? "compensation " + status : status;
}

std::vector<std::string> token_states() {
    return {
        "ready",
        "retrying",
        "stopping",
        "waiting_timer",
        "waiting_decision",
        "waiting_signal",
        "forked",
        "frozen",
        "compensation ready",
        "compensation retrying",
        "compensation frozen"
    };
}

}  // namespace ebb::golden
