#include "cli/definition_names.h"

#include <variant>

#include <fmt/format.h>

namespace ebb::cli {

namespace {

class Indexer {
 public:
    explicit Indexer(NodeIndexByName& index) : index_(index) {}

    void read(const Block& block) {
        for (const Node& node : block) {
            NodeFacts& facts = index_[node.name];
            facts.kind = kind_name(node);
            facts.depth = static_cast<int>(around_.size());
            facts.around = around_;
            std::visit([&](const auto& kind) { read(node, kind, facts); }, node.kind);
        }
    }

 private:
    void read_branch(const Node& node, const std::string& branch, const Block& block) {
        around_.push_back({node.name, branch});
        read(block);
        around_.pop_back();
    }

    static void read(const Node& node, const Step& step, NodeFacts& facts) {
        facts.handler = step.handler.empty() ? node.name : step.handler;
        facts.max_attempts = step.non_idempotent ? 1 : step.attempts.max_attempts;
        if (step.compensate) facts.compensation = step.compensate->handler;
    }

    void read(const Node& node, const Condition& condition, NodeFacts&) {
        read_branch(node, "then", condition.then);
        read_branch(node, "else", condition.otherwise);
    }

    void read(const Node& node, const Switch& choice, NodeFacts&) {
        for (std::size_t i = 0; i < choice.cases.size(); ++i) {
            read_branch(node, fmt::format("case {}", i + 1), choice.cases[i].steps);
        }
        read_branch(node, "default", choice.otherwise);
    }

    void read(const Node& node, const Parallel& parallel, NodeFacts&) {
        for (const Parallel::Branch& branch : parallel.branches) {
            read_branch(node, branch.name, branch.steps);
        }
    }

    void read(const Node& node, const Loop& loop, NodeFacts&) { read_branch(node, "", loop.steps); }

    void read(const Node& node, const NodeGraph& graph, NodeFacts&) {
        read_branch(node, "", graph.nodes);
    }

    void read(const Node& node, const Sequence& sequence, NodeFacts&) {
        read_branch(node, "", sequence.steps);
    }

    void read(const Node& node, const HumanDecision& decision, NodeFacts& facts) {
        facts.roles = decision.roles;
        if (decision.on_reject) read_branch(node, "on reject", *decision.on_reject);
    }

    static void read(const Node& node, const Signal& signal, NodeFacts& facts) {
        facts.signal = signal.signal.empty() ? node.name : signal.signal;
    }

    // Delays, savepoints and similar nodes contain no other nodes.
    static void read(const Node&, const auto&, NodeFacts&) {}

    NodeIndexByName& index_;
    std::vector<NodeFacts::Around> around_;
};

}  // namespace

NodeIndexByName index_nodes(const Definition& definition) {
    NodeIndexByName index;
    Indexer(index).read(definition.steps);
    return index;
}

}  // namespace ebb::cli
