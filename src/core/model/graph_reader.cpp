#include <utility>

#include <fmt/format.h>

#include "core/model/reader.h"

namespace ebb::model {

namespace {

// What cannot be read leaves an empty edge in its place, so that those after it keep their numbers.

NodeGraph::Edge read_edge(Problems& problems, const Document& value, const std::string& path) {
    if (!value.is_map()) {
        problems.set_incomplete();
        problems.add(
            "wrong_type",
            path,
            value,
            fmt::format(
                "An edge must be a map with \"from\" and \"to\", but here is {}.", describe(value)
            )
        );
        return {};
    }
    const MapReader map(problems, value, path);
    map.allow_only({"from", "handle", "to", "metadata"});
    map.require("from", "it is the node whose result goes this way");
    return {
        .from = map.text("from"),
        .handle = map.text("handle"),
        .to = map.text("to"),
        .metadata = map.payload("metadata"),
    };
}

std::vector<NodeGraph::Edge> read_edges(const MapReader& map) {
    std::vector<NodeGraph::Edge> edges;
    const Document* value = map.find("edges");
    if (value == nullptr) return edges;
    if (!value->is_list()) {
        map.problems().set_incomplete();
        map.note(
            "wrong_type",
            "edges",
            fmt::format(
                "\"edges\" must be a list of {{from, handle, to}}, but here is {}.",
                describe(*value)
            )
        );
        return edges;
    }
    const std::string path = map.path_of("edges");
    for (std::size_t i = 0; i < value->elements.size(); ++i) {
        const std::string place = fmt::format("{}/{}", path, i);
        edges.push_back(read_edge(map.problems(), value->elements[i], place));
    }
    return edges;
}

}  // namespace

NodeGraph read_graph(const MapReader& map, const StepDefaults& defaults) {
    return {
        .entry = map.text("entry"),
        .nodes = read_block(map, "nodes", defaults),
        .edges = read_edges(map),
        .unmatched = map.word("unmatched", kUnmatchedWords, NodeGraph{}.unmatched),
    };
}

}  // namespace ebb::model
