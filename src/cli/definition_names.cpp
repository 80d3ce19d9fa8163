#include "cli/definition_names.h"

#include <variant>

namespace ebb::cli {

namespace {

class Indexer {
 public:
    explicit Indexer(NodeIndexByName& index) : index_(index) {}

    void read(const Block& block, int depth) {
        for (const Node& node : block) {
            NodeFacts& facts = index_[node.name];
            facts.kind = kind_name(node);
            facts.depth = depth;
            std::visit([&](const auto& kind) { read(node, kind, facts); }, node.kind);
        }
    }

 private:
    void read(const Node& node, const Step& step, NodeFacts& facts) {
        facts.handler = step.handler.empty() ? node.name : step.handler;
        facts.max_attempts = step.non_idempotent ? 1 : step.attempts.max_attempts;
        if (step.compensate) facts.compensation = step.compensate->handler;
    }

    void read(const Node&, const Condition& condition, NodeFacts& facts) {
        const int depth = facts.depth + 1;
        read(condition.then, depth);
        read(condition.otherwise, depth);
    }

    void read(const Node&, const Switch& choice, NodeFacts& facts) {
        const int depth = facts.depth + 1;
        for (const Switch::Case& one : choice.cases) read(one.steps, depth);
        read(choice.otherwise, depth);
    }

    void read(const Node&, const Parallel& parallel, NodeFacts& facts) {
        const int depth = facts.depth + 1;
        for (const Parallel::Branch& branch : parallel.branches) read(branch.steps, depth);
    }

    void read(const Node&, const Loop& loop, NodeFacts& facts) {
        const int depth = facts.depth + 1;
        read(loop.steps, depth);
    }

    void read(const Node&, const NodeGraph& graph, NodeFacts& facts) {
        const int depth = facts.depth + 1;
        read(graph.nodes, depth);
    }

    void read(const Node&, const HumanDecision& decision, NodeFacts& facts) {
        facts.roles = decision.roles;
        const int depth = facts.depth + 1;
        if (decision.on_reject) read(*decision.on_reject, depth);
    }

    void read(const Node& node, const Signal& signal, NodeFacts& facts) {
        facts.signal = signal.signal.empty() ? node.name : signal.signal;
    }

    // Delays, savepoints and the like have nothing below them.
    void read(const Node&, const auto&, NodeFacts&) {}

    NodeIndexByName& index_;
};

}  // namespace

NodeIndexByName index_nodes(const Definition& definition) {
    NodeIndexByName index;
    Indexer(index).read(definition.steps, 0);
    return index;
}

}  // namespace ebb::cli
