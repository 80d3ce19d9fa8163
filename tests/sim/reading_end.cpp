// What must hold when an instance has ended, and when it rests without having ended.

#include "sim/reading.h"

namespace ebb::sim {

void Reading::check_end() {
    require(
        evidence_.status == present_status(),
        "the instance is " + evidence_.status + ", but its history says " + present_status()
    );
    if (ended_.empty()) check_settled();
    if (!ended_.empty()) {
        require(
            evidence_.tasks_live + evidence_.tasks_parked == 0, "it has ended but still has tasks"
        );
    } else if (evidence_.is_at_rest) {
        check_waits();
    }
    if (evidence_.knows_calls) check_calls();
    check_requests();
}

/// An instance that has not ended must wait for people and have nothing else to do.
void Reading::check_waits() const {
    require(evidence_.tasks_live == 0, "it waits for people and has a live task");
    require(!is_away_, "it is away and has not come back: it is lost");
    check_deadline_kept();
    if (is_paused_ || phase_ == "dead_letter") return;
    require(phase_ == "running", "it has stopped compensating but has not ended: it is lost");
    require(loser_ebbings_.empty(), "it rests in the middle of a rollback: it is lost");
    bool is_waiting = false;
    for (const auto& [path, strand] : strands_) {
        if (strand.is_forked || strand.is_stopping) continue;
        require(
            strand.at != nullptr, "'" + path + "' is at its end and does not continue: it is lost"
        );
        // A step that waits has paused.
        const bool is_for_people = strand.at->kind == "decision" || strand.at->kind == "signal" ||
                                   strand.at->kind == "step";
        require(
            is_for_people && strand.awaited != nullptr && !strand.at->body.contains("deadline"),
            "no worker continues " + strand.at->name + " in '" + path + "': it is lost"
        );
        is_waiting = true;
    }
    require(is_waiting, "it waits for nothing: it is lost");
}

/// Everything that was due has happened, so a deadline of the instance would have passed too. If an
/// operator requeues a dead-lettered instance, it continues without a deadline.
void Reading::check_deadline_kept() const {
    if (flow_.deadline().empty() || phase_ != "running") return;
    for (const Entry& e : evidence_.history) {
        const bool is_end_of_it = e.type == "dead_lettered" || e.type == "rollback_started";
        if (is_end_of_it && e.node.empty()) return;
    }
    fail("its deadline has passed, but it still waits");
}

}  // namespace ebb::sim
