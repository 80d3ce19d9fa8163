#include <algorithm>
#include <utility>

#include "core/diagram/plan.h"

namespace ebb::diagram {
namespace {

constexpr double kLabelRise = 4;

/// Drops points that repeat the one before or lie straight between their neighbors.
std::vector<Point> simplify(const std::vector<Point>& points) {
    std::vector<Point> kept;
    for (const Point& point : points) {
        if (!kept.empty() && kept.back() == point) continue;
        const auto straight = [&](double Point::* axis) {
            return kept.size() >= 2 && kept.back().*axis == point.*axis &&
                   kept[kept.size() - 2].*axis == point.*axis;
        };
        if (straight(&Point::x) || straight(&Point::y)) kept.pop_back();
        kept.push_back(point);
    }
    return kept;
}

class Router {
 public:
    Router(const Graph& graph, const Plan& plan, const GraphEdge& edge)
        : graph_(graph),
          edge_(edge),
          from_(plan.places[edge.from]),
          to_(plan.places[edge.to]),
          lane_(plan.lane_axes[edge.lane]),
          gutters_(plan.gutters[edge.lane]),
          slots_(plan.slots[edge.lane]) {}

    RoutedEdge run() const {
        RoutedEdge routed = path();
        routed.points = simplify(routed.points);
        return routed;
    }

 private:
    RoutedEdge path() const {
        switch (edge_.kind) {
            case GraphEdge::Kind::Next:
                return next();
            case GraphEdge::Kind::Enter:
                return enter();
            case GraphEdge::Kind::Leave:
                return leave();
            case GraphEdge::Kind::Bypass:
                return bypass();
            case GraphEdge::Kind::Exit:
                return exit();
            case GraphEdge::Kind::Back:
                return back();
            case GraphEdge::Kind::Jump:
                return jump();
        }
        return {};
    }

    static Point out_of(const Box& box) { return {box.center().x, box.bottom()}; }

    static Point into(const Box& box) { return {box.center().x, box.y}; }

    RoutedEdge next() const {
        const Point start = out_of(from_);
        const Point end = into(to_);
        return {{start, end}, {start.x, (start.y + end.y) / 2}};
    }

    /// The lanes of a parallel block start anywhere on its bar, those of others part at a bus.
    double bus_after() const {
        const bool bar = graph_.nodes[edge_.from].shape == Shape::Fork;
        return from_.bottom() + (bar ? 0 : kBus);
    }

    double bus_before() const {
        const bool bar = graph_.nodes[edge_.to].shape != Shape::Merge;
        return to_.y - (bar ? 0 : kMergeRise);
    }

    Point label_after(double bus) const { return {lane_, bus + kLabelRise + kEdgeLabelHeight / 2}; }

    Point part() const {
        const bool bar = graph_.nodes[edge_.from].shape == Shape::Fork;
        return {bar ? lane_ : out_of(from_).x, from_.bottom()};
    }

    Point meet() const {
        const bool bar = graph_.nodes[edge_.to].shape != Shape::Merge;
        return {bar ? lane_ : into(to_).x, to_.y};
    }

    RoutedEdge enter() const {
        const double bus = bus_after();
        return {{part(), {part().x, bus}, {lane_, bus}, into(to_)}, label_after(bus)};
    }

    RoutedEdge leave() const {
        const double bus = bus_before();
        // Only the test of a loop labels its exit edge, and the label is in a frame.
        const Point label = label_after(from_.bottom() + kFrame);
        return {{out_of(from_), {lane_, bus}, {meet().x, bus}, meet()}, label};
    }

    RoutedEdge bypass() const {
        const double first = bus_after();
        const double last = bus_before();
        return {
            {part(), {part().x, first}, {lane_, first}, {lane_, last}, {meet().x, last}, meet()},
            label_after(first)
        };
    }

    /// Past the body on the far side, into the merge point from its side.
    RoutedEdge exit() const {
        const double side = gutters_.after;
        const Point start{from_.right(), from_.center().y};
        const Point end{to_.right(), to_.center().y};
        return {
            {start, {side, start.y}, {side, end.y}, end},
            {side, from_.bottom() + kEdgeLabelHeight / 2}
        };
    }

    /// Around the body on the near side, into the head from its side.
    RoutedEdge back() const {
        const double side = gutters_.before;
        const Point end{to_.x, to_.center().y};
        const bool from_test = graph_.nodes[edge_.to].shape == Shape::Repeat;
        const Point out = from_test ? Point{from_.x, from_.center().y} : out_of(from_);
        const double turn = from_test ? out.y : gutters_.turn;
        const Point label{side, (turn + end.y) / 2};
        return {{out, {out.x, turn}, {side, turn}, {side, end.y}, end}, label};
    }

    /// Out of the far side, along its own way, into the far side again.
    RoutedEdge jump() const {
        const double side = slots_[edge_.slot];
        // A parallel block is left and entered at its bars, which are wider than their plates.
        const bool is_join = graph_.nodes[edge_.from].shape == Shape::Join;
        const bool is_fork = graph_.nodes[edge_.to].shape == Shape::Fork;
        const double out = is_join ? kBar / 2 : edge_.out * from_.height;
        const double in = is_fork ? to_.height - kBar / 2 : edge_.in * to_.height;
        const Point start{from_.right(), from_.y + out};
        const Point end{to_.right(), to_.y + in};
        return {{start, {side, start.y}, {side, end.y}, end}, {side, (start.y + end.y) / 2}};
    }

    const Graph& graph_;
    const GraphEdge& edge_;
    const Box from_;
    const Box to_;
    const double lane_;
    const Gutters gutters_;
    const std::vector<double>& slots_;
};

}  // namespace

RoutedEdge route(const Graph& graph, const Plan& plan, const GraphEdge& edge) {
    return Router(graph, plan, edge).run();
}

}  // namespace ebb::diagram
