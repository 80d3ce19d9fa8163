#include "core/diagram/rule_graph.h"

#include <optional>
#include <utility>

#include "core/predicate/predicate.h"
#include "core/rules/program.h"

namespace ebb::diagram {

namespace {

using Attributes = std::vector<bool>;

std::vector<std::string> names_of(const Block& steps) {
    std::vector<std::string> names;
    for (const Node& step : steps) names.push_back(step.name);
    return names;
}

class RuleGraph {
 public:
    RuleGraph(const Definition& definition, const rules::Program& program)
        : definition_(definition), program_(program) {}

    std::vector<NodeGraph::Edge> edges() {
        const auto& triggers = program_.triggers();
        for (std::size_t from = 0; from < triggers.size(); ++from) {
            for (std::size_t to = 0; to < triggers.size(); ++to) {
                if (from == to || !triggers[to].is_enabled) continue;
                add(from, definition_.steps[to].name, shared(from, triggers[to].when.reads()));
            }
            for (const rules::Program::Condition& final_condition : program_.finals()) {
                if (shared(from, final_condition.when.reads()).empty()) continue;
                add(from, {}, final_condition.name);
            }
        }
        return std::move(edges_);
    }

 private:
    const Definition& definition_;
    const rules::Program& program_;
    std::vector<NodeGraph::Edge> edges_;

    void add(std::size_t from, std::string to, std::string label) {
        if (label.empty()) return;
        edges_.push_back(
            {.from = definition_.steps[from].name,
             .handle = std::move(label),
             .to = std::move(to),
             .metadata = {}}
        );
    }

    /// The attributes that the transition writes and the condition reads.
    std::string shared(std::size_t writer, const Attributes& reads) const {
        const Attributes& writes = program_.triggers()[writer].writes;
        std::string names;
        for (std::size_t i = 0; i < reads.size(); ++i) {
            if (!reads[i] || !writes[i]) continue;
            names += names.empty() ? "" : " and ";
            names += program_.rules().attributes[i].name;
        }
        return names;
    }
};

}  // namespace

Block rule_graph(const Definition& definition) {
    NodeGraph graph{.entry = {}, .nodes = definition.steps};
    try {
        const rules::Program program(*definition.rules, names_of(definition.steps));
        graph.edges = RuleGraph(definition, program).edges();
    } catch (const PredicateError&) {
        // A picture of what is not valid yet shows at least the transitions.
    }
    Block block;
    block.push_back({.name = "rules", .description = {}, .kind = std::move(graph)});
    return block;
}

}  // namespace ebb::diagram
