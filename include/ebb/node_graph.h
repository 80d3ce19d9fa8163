#pragma once

#include <string>

#include <ebb/definition.h>
#include <ebb/type_library.h>

// Graphs as visual editors (React Flow and others) write them, to definitions and back.
//
//     {"nodes": [{"id": "1", "type": "fetch", "data": {...}, "position": {"x": 0, "y": 0}}],
//      "edges": [{"id": "e1", "source": "1", "sourceHandle": "found", "target": "2"}]}
//
// See docs/how-to/graphs.md for what becomes of each key.

namespace ebb {

struct GraphImportOptions {
    std::string workflow{};  ///< the workflow's name; empty = the graph's own `name`
    int version = 0;         ///< 0 = the graph's own `version`, or 1
    std::string entry{};     ///< a node's id; empty = the graph's own `entry`, or the only node
                             ///< that no edge leads to
    TypeLibrary types{};     ///< that its nodes may be of, besides those of the graph's `ebb`
};

/// The workflow that an editor's graph means: a definition of one node, which is a graph. What Ebb
/// does not read (positions, ids, ...) is kept as metadata. Throws DefinitionError with all
/// problems; their paths lead into `graph`.
Definition import_graph(const Json& graph, const GraphImportOptions& options = {});

/// The reverse: `import_graph(export_graph(d)) == d` for every definition that import_graph gave.
/// Throws Error with InvalidArgument unless the definition is one graph.
Json export_graph(const Definition& definition);

/// Does it look like such a graph, rather than like a definition?
bool is_editor_graph(const Json& json);

}  // namespace ebb
