// Attempts: their numbers, their limits, how they end, and what follows a failure.

#include <algorithm>

#include <fmt/format.h>

#include "sim/reading.h"
#include "support/json.h"

namespace ebb::sim {

namespace {

constexpr std::int64_t kVisitsAtOnceMax = 10'000;
// 16 MiB, less the space that names and punctuation may take.
constexpr std::size_t kJoinBytesAllowed = (std::size_t{16} << 20) - 100'000;
constexpr int kJoinDepthAllowed = 128;

}  // namespace

bool Reading::read_step_entry(const Entry& e) {
    const std::string& type = e.type;
    if (type == "step_completed") {
        on_step_completed(e);
    } else if (type == "step_retried") {
        on_step_retried(e);
    } else if (type == "step_progressed") {
        on_step_progressed(e);
    } else if (type == "step_failed") {
        on_step_failed(e);
    } else if (type == "lease_lost") {
        on_lease_lost(e);
    } else if (type == "step_requeued") {
        on_step_requeued(e);
    } else if (type == "step_stopped" || type == "step_skipped") {
        on_stopped(e);
    } else {
        return false;
    }
    return true;
}

Strand& Reading::attempt_of(const Entry& e) {
    Strand& strand = arrive(e, "step");
    require(e.attempt == strand.attempt, fmt::format("attempt {} must come next", strand.attempt));
    check_resolved(strand);
    check_wait(e, strand.not_before);
    // A requeue refers to the failure that it is about.
    if (e.type != "step_requeued") require_data(strand, e);
    return strand;
}

void Reading::note_undoable(const Entry& e) {
    undoable_[e.seq] = &e;
    last_of_visit_[e.visit] = e.seq;
}

void Reading::on_step_completed(const Entry& e) {
    if (strand_of(e).is_stopping) return on_stopped(e);
    Strand& strand = attempt_of(e);
    note_undoable(e);
    const std::optional<std::string> way = asked_way(strand, e);
    if (way) check_way(e, *way);
    outputs_[e.node].push_back(e.seq);
    strand.data = e.seq;
    leave(strand, way_of(e));
}

void Reading::on_step_progressed(const Entry& e) {
    const Strand& strand = attempt_of(e);
    require(payload(e) == strand.attempt, "it reports the number of its attempt");
}

void Reading::on_step_retried(const Entry& e) {
    Strand& strand = attempt_of(e);
    const int most = strand.at->max_attempts();
    require(++strand.failures < most, fmt::format("at most {} attempts are allowed", most));
    require(payload(e).at("code") != "permanent", "a permanent failure must not be retried");
    strand.not_before = end_of_wait(e, strand.failures);
    ++strand.attempt;
}

/// Called after a failure that is retried.
TimePoint Reading::end_of_wait(const Entry& e, int failures) const {
    const bool is_compensation = e.type == "compensation_retried";
    std::int64_t wait = flow_.find(e.node)->retry_wait(is_compensation, failures);
    for (const Call& call : evidence_.calls) {
        const bool is_it = call.visit == e.visit && call.attempt == e.attempt;
        if (is_it && call.retry_after_ms) wait = *call.retry_after_ms;
    }
    return e.at + std::chrono::milliseconds(wait);
}

void Reading::check_wait(const Entry& e, TimePoint not_before) const {
    // A handler that throws RetryAfter sets the delay, which the history does not record.
    const bool is_known =
        evidence_.knows_calls && evidence_.has_true_time && e.started_at != TimePoint{};
    require(!is_known || e.started_at >= not_before, "its attempt began too early");
}

void Reading::on_lease_lost(const Entry& e) {
    if (ebbing_ || e.path.ends_with(':')) {
        require(
            payload(e) == Json{{"of", "compensation"}},
            "it must say that it is about a compensation"
        );
        return on_compensation(e);
    }
    require(e.payload.empty(), "it must not have a payload");
    Strand& strand = attempt_of(e);
    require(!strand.at->body.value("non_idempotent", false), "it may be called only once");
    require(++strand.losses < kLossesMax, "it lost too many workers");
    ++strand.attempt;
}

/// The failed call is not an end of the visit any more, so it is not compensated: another end
/// follows.
void Reading::on_step_requeued(const Entry& e) {
    Strand& strand = attempt_of(e);
    require(strand.failed != 0 && strand.failed == e.ref, "it was not frozen by that failure");
    strand.failed = 0;
    strand.is_requeued = false;
    settled_.insert(e.ref);
}

void Reading::check_failure(const Strand& strand, const Entry& e, const std::string& code) const {
    const int most = strand.at->max_attempts();
    if (code == "error" || code == "timeout") {
        require(
            strand.failures + 1 == most,
            fmt::format("{} of {} attempts were made", strand.failures + 1, most)
        );
    } else if (code == "in_doubt") {
        require(strand.at->body.value("non_idempotent", false), "it must be called again");
    } else if (code == "worker_lost") {
        require(strand.losses + 1 == kLossesMax, "it has not lost so many workers");
    } else if (code == "step_timeout") {
        require(strand.at->body.contains("step_timeout"), "it has no step_timeout");
    }
    if (code == "unmatched_handle") check_lost_result(strand, e, code);
    // Any other code comes from the handler, for a failure that it called permanent.
    require(e.attempt == strand.attempt, fmt::format("attempt {} must come next", strand.attempt));
}

const Call* Reading::completed_call(const Entry& e) const {
    for (const Call& call : evidence_.calls) {
        const bool is_it = call.visit == e.visit && call.attempt == e.attempt && call.undoes == 0 &&
                           call.outcome == "completed";
        if (is_it) return &call;
    }
    return nullptr;
}

/// The call completed, but no edge fits its result.
void Reading::check_lost_result(const Strand& strand, const Entry& e, const std::string& code)
    const {
    const Call* call = completed_call(e);
    if (!evidence_.knows_calls) return;
    require(call != nullptr, "no call completed");
    const Value asked = call->handle.empty()
                            ? handle_asked(strand, Json::parse(call->result))
                            : Value{.kind = Value::Kind::Known, .value = call->handle};
    if (asked.kind == Value::Kind::Unread) return;
    if (code == "expression_error") return require(!asked.is_known(), "its \"next\" has a value");
    require(asked.is_known() && asked.value.is_string(), "the result named no handle");
    const bool is_complete = strand.at->is_in_graph() &&
                             strand.at->block->owner->body.value("unmatched", "") == "complete";
    require(!is_complete, "a handle without an edge ends the graph");
    require(!Flow::has_edge(*strand.at, asked.value.get<std::string>()), "the edge exists");
}

/// A decision or a signal fails because it is rejected or late.
void Reading::check_end_of_wait(const Strand& strand, const Entry& e, const std::string& code)
    const {
    const Json& body = strand.at->body;
    const bool is_reject = code == "rejected" && strand.at->kind == "decision";
    require(is_reject || code == "timeout", "a wait cannot fail this way");
    if (is_reject) {
        const bool has_way =
            strand.at->find_block("on_reject") != nullptr || Flow::has_edge(*strand.at, "rejected");
        require(!has_way, "its reject has an edge");
        if (strand.is_rejected) return;
        require(body.value("on_deadline", "") == "reject", "no person or deadline rejected it");
    }
    require(!Flow::has_edge(*strand.at, "timeout"), "its deadline has an edge");
    check_time(e, *strand.awaited, body.value("deadline", "1000000h"));
}

/// A complete block can fail only because its output is too large.
void Reading::check_too_large(Strand& strand) {
    require(strand.is_forked && strand.is_decided, "its join does not have what it needs");
    std::size_t bytes = 0;
    int depth = 0;
    for (const auto& [name, event] : strand.outputs) {
        const std::string text = data_of(event).dump();
        bytes += text.size();
        depth = std::max(depth, 1 + json_depth(text));
    }
    require(
        bytes > kJoinBytesAllowed || depth > kJoinDepthAllowed, "its output is within the limits"
    );
    strand.is_forked = strand.is_decided = false;
    strand.branches.clear();
    strand.outputs.clear();
}

void Reading::on_step_failed(const Entry& e) {
    if (e.node.empty()) return on_instance_failed(e);
    Strand& strand = arrive(e);
    const std::string code = payload(e).at("code").get<std::string>();
    const std::string& kind = strand.at->kind;
    const bool was_called = kind == "step" && e.attempt > 0;
    if (code == "step_budget") {
        const bool is_endless = e.visit - visits_before_ > kVisitsAtOnceMax;
        const bool is_over = e.visit > flow_.step_budget() || is_endless;
        require(is_over && e.attempt == 0, "its step budget is not used up");
    } else if (was_called) {
        check_failure(strand, e, code);
        check_wait(e, strand.not_before);
        check_resolved(strand);
        note_undoable(e);
    } else if (kind == "decision" || kind == "signal") {
        require(strand.awaited != nullptr, "no strand waited for it");
        check_end_of_wait(strand, e, code);
    } else if (code == "payload_too_large" && kind == "parallel") {
        check_too_large(strand);
    } else if (code == "max_iterations") {
        require(
            kind == "loop" &&
                strand.turns[strand.at] == strand.at->body.value("max_iterations", 1'000),
            "it has turns left"
        );
    } else {
        require(code == "expression_error" || (kind == "fail" && code == "failed"), "why?");
    }
    if (code == "expression_error" && was_called) {
        check_lost_result(strand, e, code);
    } else if (code == "expression_error") {
        check_expression_error(strand);
    }
    require_data(strand, e);
    if (!was_called) strand.attempt = 0;
    const std::string way = error_way(strand, code);
    check_way(e, way);
    if (!way.empty()) {
        strand.data = e.seq;
        return leave(strand, way);
    }
    give_up(strand, e);
}

void Reading::give_up(Strand& strand, const Entry& e) {
    std::string path = strand.path;
    for (Strand* parent = parent_of(path); parent != nullptr; parent = parent_of(path)) {
        int lost = 1;
        for (const auto& [name, state] : parent->branches) lost += state == Strand::Branch::Failed;
        const int left = static_cast<int>(parent->branches.size()) - lost;
        if (left >= parent->at->join()) {
            expected_ = {
                .type = "branch_failed",
                .node = parent->at->name,
                .path = path,
                .ref = e.seq,
                .kind = {}
            };
            strands_.erase(strand.path);
            return;
        }
        path = parent->path;
    }
    if (flow_.is_dead_letter() || phase_ == "dead_letter") {
        strand.is_frozen = true;
        strand.failed = e.seq;
        last_failure_ = e.seq;
        if (phase_ != "dead_letter") {
            expected_ = {.type = "dead_lettered", .node = {}, .path = {}, .ref = e.seq, .kind = {}};
        }
        return;
    }
    strands_.erase(strand.path);
    stop_all();
    expected_ = {
        .type = "rollback_started", .node = {}, .path = {}, .ref = e.seq, .kind = "failure"
    };
}

void Reading::on_instance_failed(const Entry& e) {
    const Json code = payload(e).at("code");
    if (code == "expression_error") {
        Strand& strand = strands_.at("");
        require(strand.at == nullptr && !strand.is_stopping, "it is not at its end");
        strand.attempt = 0;
        return give_up(strand, e);
    }
    require(code == "deadline_exceeded", "nothing else fails without a node");
    require(e.ref == 0, "it must not refer to an event");
    require(!flow_.deadline().empty(), "there is no deadline");
    check_time(e, *entries_.at(1), flow_.deadline());
    if (flow_.is_dead_letter()) {
        last_failure_ = e.seq;
        expected_ = {.type = "dead_lettered", .node = {}, .path = {}, .ref = e.seq, .kind = {}};
        return;
    }
    stop_all();
    expected_ = {
        .type = "rollback_started", .node = {}, .path = {}, .ref = e.seq, .kind = "failure"
    };
}

bool Reading::is_past_deadline(const Entry& e) const {
    if (flow_.deadline().empty()) return false;
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(e.at - entries_.at(1)->at);
    return passed.count() >= milliseconds(flow_.deadline());
}

/// The end of a strand that a rollback has stopped: skipped, stopped, or completed too late.
void Reading::on_stopped(const Entry& e) {
    Strand& strand = strand_of(e);
    require(strand.is_stopping, "the strand was not stopped");
    require(reach(strand, e.node), "the strand is elsewhere");
    take_visit(strand, e);
    check_nothing_late(e);
    const bool is_at_once = last_but_stop_ == strand.stopped;
    require(
        strand.awaited == nullptr || is_at_once,
        "a strand that only waits must be stopped immediately"
    );
    const bool has_tried = strand.attempt > 1 || told_.contains(e.visit);
    check_resolved(strand);
    if (e.type == "step_skipped") {
        require(!has_tried, "it was already called, so it cannot be skipped");
        require(e.attempt == (strand.at->kind == "step"), "the attempt is wrong");
        require(e.ref == 0, "it must not refer to an event");
    } else {
        require(strand.at->kind == "step" && e.attempt == strand.attempt, "the attempt is wrong");
        require_data(strand, e);
        note_undoable(e);
    }
    if (e.type == "step_completed") outputs_[e.node].push_back(e.seq);
    strands_.erase(e.path);
}

}  // namespace ebb::sim
