#include "core/diagram/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/diagram/labels.h"

namespace ebb::diagram {
namespace {

/// Where a sequence goes on from; nothing after a `fail`.
using OpenEnd = std::optional<NodeIndex>;

/// A lane that is still to be built, and what its first edge says.
struct LaneSource {
    std::string label;
    const Block* steps;
};

/// Where the next item of a sequence goes, and what leads to it.
struct Place {
    BlockIndex lane = 0;
    OpenEnd before;  ///< the item before it in the lane
    OpenEnd head;    ///< of the block that the lane belongs to; only for the lane's first item
};

class Builder {
 public:
    explicit Builder(const DiagramOptions& options) : options_(options) {}

    Graph build(const Definition& definition) {
        graph_.title = fmt::format("{} v{}", definition.name, definition.version);
        graph_.description = definition.description;
        graph_.has_marks = options_.marks.has_value();
        const BlockIndex root = add_block(GraphBlock::Kind::Sequence);
        const NodeIndex start = add_plain(Shape::Start, "start");
        put(root, NodeRef{start});
        const OpenEnd end = add_items({root, start, std::nullopt}, definition.steps);
        if (end) {
            const NodeIndex last = add_plain(Shape::End, "end");
            put(root, NodeRef{last});
            connect_next(*end, last);
        }
        return std::move(graph_);
    }

 private:
    NodeIndex add_plain(Shape shape, std::string label = {}) {
        GraphNode node;
        node.shape = shape;
        node.label = std::move(label);
        graph_.nodes.push_back(std::move(node));
        return graph_.nodes.size() - 1;
    }

    NodeIndex add_named(Shape shape, const Node& source) {
        const NodeIndex index = add_plain(shape, source.name);
        GraphNode& node = graph_.nodes[index];
        node.sublabel = sublabel(source);
        node.description = source.description;
        if (!options_.marks) return index;
        const auto found = options_.marks->find(source.name);
        node.mark = found == options_.marks->end() ? StepMark{} : found->second;
        return index;
    }

    BlockIndex add_block(GraphBlock::Kind kind, std::string label = {}) {
        GraphBlock block;
        block.kind = kind;
        block.label = std::move(label);
        graph_.blocks.push_back(std::move(block));
        return graph_.blocks.size() - 1;
    }

    void put(BlockIndex block, Item item) { graph_.blocks[block].items.push_back(item); }

    void connect(GraphEdge edge) { graph_.edges.push_back(std::move(edge)); }

    void connect_next(NodeIndex from, NodeIndex to) {
        connect({from, to, GraphEdge::Kind::Next, graph_.nodes[from].exit_label, 0});
    }

    OpenEnd add_items(Place at, const Block& steps) {
        for (const Node& step : steps) {
            at.before = add_item(at, step);
            at.head.reset();
        }
        return at.before;
    }

    OpenEnd add_item(const Place& at, const Node& source) {
        return std::visit(
            [&](const auto& kind) { return add_kind(at, source, kind); }, source.kind
        );
    }

    /// Adds a node that stands for itself.
    NodeIndex add_single(const Place& at, const Node& source, Shape shape) {
        const NodeIndex node = add_named(shape, source);
        put(at.lane, NodeRef{node});
        follow(at, node);
        return node;
    }

    /// Draws the edge that leads to `node`; there is none after a `fail`.
    void follow(const Place& at, NodeIndex node) {
        if (at.before) {
            connect_next(*at.before, node);
        } else if (at.head) {
            const std::string& label = graph_.blocks[at.lane].label;
            connect({*at.head, node, GraphEdge::Kind::Enter, label, at.lane});
        }
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Step& step) {
        const NodeIndex node = add_single(at, source, Shape::Step);
        const bool shown = options_.compensations == DiagramOptions::Compensations::Show;
        if (shown && step.compensate) graph_.nodes[node].compensation = step.compensate->handler;
        return node;
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Delay&) {
        return add_single(at, source, Shape::Delay);
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Signal&) {
        return add_single(at, source, Shape::Signal);
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Savepoint&) {
        return add_single(at, source, Shape::Savepoint);
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Fail&) {
        add_single(at, source, Shape::Fail);
        return std::nullopt;
    }

    OpenEnd add_kind(const Place& at, const Node& source, const HumanDecision& decision) {
        if (!decision.on_reject) return add_single(at, source, Shape::Decision);
        static const Block kNothing;
        return add_lanes(
            at,
            source,
            Shape::Decision,
            {{"confirmed", &kNothing}, {"rejected", &*decision.on_reject}}
        );
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Condition& condition) {
        return add_lanes(
            at, source, Shape::Condition, {{"yes", &condition.then}, {"no", &condition.otherwise}}
        );
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Switch& choice) {
        std::vector<LaneSource> lanes;
        for (const Switch::Case& one : choice.cases) lanes.push_back({one.when, &one.steps});
        lanes.push_back({"otherwise", &choice.otherwise});
        return add_lanes(at, source, Shape::Switch, lanes);
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Parallel& parallel) {
        static const Block kNothing;
        std::vector<LaneSource> lanes;
        for (const Parallel::Branch& branch : parallel.branches)
            lanes.push_back({branch.name, &branch.steps});
        if (lanes.empty()) lanes.push_back({"", &kNothing});
        const OpenEnd join = add_lanes(at, source, Shape::Fork, lanes);
        if (join) graph_.nodes[*join].label = join_words(parallel);
        return join;
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Loop& loop) {
        const bool asks_after = !loop.until_expression.empty();
        return asks_after ? add_until(at, source, loop) : add_while(at, source, loop);
    }

    OpenEnd add_lanes(
        const Place& at, const Node& source, Shape shape, const std::vector<LaneSource>& lanes
    ) {
        const bool parallel = shape == Shape::Fork;
        const NodeIndex head = add_named(shape, source);
        follow(at, head);
        const BlockIndex block =
            add_block(parallel ? GraphBlock::Kind::Parallel : GraphBlock::Kind::Choice);
        put(at.lane, BlockRef{block});
        graph_.blocks[block].head = head;
        std::vector<std::pair<BlockIndex, OpenEnd>> ends;
        for (const LaneSource& from : lanes) ends.push_back(add_lane(block, head, from));
        const bool reaches_tail = std::any_of(ends.begin(), ends.end(), [&](const auto& end) {
            return end.second.has_value();
        });
        if (!reaches_tail) return std::nullopt;
        const NodeIndex tail = add_plain(parallel ? Shape::Join : Shape::Merge);
        graph_.blocks[block].tail = tail;
        for (const auto& [index, end] : ends)
            if (end) leave(index, head, *end, tail);
        return tail;
    }

    std::pair<BlockIndex, OpenEnd> add_lane(
        BlockIndex block, NodeIndex head, const LaneSource& source
    ) {
        const BlockIndex lane = add_block(GraphBlock::Kind::Sequence, source.label);
        put(block, BlockRef{lane});
        if (source.steps->empty()) return {lane, head};
        return {lane, add_items({lane, std::nullopt, head}, *source.steps)};
    }

    void leave(BlockIndex lane, NodeIndex head, NodeIndex end, NodeIndex tail) {
        if (end == head) {
            const std::string& label = graph_.blocks[lane].label;
            connect({head, tail, GraphEdge::Kind::Bypass, label, lane});
        } else {
            connect({end, tail, GraphEdge::Kind::Leave, graph_.nodes[end].exit_label, lane});
        }
    }

    OpenEnd add_while(const Place& at, const Node& source, const Loop& loop) {
        const NodeIndex head = add_named(Shape::Loop, source);
        follow(at, head);
        const BlockIndex block = add_block(GraphBlock::Kind::While);
        put(at.lane, BlockRef{block});
        const auto [body, end] = add_lane(block, head, {"yes", &loop.steps});
        if (end) {
            const std::string label = end == head ? "yes" : graph_.nodes[*end].exit_label;
            connect({*end, head, GraphEdge::Kind::Back, label, body});
        }
        const NodeIndex tail = add_plain(Shape::Merge);
        connect({head, tail, GraphEdge::Kind::Exit, "no", body});
        graph_.blocks[block].head = head;
        graph_.blocks[block].tail = tail;
        return tail;
    }

    OpenEnd add_until(const Place& at, const Node& source, const Loop& loop) {
        const NodeIndex head = add_plain(Shape::Repeat);
        follow(at, head);
        const BlockIndex block = add_block(GraphBlock::Kind::Until);
        put(at.lane, BlockRef{block});
        const auto [body, end] = add_lane(block, head, {"", &loop.steps});
        const NodeIndex test = add_named(Shape::Loop, source);
        graph_.nodes[test].exit_label = "yes";
        if (end) leave(body, head, *end, test);
        connect({test, head, GraphEdge::Kind::Back, "no", body});
        graph_.blocks[block].head = head;
        graph_.blocks[block].tail = test;
        return test;
    }

    const DiagramOptions& options_;
    Graph graph_;
};

}  // namespace

Graph build_graph(const Definition& definition, const DiagramOptions& options) {
    return Builder(options).build(definition);
}

std::string_view kind_word(Shape shape) {
    switch (shape) {
        case Shape::Step:
            return "step";
        case Shape::Condition:
            return "condition";
        case Shape::Switch:
            return "switch";
        case Shape::Fork:
            return "parallel";
        case Shape::Loop:
            return "loop";
        case Shape::Delay:
            return "delay";
        case Shape::Decision:
            return "decision";
        case Shape::Signal:
            return "signal";
        case Shape::Savepoint:
            return "savepoint";
        case Shape::Fail:
            return "fail";
        case Shape::Start:
        case Shape::End:
        case Shape::Join:
        case Shape::Merge:
        case Shape::Repeat:
            break;
    }
    return {};
}

std::vector<StepMark::State> states_of(const Graph& graph) {
    std::set<StepMark::State> states;
    for (const GraphNode& node : graph.nodes)
        if (node.mark) states.insert(node.mark->state);
    return {states.begin(), states.end()};
}

std::string summary(const Graph& graph) {
    std::map<StepMark::State, std::size_t> counts;
    std::size_t named = 0;
    for (const GraphNode& node : graph.nodes) {
        if (!kind_word(node.shape).empty()) ++named;
        if (node.mark) ++counts[node.mark->state];
    }
    std::string text = fmt::format("Workflow {} with {} nodes", graph.title, named);
    const char* separator = ": ";
    for (const auto& [state, count] : counts) {
        text += fmt::format("{}{} {}", separator, count, to_string(state));
        separator = ", ";
    }
    return text + ".";
}

}  // namespace ebb::diagram
