#include "support/random_flow.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "support/random_graph.h"

namespace ebb::test {

namespace {

using namespace std::chrono_literals;

class FlowMaker {
 public:
    FlowMaker(Dice& dice, const FlowShape& shape)
        : dice_(dice),
          left_(shape.nodes),
          trouble_(shape.percent_trouble),
          people_(shape.percent_people) {}

    Block block(int depth, int least) {
        Block block;
        const int most = depth == 0 ? std::max(6, left_) : 4;
        for (int i = dice_.between(least, most); i > 0 && (left_ > 0 || block.empty()); --i) {
            block.push_back(node(depth));
            if (std::holds_alternative<Fail>(block.back().kind)) break;
        }
        return block;
    }

    /// Then it needs a budget: nothing else ends every cycle.
    bool has_cycle() const { return has_cycle_; }

    /// Of the instance.
    Payload output() {
        if (dice_.chance(70)) return {};
        if (in_trouble(30)) return R"({"n":"${ input.missing }"})";
        if (dice_.chance(50)) return R"({"last":"${ input }"})";
        return R"({"n":"${ )" + (steps_.empty() ? "1" : number_of(dice_.pick(steps_))) + " }\"}";
    }

 private:
    Dice& dice_;
    int left_;
    int trouble_;
    int people_;
    int count_ = 0;
    bool is_in_parallel_ = false;
    bool has_cycle_ = false;
    std::vector<std::string> steps_;  // whose outputs may already be there

    std::string name(const char* stem) { return stem + std::to_string(++count_); }

    /// In flows without trouble never, else in so many of a hundred.
    bool in_trouble(int percent) { return dice_.chance(trouble_) && dice_.chance(percent); }

    static std::string number_of(const std::string& step) {
        const std::string path = "steps." + step;
        return "has(" + path + ") && has(" + path + ".output.n) ? " + path + ".output.n : 0";
    }

    /// Conditions are asked on data that steps, people and signals bring, and that may be missing.
    std::string expression() {
        const int number = dice_.below(3);
        const std::string end = (dice_.chance(70) ? " > " : " < ") + std::to_string(number);
        if (!steps_.empty() && dice_.chance(35)) {
            const std::string path = "steps." + dice_.pick(steps_);
            return "has(" + path + ") && has(" + path + ".output.n) && " + path + ".output.n" + end;
        }
        if (dice_.chance(10)) return "workflow.input.n" + end;
        if (dice_.chance(15)) return "has(input.x) && has(input.x.n) && input.x.n" + end;
        if (in_trouble(8)) return "input.n" + end;
        return "has(input.n) && input.n" + end;
    }

    Duration some_time() { return dice_.pick<Duration>({2s, 10s, 45s, 3min}); }

    Node made(const char* stem, Node::Kind kind) {
        return {.name = name(stem), .description = {}, .kind = std::move(kind)};
    }

    Node node(int depth) {
        --left_;
        if (people_ > 0 && dice_.chance(people_)) return made("h", decision(depth));
        const int kind = dice_.below(100);
        const bool may_nest = depth < 5 && left_ > 0;
        if (kind < 18 && may_nest) return made("p", parallel(depth));
        if (kind < 24 && may_nest) return made("c", condition(depth));
        if (kind < 27 && may_nest) return made("w", choice(depth));
        if (kind < 36 && may_nest) return made("l", loop(depth));
        if (kind < 39) return made("d", delay());
        if (kind < 42) return made("h", decision(depth));
        if (kind < 45) return made("g", signal());
        if (kind < (depth == 0 ? 55 : 49) && !is_in_parallel_) return made("v", savepoint());
        if (kind < 57 && in_trouble(60)) return made("f", Fail{.message = "on purpose: ${input}"});
        if (kind < 64 && may_nest) return made("n", graph(depth));
        return step();
    }

    AttemptPolicy attempts() {
        AttemptPolicy policy;
        policy.max_attempts = dice_.between(1, 4);
        if (dice_.chance(40)) {
            policy.backoff = {.strategy = Backoff::Strategy::Fixed, .initial = 500ms, .jitter = 0};
        } else if (dice_.chance(20)) {
            policy.backoff = {.strategy = Backoff::Strategy::Linear, .initial = 2s};
        }
        if (in_trouble(35)) policy.timeout = some_time();
        if (in_trouble(25)) policy.step_timeout = some_time();
        return policy;
    }

    Node step() {
        Step step;
        step.attempts = attempts();
        step.non_idempotent = dice_.chance(12);
        if (step.non_idempotent) step.attempts.max_attempts = 1;
        step.input = input();
        Node node = made("s", std::move(step));
        if (dice_.chance(80)) {
            std::get<Step>(node.kind).compensate =
                Compensation{.handler = "~" + node.name, .attempts = attempts()};
        }
        steps_.push_back(node.name);
        return node;
    }

    Payload input() {
        if (in_trouble(6)) return R"({"n":"${ input.missing }"})";
        if (!dice_.chance(25)) return {};
        if (!steps_.empty() && dice_.chance(40))
            return R"({"n":"${ )" + number_of(dice_.pick(steps_)) + " }\"}";
        return dice_.chance(50) ? R"({"n":"${ has(input.n) ? input.n : 0 }"})"
                                : R"({"n":"${ workflow.input.n }","was":"${ input }"})";
    }

    Parallel parallel(int depth) {
        Parallel parallel;
        const bool was_in_parallel = std::exchange(is_in_parallel_, true);
        const int branches = dice_.between(2, 4);
        for (int i = 0; i < branches; ++i) {
            const std::string branch(1, static_cast<char>('x' + i));
            parallel.branches.push_back({.name = branch, .steps = block(depth + 1, 1)});
        }
        is_in_parallel_ = was_in_parallel;
        parallel.join = dice_.chance(35) ? 0 : dice_.below(branches + 1);
        if (dice_.chance(35)) parallel.losers = Parallel::Losers::Keep;
        return parallel;
    }

    /// What a node may read are the outputs of those that lead to it.
    NodeGraph graph(int depth) {
        NodeGraph graph;
        RandomEdges edges(dice_);
        const std::vector<std::string> outside = steps_;
        std::vector<std::string> inside;
        std::vector<std::vector<std::string>> behind;
        for (int i = dice_.between(2, 6); i > 0 && (left_ > 0 || graph.nodes.empty()); --i) {
            const int from = graph.nodes.empty() ? 0 : edges.reach_next();
            if (from < 0) break;
            steps_ = graph.nodes.empty() ? outside : behind[static_cast<std::size_t>(from)];
            const std::size_t known = steps_.size();
            graph.nodes.push_back(graph_node(depth + 1));
            edges.add(graph.nodes.back());
            behind.push_back(steps_);
            const auto first = steps_.begin() + static_cast<std::ptrdiff_t>(known);
            std::copy(first, steps_.end(), std::back_inserter(inside));
        }
        steps_ = outside;
        steps_.insert(steps_.end(), inside.begin(), inside.end());
        has_cycle_ |= edges.add_more();
        graph.edges = edges.edges(graph.nodes);
        choose_handles(graph);
        if (dice_.chance(25)) graph.unmatched = NodeGraph::Unmatched::Complete;
        if (dice_.chance(30)) {
            graph.entry = graph.nodes.front().name;
            std::swap(graph.nodes.front(), graph.nodes.back());
        }
        return graph;
    }

    Node graph_node(int depth) {
        if (dice_.chance(35)) return step();
        if (!dice_.chance(10)) return node(depth);
        --left_;
        // Its sides are edges.
        return made("c", Condition{.when = expression(), .then = {}, .otherwise = {}});
    }

    /// Half of the steps say themselves where their output leads, those of the others' handlers do.
    void choose_handles(NodeGraph& graph) {
        for (Node& node : graph.nodes) {
            auto* step = std::get_if<Step>(&node.kind);
            if (step == nullptr || dice_.chance(50)) continue;
            std::vector<std::string> sides = {"null"};
            for (const NodeGraph::Edge& edge : graph.edges) {
                const bool is_named = edge.from == node.name && edge.handle.size() == 1;
                if (is_named) sides.push_back("'" + edge.handle + "'");
            }
            if (sides.size() == 1) continue;
            if (in_trouble(20)) sides.emplace_back("'nowhere'");
            step->next = "has(output.n) && output.n > " + std::to_string(dice_.below(3)) + " ? " +
                         sides.back() + " : " + dice_.pick(sides);
        }
    }

    Condition condition(int depth) {
        const std::string when = expression();
        Condition condition{.when = when, .then = block(depth + 1, 0), .otherwise = {}};
        condition.otherwise = block(depth + 1, condition.then.empty() ? 1 : 0);
        return condition;
    }

    Switch choice(int depth) {
        Switch choice;
        for (int i = dice_.between(1, 2); i > 0; --i) {
            const std::string when = expression();
            choice.cases.push_back({.when = when, .steps = block(depth + 1, 0)});
        }
        choice.otherwise = block(depth + 1, 0);
        return choice;
    }

    /// Mostly ended by the data that the last step of a turn leaves behind.
    Loop loop(int depth) {
        Loop loop{.while_expression = {}, .until_expression = {}, .steps = block(depth + 1, 1)};
        const bool has_data = !std::holds_alternative<Fail>(loop.steps.back().kind) &&
                              !std::holds_alternative<Step>(loop.steps.back().kind);
        if (has_data && dice_.chance(75)) loop.steps.push_back(step());
        (dice_.chance(50) ? loop.while_expression : loop.until_expression) = expression();
        loop.max_iterations = in_trouble(50) ? dice_.between(1, 3) : dice_.between(4, 8);
        return loop;
    }

    Delay delay() {
        if (in_trouble(15)) return {.duration = "${ input.n }", .until = {}};
        if (dice_.chance(20)) return {.duration = "${ has(input.n) ? input.n : 1 }", .until = {}};
        return {.duration = dice_.pick<std::string>({"3s", "20s", "1m"}), .until = {}};
    }

    HumanDecision decision(int depth) {
        const int votes_max = people_ > 0 ? 3 : 2;
        HumanDecision decision{
            .quorum = dice_.between(1, votes_max), .deadline = 0s, .on_reject = {}
        };
        if (dice_.chance(people_ > 0 ? 60 : 20)) decision.roles = {"boss"};
        if (in_trouble(80)) {
            decision.deadline = some_time();
            decision.on_deadline = dice_.pick<HumanDecision::OnDeadline>(
                {HumanDecision::OnDeadline::Fail,
                 HumanDecision::OnDeadline::Confirm,
                 HumanDecision::OnDeadline::Reject}
            );
        }
        if (dice_.chance(60)) decision.on_reject = block(depth + 1, 0);
        return decision;
    }

    Signal signal() {
        Signal signal{.signal = dice_.chance(50) ? "go" : "", .deadline = 0s};
        if (dice_.chance(50)) {
            signal.deadline = some_time();
            if (!in_trouble(50)) signal.on_deadline = Signal::OnDeadline::Continue;
        }
        return signal;
    }

    Savepoint savepoint() {
        Savepoint savepoint;
        if (dice_.chance(65)) savepoint.on_rollback = Savepoint::OnRollback::Resume;
        savepoint.max_resumes = dice_.between(1, 3);
        return savepoint;
    }
};

}  // namespace

Definition random_flow(Dice& dice, const FlowShape& shape) {
    while (true) {
        Definition definition;
        definition.name = "flow";
        FlowMaker maker(dice, shape);
        definition.steps = maker.block(0, std::min(4, shape.nodes));
        definition.output = maker.output();
        if (dice.chance(20)) definition.on_error = Definition::OnError::DeadLetter;
        const bool is_in_trouble = dice.chance(shape.percent_trouble);
        if (is_in_trouble && dice.chance(25)) {
            definition.deadline = dice.pick<Duration>({20s, 2min, 10min, 1h});
        }
        if (maker.has_cycle()) definition.step_budget = dice.between(40, 150);
        if (is_in_trouble && dice.chance(10)) definition.step_budget = dice.between(5, 60);
        // What always fails makes what follows unreachable, which is not valid.
        if (validate(definition).empty()) return definition;
    }
}

}  // namespace ebb::test
