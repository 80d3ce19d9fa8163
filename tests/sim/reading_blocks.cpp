// Transitions that are blocks of nodes, read a second time: one node after another, each of which
// begins when the one before has ended.

#include <algorithm>
#include <set>

#include "sim/flow.h"
#include "sim/reading.h"
#include "sim/reading_rules.h"

namespace ebb::sim {

namespace {

bool is_named(const Json& node, const std::string& name) {
    return std::any_of(kNodeKinds.begin(), kNodeKinds.end(), [&](const char* kind) {
        return node.contains(kind) && node.at(kind) == name;
    });
}

}  // namespace

const Json* RulesReading::find_node(const std::string& name) const {
    for (const Json& trigger : rules().at("triggers")) {
        if (!trigger.contains("steps")) continue;
        for (const Json& node : trigger.at("steps")) {
            if (is_named(node, name)) return &node;
        }
    }
    return nullptr;
}

/// The transition that a node belongs to, which may be itself.
const std::string& RulesReading::owner_of(const std::string& node) const {
    for (const Json& trigger : rules().at("triggers")) {
        if (!trigger.contains("steps")) continue;
        for (const Json& each : trigger.at("steps")) {
            if (is_named(each, node)) return trigger.at("trigger").get_ref<const std::string&>();
        }
    }
    return node;
}

const Json& RulesReading::next_node(const std::string& trigger, const Pending& pending) const {
    const Json& nodes = trigger_of(trigger).at("steps");
    require(pending.place < nodes.size(), "the block has no more nodes");
    return nodes.at(pending.place);
}

bool RulesReading::read_block_entry(const Entry& e) {
    static const std::set<std::string> kAwaited = {
        "timer_started", "decision_awaited", "signal_awaited"
    };
    static const std::set<std::string> kCompleted = {
        "step_completed", "timer_fired", "decision_completed", "signal_completed"
    };
    if (find_node(e.node) == nullptr) return false;
    if (kAwaited.contains(e.type)) return on_node_awaited(e), true;
    if (kCompleted.contains(e.type)) return on_node_completed(e), true;
    if (e.type != "decision_made") return false;
    require(pending_of(e).is_awaited, "no decision is awaited");
    return true;
}

void RulesReading::on_node_awaited(const Entry& e) {
    Pending& pending = pending_of(e);
    const Json& node = next_node(owner_of(e.node), pending);
    require(!pending.is_frozen, "it is frozen");
    require(is_named(node, e.node), "another node comes next");
    require(!pending.due, "its transition has not been fired");
    pending.is_awaited = true;
    if (e.type == "timer_started") {
        pending.node_due =
            e.at + std::chrono::milliseconds(milliseconds(node.at("for").get<std::string>()));
    }
}

void RulesReading::on_node_completed(const Entry& e) {
    Pending& pending = pending_of(e);
    const std::string trigger = owner_of(e.node);
    const Json& node = next_node(trigger, pending);
    require(!pending.is_frozen, "it is frozen");
    require(is_named(node, e.node), "another node comes next");
    require((e.type == "step_completed") == node.contains("step"), "it is a node of another kind");
    require(e.type == "step_completed" || pending.is_awaited, "it was not awaited");
    if (pending.node_due) require(e.at >= *pending.node_due, "its time has not come");
    if (e.type == "step_completed") note_undoable(e);
    if (stopped_.erase(trigger) != 0) {
        pending_.erase(trigger);
        return;
    }
    pending = {.fired = pending.fired, .visit = 0, .place = pending.place + 1, .last = e.seq};
}

/// Only of a transition that is a block.
void RulesReading::check_end_of_block(const Entry& e, const Pending& pending) const {
    if (e.node == kExceptionHandler || !trigger_of(e.node).contains("steps")) return;
    const Json& nodes = trigger_of(e.node).at("steps");
    require(pending.place == nodes.size(), "a node of the block has not ended");
    require(e.attempt == 0, "a block is not called");
    if (!nodes.back().contains("step")) return;
    require(payload(e.seq) == payload(pending.last), "its output is that of its last node");
}

bool RulesReading::waits_for_people(const std::string& trigger, const Pending& pending) const {
    if (trigger == kExceptionHandler || !trigger_of(trigger).contains("steps")) return false;
    if (!pending.is_awaited || pending.is_frozen) return false;
    const Json& node = next_node(trigger, pending);
    return node.contains("decision") || node.contains("signal");
}

}  // namespace ebb::sim
