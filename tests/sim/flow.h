#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace ebb::sim {

using Json = nlohmann::json;

/// The key that says what a node is.
inline constexpr std::array<const char*, 11> kNodeKinds = {
    "step",
    "condition",
    "switch",
    "parallel",
    "loop",
    "delay",
    "decision",
    "signal",
    "savepoint",
    "fail",
    "graph"
};

struct FlowNode;

/// Nodes one after another: of the workflow, a branch, a side, a body.
struct FlowBlock {
    const FlowNode* owner = nullptr;  ///< null: the workflow's own
    std::string label;                ///< `then`, `case 1`, a branch's name, `do` ...
    std::vector<const FlowNode*> nodes;
};

struct FlowNode {
    std::string kind;
    std::string name;
    Json body;
    const FlowBlock* block = nullptr;  ///< that it stands in
    std::size_t index = 0;
    std::vector<std::unique_ptr<FlowBlock>> blocks;

    const FlowBlock* find_block(const std::string& label) const;

    bool is_in_graph() const;

    bool is_compensated() const { return kind == "step" && body.contains("compensate"); }

    /// Of the step, or of its compensation.
    int max_attempts() const;
    int compensation_attempts() const;
    /// The shortest wait that is allowed after so many failures, in milliseconds.
    std::int64_t retry_wait(bool is_compensation, int failures) const;

    bool has_compensation_timeout() const {
        const Json& compensation = body.at("compensate");
        return compensation.is_object() && compensation.contains("step_timeout");
    }

    int join() const;  ///< how many branches must complete

    bool keeps_losers() const { return body.value("losers", "") == "keep"; }
};

/// A workflow as the checker reads it: from the JSON text, with no help from the engine's own
/// reader.
class Flow {
 public:
    explicit Flow(const std::string& definition);

    const FlowNode* find(const std::string& name) const;

    const FlowBlock& top() const { return top_; }

    /// Of the whole instance; empty: none.
    std::string deadline() const { return body_.value("deadline", ""); }

    std::int64_t step_budget() const { return body_.value("step_budget", 1'000'000); }

    bool has_output() const { return body_.contains("output"); }

    const Json& output() const { return body_.at("output"); }

    bool is_dead_letter() const { return body_.value("on_error", "") == "dead_letter"; }

    /// The place behind `node`: the next of its block or, at the end, behind what holds the block;
    /// the loop itself at the end of its body; null at the end of a branch or of the workflow.
    const FlowNode* after(const FlowNode& node) const { return after(*node.block, node.index); }

    /// The first place of a block, or the one behind it when it is empty.
    const FlowNode* first(const FlowBlock& block) const;

    /// The place behind `node` when it is left by this handle: by the graph's edge of this name,
    /// else by its default edge, else the graph has ended.
    const FlowNode* leave(const FlowNode& node, const std::string& handle) const;

    /// Has the node of a graph an edge with this handle?
    static bool has_edge(const FlowNode& node, const std::string& handle);

 private:
    /// Into a graph, to its entry.
    const FlowNode* enter(const FlowNode* node) const;
    static const Json* find_edge(const FlowNode& node, const std::string& handle);

    void read(FlowBlock& block, const Json& nodes);
    void read_blocks(FlowNode& node);
    void add(FlowNode& node, std::string label, const Json& nodes);
    const FlowNode* after(const FlowBlock& block, std::size_t index) const;

    Json body_;
    FlowBlock top_;
    std::map<std::string, std::unique_ptr<FlowNode>> nodes_;
};

/// `90s`, `1h30m`, `500ms` in milliseconds; 0 when it is empty or an expression.
std::int64_t milliseconds(const std::string& duration);

}  // namespace ebb::sim
