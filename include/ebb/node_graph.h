#pragma once

#include <string>

#include <ebb/definition.h>
#include <ebb/type_library.h>

// Converts graphs of visual editors (React Flow and others) to definitions and back.
//
//     {"nodes": [{"id": "1", "type": "fetch", "data": {...}, "position": {"x": 0, "y": 0}}],
//      "edges": [{"id": "e1", "source": "1", "sourceHandle": "found", "target": "2"}]}
//
// docs/how-to/graphs.md describes the conversion of each key.

namespace ebb {

struct GraphImportOptions {
    std::string workflow{};  ///< the workflow's name; empty = the graph's own `name`
    int version = 0;         ///< 0 = the graph's own `version`, or 1
    std::string entry{};     ///< a node's id; empty = the graph's own `entry`, or the only node
                             ///< that no edge leads to
    TypeLibrary types{};     ///< types for its nodes, in addition to those in the graph's `ebb`
};

/// The workflow for an editor's graph: a definition with one node, which is a graph. Values that
/// Ebb does not read (positions, ids, ...) are kept as metadata. Throws DefinitionError with all
/// problems; their paths point into `graph`.
Definition import_graph(const Json& graph, const GraphImportOptions& options = {});

/// The reverse: `import_graph(export_graph(d)) == d` for every definition from import_graph. Throws
/// Error with InvalidArgument unless the definition is one graph.
Json export_graph(const Definition& definition);

/// Whether the text looks like such a graph instead of a definition.
bool is_editor_graph(const Json& json);

}  // namespace ebb
