#include "sim/plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/kernel/program.h"
#include "core/rules/write.h"
#include "support/random_flow.h"
#include "support/random_rules.h"

namespace ebb::sim {

namespace {

using test::Dice;
using Kind = Disturbance::Kind;

/// One plan of so many is small and mostly about decisions of people, which are rare in the others.
constexpr std::uint64_t kPlansForPeople = 8;
constexpr int kNodesOfPeopleMax = 12;

constexpr std::array<std::string_view, 9> kBehaviourNames = {
    "complete", "fail", "fail for good", "fail later", "garble", "hang", "ignore", "pause", "astray"
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
    "purge",
    "export",
    "abroad",
    "import",
    "cancel",
    "abort",
    "pause",
    "resume",
    "decide",
    "signal",
    "requeue",
    "twin",
    "write",
    "rematch",
    "recover",
    "evolve",
};

std::vector<Behaviour> script(Dice& dice, int percent_bad) {
    std::vector<Behaviour> calls;
    for (int i = dice.below(6); i > 0; --i) {
        if (!dice.chance(percent_bad)) {
            calls.push_back(Behaviour::Complete);
            continue;
        }
        calls.push_back(dice.pick<Behaviour>(
            {Behaviour::Fail,
             Behaviour::Fail,
             Behaviour::Fail,
             Behaviour::FailForGood,
             Behaviour::FailLater,
             Behaviour::Garble,
             Behaviour::Hang,
             Behaviour::Ignore,
             Behaviour::Pause,
             Behaviour::Pause,
             Behaviour::Astray}
        ));
    }
    return calls;
}

void plan_scripts(Dice& dice, Plan& plan, const Program& program) {
    const int percent_bad = dice.pick<int>({0, 5, 15, 40});
    for (const std::string& handler : program.handlers()) {
        auto calls = script(dice, handler.starts_with('~') ? percent_bad : percent_bad * 2 / 3);
        if (!calls.empty()) plan.scripts[handler] = std::move(calls);
    }
}

void plan_workers(Dice& dice, Plan& plan, const Program& program) {
    const bool is_split = dice.chance(40);
    for (int i = dice.between(1, 4); i > 0; --i) {
        auto& handlers = plan.workers.emplace_back();
        for (const std::string& handler : program.handlers()) {
            if (!is_split || dice.chance(60)) handlers.push_back(handler);
        }
    }
}

/// Mostly a few kinds of trouble in one run: so each kind is also seen without the others.
/// What ends an instance is planned apart, or hardly any would live long; and who has left comes
/// back.
std::vector<Kind> kinds_of_run(Dice& dice) {
    std::vector<Kind> kinds;
    const int percent = dice.pick<int>({0, 0, 15, 15, 40, 100});
    for (int i = 0; i < Disturbance::kKinds; ++i) {
        const auto kind = static_cast<Kind>(i);
        const bool is_apart = kind == Kind::Cancel || kind == Kind::Abort || kind == Kind::Abroad ||
                              kind == Kind::Import || kind == Kind::Twin || kind >= Kind::Write;
        if (!is_apart && dice.chance(percent)) kinds.push_back(kind);
    }
    return kinds;
}

/// Puts steps, wherever they stand in `json`, into queues.
void put_into_queues(Dice& dice, nlohmann::json& json) {
    if (json.is_object() && json.contains("step") && json.at("step").is_string()) {
        if (dice.chance(60)) json["queue"] = dice.pick<std::string>({"q1", "q1", "q2"});
        // A map is not a key: the step fails.
        const char* key = dice.chance(3) ? "workflow.input" : "workflow.input.n";
        if (dice.chance(60)) json["concurrency_key"] = key;
    }
    if (!json.is_structured()) return;
    for (auto& part : json) put_into_queues(dice, part);
}

/// By dice of its own, so that all other plans stay what they were.
void plan_queues(Plan& plan) {
    Dice dice(plan.seed, 3);
    if (!dice.chance(35)) return;
    nlohmann::json definition = definition_to_json(plan.definition);
    put_into_queues(dice, definition.at("steps"));
    plan.definition = definition_from_json(definition);
    for (const char* name : {"q1", "q2"}) {
        QueueLimits limits;
        if (dice.chance(60)) limits.concurrency = dice.between(1, 3);
        if (dice.chance(50)) limits.concurrency_per_key = 1;
        if (dice.chance(30)) {
            limits.rate = QueueRate{dice.between(1, 4), std::chrono::seconds(dice.between(1, 9))};
        }
        if (!limits.is_unlimited()) plan.queues[name] = limits;
    }
}

void sort_by_tick(std::vector<Disturbance>& disturbances) {
    std::stable_sort(
        disturbances.begin(),
        disturbances.end(),
        [](const Disturbance& a, const Disturbance& b) { return a.tick < b.tick; }
    );
}

/// By dice of its own, too.
void plan_twins(Plan& plan) {
    Dice dice(plan.seed, 4);
    if (!dice.chance(20)) return;
    for (int i = dice.between(1, 3); i > 0; --i) {
        plan.disturbances.push_back(
            {.tick = dice.below(plan.ticks), .kind = Kind::Twin, .pick = dice.next()}
        );
    }
    sort_by_tick(plan.disturbances);
}

void plan_disturbances(Dice& dice, Plan& plan) {
    const auto add = [&](Kind kind) {
        plan.disturbances.push_back(
            {.tick = dice.below(plan.ticks), .kind = kind, .pick = dice.next()}
        );
    };
    const std::vector<Kind> kinds = kinds_of_run(dice);
    const int count = kinds.empty() ? 0 : dice.below(plan.ticks / dice.pick<int>({6, 25}) + 2);
    for (int i = 0; i < count; ++i) add(dice.pick(kinds));
    const std::size_t planned = plan.disturbances.size();
    for (std::size_t i = 0; i < planned; ++i) {
        if (plan.disturbances[i].kind != Kind::Export) continue;
        // About the same instance.
        Disturbance next = plan.disturbances[i];
        next.kind = Kind::Abroad;
        for (int steps = dice.below(3); steps > 0; --steps) {
            next.tick += dice.between(1, 15);
            plan.disturbances.push_back(next);
        }
        next.tick += dice.between(1, 40);
        next.kind = Kind::Import;
        plan.disturbances.push_back(next);
    }
    if (dice.chance(18)) {
        for (int i = dice.between(1, 3); i > 0; --i) add(Kind::Cancel);
    }
    if (dice.chance(8)) add(Kind::Abort);
    sort_by_tick(plan.disturbances);
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
    const int nodes = dice.pick<int>({8, 25, 45, 70});
    test::FlowShape shape{
        .nodes = dice.between(nodes / 3, nodes), .percent_trouble = dice.pick<int>({0, 0, 15, 50})
    };
    const bool is_of_people = seed % kPlansForPeople == 1;
    if (is_of_people) {
        shape.nodes = std::min(shape.nodes, kNodesOfPeopleMax);
        shape.percent_people = 35;
    }
    plan.definition = test::random_flow(dice, shape);
    for (int i = dice.pick<int>({1, 1, 1, 2, 3}); i > 0; --i) {
        plan.inputs.push_back(fmt::format("{{\"n\":{}}}", dice.below(4)));
    }
    const auto program = Program::compile(plan.definition);
    plan_scripts(dice, plan, *program);
    plan_workers(dice, plan, *program);
    plan.ticks = dice.pick<int>({30, 100, 300, 800});
    plan.percent_helpful = dice.pick<int>({0, 4, 12});
    if (is_of_people) plan.percent_helpful = 12;
    plan.seconds_max = dice.pick<int>({1, 1, 3, 10});
    plan_disturbances(dice, plan);
    plan.goes_on = dice.chance(75);
    plan_queues(plan);
    plan_twins(plan);
    return plan;
}

namespace {

/// An input with which the instance starts; empty: there is none for these rules.
Payload input_for(Dice& dice, const Program& program) {
    constexpr int kTriesMax = 30;
    for (int i = 0; i < kTriesMax; ++i) {
        const Payload input = test::random_write(dice);
        const rules::Outcome outcome = rules::write(
            *program.rules(),
            program.rules()->initial_state(),
            {.source = rules::Write::Source::Start, .values = input, .seq = 1}
        );
        if (outcome.verdict != rules::Outcome::Verdict::Refused) return input;
    }
    return {};
}

/// What steps and graphs alone know: pauses, handles.
void drop_foreign_behaviours(Plan& plan) {
    for (auto& [handler, calls] : plan.scripts) {
        for (Behaviour& call : calls) {
            const bool is_foreign = call == Behaviour::Pause || call == Behaviour::Astray;
            if (is_foreign) call = Behaviour::Fail;
        }
    }
}

/// What instances with rules can be asked for besides, by dice of its own: half of the plans are
/// what they are without.
void plan_more_rules(Plan& plan) {
    Dice dice(plan.seed, 6);
    if (!dice.chance(50)) return;
    plan.definition = test::with_more(dice, plan.definition);
    const auto add = [&](Kind kind, int most) {
        for (int i = dice.below(most + 1); i > 0; --i) {
            plan.disturbances.push_back(
                {.tick = dice.below(plan.ticks), .kind = kind, .pick = dice.next()}
            );
        }
    };
    add(Kind::Rematch, 2);
    add(Kind::Recover, 5);
    sort_by_tick(plan.disturbances);
}

/// Newer versions of the rules, by dice of its own, too.
void plan_versions(Plan& plan) {
    Dice dice(plan.seed, 7);
    if (!dice.chance(30)) return;
    plan.definition = test::that_evolves(dice, plan.definition);
    for (int i = dice.between(1, 3); i > 0; --i) {
        const Definition& before = plan.versions.empty() ? plan.definition : plan.versions.back();
        plan.versions.push_back(test::newer_version(dice, before));
        plan.disturbances.push_back(
            {.tick = dice.below(plan.ticks), .kind = Kind::Evolve, .pick = dice.next()}
        );
    }
    sort_by_tick(plan.disturbances);
}

}  // namespace

Plan make_rules_plan(std::uint64_t seed) {
    Dice dice(seed, 5);
    Plan plan;
    plan.seed = seed;
    std::shared_ptr<const Program> program;
    while (plan.inputs.empty()) {
        plan.definition = test::random_rules(dice);
        program = Program::compile(plan.definition);
        Payload input = input_for(dice, *program);
        if (!input.empty()) plan.inputs.push_back(std::move(input));
    }
    plan_scripts(dice, plan, *program);
    drop_foreign_behaviours(plan);
    plan_workers(dice, plan, *program);
    plan.ticks = dice.pick<int>({30, 100, 300});
    plan.percent_helpful = dice.pick<int>({0, 4, 12});
    plan.seconds_max = dice.pick<int>({1, 1, 3, 10});
    plan_disturbances(dice, plan);
    // An instance with rules stays where it is.
    std::erase_if(plan.disturbances, [](const Disturbance& each) {
        return each.kind == Kind::Export || each.kind == Kind::Abroad || each.kind == Kind::Import;
    });
    for (int i = dice.below(8); i > 0; --i) {
        plan.disturbances.push_back(
            {.tick = dice.below(plan.ticks), .kind = Kind::Write, .pick = dice.next()}
        );
    }
    sort_by_tick(plan.disturbances);
    plan.goes_on = dice.chance(75);
    plan_more_rules(plan);
    plan_versions(plan);
    return plan;
}

std::string describe(const Plan& plan) {
    std::string text = fmt::format(
        "seed {}\ndefinition:\n{}\ninputs: {}\nticks: {}, helpful: {} %, clock: {} s, goes on: "
        "{}\n",
        plan.seed,
        definition_to_json(plan.definition).dump(1),
        fmt::join(plan.inputs, " "),
        plan.ticks,
        plan.percent_helpful,
        plan.seconds_max,
        plan.goes_on
    );
    for (const Definition& version : plan.versions) {
        text += "version:\n" + definition_to_json(version).dump(1) + "\n";
    }
    for (std::size_t i = 0; i < plan.workers.size(); ++i) {
        text += fmt::format("worker w{}: {}\n", i + 1, fmt::join(plan.workers[i], " "));
    }
    for (const auto& [name, limits] : plan.queues) {
        text += fmt::format(
            "queue {}: {} at once, {} of a key, {} in {} s\n",
            name,
            limits.concurrency.value_or(-1),
            limits.concurrency_per_key.value_or(-1),
            limits.rate ? limits.rate->starts : -1,
            limits.rate ? limits.rate->period / std::chrono::seconds(1) : 0
        );
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
