#pragma once

#include <map>
#include <string>
#include <vector>

#include <ebb/definition.h>

namespace ebb::cli {

/// What the displays need to know of one node.
struct NodeFacts {
    std::string kind{};
    std::string handler{};
    std::string compensation{};  ///< the handler that undoes it; empty = none
    std::string signal{};
    std::vector<std::string> roles{};
    int max_attempts = 0;
    int depth = 0;  ///< how many blocks are around it

    /// A block around it: the block's own node, and which of its branches.
    struct Around {
        std::string block{};
        std::string branch{};  ///< empty: a loop or a graph, which has only one

        bool operator==(const Around&) const = default;
    };

    std::vector<Around> around{};  ///< the outermost first
};

/// The nodes of a definition by their names, however deep they lie.
using NodeIndexByName = std::map<std::string, NodeFacts, std::less<>>;

NodeIndexByName index_nodes(const Definition& definition);

}  // namespace ebb::cli
