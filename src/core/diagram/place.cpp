#include <algorithm>
#include <cmath>
#include <utility>

#include "core/diagram/plan.h"

namespace ebb::diagram {
namespace {

/// How far something reaches to both sides of its axis, and along it.
struct Extent {
    double before = 0;
    double after = 0;
    double length = 0;
};

double slot(const Span& label) {
    return label.along;
}

class Placer {
 public:
    Placer(const Graph& graph, Plan& plan)
        : graph_(graph),
          plan_(plan),
          extents_(graph.blocks.size()),
          lanes_(graph.blocks.size()),
          next_labels_(graph.nodes.size()) {
        for (std::size_t i = 0; i < graph.edges.size(); ++i) note_label(graph.edges[i], i);
    }

    /// Places the whole workflow and returns how much space it takes.
    Span place() {
        const Extent whole = measure(0);
        put_sequence(0, whole.before, 0);
        return {whole.before + whole.after, whole.length};
    }

 private:
    struct LaneLabels {
        Span enter;
        Span leave;
        Span back;
        Span exit;
    };

    void note_label(const GraphEdge& edge, std::size_t index) {
        const Span label = plan_.labels[index];
        switch (edge.kind) {
            case GraphEdge::Kind::Next:
                next_labels_[edge.from] = label;
                break;
            case GraphEdge::Kind::Enter:
            case GraphEdge::Kind::Bypass:
                lanes_[edge.lane].enter = label;
                break;
            case GraphEdge::Kind::Leave:
                lanes_[edge.lane].leave = label;
                break;
            case GraphEdge::Kind::Back:
                lanes_[edge.lane].back = label;
                break;
            case GraphEdge::Kind::Exit:
                lanes_[edge.lane].exit = label;
                break;
            case GraphEdge::Kind::Jump: {
                std::vector<double>& slots = plan_.slots[edge.lane];
                slots.resize(std::max(slots.size(), edge.slot + 1), kGutter);
                slots[edge.slot] = std::max(slots[edge.slot], gutter(label));
                break;
            }
        }
    }

    static Extent extent_of(const Span& size) {
        return {size.across / 2, size.across / 2, size.along};
    }

    Extent measure_item(const Item& item) {
        if (const auto* node = std::get_if<NodeRef>(&item))
            return extent_of(plan_.sizes[node->index]);
        return measure(std::get<BlockRef>(item).index);
    }

    Extent measure(BlockIndex index) {
        Extent& extent = extents_[index];
        switch (graph_.blocks[index].kind) {
            case GraphBlock::Kind::Sequence:
                extent = measure_sequence(index);
                break;
            case GraphBlock::Kind::Choice:
            case GraphBlock::Kind::Parallel:
                extent = measure_columns(index);
                break;
            case GraphBlock::Kind::While:
            case GraphBlock::Kind::Until:
                extent = measure_loop(index);
                break;
            case GraphBlock::Kind::Graph:
                extent = measure_graph(index);
                break;
        }
        return extent;
    }

    double gap_after(const Item& item) const {
        const auto* node = std::get_if<NodeRef>(&item);
        const std::optional<NodeIndex> last =
            node != nullptr ? std::optional<NodeIndex>(node->index)
                            : graph_.blocks[std::get<BlockRef>(item).index].tail;
        return kGap + (last ? slot(next_labels_[*last]) : 0);
    }

    Extent measure_sequence(BlockIndex index) {
        Extent all;
        const std::vector<Item>& items = graph_.blocks[index].items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Extent one = measure_item(items[i]);
            all.before = std::max(all.before, one.before);
            all.after = std::max(all.after, one.after);
            all.length += one.length + (i + 1 < items.size() ? gap_after(items[i]) : 0);
        }
        return all;
    }

    /// The offsets of the lanes' axes from the first one; fills in how far each reaches.
    std::vector<double> lane_offsets(const GraphBlock& block) {
        std::vector<double> offsets;
        double end = 0;
        for (const Item& item : block.items) {
            const BlockIndex lane = std::get<BlockRef>(item).index;
            Extent& extent = extents_[lane];
            extent = measure(lane);
            const LaneLabels& labels = lanes_[lane];
            const double least =
                std::max({kLaneHalfMin, labels.enter.across / 2, labels.leave.across / 2});
            extent.before = std::max(extent.before, least);
            extent.after = std::max(extent.after, least);
            offsets.push_back(offsets.empty() ? 0 : end + kLaneGap + extent.before);
            end = offsets.back() + extent.after;
        }
        return offsets;
    }

    static double lanes_start(const GraphBlock& block, const Span& head, double label) {
        const bool parallel = block.kind == GraphBlock::Kind::Parallel;
        return head.along + (parallel ? 0 : kBus) + label + kArrow;
    }

    Extent measure_columns(BlockIndex index) {
        const GraphBlock& block = graph_.blocks[index];
        const bool parallel = block.kind == GraphBlock::Kind::Parallel;
        const std::vector<double> offsets = lane_offsets(block);
        const double center = center_of(offsets);
        if (parallel) widen_bars(block, std::max(center, offsets.back() - center));
        Extent all = extent_of(plan_.sizes[*block.head]);
        double length = 0;
        double enter = 0;
        double leave = 0;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const BlockIndex lane = std::get<BlockRef>(block.items[i]).index;
            plan_.lane_axes[lane] = offsets[i] - center;
            all.before = std::max(all.before, extents_[lane].before - plan_.lane_axes[lane]);
            all.after = std::max(all.after, extents_[lane].after + plan_.lane_axes[lane]);
            length = std::max(length, extents_[lane].length);
            enter = std::max(enter, slot(lanes_[lane].enter));
            leave = std::max(leave, slot(lanes_[lane].leave));
        }
        lane_starts_[index] = lanes_start(block, plan_.sizes[*block.head], enter);
        all.length = lane_starts_[index] + length;
        if (block.tail) {
            all.length += leave + (parallel ? kArrow : kBus + kMergeRise);
            tail_starts_[index] = all.length;
            all.length += plan_.sizes[*block.tail].along;
        }
        return parallel ? framed(all) : all;
    }

    /// Halfway, but straight above a lane that is near: an edge with a tiny jog looks broken.
    static double center_of(const std::vector<double>& offsets) {
        const double half = offsets.back() / 2;
        for (const double offset : offsets)
            if (std::abs(offset - half) <= kLaneGap) return offset;
        return half;
    }

    void widen_bars(const GraphBlock& block, double half) {
        for (const std::optional<NodeIndex> node : {block.head, block.tail}) {
            if (!node) continue;
            Span& size = plan_.sizes[*node];
            size.across = std::max(size.across, 2 * (half + kBarOverhang));
        }
    }

    static Extent framed(Extent extent) {
        extent.before += kFrame;
        extent.after += kFrame;
        extent.length += 2 * kFrame;
        return extent;
    }

    Extent measure_loop(BlockIndex index) {
        const GraphBlock& block = graph_.blocks[index];
        const bool asks_first = block.kind == GraphBlock::Kind::While;
        const BlockIndex body = std::get<BlockRef>(block.items.front()).index;
        const Extent inner = measure(body);
        const LaneLabels& labels = lanes_[body];
        plan_.lane_axes[body] = 0;
        const Span head = plan_.sizes[*block.head];
        const Span tail = plan_.sizes[*block.tail];
        Extent all;
        const double least = std::max(head.across, tail.across) / 2;
        all.before = std::max(inner.before, least) + gutter(labels.back);
        all.after = std::max(inner.after, least) + (asks_first ? gutter(labels.exit) : 0);
        lane_starts_[index] = head.along + slot(labels.enter) + kArrow;
        const double turn = asks_first ? kBus + kMergeRise : kArrow;
        tail_starts_[index] = lane_starts_[index] + inner.length + slot(labels.leave) + turn;
        all.length = tail_starts_[index] + tail.along;
        return framed(all);
    }

    Extent measure_graph(BlockIndex index) {
        const GraphBlock& block = graph_.blocks[index];
        const BlockIndex body = std::get<BlockRef>(block.items.front()).index;
        const Extent inner = measure(body);
        const LaneLabels& labels = lanes_[body];
        plan_.lane_axes[body] = 0;
        const Span head = plan_.sizes[*block.head];
        const Span tail = block.tail ? plan_.sizes[*block.tail] : Span{};
        const double least = std::max(head.across, tail.across) / 2;
        Extent all;
        all.before = std::max(inner.before, least);
        all.after = std::max(inner.after, least);
        for (const double width : plan_.slots[body]) all.after += width;
        lane_starts_[index] = head.along + slot(labels.enter) + kArrow;
        tail_starts_[index] =
            lane_starts_[index] + inner.length + slot(labels.leave) + kBus + kMergeRise;
        all.length = tail_starts_[index] + tail.along;
        return framed(all);
    }

    /// From their widths to where they run: the outermost ends at the frame.
    void place_slots(BlockIndex index) {
        const GraphBlock& block = graph_.blocks[index];
        if (block.kind != GraphBlock::Kind::Graph) return;
        std::vector<double>& slots = plan_.slots[std::get<BlockRef>(block.items.front()).index];
        double right = plan_.frames[index]->right() - kFrame / 2;
        for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
            const double width = *slot;
            *slot = right - width / 2;
            right -= width;
        }
    }

    static double gutter(const Span& label) {
        return std::max(kGutter, label.across + kGutter / 2);
    }

    void put_node(NodeIndex index, double axis, double start) {
        const Span size = plan_.sizes[index];
        plan_.places[index] = {axis - size.across / 2, start, size.across, size.along};
    }

    void put_sequence(BlockIndex index, double axis, double start) {
        const std::vector<Item>& items = graph_.blocks[index].items;
        for (const Item& item : items) {
            if (const auto* node = std::get_if<NodeRef>(&item)) {
                put_node(node->index, axis, start);
                if (graph_.nodes[node->index].shape == Shape::Savepoint)
                    draw_line(node->index, axis, extents_[index]);
                start += plan_.sizes[node->index].along;
            } else {
                const BlockIndex block = std::get<BlockRef>(item).index;
                put_block(block, axis, start);
                start += extents_[block].length;
            }
            start += gap_after(item);
        }
    }

    void draw_line(NodeIndex node, double axis, const Extent& lane) {
        const Box& box = plan_.places[node];
        const double along = box.center().y;
        plan_.lines[node] = {{axis - lane.before, along}, {axis + lane.after, along}};
    }

    void put_block(BlockIndex index, double axis, double start) {
        const GraphBlock& block = graph_.blocks[index];
        if (block.kind != GraphBlock::Kind::Choice) {
            const Extent& all = extents_[index];
            plan_.frames[index] = Box{axis - all.before, start, all.before + all.after, all.length};
            start += kFrame;
        }
        put_node(*block.head, axis, start);
        if (block.tail) put_node(*block.tail, axis, start + tail_starts_[index]);
        for (const Item& item : block.items) {
            const BlockIndex lane = std::get<BlockRef>(item).index;
            plan_.lane_axes[lane] += axis;
            put_sequence(lane, plan_.lane_axes[lane], start + lane_starts_[index]);
        }
        place_gutters(index, start + tail_starts_[index] - kMergeRise);
        place_slots(index);
    }

    /// The edges of a loop run in the middle of the space between its frame and what is inside.
    void place_gutters(BlockIndex index, double turn) {
        const GraphBlock& block = graph_.blocks[index];
        const bool loops =
            block.kind == GraphBlock::Kind::While || block.kind == GraphBlock::Kind::Until;
        if (!loops) return;
        const BlockIndex body = std::get<BlockRef>(block.items.front()).index;
        const Box& frame = *plan_.frames[index];
        plan_.gutters[body] = {
            frame.x + (kFrame + gutter(lanes_[body].back)) / 2,
            frame.right() - (kFrame + gutter(lanes_[body].exit)) / 2,
            turn
        };
    }

    const Graph& graph_;
    Plan& plan_;
    std::vector<Extent> extents_;
    std::vector<LaneLabels> lanes_;
    std::vector<Span> next_labels_;
    std::vector<double> lane_starts_ = std::vector<double>(graph_.blocks.size());
    std::vector<double> tail_starts_ = std::vector<double>(graph_.blocks.size());
};

}  // namespace

void place_all(const Graph& graph, Plan& plan) {
    plan.whole = Placer(graph, plan).place();
}

}  // namespace ebb::diagram
