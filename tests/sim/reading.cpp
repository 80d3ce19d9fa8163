#include "sim/reading.h"

#include <utility>

#include <fmt/format.h>

namespace ebb::sim {

Reading::Reading(const Evidence& evidence) : evidence_(evidence), flow_(evidence.definition) {}

void Reading::fail(const std::string& what) const {
    throw Wrong{
        now_ == nullptr
            ? what
            : fmt::format("event {} ({} {}): {}", now_->seq, now_->type, now_->node, what)
    };
}

Json Reading::payload(const Entry& e) const {
    return e.payload.empty() ? Json() : Json::parse(e.payload);
}

void Reading::read() {
    std::int64_t seq = 0;
    for (const Entry& e : evidence_.history) {
        now_ = &e;
        require(e.seq == ++seq, fmt::format("the history has a gap before it (expected {})", seq));
        require(ended_.empty(), "the instance was already " + ended_);
        entries_[e.seq] = &e;
        read_entry(e);
    }
    now_ = nullptr;
    require(seq > 0, "there is no history");
    require(!expected_, "it ends before " + (expected_ ? expected_->type : "") + " came");
    check_end();
}

void Reading::read_entry(const Entry& e) {
    if (e.at != visited_at_) visits_before_ = last_visit_;
    visited_at_ = e.at;
    // If an operator lets an instance continue, its failed calls and compensations follow as one
    // group.
    const bool is_of_requeue =
        e.type == "requeued" || e.type == "step_requeued" || e.type == "compensation_skipped";
    if (!is_of_requeue) skippable_.clear();
    require(e.seq > 1 || e.type == "started", "a history must begin with started");
    const bool is_stop = is_end_by_stop(e);
    was_expected_ = false;
    if (expected_ && !is_stop && e.type != "step_requeued") check_expected(e);
    require(!is_released_ || e.type == "arrived", "it was released, so no event may follow");
    require(
        !is_away_ || e.worker.empty(),
        "a worker of the cluster did this while the instance was away"
    );
    check_form(e);
    check_order(e);
    check_requeued(e);
    const bool is_known = read_instance_entry(e) || read_forward_entry(e) || read_step_entry(e) ||
                          read_scope_entry(e) || read_rollback_entry(e);
    require(is_known, "the type is unknown");
}

bool Reading::is_end_by_stop(const Entry& e) {
    return e.type == "step_skipped" || e.type == "step_stopped" || e.type == "compensation_stopped";
}

void Reading::check_expected(const Entry& e) {
    const Expected wanted = *std::exchange(expected_, std::nullopt);
    was_expected_ = true;
    const bool is_too_large = wanted.type == "scope_joined" && e.type == "step_failed" &&
                              payload(e).at("code") == "payload_too_large";
    const bool is_it = (e.type == wanted.type || is_too_large) && e.node == wanted.node &&
                       e.path == wanted.path && (wanted.ref == 0 || e.ref == wanted.ref) &&
                       (wanted.kind.empty() || payload(e).value("kind", "") == wanted.kind);
    require(
        is_it,
        fmt::format(
            "{} {} {} in '{}' of {} should have come",
            wanted.type,
            wanted.kind,
            wanted.node,
            wanted.path,
            wanted.ref
        )
    );
}

void Reading::on_started(const Entry& e) {
    require(e.seq == 1, "it was already started");
    const bool is_known = !evidence_.input.empty();
    require(!is_known || payload(e) == Json::parse(evidence_.input), "its input is different");
    Strand top;
    top.at = flow_.first(flow_.top());
    top.data = top.moved = e.seq;
    strands_[""] = std::move(top);
}

bool Reading::read_instance_entry(const Entry& e) {
    const std::string& type = e.type;
    if (type == "started") {
        on_started(e);
    } else if (type == "cancel_requested") {
        on_cancel(e);
    } else if (type == "abort_requested") {
        stop_all();
        expected_ = {.type = "aborted", .node = {}, .path = {}, .ref = e.seq, .kind = {}};
    } else if (type == "aborted") {
        require(entries_.at(e.ref)->type == "abort_requested", "no abort was requested");
        check_all_ended("");
        end("aborted");
    } else if (type == "paused") {
        require(!is_paused_ && phase_ != "dead_letter", "it cannot be paused now");
        is_paused_ = true;
    } else if (type == "unpaused") {
        require(is_paused_, "it is not paused");
        is_paused_ = false;
    } else if (type == "moved") {
        on_moved(e);
    } else if (type == "arrived") {
        require(is_away_, "it was not away");
        is_away_ = is_released_ = false;
    } else if (type == "dead_lettered") {
        on_dead_lettered();
    } else if (type == "requeued") {
        on_requeued(e);
    } else if (type == "completed") {
        const auto top = strands_.find("");
        require(top != strands_.end() && !top->second.is_stopping, "it was rolled back");
        require(top->second.at == nullptr, "there is more to do");
        require(!ebbing_ && loser_ebbings_.empty(), "a rollback is in progress");
        check_output(e);
        end("completed");
    } else if (type == "signal_received") {
        signals_[e.seq] = e.node;
        resume_paused(e);
    } else {
        return false;
    }
    return true;
}

void Reading::end(const std::string& status) {
    ended_ = status;
}

void Reading::on_cancel(const Entry& e) {
    if (ebbing_) {
        turn_into_cancel(e);
    } else {
        stop_all();
        expected_ = {
            .type = "rollback_started", .node = {}, .path = {}, .ref = e.seq, .kind = "cancel"
        };
    }
    phase_ = ebbing_ ? "compensating" : "running";
    is_paused_ = false;
}

/// The instance leaves its store, or (while it is away) its current store releases it.
void Reading::on_moved(const Entry& e) {
    const auto from = payload(e).at("from").get<std::string>();
    // An instance that was paused only for the move is not paused when it arrives.
    if (!is_away_ && is_paused_ && from != "paused") is_paused_ = false;
    require(from == (is_paused_ ? "paused" : phase_), "it was not " + from);
    is_released_ = is_away_;
    is_away_ = true;
}

void Reading::on_dead_lettered() {
    require(phase_ != "dead_letter", "it is already dead-lettered");
    phase_ = "dead_letter";
}

void Reading::on_requeued(const Entry& e) {
    require(phase_ == "dead_letter", "it is not dead-lettered");
    require(e.ref == last_failure_, fmt::format("it is about event {}", last_failure_));
    phase_ = ebbing_ ? "compensating" : "running";
    for (auto& [ref, undoing] : undoings_) {
        if (!undoing.is_frozen) continue;
        undoing = {.visit = undoing.visit, .attempt = undoing.attempt + 1};
        skippable_.insert(ref);
    }
    std::vector<std::string> frozen;
    for (const auto& [path, strand] : strands_) {
        if (strand.is_frozen) frozen.push_back(path);
    }
    for (const std::string& path : frozen) {
        if (flow_.is_dead_letter()) requeue(strands_.at(path));
    }
    const bool rolls_back = !frozen.empty() && !flow_.is_dead_letter();
    if (rolls_back) {
        // They failed while the instance waited for the operator, so their consequences were
        // postponed.
        for (const std::string& path : frozen) strands_.erase(path);
        stop_all();
        expected_ = {
            .type = "rollback_started", .node = {}, .path = {}, .ref = 0, .kind = "failure"
        };
    }
}

void Reading::requeue(Strand& strand) {
    strand.is_frozen = false;
    const bool was_called = strand.at != nullptr && strand.at->kind == "step" && strand.attempt > 0;
    if (was_called) {
        ++strand.attempt;
        strand.failures = strand.losses = 0;
        strand.awaited = nullptr;  // it may have paused before its time was over
    } else {
        strand.failed = 0;
        go(strand, strand.at);
    }
    strand.is_requeued = true;
}

/// Each step that is retried must say so before anything else happens.
void Reading::check_requeued(const Entry& e) const {
    const bool belongs_to_requeue = e.type == "step_requeued" || e.type == "input_resolved";
    if (belongs_to_requeue) return;
    for (const auto& [path, strand] : strands_) {
        require(
            strand.failed == 0 || strand.is_frozen, "the failure in '" + path + "' is not settled"
        );
    }
}

std::string Reading::present_status() const {
    if (!ended_.empty()) return ended_;
    if (is_away_) return "moved";
    return is_paused_ ? "paused" : phase_;
}

}  // namespace ebb::sim
