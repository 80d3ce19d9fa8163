#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ebb/definition.h>

// Short words for definitions in tests of the kernel.

namespace ebb::test {

struct StepOptions {
    bool is_compensated = true;  ///< by `~name`
    int max_attempts = 1;
    int compensation_attempts = 1;
    std::string input;
};

inline Node step(const std::string& name, const StepOptions& options = {}) {
    Step step;
    step.attempts.max_attempts = options.max_attempts;
    step.attempts.backoff.jitter = 0;
    step.input = options.input;
    if (options.is_compensated) {
        step.compensate = Compensation{.handler = "~" + name};
        step.compensate->attempts.max_attempts = options.compensation_attempts;
    }
    return {.name = name, .description = {}, .kind = std::move(step)};
}

inline Node node(const std::string& name, Node::Kind kind) {
    return {.name = name, .description = {}, .kind = std::move(kind)};
}

inline Node parallel(
    const std::string& name,
    std::vector<Parallel::Branch> branches,
    int join = 0,
    Parallel::Losers losers = Parallel::Losers::Compensate
) {
    return node(name, Parallel{.branches = std::move(branches), .join = join, .losers = losers});
}

inline Node condition(
    const std::string& name, const std::string& when, Block then, Block otherwise = {}
) {
    return node(
        name, Condition{.when = when, .then = std::move(then), .otherwise = std::move(otherwise)}
    );
}

inline Node savepoint(const std::string& name, Savepoint savepoint = {}) {
    return node(name, savepoint);
}

inline Definition workflow(Block steps) {
    Definition definition;
    definition.name = "test";
    definition.steps = std::move(steps);
    return definition;
}

}  // namespace ebb::test
