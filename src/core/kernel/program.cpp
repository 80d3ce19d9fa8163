#include "core/kernel/program.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/kernel/stored_program.h"
#include "core/model/check.h"
#include "core/model/late_text.h"
#include "core/model/reader.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb {

/// Turns the tree of blocks into one array: first every node gets its number in document order,
/// then its targets.
class ProgramCompiler {
 public:
    static std::shared_ptr<const Program> make(const Definition& definition, model::Origin origin) {
        const model::Findings findings = model::check(definition, origin);
        if (!findings.is_empty()) throw DefinitionError(model::diagnostics_of(findings));
        auto program = std::make_shared<Program>();
        program->definition_ = definition;
        ProgramCompiler(*program).compile();
        return program;
    }

 private:
    Program& program_;
    std::set<std::string> handlers_;
    std::set<std::string> steps_read_;
    std::set<std::string> attempts_read_;
    NodeIndex transition_ = kNoNode;  ///< that the nodes being numbered are of

    explicit ProgramCompiler(Program& program) : program_(program) {}

    void compile() {
        const Definition& definition = program_.definition_;
        program_.has_call_terms_ = !definition.handlers.empty();
        if (definition.rules) {
            number_rules(definition);
            link_rules(definition);
        } else {
            number(definition.steps);
            program_.entry_ = link(definition.steps, kNoNode);
        }
        if (!definition.output.empty()) {
            program_.output_ = Template::compile(Json::parse(definition.output));
            note_reads(*program_.output_);
        }
        for (const auto& [name, source] : definition.labels) {
            Template value = Template::compile(Json::parse(source.value));
            program_.labels_.push_back({name, source.type, std::move(value)});
        }
        if (!definition.input_schema.empty()) {
            program_.input_schema_.emplace(Json::parse(definition.input_schema));
        }
        program_.handlers_.assign(handlers_.begin(), handlers_.end());
        program_.output_read_ = marks_of(steps_read_);
        program_.attempts_read_ = marks_of(attempts_read_);
    }

    ProgramNode& add(const std::string& name) {
        program_.by_name_.emplace(name, static_cast<NodeIndex>(program_.nodes_.size()));
        ProgramNode& compiled = program_.nodes_.emplace_back();
        compiled.name = name;
        compiled.transition = transition_;
        return compiled;
    }

    /// For each node, whether its name is among these.
    std::vector<bool> marks_of(const std::set<std::string>& names) const {
        std::vector<bool> marks(program_.nodes_.size(), false);
        for (const std::string& name : names) {
            const NodeIndex index = program_.find(name);
            if (index != kNoNode) marks[static_cast<std::size_t>(index)] = true;
        }
        return marks;
    }

    void number(const Block& block) {
        for (const Node& node : block) {
            add(node.name).metadata = node.metadata;
            std::visit([this](const auto& kind) { number_inside(kind); }, node.kind);
        }
    }

    /// The transitions, the savepoints, and then what is inside the transitions.
    void number_rules(const Definition& definition) {
        for (const Node& node : definition.steps) add(node.name).metadata = node.metadata;
        for (const SavepointCondition& savepoint : definition.rules->savepoints) {
            ProgramNode& node = add(savepoint.name);
            node.op = Op::Savepoint;
            node.savepoint = {
                .on_rollback =
                    savepoint.resumes ? Savepoint::OnRollback::Resume : Savepoint::OnRollback::Fail,
                .max_resumes = savepoint.max_resumes
            };
        }
        for (std::size_t i = 0; i < definition.steps.size(); ++i) {
            transition_ = static_cast<NodeIndex>(i);
            const auto* sequence = std::get_if<Sequence>(&definition.steps[i].kind);
            if (sequence != nullptr) number(sequence->steps);
        }
    }

    template <typename Kind>
    void number_inside(const Kind&) {}

    void number_inside(const Condition& condition) {
        number(condition.then);
        number(condition.otherwise);
    }

    void number_inside(const Switch& choice) {
        for (const Switch::Case& c : choice.cases) number(c.steps);
        number(choice.otherwise);
    }

    void number_inside(const Parallel& parallel) {
        for (const Parallel::Branch& branch : parallel.branches) number(branch.steps);
    }

    void number_inside(const Loop& loop) { number(loop.steps); }

    void number_inside(const NodeGraph& graph) { number(graph.nodes); }

    void number_inside(const Sequence& sequence) { number(sequence.steps); }

    void number_inside(const HumanDecision& decision) {
        if (decision.on_reject) number(*decision.on_reject);
    }

    /// Each trigger has one step or sequence, and conditions say what follows on it. The handler of
    /// exceptions comes after them.
    void link_rules(const Definition& definition) {
        std::vector<std::string> names;
        for (const Node& node : definition.steps) {
            names.push_back(node.name);
            link_node(node, kNoNode);
        }
        for (std::size_t i = 0; i < definition.rules->triggers.size(); ++i) {
            const Payload& set = definition.rules->triggers[i].set;
            at(static_cast<NodeIndex>(i)).after = definition.rules->triggers[i].after;
            if (set.empty()) continue;
            at(static_cast<NodeIndex>(i)).set = Template::compile(Json::parse(set));
            note_reads(*at(static_cast<NodeIndex>(i)).set);
        }
        program_.rules_ = std::make_shared<rules::Program>(*definition.rules, names);
    }

    /// Links a block whose last node continues to `next`. Returns where the block begins.
    NodeIndex link(const Block& block, NodeIndex next) {
        for (std::size_t i = 0; i < block.size(); ++i) {
            link_node(block[i], i + 1 < block.size() ? entry_of(block[i + 1]) : next);
        }
        return block.empty() ? next : entry_of(block.front());
    }

    void link_node(const Node& node, NodeIndex next) {
        const NodeIndex index = program_.find(node.name);
        at(index).next = next;
        std::visit([&](const auto& kind) { fill(index, kind); }, node.kind);
    }

    /// Where a token begins with the node: a graph is nothing but its nodes.
    NodeIndex entry_of(const Node& node) const {
        const auto* graph = std::get_if<NodeGraph>(&node.kind);
        return graph == nullptr ? program_.find(node.name) : entry_of(entry_node(*graph));
    }

    static const Node& entry_node(const NodeGraph& graph) {
        return graph.entry.empty() ? graph.nodes.front() : node_of(graph, graph.entry);
    }

    static const Node& node_of(const NodeGraph& graph, const std::string& name) {
        return *std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
            return node.name == name;
        });
    }

    ProgramNode& at(NodeIndex index) { return program_.nodes_[static_cast<std::size_t>(index)]; }

    /// `compiled`: an expression or a template.
    template <typename Compiled>
    void note_reads(const Compiled& compiled) {
        steps_read_.insert(compiled.steps_read().begin(), compiled.steps_read().end());
        attempts_read_.insert(compiled.attempts_read().begin(), compiled.attempts_read().end());
    }

    Expression expression(const std::string& source) {
        Expression compiled = Expression::compile(source);
        note_reads(compiled);
        return compiled;
    }

    Template text_template(const std::string& text) {
        Template compiled = Template::compile_text(text);
        note_reads(compiled);
        return compiled;
    }

    /// Where the node is left to by a handle that it names itself.
    NodeIndex exit_of(NodeIndex index, std::string_view handle) {
        const ProgramNode::Edge* edge = at(index).find_edge(handle);
        return edge == nullptr ? at(index).next : edge->target;
    }

    void fill(NodeIndex index, const NodeGraph& graph) {
        const NodeIndex end = at(index).next;
        at(index).op = Op::Graph;
        std::unordered_map<std::string_view, NodeIndex> entries;
        std::unordered_map<std::string_view, NodeIndex> defaults;
        for (const Node& node : graph.nodes) {
            entries.emplace(node.name, entry_of(node));
            ProgramNode& compiled = at(program_.find(node.name));
            compiled.is_in_graph = true;
            compiled.completes_unmatched = graph.unmatched == NodeGraph::Unmatched::Complete;
            compiled.graph_end = end;
        }
        for (const NodeGraph::Edge& edge : graph.edges) {
            const NodeIndex target = edge.to.empty() ? end : entries.at(edge.to);
            if (edge.handle.empty()) {
                defaults.emplace(edge.from, target);
            } else {
                at(program_.find(edge.from)).edges.push_back({edge.handle, target});
            }
        }
        for (const Node& node : graph.nodes) {
            const auto next = defaults.find(node.name);
            link_node(node, next == defaults.end() ? end : next->second);
        }
        at(index).body = entry_of(entry_node(graph));
    }

    void fill(NodeIndex index, const Step& step) {
        ProgramNode& node = at(index);
        node.op = Op::Step;
        node.handler = step.handler.empty() ? node.name : step.handler;
        node.queue = step.queue.empty() ? std::string(kDefaultQueueName) : step.queue;
        node.attempts = step.attempts;
        node.non_idempotent = step.non_idempotent;
        if (step.non_idempotent) node.attempts.max_attempts = 1;
        node.compensate = step.compensate;
        handlers_.insert(node.handler);
        if (step.compensate) handlers_.insert(step.compensate->handler);
        // What a paused step is resumed by.
        node.signal = node.name;
        if (!step.concurrency_key.empty()) node.concurrency_key = expression(step.concurrency_key);
        if (!step.next.empty()) node.handle = expression(step.next);
        if (!step.input.empty()) {
            if (!model::late_texts(step.input).empty()) program_.has_call_terms_ = true;
            node.input = Template::compile(Json::parse(step.input));
            note_reads(*node.input);
        }
    }

    void fill(NodeIndex index, const Condition& condition) {
        at(index).op = Op::Branch;
        const NodeIndex then = link(condition.then, exit_of(index, "then"));
        const NodeIndex otherwise = link(condition.otherwise, exit_of(index, "else"));
        at(index).cases.push_back({expression(condition.when), then, "then"});
        at(index).cases.push_back({std::nullopt, otherwise, "else"});
    }

    void fill(NodeIndex index, const Switch& choice) {
        at(index).op = Op::Branch;
        for (std::size_t i = 0; i < choice.cases.size(); ++i) {
            const Switch::Case& c = choice.cases[i];
            const std::string label = "case " + std::to_string(i + 1);
            const NodeIndex target = link(c.steps, exit_of(index, label));
            at(index).cases.push_back({expression(c.when), target, label});
        }
        const NodeIndex otherwise = link(choice.otherwise, exit_of(index, "default"));
        at(index).cases.push_back({std::nullopt, otherwise, "default"});
    }

    void fill(NodeIndex index, const Parallel& parallel) {
        at(index).op = Op::Fork;
        at(index).keep_losers = parallel.losers == Parallel::Losers::Keep;
        at(index).join =
            parallel.join == 0 ? static_cast<int>(parallel.branches.size()) : parallel.join;
        for (const Parallel::Branch& branch : parallel.branches) {
            at(index).branches.push_back({branch.name, link(branch.steps, kNoNode)});
        }
    }

    void fill(NodeIndex index, const Loop& loop) {
        at(index).op = Op::Loop;
        at(index).is_until = !loop.until_expression.empty();
        at(index).condition =
            expression(at(index).is_until ? loop.until_expression : loop.while_expression);
        at(index).max_iterations = loop.max_iterations;
        at(index).body = link(loop.steps, index);
    }

    void fill(NodeIndex index, const Sequence& sequence) {
        at(index).op = Op::Sequence;
        at(index).body = link(sequence.steps, index);
    }

    void fill(NodeIndex index, const Delay& delay) {
        ProgramNode& node = at(index);
        node.op = Op::Timer;
        node.is_wait_until = !delay.until.empty();
        node.wait_template = text_template(node.is_wait_until ? delay.until : delay.duration);
    }

    void fill(NodeIndex index, const HumanDecision& decision) {
        at(index).op = Op::Decision;
        at(index).human = decision;
        at(index).human.on_reject.reset();
        at(index).wait = decision.deadline;
        const NodeIndex rejected = exit_of(index, "rejected");
        at(index).has_reject_target =
            decision.on_reject || at(index).find_edge("rejected") != nullptr;
        at(index).reject_target =
            decision.on_reject ? link(*decision.on_reject, rejected) : rejected;
        at(index).next = exit_of(index, "confirmed");
    }

    void fill(NodeIndex index, const Signal& signal) {
        ProgramNode& node = at(index);
        node.op = Op::Signal;
        node.signal = signal.signal.empty() ? node.name : signal.signal;
        node.wait = signal.deadline;
        node.continue_on_deadline = signal.on_deadline == Signal::OnDeadline::Continue;
        if (signal.schema.empty()) return;
        program_.signal_schemas_.try_emplace(node.signal, Json::parse(signal.schema));
    }

    void fill(NodeIndex index, const Savepoint& savepoint) {
        at(index).op = Op::Savepoint;
        at(index).savepoint = savepoint;
    }

    void fill(NodeIndex index, const Fail& fail) {
        at(index).op = Op::Fail;
        at(index).message = text_template(fail.message);
    }

    static constexpr std::string_view kDefaultQueueName = "default";
};

std::shared_ptr<const Program> Program::compile(const ebb::Definition& definition) {
    return ProgramCompiler::make(definition, model::Origin::New);
}

std::shared_ptr<const Program> compile_stored(std::string_view json) {
    return compile_stored(model::read_stored(json));
}

std::shared_ptr<const Program> compile_stored(const Definition& definition) {
    return ProgramCompiler::make(definition, model::Origin::Stored);
}

std::vector<std::string> Program::input_violations(const Payload& input) const {
    if (!input_schema_) return {};
    return input_schema_->violations(Json::parse(input));
}

std::vector<std::string> Program::signal_violations(std::string_view signal, const Payload& payload)
    const {
    const auto schema = signal_schemas_.find(signal);
    if (schema == signal_schemas_.end()) return {};
    return schema->second.violations(Json::parse(payload));
}

NodeIndex Program::find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? kNoNode : found->second;
}

const NodeGraph* Program::first_graph() const {
    const Block& steps = definition_.steps;
    return steps.empty() ? nullptr : std::get_if<NodeGraph>(&steps.front().kind);
}

NodeIndex Program::find_start(std::string_view name) const {
    const NodeGraph* graph = first_graph();
    if (graph == nullptr) return kNoNode;
    const bool is_its_node =
        std::any_of(graph->nodes.begin(), graph->nodes.end(), [name](const Node& node) {
            return node.name == name;
        });
    return is_its_node ? find(name) : kNoNode;
}

}  // namespace ebb
