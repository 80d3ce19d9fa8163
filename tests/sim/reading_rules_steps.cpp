// Calls of transitions, their failures, and rollbacks, read a second time.

#include <algorithm>
#include <utility>

#include "sim/reading.h"
#include "sim/reading_rules.h"

namespace ebb::sim {

bool RulesReading::read_step_entry(const Entry& e) {
    if (e.type == "step_completed") return on_completed(e), true;
    if (e.type == "step_failed") return on_failed(e), true;
    if (e.type == "step_stopped" || e.type == "step_skipped") return on_stopped(e), true;
    if (e.type == "step_retried") {
        require(!pending_of(e).is_frozen, "it is frozen");
        check_failure(e);
        return true;
    }
    if (e.type == "step_requeued") {
        static_cast<void>(pending_of(e));
        undoables_.at(e.ref).is_settled = true;
        return true;
    }
    // The first may be of a compensation; no transition waits for the last.
    return e.type == "lease_lost" || e.type == "step_progressed" || e.type == "signal_received";
}

RulesReading::Pending& RulesReading::pending_of(const Entry& e) {
    const auto found = pending_.find(e.node);
    require(found != pending_.end(), e.node + " is not pending");
    if (found->second.visit == 0) found->second.visit = e.visit;
    require(found->second.visit == e.visit, "it is another visit");
    return found->second;
}

void RulesReading::note_undoable(const Entry& e) {
    bool has_compensation = e.node == kExceptionHandler && has_handler() &&
                            rules().at("on_exception").contains("compensate");
    for (const Json& trigger : rules().at("triggers")) {
        if (trigger.at("trigger") == e.node) has_compensation = trigger.contains("compensate");
    }
    undoables_[e.seq] = {
        .node = e.node, .has_compensation = has_compensation && e.attempt > 0, .is_settled = false
    };
}

void RulesReading::on_completed(const Entry& e) {
    require(!pending_of(e).is_frozen, "it is frozen");
    note_undoable(e);
    const bool is_late = stopped_.erase(e.node) != 0;
    if (is_late) {
        pending_.erase(e.node);
    } else {
        expected_.emplace_back("attributes_written");
    }
}

void RulesReading::enter_dead_letter() {
    if (is_dead_) return;
    is_dead_ = true;
    expected_.emplace_back("dead_lettered");
}

/// Only what has a time limit fails by it.
void RulesReading::check_failure(const Entry& e) const {
    const std::string code = payload(e.seq).value("code", "");
    const bool is_of_time = code == "timeout" || code == "step_timeout";
    if (!is_of_time) return;
    require(e.node != kExceptionHandler, "it has no time limit");
    // The end of all attempts asks the handler to stop, too.
    const Json& limits = trigger_of(e.node);
    const bool is_limited = limits.contains(code) || limits.contains("step_timeout");
    require(is_limited, "it has no time limit of this kind");
}

void RulesReading::on_failed(const Entry& e) {
    Pending& pending = pending_of(e);
    check_failure(e);
    note_undoable(e);
    failure_ = e.seq;
    const std::string on_error = definition_.value("on_error", std::string("compensate"));
    last_ = e.node;
    if (e.node == kExceptionHandler && is_exception_) {
        pending_.erase(e.node);
        enter_dead_letter();
    } else if (e.node == kExceptionHandler || on_error == "exception") {
        on_held_back(e);
    } else if (is_dead_ || on_error == "dead_letter") {
        pending.is_frozen = true;
        enter_dead_letter();
    } else {
        unfire(e.node);
        pending_.erase(e.node);
        expected_.emplace_back("rollback_started");
    }
}

/// Its transition is undone: the trigger has not fired so often.
void RulesReading::unfire(const std::string& trigger) {
    if (trigger == kExceptionHandler || !is_counted(trigger_of(trigger))) return;
    Mark& mark = marks_[trigger];
    mark.fires = std::max<std::int64_t>(mark.fires - 1, 0);
}

void RulesReading::on_held_back(const Entry& e) {
    pending_.erase(e.node);
    if (e.node != kExceptionHandler) {
        Mark& mark = marks_[e.node];
        mark.failed = e.seq;
        mark.was_true = false;
        for (const Json& trigger : rules().at("triggers")) {
            const bool is_once =
                trigger.at("trigger") == e.node && trigger.value("mode", std::string()) == "once";
            if (is_once) mark.fires = 0;
        }
    }
    if (!pending_.empty() || is_exception_) return;
    before_ = state_;
    write_ = e.seq;
    expect_outcome(decide(false));
}

/// Its time has come under other rules, which do not let it fire.
void RulesReading::on_no_longer_armed(const Entry& e) {
    require(!may_fire_armed(e.node), "it must fire");
    pending_.erase(e.node);
    if (!pending_.empty() || is_exception_) return;
    before_ = state_;
    last_.clear();
    write_ = e.seq;
    expect_outcome(decide(false));
}

/// A rollback has stopped it; or a final condition stops it now.
void RulesReading::on_stopped(const Entry& e) {
    const auto armed = pending_of(e);
    if (has_followed_ && rollback_.empty() && armed.due && e.at >= *armed.due &&
        expected_.empty() && e.type == "step_skipped") {
        return on_no_longer_armed(e);
    }
    const bool is_asked = !rollback_.empty() || !expected_.empty() || is_late_failure_;
    require(is_asked, "no rollback stops it");
    const bool is_armed = pending_of(e).due.has_value();
    // What the rollback awaits, it has counted back when it began.
    if (!is_armed && !stopped_.contains(e.node)) unfire(e.node);
    if (e.type == "step_stopped") note_undoable(e);
    pending_.erase(e.node);
    stopped_.erase(e.node);
}

bool RulesReading::read_rollback_entry(const Entry& e) {
    if (e.type == "rollback_started") return on_rollback_started(e), true;
    if (e.type == "rollback_finished") return on_rollback_finished(), true;
    if (e.type == "recover_requested") return on_recover_requested(e), true;
    if (e.type == "resumed") return on_resumed(e), true;
    if (e.type == "state_restored") return on_restored(e), true;
    if (e.type == "step_compensated" || e.type == "compensation_skipped") {
        return on_compensated(e), true;
    }
    if (e.type == "compensation_failed") return enter_dead_letter(), true;
    return e.type == "compensation_retried" || e.type == "compensation_stopped";
}

void RulesReading::on_rollback_started(const Entry& e) {
    const std::string kind = payload(e.seq).at("kind").get<std::string>();
    require((kind == "final") == (rollback_ == "stop"), "it is a rollback of another kind");
    require((kind == "recover") == (recover_to_ != 0), "no operator has asked for it");
    if (kind == "final") {
        require(payload(e.seq).at("output") == state_, "the output is " + state_.dump());
    } else {
        const bool to_savepoint = kind == "failure" && savepoint_;
        require(
            payload(e.seq).value("savepoint", "") == (to_savepoint ? savepoint_->name : ""),
            "it goes back to another savepoint"
        );
        floor_ = std::exchange(recover_to_, 0);
        if (to_savepoint) floor_ = savepoint_->reached;
        is_exception_ = false;
        is_dead_ = false;
        for (const auto& [name, pending] : pending_) {
            if (!pending.due) unfire(name);
        }
        // Those that had not begun leave nothing behind.
        std::erase_if(pending_, [](const auto& each) { return each.second.is_frozen; });
    }
    is_late_failure_ = false;
    rollback_ = kind;
    cause_ = e.ref;
    for (const auto& [name, pending] : pending_) stopped_.insert(name);
}

void RulesReading::on_restored(const Entry& e) {
    require(!rollback_.empty(), "nothing is rolled back");
    const auto found = writes_.find(e.ref);
    require(
        found != writes_.end() && !found->second.is_restored, "it is not a write that can be undone"
    );
    require(e.ref > floor_, "what was done before the end stays");
    for (auto later = std::next(found); later != writes_.end(); ++later) {
        for (const auto& [name, before] : later->second.was.items()) {
            require(written_.at(name) != later->first, "a later write must be undone first");
        }
    }
    Json values = Json::object();
    for (const auto& [name, before] : found->second.was.items()) {
        if (written_.at(name) != e.ref) continue;
        values[name] = before.at(0);
        state_[name] = before.at(0);
        written_[name] = before.at(1).get<std::int64_t>();
    }
    require(payload(e.seq).at("values") == values, "it restores " + values.dump());
    found->second.is_restored = true;
}

void RulesReading::on_compensated(const Entry& e) {
    require(!rollback_.empty(), "nothing is rolled back");
    const auto found = undoables_.find(e.ref);
    require(found != undoables_.end(), "there is nothing to compensate");
    require(
        found->second.has_compensation && !found->second.is_settled, "it needs no compensation"
    );
    // What has failed is undone even if it began before the savepoint.
    const bool is_undone = e.ref > floor_ || e.ref == cause_;
    require(is_undone, "what was done before the end stays");
    for (auto later = std::next(found); later != undoables_.end(); ++later) {
        const bool is_due = later->second.has_compensation && !later->second.is_settled;
        require(!is_due || e.ref == cause_, "a later call must be undone first");
    }
    found->second.is_settled = true;
    // Its output is not written, and the state before the write is back.
    for (const auto& [seq, write] : writes_) {
        if (seq != e.ref + 1) continue;
        for (const auto& [name, before] : write.was.items()) {
            require(written_.at(name) != seq, name + " has not been restored");
        }
    }
}

void RulesReading::on_rollback_finished() {
    for (const auto& [seq, undoable] : undoables_) {
        const bool is_due = undoable.has_compensation && !undoable.is_settled && seq > floor_;
        require(!is_due, undoable.node + " was not compensated");
    }
    for (auto& [seq, write] : writes_) {
        if (seq <= floor_) continue;
        for (const auto& [name, before] : write.was.items()) {
            require(written_.at(name) != seq, name + " was not restored");
        }
        if (!std::exchange(write.is_undone, true)) unfire(write.node);
    }
    pending_.clear();
    stopped_.clear();
    if (rollback_ == "recover" && recover_then_ == "stop") {
        exception_ = "recovered";
        failure_ = cause_;
        expected_.emplace_back("exception_raised");
    } else if (rollback_ == "recover") {
        expected_.emplace_back("attributes_written");
    } else if (rollback_ == "failure") {
        expected_.emplace_back(may_resume() ? "resumed" : "failed");
    } else {
        expected_.emplace_back(rollback_ == "final" ? "completed" : "cancelled");
    }
    if (rollback_ == "recover") rollback_.clear();
}

bool RulesReading::may_resume() const {
    if (!savepoint_) return false;
    const Json& savepoint = savepoint_of(savepoint_->name);
    return savepoint.value("on_rollback", "fail") == "resume" &&
           savepoint_->resumes < savepoint.value("max_resumes", 3);
}

const Json& RulesReading::savepoint_of(const std::string& name) const {
    for (const Json& savepoint : rules().at("savepoints")) {
        if (savepoint.at("savepoint") == name) return savepoint;
    }
    fail("there is no savepoint " + name);
}

void RulesReading::on_resumed(const Entry& e) {
    require(savepoint_ && may_resume(), "it may not continue");
    require(e.node == savepoint_->name && e.ref == savepoint_->reached, "it is another savepoint");
    ++savepoint_->resumes;
    rollback_.clear();
    expected_.emplace_back("attributes_written");
}

void RulesReading::on_recover_requested(const Entry& e) {
    require(!is_rolled_back(), "it is already being rolled back");
    recover_to_ = payload(e.seq).at("to").get<std::int64_t>();
    recover_then_ = payload(e.seq).at("then").get<std::string>();
    if (savepoint_ && savepoint_->reached > recover_to_) savepoint_.reset();
    expected_.emplace_back("rollback_started");
}

bool RulesReading::is_rolled_back() const {
    return rollback_ == "failure" || rollback_ == "cancel" || rollback_ == "recover";
}

void RulesReading::on_requeued() {
    const bool was_dead = is_dead_;
    is_dead_ = false;
    const bool rolls_back = definition_.value("on_error", "compensate") == "compensate";
    if (was_dead && !is_rolled_back() && rolls_back && has_frozen()) {
        // Its rollback may begin now. If an exception holds, all conditions are asked before.
        const bool asks_first = is_exception_ && !pending_.contains(kExceptionHandler);
        expected_.emplace_back(asks_first ? "attributes_written" : "rollback_started");
        is_late_failure_ = true;
        return;
    }
    for (auto& [name, pending] : pending_) {
        // Where no call has failed, it arrives once more.
        if (std::exchange(pending.is_frozen, false)) pending.visit = 0;
    }
    if (!was_dead || is_rolled_back()) return;
    const bool is_handled = pending_.contains(kExceptionHandler);
    if (is_exception_ && !is_handled) expected_.emplace_back("attributes_written");
}

void RulesReading::read_instance_entry(const Entry& e) {
    if (e.type == "dead_lettered") {
        is_dead_ = true;
    } else if (e.type == "requeued") {
        on_requeued();
    } else if (e.type == "paused") {
        is_paused_ = true;
    } else if (e.type == "unpaused") {
        is_paused_ = false;
    } else if (e.type == "cancel_requested") {
        is_paused_ = false;
        is_dead_ = false;
        // Of an instance that is being cancelled, it only ends a pause or a dead letter.
        if (is_rolled_back()) {
            rollback_ = "cancel";
            floor_ = 0;
        } else {
            rollback_.clear();
            expected_.emplace_back("rollback_started");
        }
    } else if (e.type == "abort_requested") {
        rollback_ = "abort";
        for (const auto& [name, pending] : pending_) stopped_.insert(name);
    } else {
        const bool is_end = e.type == "completed" || e.type == "failed" || e.type == "cancelled" ||
                            e.type == "aborted";
        require(is_end, "no one knows what " + e.type + " is");
        ended_ = e.type;
        if (e.type == "completed") {
            require(payload(e.seq) == state_, "the output is " + state_.dump());
            require(find_final() != nullptr, "no final condition holds");
        }
    }
}

void RulesReading::check_end() const {
    std::string status = is_rolled_back() ? "compensating" : "running";
    if (is_dead_) status = "dead_letter";
    if (is_paused_) status = "paused";
    if (!ended_.empty()) status = ended_;
    require(evidence_.status == status, "it is " + evidence_.status + " instead of " + status);
    const bool has_ended = !ended_.empty();
    if (has_ended) require(evidence_.tasks_live + evidence_.tasks_parked == 0, "tasks are left");
    if (!evidence_.is_at_rest || has_ended || is_dead_ || is_paused_) return;
    require(rollback_.empty(), "the rollback does not go on");
    require(pending_.empty(), "a transition is pending that no worker runs");
    require(is("on_idle", "wait", "exception"), "it is idle");
}

void RulesReading::check_calls() const {
    std::map<std::int64_t, int> ends;
    for (const Entry& e : evidence_.history) {
        if (e.type == "step_completed") ++ends[e.visit];
    }
    for (const auto& [visit, count] : ends) require(count == 1, "a visit has completed twice");
    for (const Entry& e : evidence_.history) {
        if (e.type != "step_completed") continue;
        const bool was_made =
            std::any_of(evidence_.calls.begin(), evidence_.calls.end(), [&](const Call& call) {
                return call.visit == e.visit && call.attempt == e.attempt && call.node == e.node &&
                       call.outcome == "completed" && Json::parse(call.result) == payload(e.seq);
            });
        require(was_made || !evidence_.knows_calls, "no call gave the output of " + e.node);
    }
}

}  // namespace ebb::sim
