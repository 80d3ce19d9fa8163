// Rollbacks: exactly the right compensations, one after another, the newest first.

#include <algorithm>

#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

bool Reading::read_rollback_entry(const Entry& e) {
    const std::string& type = e.type;
    if (type == "rollback_started") {
        on_rollback_started(e);
    } else if (type == "rollback_finished") {
        on_rollback_finished(e);
    } else if (type == "step_compensated" || type == "compensation_retried" ||
               type == "compensation_failed" || type == "compensation_skipped") {
        on_compensation(e);
    } else if (type == "compensation_stopped") {
        on_compensation_stopped(e);
    } else if (type == "resumed") {
        on_resumed(e);
    } else if (type == "failed" || type == "cancelled") {
        require(ebbing_.has_value(), "no rollback took place");
        require(
            ebbing_->kind == (type == "failed" ? "failure" : "cancel"),
            "it rolled back for another reason"
        );
        end(type);
    } else {
        return false;
    }
    return true;
}

/// A step that was called is undone once, however it ended.
bool Reading::is_to_be_undone(const Entry& e) const {
    const FlowNode* node = flow_.find(e.node);
    return node->is_compensated() && e.attempt > 0 && !settled_.contains(e.seq) &&
           last_of_visit_.at(e.visit) == e.seq;
}

bool Reading::is_of_loser(const Ebbing& ebbing, const Entry& e) const {
    if (ebbing.kind != "losers") return true;
    if (!e.path.starts_with(ebbing.prefix)) return false;
    const std::string rest = e.path.substr(ebbing.prefix.size());
    return ebbing.losers.contains(rest.substr(0, rest.find('/')));
}

/// The event that must be undone next; 0 if none is left.
std::int64_t Reading::next_of(const Ebbing& ebbing) const {
    if (ebbing.first != 0 && is_to_be_undone(*undoable_.at(ebbing.first))) return ebbing.first;
    for (auto it = undoable_.rbegin(); it != undoable_.rend() && it->first > ebbing.floor; ++it) {
        if (is_of_loser(ebbing, *it->second) && is_to_be_undone(*it->second)) return it->first;
    }
    return 0;
}

void Reading::on_rollback_started(const Entry& e) {
    const Json about = payload(e);
    Ebbing ebbing{.kind = about.at("kind").get<std::string>(), .node = e.node, .path = e.path};
    for (const auto& [path, strand] : strands_) {
        require(
            !strand.is_stopping || strand.awaited == nullptr,
            "the strand that waits in '" + path + "' should have been stopped"
        );
    }
    if (ebbing.kind == "losers") {
        require(e.ref == 0, "it must not refer to an event");
        const Strand& strand = strands_.at(e.path);
        ebbing.prefix = branch_path(strand, "");
        ebbing.floor = strand.opened;
        ebbing.started = e.seq;
        for (const auto& [name, state] : strand.branches) {
            if (state != Strand::Branch::Completed) ebbing.losers.insert(name);
        }
        loser_ebbings_[e.node] = std::move(ebbing);
        return;
    }
    ebbing.cause = e.ref;
    ebbing.started = e.seq;
    require(entries_.contains(e.ref), "its cause does not exist");
    const bool to_savepoint = ebbing.kind == "failure" && savepoint_.has_value();
    require(
        about.value("savepoint", "") == (to_savepoint ? savepoint_->node->name : ""),
        "it goes back to the wrong savepoint"
    );
    if (to_savepoint) ebbing.floor = savepoint_->seq;
    if (undoable_.contains(e.ref)) ebbing.first = e.ref;
    ebbing_ = std::move(ebbing);
    phase_ = "compensating";
}

/// Another rollback continues with the steps that this one was about to undo.
void Reading::take_over(const Ebbing& ebbing) {
    if (const std::int64_t next = next_of(ebbing); next != 0) in_flight_.insert(next);
    std::erase_if(undoings_, [](const auto& each) { return each.second.is_frozen; });
}

void Reading::turn_into_cancel(const Entry& e) {
    const bool may_be_in_flight = phase_ == "compensating";
    require(
        ebbing_->kind != "cancel" || phase_ == "dead_letter" || is_paused_,
        "it is already cancelled"
    );
    if (may_be_in_flight) take_over(*ebbing_);
    std::erase_if(undoings_, [](const auto& each) { return each.second.is_frozen; });
    ebbing_->kind = "cancel";
    ebbing_->cause = e.seq;
    ebbing_->floor = 0;
    ebbing_->first = 0;
}

Ebbing* Reading::ebbing_of(const Entry& e) {
    if (ebbing_) return &*ebbing_;
    for (auto& [node, ebbing] : loser_ebbings_) {
        if (ebbing.prefix == e.path) return &ebbing;
    }
    return nullptr;
}

/// Did it begin in a branch that has failed since then? Then it ends first, as part of the block's
/// own rollback.
bool Reading::is_left_over(const Entry& e) const {
    if (ebbing_ || !in_flight_.contains(e.ref)) return false;
    return std::any_of(strands_.begin(), strands_.end(), [&](const auto& each) {
        const Strand& block = each.second;
        if (!block.is_forked || branch_path(block, "") != e.path) return false;
        return std::any_of(block.branches.begin(), block.branches.end(), [](const auto& branch) {
            return branch.second == Strand::Branch::Failed;
        });
    });
}

/// Before the first compensation, all called steps must have recorded how they ended.
void Reading::check_nothing_late(const Entry& e) const {
    const auto is_late_for = [&](const Ebbing& ebbing) {
        return ebbing.has_compensated && is_of_loser(ebbing, e);
    };
    require(!ebbing_ || !is_late_for(*ebbing_), "compensations have begun without it");
    for (const auto& [node, ebbing] : loser_ebbings_) {
        require(!is_late_for(ebbing), "compensations have begun without it");
    }
}

void Reading::on_compensation(const Entry& e) {
    const auto undone = undoable_.find(e.ref);
    require(undone != undoable_.end(), "the event that it refers to cannot be undone");
    require(undone->second->node == e.node, "it undoes the wrong step");
    require(is_to_be_undone(*undone->second), "the step was already undone or does not need to be");
    if (e.type == "compensation_skipped") {
        require(skippable_.contains(e.ref), "no operator skipped it");
        undoings_.erase(e.ref);
        settled_.insert(e.ref);
        in_flight_.erase(e.ref);
        return;
    }
    if (!in_flight_.contains(e.ref)) {
        Ebbing* ebbing = ebbing_of(e);
        require(ebbing != nullptr, "no rollback is in progress here");
        const std::int64_t next = next_of(*ebbing);
        require(next == e.ref, fmt::format("event {} must be undone next", next));
        ebbing->has_compensated = true;
    }
    const Ebbing* here = ebbing_of(e);
    const bool is_here = here != nullptr && e.path == here->prefix;
    require(is_here || is_left_over(e), "its rollback is elsewhere");
    const auto [undoing, is_new] = undoings_.try_emplace(e.ref);
    if (is_new) {
        require(visits_.insert(e.visit).second, "its visit was already used");
        undoing->second.visit = e.visit;
    }
    finish_undoing(undoing->second, e);
}

/// An abort, or a join that keeps its losers, does not wait for the end of the compensation.
void Reading::on_compensation_stopped(const Entry& e) {
    const std::string what = expected_ ? expected_->type : "";
    require(what == "aborted" || what == "scope_joined", "the strand was not stopped");
    const auto undone = undoable_.find(e.ref);
    require(undone != undoable_.end(), "the event that it refers to cannot be undone");
    require(undone->second->node == e.node, "it undoes the wrong step");
    require(is_to_be_undone(*undone->second), "the step was already undone or does not need to be");
    visits_.insert(e.visit);
    if (const auto undoing = undoings_.find(e.ref); undoing != undoings_.end()) {
        require(!undoing->second.is_frozen, "it had already ended");
        require(undoing->second.visit == e.visit, "it is the wrong visit");
        require(
            e.attempt == undoing->second.attempt,
            fmt::format("attempt {} must come next", undoing->second.attempt)
        );
        undoings_.erase(undoing);
    }
    in_flight_.erase(e.ref);
}

void Reading::finish_undoing(Undoing& undoing, const Entry& e) {
    const FlowNode& node = *flow_.find(e.node);
    const int most = node.compensation_attempts();
    require(!undoing.is_frozen, "it is frozen");
    require(undoing.visit == e.visit, "it is the wrong visit");
    require(
        e.attempt == undoing.attempt, fmt::format("attempt {} must come next", undoing.attempt)
    );
    check_wait(e, undoing.not_before);
    if (e.type == "step_compensated") {
        settled_.insert(e.ref);
        in_flight_.erase(e.ref);
        undoings_.erase(e.ref);
    } else if (e.type == "lease_lost") {
        require(++undoing.losses < kLossesMax, "it lost too many workers");
        ++undoing.attempt;
    } else if (e.type == "compensation_retried") {
        require(++undoing.failures < most, fmt::format("at most {} attempts are allowed", most));
        undoing.not_before = end_of_wait(e, undoing.failures);
        ++undoing.attempt;
    } else {
        const std::string code = payload(e).at("code").get<std::string>();
        const bool may_be_tried_again =
            code == "error" || code == "timeout" || code == "worker_lost" || code == "step_timeout";
        const bool is_exhausted = undoing.failures + 1 == most || !may_be_tried_again ||
                                  (code == "worker_lost" && undoing.losses + 1 == kLossesMax) ||
                                  (code == "step_timeout" && node.has_compensation_timeout());
        require(is_exhausted, "it must be retried");
        undoing.is_frozen = true;
        last_failure_ = e.seq;
        if (phase_ != "dead_letter") {
            expected_ = {.type = "dead_lettered", .node = {}, .path = {}, .ref = e.seq, .kind = {}};
        }
    }
}

void Reading::check_all_ended(const std::string& prefix) const {
    for (const auto& [path, strand] : strands_) {
        const bool is_open =
            strand.is_stopping && !strand.is_forked && strand.must_end && path.starts_with(prefix);
        require(!is_open, "'" + path + "' had begun, but its end is missing");
    }
}

void Reading::on_rollback_finished(const Entry& e) {
    require(e.node.empty() == ebbing_.has_value(), "it belongs to another rollback");
    const auto losers = loser_ebbings_.find(e.node);
    require(ebbing_ || losers != loser_ebbings_.end(), "no rollback is in progress");
    const Ebbing& ebbing = ebbing_ ? *ebbing_ : losers->second;
    const std::int64_t next = next_of(ebbing);
    require(next == 0, fmt::format("event {} must still be undone", next));
    check_all_ended(ebbing.prefix);
    const std::int64_t cause = e.node.empty() ? ebbing.cause : ebbing.started - 1;
    require(e.ref == cause, fmt::format("its cause is event {}", cause));
    if (!e.node.empty()) {
        expected_ = {
            .type = "scope_joined", .node = e.node, .path = ebbing.path, .ref = 0, .kind = {}
        };
        loser_ebbings_.erase(losers);
        return;
    }
    const bool is_cancel = ebbing.kind == "cancel";
    const bool may_resume = !is_cancel && savepoint_ &&
                            savepoint_->node->body.value("on_rollback", "") == "resume" &&
                            savepoint_->resumes < savepoint_->node->body.value("max_resumes", 3) &&
                            !is_past_deadline(e);
    expected_ = {
        .type = is_cancel ? "cancelled" : "failed",
        .node = {},
        .path = {},
        .ref = ebbing.cause,
        .kind = {}
    };
    if (may_resume) {
        expected_ = {
            .type = "resumed",
            .node = savepoint_->node->name,
            .path = {},
            .ref = savepoint_->seq,
            .kind = {}
        };
    }
}

void Reading::on_resumed(const Entry& e) {
    ++savepoint_->resumes;
    ebbing_.reset();
    in_flight_.clear();
    strands_.clear();
    phase_ = "running";
    Strand& strand = strands_[""];
    strand.at = savepoint_->node;
    strand.turns = savepoint_->turns;
    strand.data = savepoint_->data;
    take_visit(strand, e);
    go(strand, flow_.after(*strand.at));
}

}  // namespace ebb::sim
