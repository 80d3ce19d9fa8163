// The cluster runs another definition than the checker reads: how a kernel that misreads one
// option looks from outside.

#include <utility>

#include "sim/planted.h"

namespace ebb::sim {

namespace {

using Json = nlohmann::json;

bool erase(Json& node, const char* key) {
    return node.erase(key) > 0;
}

bool add_to(Json& node, const char* key, int by) {
    if (!node.contains(key)) return false;
    node[key] = node.at(key).get<int>() + by;
    return true;
}

PlantedBug at_node(std::string name, std::function<bool(Json&)> change) {
    return {.name = std::move(name), .node = std::move(change)};
}

PlantedBug without(std::string name, const char* key) {
    return at_node(std::move(name), [key](Json& node) { return erase(node, key); });
}

std::vector<PlantedBug> of_steps() {
    return {
        at_node(
            "an attempt too many",
            [](Json& node) {
                if (!node.contains("step") || node.value("non_idempotent", false)) return false;
                node["max_attempts"] = node.value("max_attempts", 3) + 1;
                return true;
            }
        ),
        at_node(
            "an attempt too few",
            [](Json& node) {
                const bool is_once = node.value("non_idempotent", false);
                if (!node.contains("step") || is_once || node.value("max_attempts", 3) == 1)
                    return false;
                node["max_attempts"] = node.value("max_attempts", 3) - 1;
                return true;
            }
        ),
        at_node(
            "a compensation tried too often",
            [](Json& node) {
                if (!node.contains("compensate") || !node.at("compensate").is_object())
                    return false;
                Json& compensation = node.at("compensate");
                compensation["max_attempts"] = compensation.value("max_attempts", 3) + 1;
                return true;
            }
        ),
        without("no step is compensated", "compensate"),
        without("templates of inputs are not read", "input"),
        without("a non-idempotent step is called again", "non_idempotent"),
    };
}

std::vector<PlantedBug> of_blocks() {
    return {
        at_node(
            "a loser of an any or n join is not compensated",
            [](Json& node) {
                if (!node.contains("parallel") || node.contains("losers")) return false;
                node["losers"] = "keep";
                return true;
            }
        ),
        without("losers are compensated that were to be kept", "losers"),
        without("every join waits for all", "join"),
        at_node(
            "every join takes the first",
            [](Json& node) {
                const bool is_any = node.value("join", Json()) == "any";
                if (!node.contains("parallel") || is_any) return false;
                node["join"] = "any";
                return true;
            }
        ),
        at_node(
            "conditions go the other way",
            [](Json& node) {
                if (!node.contains("condition")) return false;
                const Json then = node.value("then", Json::array());
                node["then"] = node.value("else", Json::array());
                node["else"] = then;
                return true;
            }
        ),
        at_node(
            "while is read as until",
            [](Json& node) {
                if (!node.contains("loop") || !node.contains("while")) return false;
                node["until"] = node.at("while");
                return erase(node, "while");
            }
        ),
        at_node(
            "a loop makes a turn too many",
            [](Json& node) { return add_to(node, "max_iterations", 1); }
        ),
    };
}

std::vector<PlantedBug> of_waits() {
    return {
        without("one vote is enough", "quorum"),
        without("anybody may decide", "roles"),
        without("a reject fails where it should lead on", "on_reject"),
        at_node(
            "delays are half as long",
            [](Json& node) {
                if (node.value("for", "") != "20s") return false;
                node["for"] = "10s";
                return true;
            }
        ),
        without("deadlines of people and signals are not kept", "deadline"),
        without("no savepoint is resumed", "on_rollback"),
        at_node(
            "a savepoint is resumed too often",
            [](Json& node) { return add_to(node, "max_resumes", 1); }
        ),
        {.name = "dead-letter mode rolls back",
         .definition = [](Json& definition) { return erase(definition, "on_error"); }},
        {.name = "the output's template is not read",
         .definition = [](Json& definition) { return erase(definition, "output"); }},
        {.name = "the step budget is not kept",
         .definition = [](Json& definition) { return erase(definition, "step_budget"); }},
        {.name = "the instance's deadline is not kept",
         .definition = [](Json& definition) { return erase(definition, "deadline"); }},
    };
}

}  // namespace

std::vector<PlantedBug> planted_flow_bugs() {
    std::vector<PlantedBug> all;
    for (auto& some : {of_steps(), of_blocks(), of_waits()}) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace ebb::sim
