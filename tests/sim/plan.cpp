#include "sim/plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/program.h"
#include "support/random_flow.h"

namespace ebb::sim {

namespace {

using test::Dice;
using Kind = Disturbance::Kind;

constexpr std::array<std::string_view, 6> kBehaviourNames = {
    "complete", "fail", "fail for good", "fail later", "hang", "ignore"
};

constexpr std::array<std::string_view, Disturbance::kKinds> kKindNames = {
    "crash",
    "crash before a write",
    "crash after a write",
    "unavailable",
    "busy",
    "full",
    "read-only",
    "refused",
    "never arrived",
    "in doubt",
    "late",
    "unreadable",
    "stall",
    "drain",
    "time jump",
    "skew",
    "duplicate",
    "cancel",
    "abort",
    "pause",
    "resume",
    "decide",
    "signal",
    "requeue",
};

std::vector<Behaviour> script(Dice& dice, int percent_bad) {
    std::vector<Behaviour> calls;
    for (int i = dice.below(4); i > 0; --i) {
        if (!dice.chance(percent_bad)) {
            calls.push_back(Behaviour::Complete);
            continue;
        }
        calls.push_back(dice.pick<Behaviour>(
            {Behaviour::Fail,
             Behaviour::Fail,
             Behaviour::FailForGood,
             Behaviour::FailLater,
             Behaviour::Hang,
             Behaviour::Ignore}
        ));
    }
    return calls;
}

/// Mostly a few kinds of trouble in one run: so each kind is also seen without the others.
std::vector<Kind> kinds_of_run(Dice& dice) {
    std::vector<Kind> kinds;
    const int percent = dice.pick<int>({0, 15, 15, 40, 100});
    for (int i = 0; i < Disturbance::kKinds; ++i) {
        if (dice.chance(percent)) kinds.push_back(static_cast<Kind>(i));
    }
    return kinds;
}

}  // namespace

std::string_view to_string(Behaviour behaviour) {
    return kBehaviourNames[static_cast<std::size_t>(behaviour)];
}

std::string_view to_string(Disturbance::Kind kind) {
    return kKindNames[static_cast<std::size_t>(kind)];
}

Plan make_plan(std::uint64_t seed) {
    Dice dice(seed, 1);
    Plan plan;
    plan.seed = seed;
    plan.definition = test::random_flow(dice, dice.between(1, 14));
    plan.instances = dice.chance(15) ? 2 : 1;
    const auto program = Program::compile(plan.definition);
    const int percent_bad = dice.pick<int>({0, 15, 30, 60});
    for (const std::string& handler : program->handlers()) {
        auto calls = script(dice, handler.starts_with('~') ? percent_bad / 2 : percent_bad);
        if (!calls.empty()) plan.scripts[handler] = std::move(calls);
    }
    const bool is_split = dice.chance(40);
    for (int i = dice.between(1, 3); i > 0; --i) {
        auto& handlers = plan.workers.emplace_back();
        for (const std::string& handler : program->handlers()) {
            if (!is_split || dice.chance(60)) handlers.push_back(handler);
        }
    }
    plan.ticks = dice.pick<int>({20, 60, 60, 120, 200});
    const std::vector<Kind> kinds = kinds_of_run(dice);
    const int count = kinds.empty() ? 0 : dice.below(plan.ticks / 6 + 2);
    for (int i = 0; i < count; ++i) {
        plan.disturbances.push_back(
            {.tick = dice.below(plan.ticks), .kind = dice.pick(kinds), .pick = dice.next()}
        );
    }
    std::stable_sort(
        plan.disturbances.begin(),
        plan.disturbances.end(),
        [](const Disturbance& a, const Disturbance& b) { return a.tick < b.tick; }
    );
    plan.goes_on = dice.chance(70);
    return plan;
}

std::string describe(const Plan& plan) {
    std::string text = fmt::format(
        "seed {}\ndefinition:\n{}\ninstances: {}, ticks: {}, goes on: {}\n",
        plan.seed,
        definition_to_json(plan.definition).dump(1),
        plan.instances,
        plan.ticks,
        plan.goes_on
    );
    for (std::size_t i = 0; i < plan.workers.size(); ++i) {
        text += fmt::format("worker w{}: {}\n", i + 1, fmt::join(plan.workers[i], " "));
    }
    for (const auto& [handler, calls] : plan.scripts) {
        text += handler + ":";
        for (const Behaviour call : calls) text += fmt::format(" [{}]", to_string(call));
        text += '\n';
    }
    for (const Disturbance& each : plan.disturbances) {
        text += fmt::format("at tick {}: {} ({:x})\n", each.tick, to_string(each.kind), each.pick);
    }
    return text;
}

}  // namespace ebb::sim
