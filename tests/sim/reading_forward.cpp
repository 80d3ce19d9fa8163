// How strands move through the flow, apart from handlers and parallel blocks.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

bool Reading::read_forward_entry(const Entry& e) {
    const std::string& type = e.type;
    if (type == "branch_taken") {
        on_branch_taken(e);
    } else if (type == "loop_finished") {
        on_loop_finished(e);
    } else if (type == "savepoint_reached") {
        on_savepoint(e);
    } else if (type == "timer_started") {
        await(e, "delay");
    } else if (type == "decision_awaited") {
        await(e, "decision");
    } else if (type == "signal_awaited") {
        const FlowNode* node = flow_.find(e.node);
        node != nullptr && node->kind == "step" ? on_step_paused(e) : await(e, "signal");
    } else if (type == "timer_fired") {
        on_timer_fired(e);
    } else if (type == "decision_made") {
        on_decision_made(e);
    } else if (type == "decision_completed") {
        on_decision_completed(e);
    } else if (type == "signal_completed") {
        on_signal_completed(e);
    } else if (type == "input_resolved") {
        on_input_resolved(e);
    } else {
        return false;
    }
    return true;
}

Strand& Reading::spawn(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string last = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::size_t colon = last.find(':');
    require(colon != std::string::npos && colon + 1 < last.size(), "no strand is at its path");
    Strand* parent = parent_of(path);
    require(parent != nullptr && parent->is_forked, "the block of its path is not open");
    const std::int64_t scope = std::stoll(last.substr(0, colon));
    if (parent->scope == 0) {
        require(scopes_.insert(scope).second, "the number of its scope was already used");
        parent->scope = scope;
    }
    require(parent->scope == scope, "its scope is over");
    const std::string branch = last.substr(colon + 1);
    const FlowBlock* block = parent->at->find_block(branch);
    require(block != nullptr, "there is no such branch");
    const Strand::Branch state = parent->branches.at(branch);
    require(state != Strand::Branch::Completed, "its branch has already completed");
    Strand strand;
    strand.path = path;
    strand.is_stopping = parent->is_stopping || state != Strand::Branch::Open;
    strand.at = flow_.first(*block);
    strand.data = parent->data;
    strand.moved = parent->opened;
    return strands_[path] = std::move(strand);
}

Strand& Reading::strand_of(const Entry& e) {
    const auto found = strands_.find(e.path);
    return found != strands_.end() ? found->second : spawn(e.path);
}

/// Enters the bodies of loops (no event records this) until it stands at `node`.
bool Reading::reach(Strand& strand, const std::string& node) const {
    if (strand.at != nullptr && strand.at->name == node) return true;
    const Strand before = strand;
    while (strand.at != nullptr && strand.at->name != node && strand.at->kind == "loop") {
        if (!may_turn(strand)) break;
        const FlowNode& loop = *strand.at;
        if (++strand.turns[&loop] > loop.body.value("max_iterations", 1'000)) break;
        strand.at = flow_.first(*loop.blocks.front());
        if (strand.at->kind == "loop") strand.turns[strand.at] = 0;
        strand.visit = 0;
    }
    if (strand.at != nullptr && strand.at->name == node) return true;
    strand = before;
    return false;
}

Strand& Reading::arrive(const Entry& e, const char* kind) {
    Strand& strand = strand_of(e);
    require(!strand.is_stopping, "a rollback has begun here: nothing may start or continue");
    require(!strand.is_frozen, "it is frozen");
    require(
        reach(strand, e.node),
        "the next node in '" + e.path + "' is " +
            (strand.at == nullptr ? "its end" : strand.at->name)
    );
    require(kind == nullptr || strand.at->kind == kind, "it has the wrong kind");
    take_visit(strand, e);
    return strand;
}

void Reading::take_visit(Strand& strand, const Entry& e) {
    if (strand.visit == 0) {
        require(visits_.insert(e.visit).second, fmt::format("visit {} was already used", e.visit));
        const bool may_be_more = e.type == "step_failed" || e.type == "resumed";
        require(may_be_more || e.visit <= flow_.step_budget(), "its step budget is used up");
        strand.visit = e.visit;
    }
    require(strand.visit == e.visit, fmt::format("it is in visit {}", strand.visit));
}

void Reading::go(Strand& strand, const FlowNode* to) {
    Strand next;
    next.path = strand.path;
    next.at = to;
    next.turns = strand.turns;
    next.data = strand.data;
    next.moved = now_->seq;
    // A loop that is entered from outside begins again. A loop that is entered from its own body
    // continues.
    const bool is_back = to != nullptr && to->kind == "loop" && [&] {
        const FlowNode* inside = strand.at;
        while (inside != nullptr && inside->block->owner != to) inside = inside->block->owner;
        return inside != nullptr;
    }();
    if (to != nullptr && to->kind == "loop" && !is_back && to != strand.at) next.turns[to] = 0;
    strand = std::move(next);
}

/// The edge of a graph by which the node leaves whose end is `e`. The next event names it.
std::string Reading::way_of(const Entry& e) const {
    for (const Entry& next : evidence_.history) {
        const bool is_next = next.seq == e.seq + 1 && next.type == "branch_taken" &&
                             next.node == e.node && next.visit == e.visit && next.ref == e.seq;
        if (is_next) return payload(next).at("branch").get<std::string>();
    }
    return {};
}

/// The edge by which a result leaves a step whose attempt completed: the one that its handler
/// named, or else its `next`. Empty: it cannot be known.
std::optional<std::string> Reading::asked_way(const Strand& strand, const Entry& e) const {
    if (!strand.at->is_in_graph()) return "";
    const Call* call = completed_call(e);
    if (call != nullptr && !call->handle.empty()) return call->handle;
    // A reader without calls does not know what the handler returned.
    if (!strand.at->body.contains("next")) {
        return call != nullptr ? std::optional<std::string>("") : std::nullopt;
    }
    if (call == nullptr && evidence_.knows_calls) return std::nullopt;
    const Value handle = handle_asked(strand, payload(e));
    if (handle.kind == Value::Kind::Unread) return std::nullopt;
    require(handle.is_known(), "its \"next\" cannot be evaluated");
    return handle.value.is_string() ? handle.value.get<std::string>() : "";
}

/// The edge for a permanent failure; empty if there is none.
std::string Reading::error_way(const Strand& strand, const std::string& code) const {
    if (code == "step_budget" || !strand.at->is_in_graph()) return {};
    if (Flow::has_edge(*strand.at, "error:" + code)) return "error:" + code;
    return Flow::has_edge(*strand.at, "error") ? "error" : "";
}

void Reading::check_way(const Entry& e, const std::string& wanted) const {
    const std::string way = way_of(e);
    require(way == wanted, fmt::format("it leaves by the edge \"{}\", not by \"{}\"", way, wanted));
}

/// Leaves a node of a graph by the edge of `handle`; empty: by its default edge.
void Reading::leave(Strand& strand, const std::string& handle) {
    const FlowNode& node = *strand.at;
    if (!handle.empty() && !Flow::has_edge(node, handle)) {
        require(
            node.is_in_graph() && node.block->owner->body.value("unmatched", "") == "complete",
            "there is no such edge"
        );
        return go(strand, flow_.after(*node.block->owner));
    }
    go(strand, flow_.leave(node, handle));
}

void Reading::on_step_paused(const Entry& e) {
    Strand& strand = arrive(e, "step");
    require(strand.awaited == nullptr, "it is already waiting");
    require(e.attempt == strand.attempt, fmt::format("attempt {} must come next", strand.attempt));
    check_resolved(strand);
    check_wait(e, strand.not_before);
    strand.awaited = &e;
    const auto early = std::find_if(signals_.begin(), signals_.end(), [&](const auto& signal) {
        return signal.second == e.node;
    });
    if (early == signals_.end()) return;
    const std::int64_t signal = early->first;
    signals_.erase(early);
    resume_step(strand, signal);
}

/// A signal that a paused step waits for reaches it immediately.
void Reading::resume_paused(const Entry& signal) {
    for (auto& [path, strand] : strands_) {
        const bool waits = strand.awaited != nullptr && strand.at->kind == "step" &&
                           strand.at->name == signal.node && !strand.is_stopping;
        if (!waits) continue;
        signals_.erase(signal.seq);
        return resume_step(strand, signal.seq);
    }
}

void Reading::resume_step(Strand& strand, std::int64_t signal) {
    strand.awaited = nullptr;
    strand.not_before = {};
    // The resumed call is the same attempt.
    strand.failures = 0;
    strand.losses = 0;
    told_[strand.visit].push_back(signal);
}

void Reading::on_branch_taken(const Entry& e) {
    // The end of the graph's node, which was read before, has already checked it.
    if (is_way(e)) return;
    Strand& strand = arrive(e);
    require(strand.at->kind == "condition" || strand.at->kind == "switch", "the node has no sides");
    const auto side = payload(e).at("branch").get<std::string>();
    const FlowBlock* block = strand.at->find_block(side);
    require(block != nullptr, "the node does not have this side");
    const std::string right_side = side_of(strand);
    require(right_side.empty() || side == right_side, "its data leads to " + right_side);
    require_data(strand, e);
    go(strand, flow_.first(*block));
}

/// Does this event name the edge of a graph by which the node leaves whose end is the previous
/// event?
bool Reading::is_way(const Entry& e) const {
    if (e.type != "branch_taken" || e.ref != e.seq - 1) return false;
    const auto end = entries_.find(e.ref);
    return end != entries_.end() && end->second->visit == e.visit && is_end_of_node(*end->second);
}

bool Reading::is_end_of_node(const Entry& e) {
    return e.type == "step_completed" || e.type == "step_failed" || e.type == "timer_fired";
}

void Reading::on_loop_finished(const Entry& e) {
    Strand& strand = arrive(e, "loop");
    const int turns = strand.turns[strand.at];
    require(e.attempt == turns, fmt::format("it made {} turns", turns));
    require(turns > 0 || strand.at->body.contains("while"), "it makes at least one turn");
    require(may_finish(strand), "its data says that it continues");
    require_data(strand, e);
    strand.data = e.seq;
    // If the loop's own default edge leads back to it, the loop begins again.
    strand.turns.erase(strand.at);
    go(strand, flow_.after(*strand.at));
}

void Reading::on_savepoint(const Entry& e) {
    Strand& strand = arrive(e, "savepoint");
    require(e.path.empty(), "it is in a branch");
    require_data(strand, e);
    savepoint_ =
        Savepoint{.node = strand.at, .seq = e.seq, .data = strand.data, .turns = strand.turns};
    go(strand, flow_.after(*strand.at));
}

void Reading::await(const Entry& e, const char* kind) {
    Strand& strand = arrive(e, kind);
    require(strand.awaited == nullptr, "it is already waiting");
    require(e.ref == 0, "it must not refer to an event");
    const char* duration = strand.at->kind == "delay" ? "for" : "deadline";
    if (!strand.at->body.contains("until"))
        check_due(strand, e, strand.at->body.value(duration, ""));
    strand.awaited = &e;
}

void Reading::check_time(const Entry& e, const Entry& since, const std::string& duration) const {
    if (!evidence_.has_true_time) return;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(e.at - since.at);
    require(
        waited.count() >= milliseconds(duration),
        fmt::format("it came after {} ms, not {}", waited.count(), duration)
    );
}

void Reading::on_timer_fired(const Entry& e) {
    Strand& strand = arrive(e);
    require(strand.awaited != nullptr, "no strand waits for it");
    const Json& body = strand.at->body;
    if (strand.at->kind == "signal") {
        const bool has_way = Flow::has_edge(*strand.at, "timeout");
        require(has_way == (way_of(e) == "timeout"), "its timeout edge is not taken");
        if (!has_way)
            require(body.value("on_deadline", "") == "continue", "its deadline is a failure");
        check_time(e, *strand.awaited, body.value("deadline", ""));
    } else {
        require(strand.at->kind == "delay", "it waits for something else");
        check_time(e, *strand.awaited, body.value("for", ""));
    }
    require_data(strand, e);
    strand.data = e.seq;
    if (strand.at->kind == "delay") check_way(e, "");
    leave(strand, way_of(e));
}

void Reading::on_decision_made(const Entry& e) {
    Strand& strand = arrive(e, "decision");
    require(strand.awaited != nullptr, "no strand waits for it");
    const Json vote = payload(e);
    const Json roles = strand.at->body.value("roles", Json::array());
    const Json role = vote.value("role", "");
    const bool may_decide =
        roles.empty() || std::find(roles.begin(), roles.end(), role) != roles.end();
    require(may_decide, "the person who decided does not have the role");
    if (vote.at("verdict") == "rejected") {
        strand.is_rejected = true;
    } else {
        const auto by = vote.at("by").get<std::string>();
        require(by.empty() || strand.voters.insert(by).second, "one person voted twice");
        if (by.empty()) strand.voters.insert("unnamed");
    }
}

void Reading::on_decision_completed(const Entry& e) {
    Strand& strand = arrive(e, "decision");
    require(strand.awaited != nullptr, "no strand waits for it");
    const Json& body = strand.at->body;
    Json output = payload(e);
    const std::string verdict = output.at("decision").at("verdict").get<std::string>();
    const bool is_confirmed = verdict == "confirmed";
    const int quorum = body.value("quorum", 1);
    const bool is_voted =
        is_confirmed ? static_cast<int>(strand.voters.size()) >= quorum : strand.is_rejected;
    if (!is_voted) {
        require(
            body.value("on_deadline", "fail") == (is_confirmed ? "confirm" : "reject"),
            "neither a person nor a deadline decided this"
        );
        check_time(e, *strand.awaited, body.value("deadline", ""));
    }
    output.erase("decision");
    Json input = data_of(strand.data);
    if (!input.is_object()) input = Json{{"input", input}};
    input.erase("decision");
    require(output == input, "its output is not its input with the decision");
    strand.data = e.seq;
    const FlowBlock* on_reject = strand.at->find_block("on_reject");
    if (is_confirmed) return go(strand, flow_.leave(*strand.at, "confirmed"));
    if (on_reject != nullptr) return go(strand, flow_.first(*on_reject));
    require(Flow::has_edge(*strand.at, "rejected"), "a reject fails the node");
    go(strand, flow_.leave(*strand.at, "rejected"));
}

void Reading::on_signal_completed(const Entry& e) {
    Strand& strand = arrive(e, "signal");
    const auto signal = signals_.find(e.ref);
    require(signal != signals_.end(), "its signal did not come or was already used");
    require(
        signal->second == strand.at->body.value("name", strand.at->name), "it is the wrong signal"
    );
    if (strand.awaited == nullptr) check_arrival(strand);
    signals_.erase(signal);
    strand.data = e.seq;
    go(strand, flow_.after(*strand.at));
}

}  // namespace ebb::sim
