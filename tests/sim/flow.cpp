#include "sim/flow.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace ebb::sim {

const FlowBlock* FlowNode::find_block(const std::string& label) const {
    for (const auto& each : blocks) {
        if (each->label == label) return each.get();
    }
    return nullptr;
}

int FlowNode::max_attempts() const {
    return body.value("non_idempotent", false) ? 1 : body.value("max_attempts", 3);
}

int FlowNode::compensation_attempts() const {
    const Json& compensation = body.at("compensate");
    return compensation.is_object() ? compensation.value("max_attempts", 3) : 3;
}

std::int64_t FlowNode::retry_wait(bool is_compensation, int failures) const {
    const Json& policy = is_compensation ? body.at("compensate") : body;
    const Json backoff =
        policy.is_object() ? policy.value("backoff", Json::object()) : Json::object();
    const std::string strategy = backoff.value("strategy", "exponential");
    auto wait = static_cast<double>(milliseconds(backoff.value("initial", "1s")));
    if (strategy == "linear") wait *= failures;
    if (strategy == "exponential") wait *= std::pow(backoff.value("factor", 2.0), failures - 1);
    wait = std::min(wait, static_cast<double>(milliseconds(backoff.value("max", "5m"))));
    return static_cast<std::int64_t>(wait * (1 - backoff.value("jitter", 0.2)));
}

int FlowNode::join() const {
    const auto found = body.find("join");
    if (found == body.end() || *found == "all") return static_cast<int>(blocks.size());
    return *found == "any" ? 1 : found->get<int>();
}

Flow::Flow(const std::string& definition) : body_(Json::parse(definition)) {
    read(top_, body_.at("steps"));
}

namespace {

/// The handle by which what holds the block is left at its end.
std::string exit_of(const FlowBlock& block) {
    return block.label == "on_reject" ? "rejected" : block.label;
}

}  // namespace

const FlowNode* Flow::find(const std::string& name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : found->second.get();
}

void Flow::read(FlowBlock& block, const Json& nodes) {
    for (const Json& body : nodes) {
        for (const char* kind : kNodeKinds) {
            if (!body.contains(kind)) continue;
            auto node = std::make_unique<FlowNode>();
            node->kind = kind;
            node->name = body.at(kind).get<std::string>();
            node->body = body;
            node->block = &block;
            node->index = block.nodes.size();
            block.nodes.push_back(node.get());
            FlowNode& kept = *node;
            nodes_[node->name] = std::move(node);
            read_blocks(kept);
            break;
        }
    }
}

void Flow::add(FlowNode& node, std::string label, const Json& nodes) {
    node.blocks.push_back(std::make_unique<FlowBlock>());
    FlowBlock& block = *node.blocks.back();
    block.owner = &node;
    block.label = std::move(label);
    read(block, nodes);
}

void Flow::read_blocks(FlowNode& node) {
    const Json none = Json::array();
    const Json body = node.body;
    if (node.kind == "condition") {
        add(node, "then", body.value("then", none));
        add(node, "else", body.value("else", none));
    } else if (node.kind == "switch") {
        int number = 0;
        for (const Json& each : body.at("cases")) {
            add(node, "case " + std::to_string(++number), each.value("do", none));
        }
        add(node, "default", body.value("default", none));
    } else if (node.kind == "parallel") {
        for (const Json& each : body.at("branches")) {
            add(node, each.at("branch").get<std::string>(), each.value("do", none));
        }
    } else if (node.kind == "graph") {
        add(node, "nodes", body.at("nodes"));
    } else if (node.kind == "loop") {
        add(node, "do", body.at("do"));
    } else if (node.kind == "decision" && body.contains("on_reject")) {
        add(node, "on_reject", body.at("on_reject"));
    }
}

bool FlowNode::is_in_graph() const {
    return block->owner != nullptr && block->owner->kind == "graph";
}

const Json* Flow::find_edge(const FlowNode& node, const std::string& handle) {
    if (!node.is_in_graph() || !node.block->owner->body.contains("edges")) return nullptr;
    for (const Json& edge : node.block->owner->body.at("edges")) {
        if (edge.at("from") == node.name && edge.value("handle", "") == handle) return &edge;
    }
    return nullptr;
}

bool Flow::has_edge(const FlowNode& node, const std::string& handle) {
    return find_edge(node, handle) != nullptr;
}

const FlowNode* Flow::enter(const FlowNode* node) const {
    while (node != nullptr && node->kind == "graph") {
        const std::string entry = node->body.value("entry", "");
        node = entry.empty() ? node->blocks.front()->nodes.front() : find(entry);
    }
    return node;
}

const FlowNode* Flow::leave(const FlowNode& node, const std::string& handle) const {
    if (!node.is_in_graph()) return after(*node.block, node.index);
    const Json* edge = find_edge(node, handle);
    if (edge == nullptr) edge = find_edge(node, "");
    const bool ends = edge == nullptr || !edge->contains("to");
    return ends ? after(*node.block->owner) : enter(find(edge->at("to").get<std::string>()));
}

const FlowNode* Flow::first(const FlowBlock& block) const {
    if (!block.nodes.empty()) return enter(block.nodes.front());
    return block.owner->kind == "parallel" ? nullptr : leave(*block.owner, exit_of(block));
}

const FlowNode* Flow::after(const FlowBlock& block, std::size_t index) const {
    const FlowNode* owner = block.owner;
    if (owner != nullptr && owner->kind == "graph") return leave(*block.nodes[index], "");
    if (index + 1 < block.nodes.size()) return enter(block.nodes[index + 1]);
    if (owner == nullptr || owner->kind == "parallel") return nullptr;
    return owner->kind == "loop" ? owner : leave(*owner, exit_of(block));
}

std::int64_t milliseconds(const std::string& duration) {
    const bool is_expression = duration.find('$') != std::string::npos;
    if (is_expression) return 0;
    std::int64_t total = 0;
    std::size_t at = 0;
    while (at < duration.size()) {
        std::size_t used = 0;
        const double number = std::stod(duration.substr(at), &used);
        at += used;
        std::string unit;
        while (at < duration.size() && std::isalpha(static_cast<unsigned char>(duration[at]))) {
            unit += duration[at++];
        }
        double factor = 1'000;
        if (unit == "ms") factor = 1;
        if (unit == "m") factor = 60'000;
        if (unit == "h") factor = 3'600'000;
        if (unit == "d") factor = 86'400'000;
        total += static_cast<std::int64_t>(number * factor);
    }
    return total;
}

}  // namespace ebb::sim
