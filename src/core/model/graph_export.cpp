#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/node_graph.h>

#include "core/model/editor_graph.h"
#include "core/model/late_text.h"

namespace ebb {

namespace {

using namespace model;

/// What import_graph kept of an editor's map, without what it made of its id.
Json kept_of(Json& map) {
    Json kept = map.value("metadata", Json::object());
    map.erase("metadata");
    return kept;
}

Json export_node(Json node, const Node& source, std::map<std::string, Json>& ids) {
    Json out = kept_of(node);
    if (!out.contains("id")) out["id"] = source.name;
    ids[source.name] = out["id"];
    const std::string kind(kind_name(source));
    node.erase(kind);
    if (kind != "step") {
        out["type"] = std::string(kKindPrefix) + kind;
        out["data"] = std::move(node);
        return out;
    }
    out["type"] = node.value("handler", source.name);
    if (node.contains("input")) out["data"] = each_text(node["input"], expose_late);
    node.erase("handler");
    node.erase("input");
    if (!node.empty()) out[kOwnKey] = std::move(node);
    return out;
}

Json export_edge(Json edge, const std::map<std::string, Json>& ids) {
    Json out = kept_of(edge);
    out["source"] = ids.at(edge["from"].get<std::string>());
    if (edge.contains("to")) out["target"] = ids.at(edge["to"].get<std::string>());
    if (edge.contains("handle")) out["sourceHandle"] = edge["handle"];
    return out;
}

}  // namespace

Json export_graph(const Definition& definition) {
    const NodeGraph* graph = definition.steps.size() == 1
                                 ? std::get_if<NodeGraph>(&definition.steps.front().kind)
                                 : nullptr;
    if (graph == nullptr) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "The workflow \"{}\" is not one graph, so it cannot be exported as one.",
                definition.name
            )
        );
    }
    Json own = definition_to_json(definition);
    Json block = own["steps"][0];
    Json out = kept_of(block);
    out["name"] = definition.name;
    out["version"] = definition.version;
    std::map<std::string, Json> ids;
    out["nodes"] = Json::array();
    for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
        out["nodes"].push_back(export_node(block["nodes"][i], graph->nodes[i], ids));
    }
    out["edges"] = Json::array();
    for (const Json& edge : block.value("edges", Json::array())) {
        out["edges"].push_back(export_edge(edge, ids));
    }
    const std::string& entry = graph->entry.empty() ? graph->nodes.front().name : graph->entry;
    out["entry"] = ids.at(entry);
    if (block.contains("unmatched")) out["unmatched"] = block["unmatched"];
    for (const char* key : {"workflow", "version", "steps"}) own.erase(key);
    if (!own.empty()) out[kOwnKey] = std::move(own);
    return out;
}

}  // namespace ebb
