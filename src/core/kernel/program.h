#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <ebb/definition.h>

#include "core/expression/expression.h"
#include "core/expression/template.h"
#include "core/kernel/state.h"
#include "core/rules/program.h"
#include "support/json_schema.h"

namespace ebb {

enum class Op {
    Step,
    Branch,  ///< condition and switch: the first case that is true
    Fork,
    Loop,
    Timer,
    Decision,
    Signal,
    Savepoint,
    Fail,
    Graph,
    Sequence,  ///< what a trigger runs instead of a step: its nodes lead back to it
};

std::string_view to_string(Op op);

/// One node of a compiled definition. `next` says where a token goes when the node is done; kNoNode
/// ends its branch (or, at the top level, the instance).
struct ProgramNode {
    struct Case {
        std::optional<Expression> when;  ///< absent = always (the `else`)
        NodeIndex target = kNoNode;
        std::string label;  ///< `then`, `else`, `case 1`...
    };

    struct Branch {
        std::string name;
        NodeIndex entry = kNoNode;  ///< kNoNode = an empty branch: completes at once
    };

    /// A way out of a node of a graph.
    struct Edge {
        std::string handle;  ///< never empty: the default one is `next`
        NodeIndex target = kNoNode;
    };

    Op op = Op::Step;
    std::string name;
    Payload metadata;  ///< a JSON object; empty = none
    NodeIndex next = kNoNode;

    // step
    std::string handler;
    std::string queue;
    AttemptPolicy attempts;
    bool non_idempotent = false;
    std::optional<Template> input;
    std::optional<Expression> concurrency_key;
    std::optional<Compensation> compensate;
    std::optional<Expression> handle;  ///< over its output: by which edge it is left

    // any node of a graph
    bool is_in_graph = false;
    std::vector<Edge> edges;
    bool completes_unmatched = false;  ///< a named handle without an edge ends the graph
    NodeIndex graph_end = kNoNode;

    // branch, fork
    std::vector<Case> cases;
    std::vector<Branch> branches;
    int join = 0;  ///< branches needed; already resolved: 1..branches.size()
    bool keep_losers = false;

    // loop, sequence, graph (its tokens are never at it, but at its entry)
    std::optional<Expression> condition;  ///< of `while`, or of `until`
    bool is_until = false;
    NodeIndex body = kNoNode;
    std::int64_t max_iterations = 0;

    // timer, decision, signal
    Duration wait{0};                       ///< fixed delay or deadline; 0 = none or by template
    std::optional<Template> wait_template;  ///< yields a number of seconds, a duration or a time
    bool is_wait_until = false;
    HumanDecision human;  ///< without its block
    NodeIndex reject_target = kNoNode;
    bool has_reject_target = false;
    std::string signal;
    bool continue_on_deadline = false;

    Savepoint savepoint;
    std::optional<Template> message;  ///< of fail

    // transition
    std::optional<Template> set;     ///< makes attributes of its output
    Duration after{0};               ///< how long its condition must have been true
    NodeIndex transition = kNoNode;  ///< of a node in a sequence: the transition that it is of

    /// Null when no edge has this handle.
    const Edge* find_edge(std::string_view wanted) const {
        for (const Edge& edge : edges) {
            if (edge.handle == wanted) return &edge;
        }
        return nullptr;
    }
};

/// A definition made ready to run: one flat array of nodes. Immutable, shared by threads. Every
/// front-end (flows, node graphs, rules) compiles to this and there is no second interpreter.
class Program {
 public:
    /// Compiles a valid definition. Throws DefinitionError when it is not.
    static std::shared_ptr<const Program> compile(const ebb::Definition& definition);

    const Definition& definition() const { return definition_; }

    const std::vector<ProgramNode>& nodes() const { return nodes_; }

    const ProgramNode& node(NodeIndex index) const {
        return nodes_[static_cast<std::size_t>(index)];
    }

    /// The first node; kNoNode for an empty workflow.
    NodeIndex entry() const { return entry_; }

    /// kNoNode when there is none of this name.
    NodeIndex find(std::string_view name) const;

    /// The node `name` of the graph that the workflow begins with: an instance may begin there
    /// instead of at the graph's entry. kNoNode when there is none.
    NodeIndex find_start(std::string_view name) const;
    /// Null if the workflow begins with something else.
    const NodeGraph* first_graph() const;

    const std::optional<Template>& output() const { return output_; }

    struct Label {
        std::string name;
        LabelType type = LabelType::Text;
        Template value;
    };

    /// What every instance is labeled with.
    const std::vector<Label>& labels() const { return labels_; }

    /// Null if the workflow has steps. The node of a trigger has its index, the handler of
    /// exceptions comes after them, and then the savepoints.
    const rules::Program* rules() const { return rules_.get(); }

    /// The names of all handlers that it may call, compensations included; sorted.
    const std::vector<std::string>& handlers() const { return handlers_; }

    /// Steps of which some expression reads `attempts` or `error`: the state records them.
    bool is_attempts_read(NodeIndex index) const {
        return attempts_read_[static_cast<std::size_t>(index)];
    }

    /// The definition says more about the calls of its handlers than their names: entries with
    /// contracts, or inputs with late expressions.
    bool has_call_terms() const { return has_call_terms_; }

    /// What is wrong with an input by the definition's input_schema, as `/items/0: …`; empty when
    /// nothing is.
    std::vector<std::string> input_violations(const Payload& input) const;

    /// The same of the payload of a signal, by the schema of the nodes that wait for it.
    std::vector<std::string> signal_violations(std::string_view signal, const Payload& payload)
        const;

    /// Nodes whose outputs some expression reads: worth keeping in memory while the instance is.
    bool is_output_read(NodeIndex index) const {
        return output_read_[static_cast<std::size_t>(index)];
    }

 private:
    friend class ProgramCompiler;

    Definition definition_;
    std::vector<ProgramNode> nodes_;
    NodeIndex entry_ = kNoNode;
    std::optional<Template> output_;
    std::vector<Label> labels_;
    std::shared_ptr<const rules::Program> rules_;
    std::unordered_map<std::string, NodeIndex> by_name_;
    std::vector<std::string> handlers_;
    std::vector<bool> output_read_;
    std::vector<bool> attempts_read_;
    bool has_call_terms_ = false;
    std::optional<JsonSchema> input_schema_;
    std::map<std::string, JsonSchema, std::less<>> signal_schemas_;
};

}  // namespace ebb
