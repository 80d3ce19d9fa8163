// Checks a graph: do its edges join existing nodes, can every node be reached, and does it ever
// end?

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/check_nodes.h"
#include "core/model/handles.h"
#include "core/model/words.h"
#include "support/json.h"

namespace ebb::model {

std::optional<std::vector<std::string>> own_handles(const Node& node) {
    if (std::holds_alternative<Step>(node.kind)) return std::nullopt;
    if (std::holds_alternative<HumanDecision>(node.kind)) {
        return std::vector<std::string>{
            std::string(kConfirmedHandle), std::string(kRejectedHandle)
        };
    }
    if (std::holds_alternative<Signal>(node.kind)) {
        return std::vector<std::string>{std::string(kTimeoutHandle)};
    }
    if (std::holds_alternative<Condition>(node.kind)) {
        return std::vector<std::string>{"then", "else"};
    }
    std::vector<std::string> handles;
    if (const auto* choice = std::get_if<Switch>(&node.kind)) {
        for (std::size_t i = 1; i <= choice->cases.size(); ++i) {
            handles.push_back("case " + std::to_string(i));
        }
        handles.emplace_back("default");
    }
    return handles;
}

bool may_leave_by_error(const Node& node) {
    return std::holds_alternative<Step>(node.kind) || std::holds_alternative<Delay>(node.kind) ||
           std::holds_alternative<HumanDecision>(node.kind) ||
           std::holds_alternative<Signal>(node.kind) ||
           std::holds_alternative<Condition>(node.kind) ||
           std::holds_alternative<Switch>(node.kind);
}

namespace {

bool is_handle(std::string_view handle) {
    return handle.size() <= DefinitionLimits::kNameBytesMax &&
           clean_text(handle, handle.size()) == handle &&
           std::none_of(handle.begin(), handle.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
           });
}

/// Why the node, which names the handles `own`, cannot be left by `handle`.
std::string why_impossible(
    const Node& node, const std::vector<std::string>& own, const std::string& handle
) {
    const std::string_view kind = kind_name(node);
    std::vector<std::string_view> known(own.begin(), own.end());
    if (may_leave_by_error(node)) {
        known.push_back(kErrorHandle);
    } else if (is_error_handle(handle) && !std::holds_alternative<Savepoint>(node.kind)) {
        return fmt::format(
            "What fails inside the {} \"{}\" rolls back, so no edge leads away from its failure: "
            "catch it inside, by an error edge of the step that fails, in a graph of its own.",
            kind,
            node.name
        );
    }
    if (!known.empty()) {
        return fmt::format(
            "A {} never names the handle {}; allowed are none and {}.",
            kind,
            in_quotes(handle),
            fmt::join(known, ", ")
        );
    }
    return fmt::format(
        "A {} is left by its default edge only, so nothing leaves \"{}\" by the handle {}: remove "
        "the \"handle\".",
        kind,
        node.name,
        in_quotes(handle)
    );
}

}  // namespace

void NodeChecker::check_metadata(const std::string& key, const Payload& metadata) {
    if (metadata.empty()) return;
    const PayloadLimits limits{
        .payload_bytes_max = DefinitionLimits::kDefinitionBytesMax,
        .json_depth_max = DefinitionLimits::kPayloadDepthMax
    };
    try {
        if (parse_json(metadata, "The metadata", limits).is_object()) return;
        note("wrong_type", key, "\"metadata\" must be a map, such as {x: 10, y: 20}.");
    } catch (const Error& error) {
        note("invalid_payload", key, error.what());
    }
}

void NodeChecker::check_kind(const NodeGraph& graph) {
    if (graph.nodes.empty()) {
        note("empty_block", "nodes", "The graph has no nodes: give it at least one.");
        return;
    }
    if (graph.edges.size() > DefinitionLimits::kEdgesMax) {
        note(
            "too_many_edges",
            "edges",
            fmt::format(
                "The graph has {} edges; at most {} are allowed.",
                graph.edges.size(),
                DefinitionLimits::kEdgesMax
            )
        );
        return;
    }
    const std::size_t before = findings_.all().size();
    if (!graph.entry.empty()) find_in_graph("entry", graph.entry);
    check_edges(graph);
    // Where an edge leads nowhere, what it was to reach is not unreachable too.
    if (findings_.all().size() == before) check_ways(graph);
}

void NodeChecker::check_edges(const NodeGraph& graph) {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        const NodeGraph::Edge& edge = graph.edges[i];
        const std::string key = fmt::format("edges/{}", i);
        check_edge(edge, key);
        if (edge.from.empty() || seen.insert({edge.from, edge.handle}).second) continue;
        note(
            "duplicate_edge",
            key,
            edge.handle.empty()
                ? fmt::format(
                      "{} already has a default edge: a result goes one way only. Give this one a "
                      "\"handle\", or use a parallel block.",
                      in_quotes(edge.from)
                  )
                : fmt::format(
                      "{} already has an edge for the handle {}: a result goes one way only.",
                      in_quotes(edge.from),
                      in_quotes(edge.handle)
                  )
        );
    }
}

void NodeChecker::check_edge(const NodeGraph::Edge& edge, const std::string& key) {
    if (!is_handle(edge.handle)) {
        note(
            "invalid_name",
            key + "/handle",
            fmt::format(
                "A handle is at most {} bytes of printable text.", DefinitionLimits::kNameBytesMax
            )
        );
    }
    check_metadata(key + "/metadata", edge.metadata);
    const int from = find_in_graph(key + "/from", edge.from);
    if (!edge.to.empty()) find_in_graph(key + "/to", edge.to);
    if (from >= 0) check_handle(key, from, edge.handle);
}

int NodeChecker::find_in_graph(const std::string& key, const std::string& name) {
    const int found = walk_.find(name);
    if (found >= 0 && walk_.at(found).parent == number_) return found;
    std::vector<std::string_view> known;
    for (const int node : walk_.nodes_in(number_)) known.push_back(walk_.at(node).node->name);
    std::string message = found >= 0 ? fmt::format(
                                           "{} is a node of another block, not of this graph: "
                                           "edges join the nodes of one graph.",
                                           in_quotes(name)
                                       )
                                     : fmt::format(
                                           "The graph {} has no node {}.{}",
                                           in_quotes(here().node->name),
                                           in_quotes(name),
                                           hint(name, known)
                                       );
    findings_.note({
        .diagnostic =
            {.code = "unknown_node", .path = path_ + "/" + key, .message = std::move(message)},
        .meant = found >= 0 ? std::string() : std::string(closest(name, known)),
    });
    return -1;
}

void NodeChecker::check_handle(const std::string& key, int from, const std::string& handle) {
    const Node& node = *walk_.at(from).node;
    if (std::holds_alternative<Fail>(node.kind)) {
        note(
            "impossible_handle",
            key,
            fmt::format("\"{}\" fails the instance: nothing can follow it.", node.name)
        );
        return;
    }
    const auto own = own_handles(node);
    if (handle.empty() || !own || (is_error_handle(handle) && may_leave_by_error(node))) return;
    if (std::find(own->begin(), own->end(), handle) != own->end()) return;
    note("impossible_handle", key + "/handle", why_impossible(node, *own, handle));
}

void NodeChecker::check_ways(const NodeGraph& graph) {
    const std::vector<int> nodes = walk_.nodes_in(number_);
    const int entry = graph.entry.empty() ? nodes.front() : walk_.find(graph.entry);
    std::vector<int> waiting = {entry};
    std::unordered_set<int> reached = {entry};
    while (!waiting.empty()) {
        const int number = waiting.back();
        waiting.pop_back();
        for (const int next : walk_.successors(number)) {
            if (reached.insert(next).second) waiting.push_back(next);
        }
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (reached.contains(nodes[i])) continue;
        note(
            "unreachable",
            fmt::format("nodes/{}", i),
            fmt::format(
                "No edges lead from the entry \"{}\" to this node: add one, or remove it.",
                walk_.at(entry).node->name
            )
        );
    }
    std::set<std::string_view> stays;
    for (const NodeGraph::Edge& edge : graph.edges) {
        if (edge.to.empty()) return;
        if (edge.handle.empty()) stays.insert(edge.from);
    }
    const bool ends = std::any_of(reached.begin(), reached.end(), [&](int number) {
        return !stays.contains(walk_.at(number).node->name);
    });
    if (ends) return;
    note(
        "endless_graph",
        "edges",
        "Every node has a default edge to another one, so the graph never ends: leave one out, or "
        "add an edge without \"to\", which ends the graph."
    );
}

}  // namespace ebb::model
