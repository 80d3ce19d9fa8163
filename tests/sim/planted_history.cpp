// Histories with one lie: what a wrong kernel would have written if everything else were in order.
// All numbers are corrected afterwards, so that the lie is the only visible fault.

#include <algorithm>
#include <utility>

#include "sim/flow.h"
#include "sim/mutate.h"
#include "sim/planted.h"

namespace ebb::sim {

namespace {

using History = std::vector<HistoryEntry>;

PlantedBug in_history(std::string name, std::function<bool(Evidence&)> change) {
    return {.name = std::move(name), .evidence = std::move(change)};
}

std::vector<std::int64_t> all_of_type(const History& history, const std::string& type) {
    std::vector<std::int64_t> found;
    for (const HistoryEntry& entry : history) {
        if (entry.type == type) found.push_back(entry.seq);
    }
    return found;
}

HistoryEntry& at(History& history, std::int64_t seq) {
    return history[static_cast<std::size_t>(seq) - 1];
}

std::int64_t last_visit(const History& history) {
    std::int64_t last = 0;
    for (const HistoryEntry& entry : history) last = std::max(last, entry.visit);
    return last;
}

bool drop(Evidence& evidence, const char* type) {
    const auto found = all_of_type(evidence.history, type);
    if (found.empty()) return false;
    drop_event(evidence.history, found.front());
    return true;
}

/// Exchanges the steps that two compensations undid.
bool swap_compensations(Evidence& evidence) {
    History& history = evidence.history;
    const auto done = all_of_type(history, "step_compensated");
    if (done.size() < 2) return false;
    swap_events(history, done[0], done[1]);
    return true;
}

bool compensate_twice(Evidence& evidence) {
    History& history = evidence.history;
    const auto done = all_of_type(history, "step_compensated");
    if (done.empty()) return false;
    HistoryEntry again = at(history, done.back());
    again.visit = last_visit(history) + 1;
    again.attempt = 1;
    insert_event(history, done.back() + 1, std::move(again));
    return true;
}

/// The rollback passes the floor of a savepoint and also undoes what came before it.
bool compensate_beyond_savepoint(Evidence& evidence) {
    History& history = evidence.history;
    const auto finished = all_of_type(history, "rollback_finished");
    const auto reached = all_of_type(history, "savepoint_reached");
    if (finished.empty() || reached.empty()) return false;
    const auto is_early = [&](const HistoryEntry& e) {
        return e.type == "step_completed" && e.seq < reached.front() && e.path.empty();
    };
    const auto step = std::find_if(history.begin(), history.end(), is_early);
    if (step == history.end()) return false;
    HistoryEntry undone{.seq = 0, .type = "step_compensated", .node = step->node};
    undone.ref = step->seq;
    undone.visit = last_visit(history) + 1;
    undone.attempt = 1;
    undone.payload = "null";
    insert_event(history, finished.front(), std::move(undone));
    return true;
}

bool start_after_rollback(Evidence& evidence) {
    History& history = evidence.history;
    const auto begun = all_of_type(history, "rollback_started");
    const auto steps = all_of_type(history, "step_completed");
    if (begun.empty() || steps.empty()) return false;
    HistoryEntry late = at(history, steps.front());
    late.visit = last_visit(history) + 1;
    insert_event(history, begun.back() + 1, std::move(late));
    return true;
}

bool complete_twice(Evidence& evidence) {
    const auto steps = all_of_type(evidence.history, "step_completed");
    if (steps.empty()) return false;
    HistoryEntry again = at(evidence.history, steps.back());
    insert_event(evidence.history, steps.back() + 1, std::move(again));
    return true;
}

/// The instance stops in the middle, without a task and without an end.
bool lose_instance(Evidence& evidence) {
    const auto steps = all_of_type(evidence.history, "step_completed");
    const bool is_in_branch = steps.empty() || !at(evidence.history, steps.front()).path.empty();
    if (is_in_branch) return false;
    evidence.history.resize(static_cast<std::size_t>(steps.front()));
    evidence.status = "running";
    evidence.tasks_live = evidence.tasks_parked = 0;
    evidence.calls.clear();
    evidence.requests.clear();
    return true;
}

bool end_as(Evidence& evidence, const char* from, const char* to) {
    if (evidence.status != from) return false;
    evidence.status = to;
    evidence.history.back().type = to;
    return true;
}

bool go_on_after_the_end(Evidence& evidence) {
    const auto steps = all_of_type(evidence.history, "step_completed");
    const bool has_ended = evidence.status == "completed" || evidence.status == "failed" ||
                           evidence.status == "cancelled";
    if (steps.empty() || !has_ended) return false;
    HistoryEntry late = at(evidence.history, steps.back());
    late.seq = evidence.history.back().seq + 1;
    evidence.history.push_back(std::move(late));
    return true;
}

bool leave_task(Evidence& evidence) {
    const bool has_ended = evidence.status == "completed" || evidence.status == "failed";
    evidence.tasks_live += has_ended;
    return has_ended;
}

bool call_twice(Evidence& evidence) {
    if (evidence.calls.empty()) return false;
    evidence.calls.push_back(evidence.calls.front());
    return true;
}

bool call_with_other_input(Evidence& evidence) {
    for (Call& call : evidence.calls) {
        const bool is_known = !call.input.empty() && call.outcome == "completed";
        if (!is_known || call.undoes != 0) continue;
        call.input = R"({"n":12345})";
        return true;
    }
    return false;
}

bool mix_join_output(Evidence& evidence) {
    for (const std::int64_t seq : all_of_type(evidence.history, "scope_joined")) {
        HistoryEntry& joined = at(evidence.history, seq);
        Json output = Json::parse(joined.payload);
        if (output.size() < 2 || *output.begin() == *std::next(output.begin())) continue;
        std::swap(*output.begin(), *std::next(output.begin()));
        joined.payload = output.dump();
        return true;
    }
    return false;
}

bool skip_loser(Evidence& evidence) {
    History& history = evidence.history;
    for (const HistoryEntry& entry : history) {
        const bool is_of_loser = entry.type == "step_compensated" && entry.path.ends_with(':');
        if (!is_of_loser) continue;
        drop_event(history, entry.seq);
        return true;
    }
    return false;
}

bool ask_nobody(Evidence& evidence) {
    const auto is_pause = [](const Asked& asked) {
        return asked.type == "paused" || asked.type == "signal_received";
    };
    return std::erase_if(evidence.requests, is_pause) > 0 &&
           (!all_of_type(evidence.history, "paused").empty() ||
            !all_of_type(evidence.history, "signal_received").empty());
}

}  // namespace

std::vector<PlantedBug> planted_history_bugs() {
    const auto ends_as = [](const char* from, const char* to) {
        return [from, to](Evidence& evidence) { return end_as(evidence, from, to); };
    };
    const auto without = [](const char* type) {
        return [type](Evidence& evidence) { return drop(evidence, type); };
    };
    return {
        in_history("history: compensations out of order", swap_compensations),
        in_history("history: a compensation is skipped", without("step_compensated")),
        in_history("history: a compensation is done twice", compensate_twice),
        in_history("history: the floor of a savepoint is passed", compensate_beyond_savepoint),
        in_history("history: a step starts after the rollback began", start_after_rollback),
        in_history("history: two completions of one attempt", complete_twice),
        in_history("history: a lost instance", lose_instance),
        in_history("history: cancelled is written as failed", ends_as("cancelled", "failed")),
        in_history("history: aborted is written as completed", ends_as("aborted", "completed")),
        in_history("history: completed is written as failed", ends_as("completed", "failed")),
        in_history("history: an event follows the end", go_on_after_the_end),
        in_history("history: a task is left after the end", leave_task),
        in_history("history: one attempt is called twice", call_twice),
        in_history("history: a call has the wrong input", call_with_other_input),
        in_history("history: the outputs of branches are mixed up", mix_join_output),
        in_history("history: a loser is not compensated", skip_loser),
        in_history("history: a retry has no event", without("step_retried")),
        in_history("history: the failure of a branch has no event", without("branch_failed")),
        in_history("history: an event was not requested", ask_nobody),
    };
}

}  // namespace ebb::sim
