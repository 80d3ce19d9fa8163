#include "transition_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/plain_history.h"

namespace ebb::golden {

namespace {

const InstanceIdentity kIdentity{.id = {}, .key = "golden"};

Decision decide_on(
    const Probe& probe,
    const Program& program,
    const InstanceState& state,
    const HistoryView& history
) {
    return decide(program, kIdentity, state, probe.event, history, probe.now);
}

std::string outcome_for_instance(const Decision& decision) {
    switch (decision.verdict) {
        case Decision::Verdict::Ignored:
            return "ignored";
        case Decision::Verdict::Refused:
            return "refused";
        case Decision::Verdict::Changed:
            return std::string(to_string(decision.state.status));
    }
    return {};
}

std::string outcome_for_token(const Token& before, const Decision& decision) {
    if (decision.verdict == Decision::Verdict::Ignored) return "ignored";
    const Token* after = decision.state.find_token(before.id);
    if (after == nullptr) return "ends";
    return after->visit != before.visit ? "goes on" : state_of(*after);
}

/// Workers and clocks can report an event twice; a request of a person is judged again each time.
bool may_come_again(const Probe& probe) {
    return std::holds_alternative<event::StepCompleted>(probe.event) ||
           std::holds_alternative<event::StepFailed>(probe.event) ||
           std::holds_alternative<event::StepPaused>(probe.event) ||
           std::holds_alternative<event::LeaseLost>(probe.event) ||
           std::holds_alternative<event::TokenStopped>(probe.event);
}

/// One line per event, one column per state.
std::string markdown_table(
    const std::map<std::string, std::map<std::string, std::set<std::string>>>& rows,
    const std::vector<std::string>& states
) {
    std::string text = fmt::format("| event | {} |\n", fmt::join(states, " | "));
    text += "|---|";
    for (std::size_t i = 0; i < states.size(); ++i) text += "---|";
    text += '\n';
    for (const auto& [event, by_state] : rows) {
        text += "| " + event + " |";
        for (const std::string& state : states) {
            const auto outcomes = by_state.find(state);
            const bool is_known = outcomes != by_state.end();
            text += is_known ? fmt::format(" {} |", fmt::join(outcomes->second, "<br>")) : " – |";
        }
        text += '\n';
    }
    return text;
}

/// The arrows between different states, with the events that lead along them.
std::string diagram(
    const std::map<std::string, std::map<std::string, std::set<std::string>>>& rows,
    const std::vector<std::string>& states,
    const std::map<std::string, std::string>& ends
) {
    std::map<std::pair<std::string, std::string>, std::set<std::string>> arrows;
    for (const auto& [event, by_state] : rows) {
        for (const auto& [state, outcomes] : by_state) {
            for (const std::string& outcome : outcomes) {
                const auto end = ends.find(outcome);
                const std::string to = end == ends.end() ? outcome : end->second;
                const bool is_state =
                    to == "[*]" || std::find(states.begin(), states.end(), to) != states.end();
                if (is_state && to != state) arrows[{state, to}].insert(event);
            }
        }
    }
    const auto name = [](std::string text) {
        std::replace(text.begin(), text.end(), ' ', '_');
        return text;
    };
    std::string text = "```mermaid\nstateDiagram-v2\n";
    for (const auto& [arrow, events] : arrows) {
        text += fmt::format(
            "    {} --> {}: {}\n", name(arrow.first), name(arrow.second), fmt::join(events, " / ")
        );
    }
    return text + "```\n";
}

const std::vector<std::string> kStatuses = {
    "running",
    "paused",
    "compensating",
    "dead_letter",
    "moved",
    "completed",
    "failed",
    "cancelled",
    "aborted"
};

}  // namespace

std::string TransitionTable::probe(
    const Program& program,
    const InstanceState& state,
    const std::vector<HistoryEvent>& history,
    TimePoint now
) {
    const test::PlainHistory past(history);
    for (const Probe& probe : probes_of(state, program, now)) {
        const Decision decision = decide_on(probe, program, state, past);
        note(probe, state, decision);
        const bool has_changed = decision.verdict == Decision::Verdict::Changed;
        if (!has_changed) continue;
        if (decision.state.status == InstanceStatus::Moved) {
            // No workflow goes there by itself.
            std::vector<HistoryEvent> longer = history;
            longer.insert(longer.end(), decision.history.begin(), decision.history.end());
            const std::string problem = this->probe(program, decision.state, longer, now);
            if (!problem.empty()) return problem;
        }
        const std::string text = encode_state(decision.state, program);
        if (decode_state(text, program) != decision.state) return "its text does not keep " + text;
        if (!may_come_again(probe)) continue;
        std::vector<HistoryEvent> longer = history;
        longer.insert(longer.end(), decision.history.begin(), decision.history.end());
        const Decision again =
            decide_on(probe, program, decision.state, test::PlainHistory(std::move(longer)));
        if (again.verdict != Decision::Verdict::Ignored) {
            return fmt::format("{} changes something again in {}", probe.name, text);
        }
    }
    return {};
}

void TransitionTable::note(
    const Probe& probe, const InstanceState& before, const Decision& decision
) {
    const std::string status(to_string(before.status));
    statuses_.insert(status);
    of_instances_[probe.name][status].insert(outcome_for_instance(decision));
    if (probe.token == 0) return;
    const Token& token = *before.find_token(probe.token);
    token_states_.insert(state_of(token));
    of_tokens_[probe.name][state_of(token)].insert(outcome_for_token(token, decision));
}

std::string TransitionTable::page() const {
    return fmt::format(
        R"(# Transitions

This page lists the kernel's decision on every event in every state. The tests generate it
(`./dev approve`): they run all golden workflows, and in each state that any workflow reaches, they
try every event that can happen there. The tests fail if a change of the kernel changes an entry, or
if no golden workflow reaches a state anymore.

## Instances

{}
Each column is the status before the event. Each entry is the status after it, `ignored` (the event
is stale or changes nothing; nothing is written), or `refused` (the caller gets a precise error). If
an entry has several lines, the result depends on the rest of the instance. `–` means that the
instance has no token to which this event can happen.

{}
## Tokens

A token is a place where an instance stands. Compensations run in tokens of their own. In the
picture, `[*]` means that the token ends or continues to its next node.

{}
Each column is the state of the token before the event. Each entry is its state after the event,
`goes on` (it continues to another node), `ends` or `ignored`.

{})",
        diagram(of_instances_, kStatuses, {}),
        markdown_table(of_instances_, kStatuses),
        diagram(of_tokens_, token_states(), {{"ends", "[*]"}, {"goes on", "[*]"}}),
        markdown_table(of_tokens_, token_states())
    );
}

}  // namespace ebb::golden
