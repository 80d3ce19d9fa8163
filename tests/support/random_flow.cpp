#include "support/random_flow.h"

#include <string>
#include <utility>

namespace ebb::test {

namespace {

using namespace std::chrono_literals;

class FlowMaker {
 public:
    FlowMaker(Dice& dice, int nodes) : dice_(dice), left_(nodes) {}

    Block block(int depth, int least) {
        Block block;
        const int most = depth == 0 ? 6 : 3;
        for (int i = dice_.between(least, most); i > 0 && (left_ > 0 || block.empty()); --i) {
            block.push_back(node(depth));
            if (std::holds_alternative<Fail>(block.back().kind)) break;
        }
        return block;
    }

 private:
    Dice& dice_;
    int left_;
    int count_ = 0;
    bool is_in_parallel_ = false;

    std::string name(const char* stem) { return stem + std::to_string(++count_); }

    std::string expression() {
        return "has(input.n) && input.n > " + std::to_string(dice_.below(3));
    }

    Duration some_time() { return dice_.pick<Duration>({2s, 10s, 45s, 3min}); }

    Node made(const char* stem, Node::Kind kind) {
        return {.name = name(stem), .description = {}, .kind = std::move(kind)};
    }

    Node node(int depth) {
        --left_;
        const int kind = dice_.below(100);
        const bool may_nest = depth < 4 && left_ > 0;
        if (kind < 22 && may_nest) return made("p", parallel(depth));
        if (kind < 30 && may_nest) return made("c", condition(depth));
        if (kind < 33 && may_nest) return made("w", choice(depth));
        if (kind < 40 && may_nest) return made("l", loop(depth));
        if (kind < 45)
            return made("d", Delay{.duration = dice_.chance(50) ? "3s" : "1m", .until = {}});
        if (kind < 50) return made("h", decision(depth));
        if (kind < 54) return made("g", signal());
        if (kind < 60 && !is_in_parallel_) return made("v", savepoint());
        if (kind < 62) return made("f", Fail{.message = "on purpose"});
        return step();
    }

    AttemptPolicy attempts() {
        AttemptPolicy policy;
        policy.max_attempts = dice_.between(1, 3);
        if (dice_.chance(40)) {
            policy.backoff = {.strategy = Backoff::Strategy::Fixed, .initial = 500ms, .jitter = 0};
        }
        if (dice_.chance(25)) policy.timeout = some_time();
        if (dice_.chance(15)) policy.step_timeout = some_time();
        return policy;
    }

    Node step() {
        Step step;
        step.attempts = attempts();
        step.non_idempotent = dice_.chance(12);
        if (step.non_idempotent) step.attempts.max_attempts = 1;
        if (dice_.chance(10)) step.input = R"({"n":"${ has(input.n) ? input.n : 0 }"})";
        if (dice_.chance(3)) step.input = R"({"n":"${ input.missing }"})";
        Node node = made("s", std::move(step));
        if (dice_.chance(80)) {
            std::get<Step>(node.kind).compensate =
                Compensation{.handler = "~" + node.name, .attempts = attempts()};
        }
        return node;
    }

    Parallel parallel(int depth) {
        Parallel parallel;
        const bool was_in_parallel = std::exchange(is_in_parallel_, true);
        const int branches = dice_.between(2, 3);
        for (int i = 0; i < branches; ++i) {
            const std::string branch(1, static_cast<char>('x' + i));
            parallel.branches.push_back({.name = branch, .steps = block(depth + 1, 1)});
        }
        is_in_parallel_ = was_in_parallel;
        parallel.join = dice_.below(branches + 1);
        if (dice_.chance(35)) parallel.losers = Parallel::Losers::Keep;
        return parallel;
    }

    Condition condition(int depth) {
        Condition condition{.when = expression(), .then = block(depth + 1, 0), .otherwise = {}};
        condition.otherwise = block(depth + 1, condition.then.empty() ? 1 : 0);
        return condition;
    }

    Switch choice(int depth) {
        Switch choice;
        for (int i = dice_.between(1, 2); i > 0; --i) {
            choice.cases.push_back({.when = expression(), .steps = block(depth + 1, 0)});
        }
        choice.otherwise = block(depth + 1, 0);
        return choice;
    }

    Loop loop(int depth) {
        Loop loop{.while_expression = {}, .until_expression = {}, .steps = block(depth + 1, 1)};
        (dice_.chance(50) ? loop.while_expression : loop.until_expression) = expression();
        loop.max_iterations = dice_.between(1, 4);
        return loop;
    }

    HumanDecision decision(int depth) {
        HumanDecision decision{.quorum = dice_.between(1, 2), .deadline = 0s, .on_reject = {}};
        if (dice_.chance(70)) {
            decision.deadline = some_time();
            decision.on_deadline = dice_.pick<HumanDecision::OnDeadline>(
                {HumanDecision::OnDeadline::Fail,
                 HumanDecision::OnDeadline::Confirm,
                 HumanDecision::OnDeadline::Reject}
            );
        }
        if (dice_.chance(50)) decision.on_reject = block(depth + 1, 0);
        return decision;
    }

    Signal signal() {
        Signal signal{.signal = dice_.chance(50) ? "go" : "", .deadline = 0s};
        if (dice_.chance(70)) {
            signal.deadline = some_time();
            if (dice_.chance(60)) signal.on_deadline = Signal::OnDeadline::Continue;
        }
        return signal;
    }

    Savepoint savepoint() {
        Savepoint savepoint;
        if (dice_.chance(60)) savepoint.on_rollback = Savepoint::OnRollback::Resume;
        savepoint.max_resumes = dice_.between(1, 2);
        return savepoint;
    }
};

}  // namespace

Definition random_flow(Dice& dice, int nodes) {
    while (true) {
        Definition definition;
        definition.name = "flow";
        definition.steps = FlowMaker(dice, nodes).block(0, 1);
        if (dice.chance(15)) definition.on_error = Definition::OnError::DeadLetter;
        if (dice.chance(12)) definition.deadline = dice.pick<Duration>({20s, 2min, 10min});
        // What always fails makes what follows unreachable, which is not valid.
        if (validate(definition).empty()) return definition;
    }
}

}  // namespace ebb::test
