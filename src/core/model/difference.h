#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <ebb/definition.h>

// What differs between two workflows, node by node. A node is the same if it has the same name.

namespace ebb::model {

/// A value of the JSON form that only one of the two has, or that differs.
struct FieldChange {
    std::string pointer{};                ///< within the node or the workflow: `/backoff/initial`
    std::optional<std::string> before{};  ///< JSON text; absent: the member does not exist
    std::optional<std::string> after{};

    bool operator==(const FieldChange&) const = default;
};

struct NodeChange {
    enum class Kind { Added, Removed, Changed, Moved };

    Kind kind = Kind::Changed;  ///< Moved: nothing else has changed
    std::string name{};
    std::string node_kind{};       ///< `step`, ...; of the second workflow if it has the node
    std::string pointer_before{};  ///< empty if it was added
    std::string pointer_after{};   ///< empty if it was removed
    bool is_moved = false;         ///< to another block, or past other nodes of its block
    std::vector<FieldChange> fields{};

    bool operator==(const NodeChange&) const = default;
};

/// `added`, `removed`, `changed`, `moved`.
std::string_view to_string(NodeChange::Kind kind);

struct Difference {
    std::vector<FieldChange> workflow{};  ///< of what is not a node
    std::vector<NodeChange> nodes{};      ///< in the order of the second workflow; a removed node
                                          ///< stands behind the one that was before it

    bool is_empty() const { return workflow.empty() && nodes.empty(); }

    /// The content differs, but name and version are the same: a store would refuse it.
    bool needs_version = false;
};

/// Both may be invalid, but must hold only payloads that are JSON.
Difference compare(const Definition& before, const Definition& after);

/// The second workflow and in it the nodes that only the first one has, where they were. Of
/// workflows with rules only the second one.
Definition with_removed_nodes(const Definition& before, const Definition& after);

}  // namespace ebb::model
