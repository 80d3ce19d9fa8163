#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ebb/definition.h>

#include "support/dice.h"

namespace ebb::test {

/// The edges of a graph that is being made: hands out the ways by which its nodes may be left, each
/// once.
class RandomEdges {
 public:
    explicit RandomEdges(Dice& dice) : dice_(dice) {}

    /// The next node may be left from now on.
    void add(const Node& node);

    /// The number of a node from which the one that is added next will be reached; -1: none of them
    /// can be left.
    int reach_next();

    /// Some more edges, backwards as well. True: there is a cycle now.
    bool add_more();

    /// Those of a graph with these nodes.
    std::vector<NodeGraph::Edge> edges(const Block& nodes) const;

 private:
    struct Way {
        std::size_t from = 0;
        std::string handle;
        std::size_t to = 0;  ///< the number of nodes: the graph's end
    };

    /// The free handles of a node; the empty one is its default edge.
    struct Exits {
        std::vector<std::string> free;
    };

    std::string take(std::size_t node, bool may_be_default);

    Dice& dice_;
    std::vector<Exits> exits_;
    std::vector<Way> ways_;
};

}  // namespace ebb::test
