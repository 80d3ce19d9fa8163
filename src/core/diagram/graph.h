#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <ebb/definition.h>
#include <ebb/diagram.h>

#include "core/diagram/notes.h"

// What every picture shows, without a word about where things are: nodes, edges, and the tree of
// blocks around them.

namespace ebb::diagram {

using NodeIndex = std::size_t;
using BlockIndex = std::size_t;

enum class Shape {
    Start,
    End,
    Step,
    Condition,
    Switch,
    Fork,
    Join,
    Merge,   ///< where the sides of a condition or switch, or a loop's exit, come together
    Repeat,  ///< where an `until` loop comes back to
    Loop,    ///< the test of a loop
    Delay,
    Decision,
    Signal,
    Savepoint,
    Fail,
    Graph  ///< where a graph of nodes and edges is entered
};

struct GraphNode {
    Shape shape = Shape::Step;
    std::string name;       ///< of the node of the definition; empty for what has no name there
    std::string label;      ///< the node's name; of a join: what it waits for
    std::string sublabel;   ///< handler, expression, duration, ...
    std::string condition;  ///< of a transition of rules: when it fires; pictures in text show it
    std::string description;
    std::string compensation;      ///< the handler that undoes it; empty = none, or not shown
    std::string exit_label;        ///< of the edge to what follows
    std::string ways;              ///< of a node of a graph: where its edges lead, in words
    std::optional<StepMark> mark;  ///< present on named nodes of an instance's picture
    bool is_off = false;           ///< in a branch that was not taken: drawn faintly
    std::optional<Note> note;      ///< what the picture says besides
};

struct GraphEdge {
    enum class Kind {
        Next,    ///< to what follows in the same sequence
        Enter,   ///< from a block's head into a lane
        Leave,   ///< out of a lane to the block's tail
        Bypass,  ///< from head to tail along an empty lane
        Exit,    ///< from a `while` loop's test past its body
        Back,    ///< to a loop's next turn
        Jump     ///< between any two nodes of a graph, beside them
    };

    NodeIndex from = 0;
    NodeIndex to = 0;
    Kind kind = Kind::Next;
    std::string label;
    BlockIndex lane = 0;  ///< of Enter, Leave and Bypass; of Exit, Back and Jump: the body
    // Of a jump.
    std::size_t slot = 0;  ///< which of the ways beside the body
    double out = 0.5;      ///< where along its side the first node is left, from 0 to 1
    double in = 0.5;       ///< and the other one entered
};

struct NodeRef {
    NodeIndex index;
};

struct BlockRef {
    BlockIndex index;
};

using Item = std::variant<NodeRef, BlockRef>;

/// A sequence holds nodes and blocks; every other block holds its lanes, which are sequences.
struct GraphBlock {
    enum class Kind { Sequence, Choice, Parallel, While, Until, Graph };

    Kind kind = Kind::Sequence;
    std::string label;  ///< of a lane: what leads into it
    std::optional<NodeIndex> head;
    std::optional<NodeIndex> tail;  ///< absent when no lane reaches it
    std::vector<Item> items;
};

/// Mermaid and Graphviz cannot cut a text by its width: there it ends after so many characters.
inline constexpr std::size_t kLabelCharsMax = 72;
inline constexpr std::size_t kSummaryCharsMax = 500;

struct Graph {
    std::string title;
    std::string description;
    std::vector<GraphNode> nodes;
    std::vector<GraphEdge> edges;
    std::vector<GraphBlock> blocks;  ///< the first is the whole workflow
    bool has_marks = false;
};

Graph build_graph(
    const Definition& definition, const DiagramOptions& options, const Notes& notes = {}
);

/// Marks the nodes of the sides of a condition or switch that was left by another side.
void mark_ways_not_taken(Graph& graph);

/// `step`, `condition`, ...: the words of the definition; empty for shapes that have no name there.
std::string_view kind_word(Shape shape);

/// The states that occur, in the order of the enumeration.
std::vector<StepMark::State> states_of(const Graph& graph);

/// The kinds of notes that occur, in the order of the enumeration.
std::vector<Note::Kind> note_kinds_of(const Graph& graph);

/// By edge: whether the instance has not gone it, as far as the marks tell. False without marks.
std::vector<bool> unused_edges(const Graph& graph);

/// One sentence for people who cannot see the picture.
std::string summary(const Graph& graph);

}  // namespace ebb::diagram
