// The cluster runs a different definition than the checker reads. From outside, this looks like a
// kernel that misreads one option.

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
            "one attempt too many",
            [](Json& node) {
                if (!node.contains("step") || node.value("non_idempotent", false)) return false;
                node["max_attempts"] = node.value("max_attempts", 3) + 1;
                return true;
            }
        ),
        at_node(
            "one attempt too few",
            [](Json& node) {
                const bool is_once = node.value("non_idempotent", false);
                if (!node.contains("step") || is_once || node.value("max_attempts", 3) == 1)
                    return false;
                node["max_attempts"] = node.value("max_attempts", 3) - 1;
                return true;
            }
        ),
        at_node(
            "a compensation is attempted too often",
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
        without("losers that should be kept are compensated", "losers"),
        without("every join waits for all branches", "join"),
        at_node(
            "every join takes the first branch",
            [](Json& node) {
                const bool is_any = node.value("join", Json()) == "any";
                if (!node.contains("parallel") || is_any) return false;
                node["join"] = "any";
                return true;
            }
        ),
        at_node(
            "conditions take the wrong side",
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
            "a loop makes one turn too many",
            [](Json& node) { return add_to(node, "max_iterations", 1); }
        ),
    };
}

/// The targets of two edges with handles are exchanged.
bool swap_handles(Json& node) {
    if (!node.contains("graph") || !node.contains("edges")) return false;
    Json& edges = node.at("edges");
    for (Json& one : edges) {
        for (Json& other : edges) {
            const bool is_pair = one.value("from", "") == other.value("from", "") &&
                                 one.value("handle", "") < other.value("handle", "") &&
                                 one.value("to", "") != other.value("to", "");
            if (!is_pair) continue;
            std::swap(one["to"], other["to"]);
            for (Json* edge : {&one, &other}) {
                if (edge->at("to").is_null()) edge->erase("to");
            }
            return true;
        }
    }
    return false;
}

bool drop_error_edges(Json& node) {
    if (!node.contains("graph") || !node.contains("edges")) return false;
    Json kept = Json::array();
    for (const Json& edge : node.at("edges")) {
        if (!edge.value("handle", "").starts_with("error")) kept.push_back(edge);
    }
    const bool has_some = kept.size() < node.at("edges").size();
    node["edges"] = std::move(kept);
    return has_some;
}

/// Every handle that a step names takes the default edge.
bool forget_next(Json& node) {
    return node.contains("step") && erase(node, "next");
}

std::vector<PlantedBug> of_graphs() {
    return {
        at_node("a graph takes the edge of the wrong handle", swap_handles),
        at_node("error edges are ignored", drop_error_edges),
        at_node("a step's next is not read", forget_next),
        at_node(
            "an unmatched handle ends the graph silently",
            [](Json& node) {
                if (!node.contains("graph") || node.contains("unmatched")) return false;
                node["unmatched"] = "complete";
                return true;
            }
        ),
        at_node(
            "every graph begins with its first node",
            [](Json& node) { return node.contains("graph") && erase(node, "entry"); }
        ),
    };
}

std::vector<PlantedBug> of_waits() {
    return {
        without("one vote is enough", "quorum"),
        without("any person may decide", "roles"),
        without("a reject fails although it has an edge", "on_reject"),
        at_node(
            "delays are half as long",
            [](Json& node) {
                if (node.value("for", "") != "20s") return false;
                node["for"] = "10s";
                return true;
            }
        ),
        without("deadlines of decisions and signals are ignored", "deadline"),
        without("no savepoint is resumed", "on_rollback"),
        at_node(
            "a savepoint is resumed too often",
            [](Json& node) { return add_to(node, "max_resumes", 1); }
        ),
        {.name = "dead-letter mode rolls back",
         .definition = [](Json& definition) { return erase(definition, "on_error"); }},
        {.name = "the template of the output is ignored",
         .definition = [](Json& definition) { return erase(definition, "output"); }},
        {.name = "the step budget is ignored",
         .definition = [](Json& definition) { return erase(definition, "step_budget"); }},
        {.name = "the deadline of the instance is ignored",
         .definition = [](Json& definition) { return erase(definition, "deadline"); }},
    };
}

}  // namespace

std::vector<PlantedBug> planted_flow_bugs() {
    std::vector<PlantedBug> all;
    for (auto& some : {of_steps(), of_blocks(), of_graphs(), of_waits()}) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace ebb::sim
