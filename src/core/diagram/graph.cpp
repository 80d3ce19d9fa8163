#include "core/diagram/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/diagram/labels.h"
#include "core/diagram/mark_style.h"
#include "core/diagram/rule_graph.h"

namespace ebb::diagram {
namespace {

/// The node and label from which a sequence continues; empty after a `fail`.
using OpenEnd = std::optional<NodeIndex>;

/// A lane that must still be built, and the label of its first edge.
struct LaneSource {
    std::string label;
    const Block* steps;
};

/// The lane of the next item of a sequence, and the edges that lead to the item.
struct Place {
    BlockIndex lane = 0;
    OpenEnd before;            ///< the item before it in the lane
    OpenEnd head;              ///< the block of the lane; only for the lane's first item
    bool is_in_graph = false;  ///< directly in a graph: edges say what comes next
};

constexpr NodeIndex kGraphEnd = static_cast<NodeIndex>(-1);

/// The nodes of a graph in their vertical order.
class Joints {
 public:
    void add(const std::string& name, NodeIndex first, OpenEnd last) {
        places_.emplace(name, ends_.size());
        ends_.push_back({first, last});
    }

    std::size_t count() const { return ends_.size(); }

    std::size_t place_of(const std::string& name) const { return places_.at(name); }

    /// The positions at which edges enter and leave the node at this place.
    NodeIndex first_of(std::size_t place) const { return ends_[place].first; }

    OpenEnd last_of(std::size_t place) const { return ends_[place].second; }

    /// The place whose node begins or ends at this index; count() for the tail.
    std::size_t place_from(NodeIndex last) const {
        return find([&](const auto& end) { return end.second == OpenEnd(last); });
    }

    std::size_t place_to(NodeIndex first) const {
        return find([&](const auto& end) { return end.first == first; });
    }

 private:
    template <typename Is>
    std::size_t find(Is is) const {
        const auto found = std::find_if(ends_.begin(), ends_.end(), is);
        return static_cast<std::size_t>(found - ends_.begin());
    }

    std::map<std::string, std::size_t> places_;
    std::vector<std::pair<NodeIndex, OpenEnd>> ends_;
};

/// Edges for both or all of the node's sides leave nothing for a default edge.
bool is_left_by_names(const NodeGraph& graph, const Node& node) {
    std::size_t sides = 0;
    if (std::holds_alternative<Condition>(node.kind)) sides = 2;
    if (const auto* choice = std::get_if<Switch>(&node.kind)) sides = choice->cases.size() + 1;
    if (sides == 0) return false;
    const auto named = std::count_if(graph.edges.begin(), graph.edges.end(), [&](const auto& edge) {
        return edge.from == node.name && !edge.handle.empty() && !edge.handle.starts_with("error");
    });
    return static_cast<std::size_t>(named) == sides;
}

std::vector<const Node*> entry_first(const NodeGraph& graph) {
    std::vector<const Node*> nodes;
    for (const Node& node : graph.nodes) nodes.push_back(&node);
    std::stable_partition(nodes.begin(), nodes.end(), [&](const Node* node) {
        return !graph.entry.empty() && node->name == graph.entry;
    });
    return nodes;
}

std::string ways_of(const NodeGraph& graph, const std::string& name) {
    std::string ways;
    for (const NodeGraph::Edge& edge : graph.edges) {
        if (edge.from != name) continue;
        ways += ways.empty() ? "" : ", ";
        if (!edge.handle.empty()) ways += edge.handle + ": ";
        ways += edge.to.empty() ? "end" : edge.to;
    }
    return ways;
}

/// All edges, each still a jump. Edges to the end of the graph lead to kGraphEnd.
std::vector<GraphEdge> edges_of(
    const NodeGraph& graph, const Joints& joints, BlockIndex body, bool has_default_ends
) {
    std::vector<GraphEdge> edges;
    std::set<std::string> goes_on;
    const auto add = [&](OpenEnd from, NodeIndex to, const std::string& label) {
        if (from) edges.push_back({*from, to, GraphEdge::Kind::Jump, label, body});
    };
    for (const NodeGraph::Edge& edge : graph.edges) {
        const NodeIndex to =
            edge.to.empty() ? kGraphEnd : joints.first_of(joints.place_of(edge.to));
        if (edge.handle.empty()) goes_on.insert(edge.from);
        add(joints.last_of(joints.place_of(edge.from)), to, edge.handle);
    }
    for (const Node& node : graph.nodes) {
        if (!has_default_ends) break;
        if (goes_on.contains(node.name) || is_left_by_names(graph, node)) continue;
        add(joints.last_of(joints.place_of(node.name)), kGraphEnd, "");
    }
    return edges;
}

/// An edge that leads to the next node goes straight down. The others run beside the nodes, the
/// shorter ones nearer to them, without overlapping.
void arrange_jumps(std::vector<GraphEdge>& edges, const Joints& joints, OpenEnd tail) {
    struct Jump {
        GraphEdge* edge;
        std::size_t low;
        std::size_t high;
    };

    std::vector<Jump> jumps;
    std::set<std::size_t> has_next;
    for (GraphEdge& edge : edges) {
        const std::size_t from = joints.place_from(edge.from);
        const std::size_t to = edge.to == kGraphEnd ? joints.count() : joints.place_to(edge.to);
        if (edge.to == kGraphEnd) edge.to = *tail;
        if (to == from + 1 && has_next.insert(from).second) {
            edge.kind = to == joints.count() ? GraphEdge::Kind::Leave : GraphEdge::Kind::Next;
        } else {
            jumps.push_back({&edge, std::min(from, to), std::max(from, to)});
        }
    }
    std::stable_sort(jumps.begin(), jumps.end(), [](const Jump& a, const Jump& b) {
        return a.high - a.low < b.high - b.low;
    });
    std::vector<std::vector<const Jump*>> slots;
    std::map<NodeIndex, std::vector<double*>> ends;
    for (const Jump& jump : jumps) {
        std::size_t slot = 0;
        const auto is_free = [&](const Jump* other) {
            return jump.high < other->low || jump.low > other->high;
        };
        while (slot < slots.size() && !std::all_of(slots[slot].begin(), slots[slot].end(), is_free))
            ++slot;
        if (slot == slots.size()) slots.emplace_back();
        slots[slot].push_back(&jump);
        jump.edge->slot = slot;
        ends[jump.edge->from].push_back(&jump.edge->out);
        ends[jump.edge->to].push_back(&jump.edge->in);
    }
    for (auto& [node, places] : ends) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            *places[i] = static_cast<double>(i + 1) / static_cast<double>(places.size() + 1);
        }
    }
}

class Builder {
 public:
    Builder(const DiagramOptions& options, const Notes& notes) : options_(options), notes_(notes) {}

    Graph build(const Definition& definition) {
        graph_.title = fmt::format("{} v{}", definition.name, definition.version);
        graph_.description = notes_.headline.empty() ? definition.description : notes_.headline;
        graph_.has_marks = options_.marks.has_value();
        const BlockIndex root = add_block(GraphBlock::Kind::Sequence);
        const NodeIndex start = add_plain(Shape::Start, "start");
        put(root, NodeRef{start});
        is_of_rules_ = definition.rules && !definition.steps.empty();
        const Block steps = is_of_rules_ ? rule_graph(definition) : definition.steps;
        if (is_of_rules_) note_conditions(definition);
        const OpenEnd end = add_items({root, start, std::nullopt}, steps);
        if (end) {
            const NodeIndex last = add_plain(Shape::End, "end");
            put(root, NodeRef{last});
            connect_next(*end, last);
        }
        mark_ways_not_taken(graph_);
        return std::move(graph_);
    }

 private:
    void note_conditions(const Definition& definition) {
        const std::vector<Trigger>& triggers = definition.rules->triggers;
        for (std::size_t i = 0; i < triggers.size() && i < definition.steps.size(); ++i) {
            conditions_[definition.steps[i].name] = triggers[i].when;
        }
    }

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
        node.name = source.name;
        node.sublabel = sublabel(source);
        node.description = source.description;
        const auto condition = conditions_.find(source.name);
        if (condition != conditions_.end()) node.condition = condition->second;
        const auto note = notes_.nodes.find(source.name);
        if (note != notes_.nodes.end()) node.note = note->second;
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

    /// Draws the edge that leads to `node`. There is no edge after a `fail`.
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
        if (at.is_in_graph && condition.then.empty() && condition.otherwise.empty())
            return add_single(at, source, Shape::Condition);
        return add_lanes(
            at, source, Shape::Condition, {{"yes", &condition.then}, {"no", &condition.otherwise}}
        );
    }

    OpenEnd add_kind(const Place& at, const Node& source, const Switch& choice) {
        const bool is_empty =
            std::all_of(choice.cases.begin(), choice.cases.end(), [](const auto& one) {
                return one.steps.empty();
            });
        if (at.is_in_graph && is_empty && choice.otherwise.empty())
            return add_single(at, source, Shape::Switch);
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

    OpenEnd add_kind(const Place& at, const Node& source, const NodeGraph& graph) {
        const NodeIndex head = add_plain(Shape::Graph, source.name);
        graph_.nodes[head].description = source.description;
        follow(at, head);
        const BlockIndex block = add_block(GraphBlock::Kind::Graph);
        put(at.lane, BlockRef{block});
        const BlockIndex body = add_block(GraphBlock::Kind::Sequence);
        put(block, BlockRef{body});
        Joints joints;
        for (const Node* node : entry_first(graph)) {
            const NodeIndex first = graph_.nodes.size();
            const OpenEnd last = add_item({body, std::nullopt, std::nullopt, true}, *node);
            joints.add(node->name, first, last);
            for (NodeIndex i = first; i < graph_.nodes.size(); ++i) {
                if (graph_.nodes[i].label == node->name)
                    graph_.nodes[i].ways = ways_of(graph, node->name);
            }
        }
        graph_.blocks[block].head = head;
        connect({head, joints.first_of(0), GraphEdge::Kind::Enter, "", body});
        std::vector<GraphEdge> edges = edges_of(graph, joints, body, !is_of_rules_);
        const bool ends = std::any_of(edges.begin(), edges.end(), [&](const GraphEdge& edge) {
            return edge.to == kGraphEnd;
        });
        OpenEnd tail;
        if (ends) tail = add_plain(Shape::Merge);
        arrange_jumps(edges, joints, tail);
        for (GraphEdge& edge : edges) connect(std::move(edge));
        graph_.blocks[block].tail = tail;
        return tail;
    }

    /// The transition, and then what it runs.
    OpenEnd add_kind(const Place& at, const Node& source, const Sequence& sequence) {
        Place inside = at;
        inside.before = add_single(at, source, Shape::Step);
        inside.head.reset();
        return add_items(inside, sequence.steps);
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
    const Notes& notes_;
    Graph graph_;
    bool is_of_rules_ = false;
    std::map<std::string, std::string, std::less<>> conditions_;  ///< by transition
};

}  // namespace

Graph build_graph(const Definition& definition, const DiagramOptions& options, const Notes& notes) {
    return Builder(options, notes).build(definition);
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
        case Shape::Graph:
            return "graph";
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
        if (node.mark) states.insert(shown_state(*node.mark));
    return {states.begin(), states.end()};
}

std::vector<Note::Kind> note_kinds_of(const Graph& graph) {
    std::set<Note::Kind> kinds;
    for (const GraphNode& node : graph.nodes)
        if (node.note) kinds.insert(node.note->kind);
    return {kinds.begin(), kinds.end()};
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
