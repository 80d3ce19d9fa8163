#include "sim/simplify.h"

#include <array>
#include <set>
#include <string>
#include <utility>

#include "sim/flow.h"

namespace ebb::sim {

namespace {

constexpr std::array<const char*, 7> kNodeLists = {
    "steps", "then", "else", "default", "on_reject", "do", "nodes"
};
constexpr std::array<const char*, 3> kBlockLists = {"branches", "cases", "edges"};

bool is_in(const auto& names, const std::string& name) {
    for (const char* each : names) {
        if (name == each) return true;
    }
    return false;
}

/// All nodes directly inside of a node.
Json contents(const Json& node) {
    Json all = Json::array();
    const auto add = [&all](const Json& nodes) {
        for (const Json& each : nodes) all.push_back(each);
    };
    for (const char* block : kNodeLists) {
        if (node.contains(block)) add(node.at(block));
    }
    for (const char* list : kBlockLists) {
        if (!node.contains(list)) continue;
        for (const Json& each : node.at(list)) add(each.value("do", Json::array()));
    }
    return all;
}

std::string name_of(const Json& node) {
    for (const char* kind : kNodeKinds) {
        if (node.contains(kind) && node.at(kind).is_string())
            return node.at(kind).get<std::string>();
    }
    return {};
}

/// A graph whose nodes have become fewer keeps the edges that still join two of them.
void drop_loose_edges(Json& graph) {
    std::set<std::string> names;
    for (const Json& node : graph.at("nodes")) names.insert(name_of(node));
    if (graph.contains("entry") && !names.contains(graph.at("entry").get<std::string>()))
        graph.erase("entry");
    if (!graph.contains("edges")) return;
    Json kept = Json::array();
    for (const Json& edge : graph.at("edges")) {
        const bool has_end =
            !edge.contains("to") || names.contains(edge.at("to").get<std::string>());
        if (names.contains(edge.at("from").get<std::string>()) && has_end) kept.push_back(edge);
    }
    graph["edges"] = std::move(kept);
}

/// Walks through all parts, the big ones first, and changes the one whose turn it is.
class Simplifier {
 public:
    explicit Simplifier(std::size_t number) : left_(number) {}

    bool in_object(Json& object) {
        for (const char* block : kNodeLists) {
            if (!object.contains(block) || !in_nodes(object.at(block))) continue;
            if (object.contains("graph")) drop_loose_edges(object);
            return true;
        }
        for (const char* list : kBlockLists) {
            if (object.contains(list) && in_list(object.at(list))) return true;
        }
        if (object.contains("compensate") && object.at("compensate").is_object() &&
            in_options(object.at("compensate")))
            return true;
        return in_options(object);
    }

 private:
    bool is_turn() { return left_-- == 0; }

    bool in_nodes(Json& nodes) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (is_turn()) {
                nodes.erase(i);
                return true;
            }
            const Json inside = contents(nodes[i]);
            if (!inside.empty() && is_turn()) {
                replace(nodes, i, inside);
                return true;
            }
            if (in_object(nodes[i])) return true;
        }
        return false;
    }

    static void replace(Json& nodes, std::size_t index, const Json& by) {
        Json changed = Json::array();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (i != index) {
                changed.push_back(nodes[i]);
                continue;
            }
            for (const Json& each : by) changed.push_back(each);
        }
        nodes = std::move(changed);
    }

    bool in_list(Json& list) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (is_turn()) {
                list.erase(i);
                return true;
            }
            if (in_object(list[i])) return true;
        }
        return false;
    }

    bool in_options(Json& object) {
        const Json options = object;
        for (const auto& [key, value] : options.items()) {
            const bool is_block = is_in(kNodeLists, key) && value.is_array() && !value.empty();
            const bool is_name = is_in(kNodeKinds, key) && value.is_string();
            if (is_block || is_name || is_in(kBlockLists, key)) continue;
            if (is_turn()) {
                object.erase(key);
                return true;
            }
        }
        return false;
    }

    std::size_t left_;
};

}  // namespace

std::optional<Json> simplify(const Json& definition, std::size_t number) {
    Json simpler = definition;
    return Simplifier(number).in_object(simpler) ? std::optional(std::move(simpler)) : std::nullopt;
}

int count_nodes(const Json& nodes) {
    int count = static_cast<int>(nodes.size());
    for (const Json& node : nodes) count += count_nodes(contents(node));
    return count;
}

}  // namespace ebb::sim
