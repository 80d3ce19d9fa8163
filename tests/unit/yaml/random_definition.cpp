#include "unit/yaml/random_definition.h"

#include <nlohmann/json.hpp>

#include "support/json.h"

namespace ebb::test {

namespace {

/// Pieces that parsers of YAML and JSON stumble over. No $, which would begin an expression.
const std::vector<std::string> kPieces = {
    "a",
    "Zz",
    "0",
    "12",
    "1e3",
    "true",
    "null",
    "~",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\x01",
    "\x1b",
    "\x7f",
    ":",
    ": ",
    "#",
    " #",
    "-",
    "- ",
    "---",
    "...",
    "\"",
    "'",
    "\\",
    "\\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&",
    "*",
    "!",
    "|",
    ">",
    "%",
    "@",
    "`",
    "?",
    "? ",
    "=",
    "<<",
    "\xc3\xa9",
    "\xc2\x85",
    "\xc2\xa0",
    "\xe2\x80\xa8",
    "\xef\xbb\xbf",
    "\xef\xbf\xbf",
    "\xf0\x9f\x98\x80",
};

std::string text() {
    std::string text;
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) text += *rc::gen::elementOf(kPieces);
    return text;
}

bool coin() {
    return *rc::gen::arbitrary<bool>();
}

Duration duration() {
    const auto kind = *rc::gen::inRange(0, 4);
    if (kind == 0) return Duration(0);
    if (kind == 1) return Duration(*rc::gen::inRange<std::int64_t>(0, 3'000));
    if (kind == 2) return std::chrono::seconds(*rc::gen::inRange(0, 100'000));
    return Duration(*rc::gen::inRange<std::int64_t>(0, DefinitionLimits::kDurationMax.count()));
}

Json value(int depth) {
    switch (*rc::gen::inRange(0, depth > 3 ? 5 : 7)) {
        case 0:
            return {};
        case 1:
            return coin();
        case 2:
            return *rc::gen::arbitrary<std::int64_t>();
        case 3:
            return static_cast<double>(*rc::gen::arbitrary<std::int32_t>()) / 7.0;
        case 4:
            return text();
        case 5: {
            Json list = Json::array();
            for (int i = *rc::gen::inRange(0, 4); i > 0; --i) list.push_back(value(depth + 1));
            return list;
        }
        default: {
            Json map = Json::object();
            for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
                // A definition's YAML cannot have an empty key.
                map["k" + text()] = value(depth + 1);
            }
            return map;
        }
    }
}

AttemptPolicy attempts() {
    AttemptPolicy policy;
    if (coin()) return policy;
    policy.max_attempts = *rc::gen::inRange(1, 1'001);
    policy.backoff.strategy = *rc::gen::element(
        Backoff::Strategy::Fixed, Backoff::Strategy::Linear, Backoff::Strategy::Exponential
    );
    policy.backoff.initial = duration();
    policy.backoff.max = policy.backoff.initial + Duration(coin() ? 0 : 12'345);
    policy.backoff.max = std::min(policy.backoff.max, DefinitionLimits::kDurationMax);
    policy.backoff.factor = 1 + *rc::gen::inRange(0, 1'000) / 3.0;
    policy.backoff.jitter = *rc::gen::inRange(0, 1'000) / 999.0;
    policy.timeout = duration();
    policy.step_timeout = duration();
    return policy;
}

class Maker {
 public:
    Block block(int depth, int least) {
        Block block;
        for (int i = *rc::gen::inRange(least, 4); i > 0; --i) block.push_back(node(depth));
        return block;
    }

 private:
    int count_ = 0;
    bool is_in_parallel_ = false;

    std::string name() {
        static const std::vector<std::string> kStems = {
            "a", "Pay", "_x", "b-c", "d.e", "yes", "e5"
        };
        return *rc::gen::elementOf(kStems) + std::to_string(++count_);
    }

    std::string expression() {
        static const std::vector<std::string> kExpressions = {
            "input.x > 1",
            "input.a == 'b: c' && !input.d",
            "size(workflow.input) > 2",
            "attempt > 1"
        };
        return *rc::gen::elementOf(kExpressions);
    }

    Node node(int depth) {
        Node node{.name = name(), .description = text(), .kind = {}};
        if (*rc::gen::inRange(0, 4) == 0) node.metadata = to_text(Json{{"at", value(0)}});
        if (depth < 3 && *rc::gen::inRange(0, 8) == 0) {
            node.kind = graph(depth);
            return node;
        }
        switch (*rc::gen::inRange(depth > 3 ? 5 : 0, 10)) {
            case 0:
                node.kind = condition(depth);
                break;
            case 1:
                node.kind = choice(depth);
                break;
            case 2:
                node.kind = parallel(depth);
                break;
            case 3:
                node.kind = loop(depth);
                break;
            case 4:
                node.kind = decision(depth);
                break;
            case 5:
                node.kind = delay();
                break;
            case 6:
                node.kind = signal();
                break;
            case 7:
                if (!is_in_parallel_) {
                    node.kind = Savepoint{};
                    break;
                }
                [[fallthrough]];
            default:
                node.kind = step();
        }
        return node;
    }

    /// Every node leads to the next one; steps may lead anywhere.
    NodeGraph graph(int depth) {
        NodeGraph graph{.entry = {}, .nodes = block(depth + 1, 1)};
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            Node& node = graph.nodes[i];
            if (i + 1 < graph.nodes.size()) {
                graph.edges.push_back({.from = node.name, .to = graph.nodes[i + 1].name});
            }
            auto* step = std::get_if<Step>(&node.kind);
            if (step == nullptr) continue;
            if (coin()) step->next = "output.way";
            const Node& other = *rc::gen::elementOf(graph.nodes);
            NodeGraph::Edge edge{.from = node.name, .handle = "on: " + std::to_string(i)};
            if (coin()) edge.to = other.name;
            if (coin()) edge.metadata = R"({"id":"e1"})";
            graph.edges.push_back(std::move(edge));
        }
        if (coin()) graph.entry = graph.nodes.front().name;
        if (coin()) graph.unmatched = NodeGraph::Unmatched::Complete;
        return graph;
    }

    Step step() {
        Step step;
        if (coin()) step.handler = "handler/" + std::to_string(count_);
        if (coin()) step.input = to_text(value(0));
        if (coin()) step.compensate = Compensation{.handler = "~undo", .attempts = attempts()};
        step.attempts = attempts();
        step.non_idempotent = coin();
        if (step.non_idempotent) step.attempts.max_attempts = 1;
        if (coin()) step.queue = "slow";
        return step;
    }

    Condition condition(int depth) {
        Condition condition{.when = expression(), .then = block(depth + 1, 0), .otherwise = {}};
        condition.otherwise = block(depth + 1, condition.then.empty() ? 1 : 0);
        return condition;
    }

    Switch choice(int depth) {
        Switch choice;
        for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
            choice.cases.push_back({.when = expression(), .steps = block(depth + 1, 0)});
        }
        choice.otherwise = block(depth + 1, 0);
        return choice;
    }

    Parallel parallel(int depth) {
        Parallel parallel;
        const bool was_in_parallel = std::exchange(is_in_parallel_, true);
        const int branches = *rc::gen::inRange(2, 5);
        for (int i = 0; i < branches; ++i) {
            parallel.branches.push_back({.name = name(), .steps = block(depth + 1, 1)});
        }
        is_in_parallel_ = was_in_parallel;
        parallel.join = *rc::gen::inRange(0, branches + 1);
        parallel.losers = coin() ? Parallel::Losers::Keep : Parallel::Losers::Compensate;
        return parallel;
    }

    Loop loop(int depth) {
        Loop loop{.while_expression = {}, .until_expression = {}, .steps = block(depth + 1, 1)};
        (coin() ? loop.while_expression : loop.until_expression) = expression();
        loop.max_iterations = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
        return loop;
    }

    Delay delay() {
        if (coin()) return {.duration = coin() ? "1h30m" : "${ input.seconds }", .until = {}};
        return {.duration = {}, .until = coin() ? "2026-01-01T00:00:00Z" : "${ input.at }"};
    }

    HumanDecision decision(int depth) {
        HumanDecision decision{
            .quorum = *rc::gen::inRange(1, 65),
            .roles = {},
            .deadline = duration(),
            .on_reject = std::nullopt,
        };
        for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
            decision.roles.push_back("role:" + std::to_string(i));
        }
        if (decision.deadline != Duration(0)) {
            decision.on_deadline = *rc::gen::element(
                HumanDecision::OnDeadline::Fail,
                HumanDecision::OnDeadline::Confirm,
                HumanDecision::OnDeadline::Reject
            );
        }
        if (coin()) decision.on_reject = block(depth + 1, 0);
        return decision;
    }

    Signal signal() {
        Signal signal{.signal = coin() ? "a:b/c" : "", .deadline = duration()};
        if (signal.deadline != Duration(0) && coin()) {
            signal.on_deadline = Signal::OnDeadline::Continue;
        }
        // Nodes that wait for the same signal have the same schema, or none.
        if (coin()) signal.schema = R"({"type":"object"})";
        return signal;
    }
};

}  // namespace

Definition random_definition() {
    Definition definition;
    definition.name = "random";
    definition.version = *rc::gen::inRange(1, 1'000'000'000);
    definition.description = text();
    definition.on_error =
        coin() ? Definition::OnError::DeadLetter : Definition::OnError::Compensate;
    definition.deadline = duration();
    definition.step_budget = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
    definition.priority = *rc::gen::inRange(-100, 101);
    if (coin())
        definition.input_schema = R"({"properties":{"x":{"type":"number"}},"type":"object"})";
    if (coin()) definition.output = to_text(value(0));
    if (coin()) definition.sensitive = {"/card", "/items/*/a~1b"};
    definition.steps = Maker().block(0, 1);
    if (coin()) {
        Node used{.name = "used", .description = {}, .kind = Step{.handler = "spec"}};
        definition.steps.push_back(std::move(used));
        definition.handlers["spec"] =
            to_text(Json{{"exec", {"./run", text()}}, {"env", {{"x", value(0)}}}});
    }
    return definition;
}

}  // namespace ebb::test
