#include "core/diagram/layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/diagram/mark_style.h"
#include "core/diagram/plan.h"

namespace ebb::diagram {
namespace {

constexpr double kEdgeLabelWidthMax = 220;
constexpr double kEdgeLabelPadding = 12;
constexpr double kEdgeLabelSpace = 10;  ///< around a label, along its edge
constexpr double kTitleWidthMax = 620;
constexpr double kTitleLine = 22;
constexpr double kLegendRow = 24;
constexpr double kLegendGap = 10;
constexpr double kLegendWidthMin = 340;

using Direction = DiagramOptions::Direction;

class Arranger {
 public:
    Arranger(const Graph& graph, const DiagramOptions& options)
        : graph_(graph), options_(options), plan_(graph) {}

    Layout run() {
        measure_nodes();
        measure_labels();
        place_all(graph_, plan_);
        arrange_title();
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) arrange_node(i);
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) arrange_edge(i);
        for (const std::optional<Box>& frame : plan_.frames)
            layout_.frames.push_back(frame ? std::optional(turned(*frame)) : std::nullopt);
        arrange_legend();
        return std::move(layout_);
    }

 private:
    bool down() const { return options_.direction == Direction::Down; }

    Span span_of(double width, double height) const {
        return down() ? Span{width, height} : Span{height, width};
    }

    void measure_nodes() {
        layout_.nodes.reserve(graph_.nodes.size());
        for (const GraphNode& node : graph_.nodes) {
            layout_.nodes.push_back(measure_node(node));
            const Box& body = layout_.nodes.back().body;
            Span& size = plan_.sizes[layout_.nodes.size() - 1];
            size = span_of(body.width, body.height);
            if (node.shape == Shape::Fork || node.shape == Shape::Join) size.along += kBar;
        }
    }

    void measure_labels() {
        layout_.edges.resize(graph_.edges.size());
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) {
            const std::string& label = graph_.edges[i].label;
            if (label.empty()) continue;
            const FittedText text = fit_text(label, kSmallFont, kEdgeLabelWidthMax);
            layout_.edges[i].label = text;
            plan_.labels[i] = span_of(label_width(text), kEdgeLabelHeight);
            plan_.labels[i].along += kEdgeLabelSpace;
        }
    }

    static double label_width(const FittedText& text) {
        return 2 * std::ceil((text.width + kEdgeLabelPadding) / 2);
    }

    /// The title is over the picture; the narrower of the two is centered.
    void arrange_title() {
        layout_.title = fit_text(graph_.title, kTitleFont, kTitleWidthMax);
        layout_.description = fit_text(graph_.description, kSmallFont, kTitleWidthMax);
        const Span whole = down() ? plan_.whole : Span{plan_.whole.along, plan_.whole.across};
        const double title = 1.06 * layout_.title.width;
        const double legend = has_legend() ? kLegendWidthMin : 0;
        const double widest = std::max({whole.across, title, layout_.description.width, legend});
        layout_.width = 2 * std::ceil(widest / 2) + 2 * kMargin;
        origin_.x = std::floor((layout_.width - whole.across) / 2);
        origin_.y = kMargin + kTitleLine + kPadding;
        if (!layout_.description.text.empty()) origin_.y += kSmallLine;
        layout_.height = origin_.y + whole.along + kMargin;
    }

    Point turned(Point point) const {
        if (!down()) std::swap(point.x, point.y);
        return {point.x + origin_.x, point.y + origin_.y};
    }

    Box turned(const Box& box) const {
        const Point corner = turned(Point{box.x, box.y});
        return down() ? Box{corner.x, corner.y, box.width, box.height}
                      : Box{corner.x, corner.y, box.height, box.width};
    }

    void arrange_node(NodeIndex index) {
        NodeView& view = layout_.nodes[index];
        view.box = turned(plan_.places[index]);
        const Shape shape = graph_.nodes[index].shape;
        if (shape == Shape::Fork || shape == Shape::Join) {
            arrange_bar(view, shape == Shape::Fork);
        } else {
            view.body = view.box;
        }
        if (const auto& line = plan_.lines[index])
            view.line = {turned(line->first), turned(line->second)};
    }

    /// The plate of a fork is before its bar, that of a join after it.
    void arrange_bar(NodeView& view, bool plate_first) const {
        const Box& box = view.box;
        const double shift = plate_first ? 0 : kBar;
        Box& body = view.body;
        if (down()) {
            body.x = box.center().x - body.width / 2;
            body.y = box.y + shift;
            view.bar = Box{box.x, plate_first ? body.bottom() : box.y, box.width, kBar};
        } else {
            body.x = box.x + shift;
            body.y = box.center().y - body.height / 2;
            view.bar = Box{plate_first ? body.right() : box.x, box.y, kBar, box.height};
        }
    }

    void arrange_edge(std::size_t index) {
        const RoutedEdge routed = route(graph_, plan_, graph_.edges[index]);
        EdgeView& view = layout_.edges[index];
        for (const Point& point : routed.points) view.points.push_back(turned(point));
        if (view.label.text.empty()) return;
        const Point middle = turned(label_middle(routed, index));
        const double width = label_width(view.label);
        view.label_box =
            Box{middle.x - width / 2, middle.y - kEdgeLabelHeight / 2, width, kEdgeLabelHeight};
    }

    /// The router puts a label as if it were as long as it is high.
    Point label_middle(const RoutedEdge& routed, std::size_t index) const {
        using enum GraphEdge::Kind;
        Point middle = routed.label;
        const GraphEdge::Kind kind = graph_.edges[index].kind;
        const double more = plan_.labels[index].along - kEdgeLabelSpace - kEdgeLabelHeight;
        if (kind == Enter || kind == Leave || kind == Bypass) middle.y += more / 2;
        return middle;
    }

    bool has_legend() const {
        return graph_.has_marks && options_.legend == DiagramOptions::Legend::Show;
    }

    void arrange_legend() {
        const std::vector<StepMark::State> states = states_of(graph_);
        if (!has_legend() || states.empty()) return;
        Point at{kMargin, layout_.height};
        for (const StepMark::State state : states) {
            const std::string_view words = style_of(state).words;
            const double width =
                std::ceil(text_width(decode_line(words), kSmallFont)) + kIconSpace + 12;
            if (at.x > kMargin && at.x + width > layout_.width - kMargin)
                at = {kMargin, at.y + kLegendRow};
            layout_.legend.push_back({state, {at.x, at.y, width, kLegendRow - 4}});
            at.x += width + kLegendGap;
        }
        layout_.height = at.y + kLegendRow + kMargin - 4;
    }

    const Graph& graph_;
    const DiagramOptions& options_;
    Plan plan_;
    Layout layout_;
    Point origin_;
};

}  // namespace

Layout lay_out(const Graph& graph, const DiagramOptions& options) {
    return Arranger(graph, options).run();
}

}  // namespace ebb::diagram
