// The numbers and names that an event carries, depending on its type.

#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

namespace {

using Types = std::set<std::string>;

/// These types are about the instance as a whole.
const Types& of_instance() {
    static const Types types = {
        "started",
        "completed",
        "failed",
        "cancelled",
        "aborted",
        "paused",
        "unpaused",
        "moved",
        "arrived",
        "dead_lettered",
        "requeued",
        "cancel_requested",
        "abort_requested",
        "signal_received",
        "rollback_started",
        "rollback_finished"
    };
    return types;
}

/// These types are about a place, but not about a visit of it.
const Types& without_visit() {
    static const Types types = {"branch_completed", "branch_failed"};
    return types;
}

/// These types count attempts or turns.
const Types& with_attempt() {
    static const Types types = {
        "step_completed",
        "step_retried",
        "step_progressed",
        "step_failed",
        "step_stopped",
        "step_skipped",
        "step_requeued",
        "lease_lost",
        "step_compensated",
        "compensation_retried",
        "compensation_failed",
        "compensation_skipped",
        "compensation_stopped",
        "input_resolved",
        "loop_finished"
    };
    return types;
}

const Types& without_ref() {
    static const Types types = {
        "started",
        "paused",
        "unpaused",
        "moved",
        "arrived",
        "cancel_requested",
        "abort_requested",
        "signal_received",
        "scope_joined",
        "decision_made",
        "decision_completed"
    };
    return types;
}

/// These types follow from the event before them and never come alone.
const Types& only_expected() {
    static const Types types = {
        "rollback_started",
        "dead_lettered",
        "aborted",
        "scope_joined",
        "failed",
        "cancelled",
        "resumed",
        "branch_failed"
    };
    return types;
}

/// These types come first among the consequences of one event from outside.
const Types& from_outside() {
    static const Types types = {
        "step_completed",
        "step_retried",
        "step_progressed",
        "step_compensated",
        "compensation_retried",
        "compensation_failed",
        "lease_lost",
        "timer_fired",
        "decision_made",
        "signal_received",
        "cancel_requested",
        "abort_requested",
        "paused",
        "unpaused",
        "moved",
        "arrived",
        "requeued"
    };
    return types;
}

/// These types come with the arrival at their place.
const Types& at_arrival() {
    static const Types types = {
        "branch_taken",
        "scope_opened",
        "loop_finished",
        "savepoint_reached",
        "timer_started",
        "decision_awaited",
        "signal_awaited",
        "branch_completed",
        "completed"
    };
    return types;
}

}  // namespace

/// A step that is reached does not wait for anything yet: its handler has paused.
bool Reading::is_pause(const Entry& e) const {
    const FlowNode* node = flow_.find(e.node);
    return e.type == "signal_awaited" && node != nullptr && node->kind == "step";
}

void Reading::check_form(const Entry& e) const {
    require(!only_expected().contains(e.type) || was_expected_, "no earlier event leads to it");
    require(!without_ref().contains(e.type) || e.ref == 0, "it must not refer to an event");
    const bool is_of_instance = of_instance().contains(e.type);
    if (is_of_instance) {
        const bool may_have_place = e.type.starts_with("rollback_");
        require(may_have_place || e.path.empty(), "it must not have a place");
        const bool may_have_node = may_have_place || e.type == "signal_received";
        require(may_have_node || e.node.empty(), "it must not have a node");
        require(e.type != "rollback_finished" || e.path.empty(), "it must not have a place");
    }
    const bool has_visit = !is_of_instance && !without_visit().contains(e.type);
    const bool is_failure_of_instance = e.type == "step_failed" && e.node.empty();
    require((e.visit > 0) == (has_visit && !is_failure_of_instance), "its visit is wrong");
    require(e.visit >= 0 && e.attempt >= 0, "numbers begin at 1");
    const bool has_attempt = with_attempt().contains(e.type) || is_pause(e) || is_way(e);
    require(has_attempt || e.attempt == 0, "it must not have an attempt");
}

/// Records what came from outside, and when each visit came.
void Reading::check_order(const Entry& e) {
    const bool is_called = e.type == "step_failed" && e.attempt > 0;
    if (from_outside().contains(e.type) || is_called || is_pause(e)) {
        check_settled();
        decision_ = e.seq;
    }
    const bool is_stop = is_end_by_stop(e);
    if (!is_stop) last_but_stop_ = e.seq;
    const bool is_old = visits_.contains(e.visit);
    const bool is_arrival = at_arrival().contains(e.type) && !is_pause(e) && !is_way(e);
    require(
        is_old || !is_arrival || e.visit == 0 || e.visit > last_visit_,
        fmt::format("visit {} is over", e.visit)
    );
    if (is_arrival) check_arrival(strand_of(e));
    last_visit_ = std::max(last_visit_, e.visit);
    if (!evidence_.has_true_time || e.seq == 1) return;
    require(e.at >= entries_.at(e.seq - 1)->at, "it is earlier than the event before it");
}

/// Before the next event from outside comes, all consequences of the last one must have happened.
void Reading::check_settled() const {
    for (const auto& [path, strand] : strands_) {
        if (strand.is_stopping || strand.is_frozen || strand.moved < decision_) continue;
        require(rests(strand), "'" + path + "' should have continued");
    }
}

/// Does the strand wait for something at its position? It enters the bodies of loops silently.
bool Reading::rests(Strand strand) const {
    while (strand.at != nullptr && strand.at->kind == "loop") {
        const FlowNode& loop = *strand.at;
        if (!may_turn(strand)) return false;
        if (++strand.turns[&loop] > loop.body.value("max_iterations", 1'000)) return false;
        strand.at = flow_.first(*loop.blocks.front());
        if (strand.at->kind == "loop") strand.turns[strand.at] = 0;
    }
    if (strand.at == nullptr) return false;
    if (strand.at->kind == "step") return strand.is_resolved || !strand.at->body.contains("input");
    if (strand.at->kind != "parallel") return strand.awaited != nullptr;
    return strand.is_forked && branches_rest(strand);
}

/// The strands of which only the beginning is known.
bool Reading::branches_rest(const Strand& strand) const {
    for (const auto& block : strand.at->blocks) {
        const bool is_open = strand.branches.at(block->label) == Strand::Branch::Open;
        const bool is_known =
            strand.scope != 0 && strands_.contains(branch_path(strand, block->label));
        if (!is_open || is_known) continue;
        Strand branch;
        branch.at = flow_.first(*block);
        branch.data = strand.data;
        branch.moved = strand.opened;
        if (!rests(std::move(branch))) return false;
    }
    return true;
}

/// Events without an outside cause must happen immediately.
void Reading::check_arrival(const Strand& strand) const {
    require(
        strand.moved >= decision_,
        fmt::format("it should have come with event {}, before event {}", strand.moved, decision_)
    );
}

}  // namespace ebb::sim
