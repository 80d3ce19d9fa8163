#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/node_graph.h>

#include "core/model/editor_graph.h"
#include "core/model/late_text.h"
#include "core/model/words.h"
#include "support/json.h"

namespace ebb {

namespace {

using namespace model;

/// The definition's JSON is made first and then read as any other, so that both ways of writing
/// the same thing are judged alike.
class Importer {
 public:
    Importer(const Json& graph, const GraphImportOptions& options)
        : graph_(graph), options_(options) {}

    Definition run() {
        check_root();
        for (std::size_t i = 0; i < nodes().size(); ++i) note_node(i);
        Json block = {{kGraphKind, kImportedGraphName}, {"nodes", Json::array()}};
        for (std::size_t i = 0; i < nodes().size(); ++i) block["nodes"].push_back(make_node(i));
        block["edges"] = make_edges();
        if (const std::string entry = find_entry(); !entry.empty()) block["entry"] = entry;
        if (const Json rest = others(graph_, kRootKeys); !rest.empty()) block["metadata"] = rest;
        if (graph_.contains("unmatched")) block["unmatched"] = graph_["unmatched"];
        Json definition = graph_.value(kOwnKey, Json::object());
        definition["workflow"] =
            options_.workflow.empty() ? graph_.value("name", Json("")) : Json(options_.workflow);
        if (options_.version != 0) {
            definition["version"] = options_.version;
        } else if (graph_.contains("version")) {
            definition["version"] = graph_["version"];
        }
        definition["steps"] = Json::array({std::move(block)});
        if (!problems_.empty()) throw DefinitionError(std::move(problems_));
        return read(definition);
    }

 private:
    const Json& nodes() const { return graph_["nodes"]; }

    void note(std::string code, std::string path, std::string message) {
        problems_.push_back(
            {.code = std::move(code), .path = std::move(path), .message = std::move(message)}
        );
    }

    [[noreturn]] void refuse(std::string path, std::string message) {
        note("wrong_type", std::move(path), std::move(message));
        throw DefinitionError(std::move(problems_));
    }

    void check_root() {
        if (!graph_.is_object()) refuse("", "A graph must be a map with \"nodes\" and \"edges\".");
        if (!graph_.contains("nodes") || !graph_["nodes"].is_array()) {
            refuse("/nodes", "A graph needs \"nodes\", a list of {id, type, data}.");
        }
        if (graph_.contains("edges") && !graph_["edges"].is_array()) {
            refuse("/edges", "\"edges\" must be a list of {source, sourceHandle, target}.");
        }
        if (graph_.contains(kOwnKey) && !graph_[kOwnKey].is_object()) {
            refuse("/ebb", "\"ebb\" must be a map of what the workflow has besides its graph.");
        }
        for (std::size_t i = 0; i < graph_["nodes"].size(); ++i) {
            if (graph_["nodes"][i].is_object()) continue;
            refuse(fmt::format("/nodes/{}", i), "A node must be a map with \"id\" and \"type\".");
        }
    }

    /// Its id, and the name that it has in the workflow.
    void note_node(std::size_t index) {
        const Json& node = nodes()[index];
        const std::string path = fmt::format("/nodes/{}", index);
        const auto id = text_of(node, "id");
        if (!id || id->empty()) {
            note("missing_key", path + "/id", "A node needs an \"id\": the edges name it.");
            return;
        }
        if (names_.contains(*id)) {
            note(
                "duplicate_name",
                path + "/id",
                fmt::format("Another node already has the id {}.", in_quotes(*id))
            );
            return;
        }
        std::string name = name_of(*id);
        while (!taken_.insert(name).second) name += "_";
        names_[*id] = name;
        const auto type = text_of(node, "type");
        if (!type || type->empty()) {
            note(
                "missing_key",
                path + "/type",
                "A node needs a \"type\": the handler that it calls, or ebb:KIND, such as "
                "ebb:decision."
            );
        }
    }

    Json make_node(std::size_t index) {
        const Json& node = nodes()[index];
        const std::string path = fmt::format("/nodes/{}", index);
        const std::string id = text_of(node, "id").value_or("");
        const std::string type = text_of(node, "type").value_or("");
        const auto name = names_.find(id);
        if (name == names_.end()) return {};
        Json made = node.value(kOwnKey, Json::object());
        if (!made.is_object()) {
            note("wrong_type", path + "/ebb", "\"ebb\" of a node must be a map of a node's keys.");
            return {};
        }
        if (type.starts_with(kKindPrefix)) {
            const Json data = node.value("data", Json::object());
            if (!data.is_object()) {
                note("wrong_type", path + "/data", "The data of an ebb: node must be a map.");
                return {};
            }
            made.update(data);
            made[type.substr(kKindPrefix.size())] = name->second;
        } else {
            made["step"] = name->second;
            if (type != name->second) made["handler"] = type;
            if (node.contains("data") && !node["data"].is_null()) {
                made["input"] = each_text(node["data"], protect_late);
            }
        }
        Json metadata = others(node, kNodeKeys);
        if (id != name->second || !node["id"].is_string()) metadata["id"] = node["id"];
        if (!metadata.empty()) made["metadata"] = std::move(metadata);
        return made;
    }

    Json make_edges() {
        Json edges = Json::array();
        const Json& all = graph_.contains("edges") ? graph_["edges"] : kNoEdges;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string path = fmt::format("/edges/{}", i);
            if (!all[i].is_object()) {
                note("wrong_type", path, "An edge must be a map with \"source\" and \"target\".");
                continue;
            }
            Json edge = Json::object();
            edge["from"] = end_of(all[i], "source", path);
            const bool ends = !all[i].contains("target") || all[i]["target"].is_null();
            if (!ends) edge["to"] = end_of(all[i], "target", path);
            const auto handle = text_of(all[i], "sourceHandle");
            if (handle && !handle->empty()) edge["handle"] = *handle;
            const Json metadata = others(all[i], kEdgeKeys);
            if (!metadata.empty()) edge["metadata"] = metadata;
            edges.push_back(std::move(edge));
        }
        return edges;
    }

    std::string end_of(const Json& edge, const char* key, const std::string& path) {
        const std::string id = text_of(edge, key).value_or("");
        const auto found = names_.find(id);
        if (found == names_.end()) {
            std::vector<std::string_view> known;
            for (const auto& [known_id, name] : names_) known.push_back(known_id);
            note(
                "unknown_node",
                path + "/" + key,
                fmt::format("There is no node with the id {}.{}", in_quotes(id), hint(id, known))
            );
            return {};
        }
        if (std::string_view(key) == "target") reached_.insert(found->second);
        return found->second;
    }

    std::string find_entry() {
        const std::string asked =
            options_.entry.empty() ? text_of(graph_, "entry").value_or("") : options_.entry;
        if (!asked.empty()) {
            const auto found = names_.find(asked);
            if (found != names_.end()) return found->second;
            note(
                "unknown_node",
                "/entry",
                fmt::format("There is no node with the id {}.", in_quotes(asked))
            );
            return {};
        }
        std::vector<std::string> entries;
        for (const auto& [id, name] : names_) {
            if (!reached_.contains(name)) entries.push_back(id);
        }
        if (entries.size() == 1) return names_.at(entries.front());
        if (names_.empty()) return {};
        note(
            entries.empty() ? "no_entry" : "ambiguous_entry",
            "/nodes",
            entries.empty() ? "An edge leads to every node, so the graph has no beginning: name "
                              "the first node with \"entry\"."
                            : fmt::format(
                                  "No edge leads to the nodes {}: connect all but one, or name the "
                                  "first node with \"entry\".",
                                  fmt::join(entries, ", ")
                              )
        );
        return {};
    }

    /// Reads the definition; its problems have places in the editor's graph.
    Definition read(const Json& definition) const {
        try {
            return definition_from_json(definition, options_.types);
        } catch (const DefinitionError& error) {
            std::vector<Diagnostic> problems = error.diagnostics();
            for (Diagnostic& problem : problems) problem.path = editor_path(problem.path);
            throw DefinitionError(std::move(problems));
        }
    }

    static inline const Json kNoEdges = Json::array();

    const Json& graph_;
    const GraphImportOptions& options_;
    std::vector<Diagnostic> problems_;
    std::map<std::string, std::string> names_;  // by id
    std::set<std::string> taken_;
    std::set<std::string> reached_;
};

}  // namespace

Definition import_graph(const Json& graph, const GraphImportOptions& options) {
    if (json_depth(to_text(graph)) > DefinitionLimits::kDocumentDepthMax) {
        throw DefinitionError({{
            .code = "nested_too_deeply",
            .path = "",
            .message = fmt::format(
                "The graph is nested more than {} deep.", DefinitionLimits::kDocumentDepthMax
            ),
        }});
    }
    return Importer(graph, options).run();
}

bool is_editor_graph(const Json& json) {
    if (!json.is_object() || json.contains("workflow") || !json.contains("nodes")) return false;
    const Json& nodes = json["nodes"];
    return nodes.is_array() && !nodes.empty() && nodes.front().is_object() &&
           nodes.front().contains("id");
}

}  // namespace ebb
