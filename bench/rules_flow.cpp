#include "rules_flow.h"

#include <fmt/format.h>

namespace ebb::bench {

namespace {

void add(Definition& definition, std::string name, Trigger trigger) {
    definition.rules->triggers.push_back(std::move(trigger));
    definition.steps.push_back({.name = std::move(name), .description = {}, .kind = Step{}});
}

}  // namespace

Load three_transitions(int idle_triggers) {
    Load load;
    load.definition = {.name = "rules"};
    load.definition.rules.emplace();
    Rules& rules = *load.definition.rules;
    rules.attributes = {
        {.name = "at", .type = AttributeType::Integer, .initial = "0"}, {.name = "idle"}
    };
    load.handlers = {};
    for (int i = 0; i < 3; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        add(load.definition, name, {.when = fmt::format("at = {}", i)});
        load.handlers.add_raw(
            name,
            Handler([output = Payload::text(fmt::format("{{\"at\":{}}}", i + 1)
                     )](const Payload&, const StepContext&) { return output; })
        );
    }
    for (int i = 0; i < idle_triggers; ++i) {
        const std::string name = fmt::format("idle_{}", i);
        add(load.definition, name, {.when = fmt::format("idle = '{}' and at > 1", i)});
        load.handlers.add_raw(name, Handler([](const Payload& input, const StepContext&) {
                                  return input;
                              }));
    }
    rules.finals = {{.name = "done", .when = "at = 3"}};
    load.steps = 3;
    return load;
}

Definition looking() {
    Definition made{.name = "looking"};
    made.rules.emplace();
    made.rules->attributes = {
        {.name = "n", .type = AttributeType::Integer, .initial = "0", .is_external = true},
        {.name = "seen", .type = AttributeType::Integer, .initial = "0"}
    };
    made.rules->on_idle = Rules::OnIdle::Wait;
    add(made, "look", {.when = "n > seen"});
    return made;
}

Definition counting(std::int64_t end) {
    Definition made{.name = "counting"};
    made.rules.emplace();
    made.rules->attributes = {{.name = "n", .type = AttributeType::Integer, .initial = "0"}};
    made.rules->finals = {{.name = "done", .when = fmt::format("n = {}", end)}};
    add(made, "count", {.when = fmt::format("n < {}", end)});
    return made;
}

}  // namespace ebb::bench
