// What must be so when an instance has ended, and when it rests without having ended.

#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

void Reading::check_end() const {
    require(
        evidence_.status == present_status(),
        "the instance is " + evidence_.status + ", but its history says " + present_status()
    );
    if (!ended_.empty()) {
        require(evidence_.tasks_live + evidence_.tasks_parked == 0, "it has ended and has tasks");
    } else if (evidence_.is_at_rest) {
        check_waits();
    }
    if (evidence_.knows_calls) check_calls();
}

/// Whoever has not ended waits for people, and has nothing else to do.
void Reading::check_waits() const {
    if (is_paused_ || phase_ == "dead_letter") return;
    require(phase_ == "running", "it compensates no more, and has not ended: it is lost");
    require(loser_ebbings_.empty(), "it rests in the middle of a rollback: it is lost");
    bool is_waiting = false;
    for (const auto& [path, strand] : strands_) {
        if (strand.is_forked || strand.is_stopping) continue;
        require(
            strand.at != nullptr, "'" + path + "' is at its end and does not go on: it is lost"
        );
        // A step that waits has paused.
        const bool is_for_people = strand.at->kind == "decision" || strand.at->kind == "signal" ||
                                   strand.at->kind == "step";
        require(
            is_for_people && strand.awaited != nullptr && !strand.at->body.contains("deadline"),
            "nobody goes on with " + strand.at->name + " in '" + path + "': it is lost"
        );
        is_waiting = true;
    }
    require(is_waiting, "it waits for nothing: it is lost");
    require(evidence_.tasks_live == 0, "it waits for people and has a live task");
}

/// The calls that were really made, beside those that the history knows.
void Reading::check_calls() const {
    std::map<std::pair<std::int64_t, int>, std::string> outcomes;
    for (const Call& call : evidence_.calls) {
        auto& outcome = outcomes[{call.visit, call.attempt}];
        if (outcome != "completed") outcome = call.outcome;
    }
    std::set<std::int64_t> ended;
    std::set<std::int64_t> skipped;
    for (const Entry& e : evidence_.history) {
        const bool is_success = e.type == "step_completed" || e.type == "step_compensated";
        if (is_success) {
            const auto found = outcomes.find({e.visit, e.attempt});
            require(
                found != outcomes.end() && found->second == "completed",
                fmt::format("event {} ({} {}): no such call completed", e.seq, e.type, e.node)
            );
        }
        if (e.type == "step_skipped") skipped.insert(e.visit);
        const bool is_end = e.type == "step_completed" || e.type == "step_failed" ||
                            e.type == "step_stopped" || e.type == "compensation_failed" ||
                            e.type == "step_compensated";
        if (is_end) ended.insert(e.visit);
    }
    const bool has_ended = !ended_.empty() && ended_ != "aborted";
    for (const Call& call : evidence_.calls) {
        if (!call.is_made) continue;
        const std::string what = fmt::format("{} was called in visit {}", call.handler, call.visit);
        require(!skipped.contains(call.visit), what + ", but counts as skipped");
        const bool is_forward = call.undoes == 0;
        require(
            !has_ended || !is_forward || ended.contains(call.visit), what + ": how did it end?"
        );
    }
}

}  // namespace ebb::sim
