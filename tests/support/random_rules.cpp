#include "support/random_rules.h"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/drawn.h"

namespace ebb::test {

namespace {

using Json = nlohmann::json;

constexpr int kAttributes = 4;

std::string attribute(Dice& dice) {
    return fmt::format("a{}", dice.below(kAttributes));
}

std::string value(Dice& dice) {
    return dice.pick<std::string>({"x", "y", "z"});
}

std::string condition(Dice& dice, int depth) {
    if (depth > 0 && dice.chance(45)) {
        const std::string left = condition(dice, depth - 1);
        const char* word = dice.chance(60) ? "and" : "or";
        return fmt::format("({} {} {})", left, word, condition(dice, depth - 1));
    }
    const std::string name = attribute(dice);
    const int form = dice.below(10);
    if (form < 5) return fmt::format("{} = '{}'", name, value(dice));
    if (form < 7) return fmt::format("{} <> '{}'", name, value(dice));
    return name + (form < 9 ? " is null" : " is not null");
}

Json trigger(Dice& dice, int number) {
    Json made = {{"when", condition(dice, 2)}, {"do", fmt::format("s{}", number)}};
    if (dice.chance(60)) made["compensate"] = fmt::format("~s{}", number);
    if (dice.chance(40)) made["max_attempts"] = dice.between(1, 2);
    if (dice.chance(30)) {
        Json writes = Json::array();
        for (int i = 0; i < kAttributes; ++i) {
            if (dice.chance(70)) writes.push_back(fmt::format("a{}", i));
        }
        made["writes"] = std::move(writes);
    }
    if (dice.chance(30)) made["mode"] = dice.pick<std::string>({"edge", "once"});
    if (dice.chance(15)) made["max_fires"] = dice.between(1, 3);
    if (dice.chance(20)) made["after"] = fmt::format("{}s", dice.between(1, 9));
    return made;
}

Json rules(Dice& dice) {
    Json made = {{"attributes", Json::object()}, {"triggers", Json::object()}};
    for (int i = 0; i < kAttributes; ++i) {
        Json& attribute = made["attributes"][fmt::format("a{}", i)] = Json::object();
        if (dice.chance(30)) attribute["default"] = value(dice);
        if (dice.chance(70)) attribute["external"] = true;
    }
    const int triggers = dice.between(2, 5);
    for (int i = 0; i < triggers; ++i) {
        made["triggers"][fmt::format("t{}", i)] = trigger(dice, i);
    }
    for (int i = dice.between(1, 2); i > 0; --i) {
        made["final"][fmt::format("f{}", i)] =
            Drawn{"({} and {})", condition(dice, 1), condition(dice, 1)};
    }
    if (dice.chance(40)) made["exceptions"]["bad"] = condition(dice, 1);
    if (dice.chance(25)) made["invariants"]["good"] = condition(dice, 1);
    const int reaction = dice.below(100);
    if (reaction < 20) made["on_exception"] = "compensate";
    if (reaction >= 60) {
        made["on_exception"] = {{"do", "s9"}, {"max_attempts", 1}};
        if (dice.chance(50)) made["on_exception"]["compensate"] = "~s9";
    }
    if (dice.chance(40)) made["on_idle"] = "wait";
    made["final_while_pending"] = dice.pick<std::string>({"wait", "wait", "refuse", "stop"});
    return made;
}

}  // namespace

Definition random_rules(Dice& dice) {
    Json made = {{"workflow", "flow"}, {"rules", rules(dice)}};
    made["on_error"] = dice.pick<std::string>({"compensate", "dead_letter", "exception"});
    // Rules that fire each other without end must stop.
    made["step_budget"] = dice.between(20, 60);
    return definition_from_json(made);
}

Definition with_more(Dice& dice, const Definition& rules) {
    Json made = definition_to_json(rules);
    Json& body = made.at("rules");
    for (int i = dice.below(3); i > 0; --i) {
        Json& savepoint = body["savepoints"][fmt::format("p{}", i)];
        savepoint = {{"when", condition(dice, 1)}};
        if (!dice.chance(70)) continue;
        savepoint["on_rollback"] = "resume";
        if (dice.chance(50)) savepoint["max_resumes"] = dice.between(1, 3);
    }
    // Failures are what they are for.
    if (body.contains("savepoints") && dice.chance(70)) made["on_error"] = "compensate";
    for (Json& each : body.at("triggers")) {
        if (dice.chance(40)) each["max_fires"] = dice.between(1, 4);
        if (dice.chance(20)) each["timeout"] = fmt::format("{}s", dice.between(1, 20));
        if (dice.chance(20)) each["step_timeout"] = fmt::format("{}s", dice.between(5, 60));
    }
    return definition_from_json(made);
}

Definition that_evolves(Dice& dice, const Definition& rules) {
    Json made = definition_to_json(rules);
    made["version"] = 1;
    if (dice.chance(80)) made.at("rules")["evolution"] = "follow";
    return definition_from_json(made);
}

Definition newer_version(Dice& dice, const Definition& rules) {
    Json made = definition_to_json(rules);
    made["version"] = rules.version + 1;
    Json& body = made.at("rules");
    for (Json& each : body.at("triggers")) {
        if (dice.chance(30)) each["when"] = condition(dice, 2);
        if (dice.chance(15)) each["enabled"] = !each.value("enabled", true);
        if (each.contains("max_fires") && dice.chance(20)) each["max_fires"] = dice.between(1, 4);
    }
    if (dice.chance(40)) {
        Json added = trigger(dice, dice.below(2));
        added["trigger"] = fmt::format("t{}", body.at("triggers").size());
        body.at("triggers").push_back(std::move(added));
    }
    for (Json& each : body.at("final")) {
        if (dice.chance(30))
            each["when"] = Drawn{"({} and {})", condition(dice, 1), condition(dice, 1)};
    }
    if (dice.chance(20)) body["exceptions"] = {{"bad", condition(dice, 1)}};
    return definition_from_json(made);
}

Payload random_write(Dice& dice) {
    Json made = Json::object();
    for (int i = dice.between(0, 2); i > 0; --i) {
        Json& written = made[attribute(dice)];
        if (!dice.chance(15)) written = value(dice);
    }
    if (dice.chance(2)) made["nothing"] = 1;
    if (dice.chance(2)) made["a0"] = 7;
    return Payload(made.dump());
}

}  // namespace ebb::test
