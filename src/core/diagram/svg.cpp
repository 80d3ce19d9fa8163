#include "core/diagram/svg.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "core/diagram/layout.h"
#include "core/diagram/mark_style.h"
#include "core/diagram/svg_style.h"
#include "support/markup.h"

namespace ebb {
namespace {

using namespace diagram;

constexpr double kCorner = 7;
constexpr double kTipLength = 8;
constexpr double kTipHalf = 4;
constexpr double kSlant = 12;
constexpr std::string_view kUndoIcon =
    "M-1.8,-5L-5,-1.8L-1.8,1.4M-5,-1.8H1.4A3.1,3.1 0 0 1 1.4,4.4H-1";

std::string escape(std::string_view text) {
    return escape_markup(clean_line(text));
}

/// Rounded to hundredths, so that the bytes do not depend on the machine's last digit.
std::string number(double value) {
    const double rounded = std::round(value * 100) / 100;
    return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

enum class Names { Omit, Write };

class Writer {
 public:
    Writer(const Graph& graph, const Layout& layout, Names names)
        : graph_(graph), layout_(layout), unused_(unused_edges(graph)), names_(names) {}

    std::string write() {
        write_head();
        for (const std::optional<Box>& frame : layout_.frames)
            if (frame) write_rect(*frame, "frame", 10);
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) write_line(layout_.nodes[i]);
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) write_edge(i);
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) write_edge_label(i);
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) write_node(i);
        for (const LegendEntry& entry : layout_.legend) write_legend(entry);
        out_ += "</svg>\n";
        return std::move(out_);
    }

 private:
    template <typename... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }

    void write_head() {
        const std::string width = number(layout_.width);
        const std::string height = number(layout_.height);
        put("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ebb-diagram\" role=\"img\" "
            "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
            width,
            height);
        put("<title>{}</title>\n", escape(graph_.title));
        const std::string about = graph_.description.empty() ? "" : " " + graph_.description;
        put("<desc>{}</desc>\n", escape(summary(graph_) + about));
        put("<style>\n{}</style>\n", style_sheet(graph_));
        put("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", width, height);
        const double middle = layout_.width / 2;
        write_text({middle, kMargin + 14}, layout_.title.text, "title mid");
        write_text({middle, kMargin + 32}, layout_.description.text, "soft mid");
    }

    void write_text(Point at, std::string_view text, std::string_view css) {
        if (text.empty()) return;
        put("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n",
            css,
            number(at.x),
            number(at.y),
            escape(text));
    }

    void write_rect(const Box& box, std::string_view css, double radius) {
        put("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n",
            css,
            number(box.x),
            number(box.y),
            number(box.width),
            number(box.height),
            number(radius));
    }

    void write_polygon(const std::vector<Point>& points, std::string_view css) {
        put("<polygon class=\"{}\" points=\"", css);
        const char* separator = "";
        for (const Point& point : points) {
            put("{}{},{}", separator, number(point.x), number(point.y));
            separator = " ";
        }
        out_ += "\"/>\n";
    }

    void write_icon(Point at, std::string_view path, std::string_view css = "icon") {
        put("<path class=\"{}\" transform=\"translate({},{})\" d=\"{}\"/>\n",
            css,
            number(at.x),
            number(at.y),
            path);
    }

    void write_line(const NodeView& view) {
        if (!view.line) return;
        const auto& [from, to] = *view.line;
        put("<path class=\"line\" d=\"M{},{}L{},{}\"/>\n",
            number(from.x),
            number(from.y),
            number(to.x),
            number(to.y));
    }

    static Point toward(Point from, Point to, double length) {
        const double distance = std::abs(to.x - from.x) + std::abs(to.y - from.y);
        const double share = distance == 0 ? 0 : length / distance;
        return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
    }

    static double distance(Point a, Point b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }

    std::string_view edge_class(std::size_t index) const {
        const bool back = graph_.edges[index].kind == GraphEdge::Kind::Back;
        if (unused_[index]) return back ? "back off" : "off";
        return back ? "back" : "on";
    }

    void write_edge(std::size_t index) {
        const GraphEdge& edge = graph_.edges[index];
        std::vector<Point> points = layout_.edges[index].points;
        if (points.size() < 2) return;
        const Point end = points.back();
        const Point before = points[points.size() - 2];
        const bool has_tip = graph_.nodes[edge.to].shape != Shape::Merge;
        if (has_tip) points.back() = toward(end, before, kTipLength - 1);
        const std::string_view css = edge_class(index);
        put("<path class=\"edge {}\" d=\"M{},{}", css, number(points[0].x), number(points[0].y));
        for (std::size_t i = 1; i + 1 < points.size(); ++i)
            write_corner(points[i - 1], points[i], points[i + 1]);
        put("L{},{}\"/>\n", number(points.back().x), number(points.back().y));
        if (has_tip) write_tip(before, end, css);
    }

    void write_corner(Point before, Point corner, Point after) {
        const double radius =
            std::min({kCorner, distance(before, corner) / 2, distance(corner, after) / 2});
        const Point in = toward(corner, before, radius);
        const Point out = toward(corner, after, radius);
        put("L{},{}Q{},{} {},{}",
            number(in.x),
            number(in.y),
            number(corner.x),
            number(corner.y),
            number(out.x),
            number(out.y));
    }

    void write_tip(Point before, Point end, std::string_view css) {
        const Point base = toward(end, before, kTipLength);
        const bool vertical = base.x == end.x;
        const Point side = vertical ? Point{kTipHalf, 0} : Point{0, kTipHalf};
        write_polygon(
            {end, {base.x + side.x, base.y + side.y}, {base.x - side.x, base.y - side.y}},
            fmt::format("tip {}", css)
        );
    }

    void write_edge_label(std::size_t index) {
        const EdgeView& view = layout_.edges[index];
        if (!view.label_box) return;
        put("<g>");
        if (view.label.is_cut) put("<title>{}</title>", escape(graph_.edges[index].label));
        write_rect(*view.label_box, "tag", 8);
        const Point middle = view.label_box->center();
        write_text({middle.x, middle.y + 4}, view.label.text, "mid");
        out_ += "</g>\n";
    }

    void write_node(std::size_t index) {
        const GraphNode& node = graph_.nodes[index];
        const NodeView& view = layout_.nodes[index];
        if (node.shape == Shape::Merge || node.shape == Shape::Repeat) {
            const Point middle = view.box.center();
            put("<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"5\"/>\n",
                number(middle.x),
                number(middle.y));
            return;
        }
        put("<g class=\"{}\"", color_class(node));
        if (names_ == Names::Write && !node.name.empty())
            put(" data-node=\"{}\"", escape(node.name));
        out_ += ">";
        write_tooltip(node);
        if (view.bar) write_rect(*view.bar, "bar", kBar / 2);
        write_shape(node.shape, view.body);
        write_texts(node, view);
        out_ += "</g>\n";
    }

    void write_tooltip(const GraphNode& node) {
        const std::string_view kind = kind_word(node.shape);
        std::string text = escape(node.label);
        if (!kind.empty()) text += fmt::format("\n{}", kind);
        if (!node.sublabel.empty()) text += ": " + escape(node.sublabel);
        if (!node.compensation.empty()) text += "\nundone by " + escape(node.compensation);
        if (node.mark) text += "\n" + escape(mark_words(*node.mark));
        if (node.note) text += "\n" + escape(note_words(*node.note));
        if (!node.description.empty()) text += "\n" + escape(node.description);
        put("<title>{}</title>\n", text);
    }

    void write_shape(Shape shape, const Box& b) {
        const double middle = b.center().y;
        switch (shape) {
            case Shape::Condition:
            case Shape::Switch:
            case Shape::Loop:
                write_polygon(
                    {{b.x, middle},
                     {b.x + kSlant, b.y},
                     {b.right() - kSlant, b.y},
                     {b.right(), middle},
                     {b.right() - kSlant, b.bottom()},
                     {b.x + kSlant, b.bottom()}},
                    "shape"
                );
                break;
            case Shape::Fail:
                write_octagon(b);
                break;
            case Shape::Start:
            case Shape::End:
            case Shape::Delay:
            case Shape::Join:
                write_rect(b, "shape", std::min(b.height / 2, 18.0));
                break;
            case Shape::Signal:
                write_rect(b, "shape", 2);
                break;
            default:
                write_rect(b, "shape", 7);
        }
    }

    void write_octagon(const Box& b) {
        constexpr double kCut = 9;
        write_polygon(
            {{b.x + kCut, b.y},
             {b.right() - kCut, b.y},
             {b.right(), b.y + kCut},
             {b.right(), b.bottom() - kCut},
             {b.right() - kCut, b.bottom()},
             {b.x + kCut, b.bottom()},
             {b.x, b.bottom() - kCut},
             {b.x, b.y + kCut}},
            "shape"
        );
    }

    void write_texts(const GraphNode& node, const NodeView& view) {
        const Box& body = view.body;
        const double middle = body.center().x;
        const bool small = kind_word(node.shape).empty();
        double top = body.y + (small ? 2 : kPadding);
        const double shift = has_icon(node.shape) ? kIconSpace / 2 : 0;
        if (shift > 0) {
            const double left = middle - (view.texts.label.width + kIconSpace) / 2;
            write_icon({left + kIcon / 2, top + kLabelLine / 2}, kind_icon(node.shape));
        }
        write_text(
            {middle + shift, top + (small ? 13 : 14)},
            view.texts.label.text,
            small ? "mid" : "name mid"
        );
        top += kLabelLine;
        write_text({middle, top + 11}, view.texts.sublabel.text, "mid");
        if (!view.texts.sublabel.text.empty()) top += kSmallLine;
        if (!view.texts.status.text.empty())
            write_with_icon(
                {middle, top + 9},
                view.texts.status,
                node.note ? style_of(node.note->kind).icon : state_icon(shown_state(*node.mark))
            );
        if (!view.texts.compensation.text.empty()) write_undo(view);
    }

    void write_with_icon(Point middle, const FittedText& text, std::string_view icon) {
        const double left = middle.x - (text.width + kIconSpace - 4) / 2;
        write_icon({left + 6, middle.y}, icon);
        write_text({middle.x + (kIconSpace - 4) / 2, middle.y + 4}, text.text, "mid");
    }

    void write_undo(const NodeView& view) {
        const Box& body = view.body;
        const double top = body.bottom() - kUndoStrip;
        put("<path class=\"undo\" d=\"M{},{}H{}\"/>\n",
            number(body.x),
            number(top),
            number(body.right()));
        const FittedText& text = view.texts.compensation;
        const double middle = body.center().x;
        const double left = middle - (text.width + kIconSpace - 4) / 2;
        put("<path class=\"icon undo\" transform=\"translate({},{})\" d=\"{}\"/>\n",
            number(left + 6),
            number(top + kUndoStrip / 2),
            kUndoIcon);
        write_text({middle + (kIconSpace - 4) / 2, top + 14}, text.text, "mid undone");
    }

    void write_legend(const LegendEntry& entry) {
        const MarkStyle& style = style_of(entry.state);
        put("<g class=\"{}\">", to_string(style.state));
        write_rect(entry.box, "shape", 5);
        const double middle = entry.box.center().y;
        write_icon({entry.box.x + 12, middle}, state_icon(entry.state));
        write_text({entry.box.x + kIconSpace + 2, middle + 4}, style.words, "word");
        out_ += "</g>\n";
    }

    const Graph& graph_;
    const Layout& layout_;
    const std::vector<bool> unused_;
    const Names names_;
    std::string out_;
};

std::string draw(
    const Definition& definition,
    const DiagramOptions& options,
    Names names,
    const Notes& notes = {}
) {
    const Graph graph = build_graph(definition, options, notes);
    return Writer(graph, lay_out(graph, options), names).write();
}

}  // namespace

std::string to_svg(const Definition& definition, const DiagramOptions& options) {
    return draw(definition, options, Names::Omit);
}

std::string diagram::to_svg(
    const Definition& definition, const DiagramOptions& options, const Notes& notes
) {
    return draw(definition, options, Names::Omit, notes);
}

std::string diagram::to_svg_with_names(
    const Definition& definition, const DiagramOptions& options, const Notes& notes
) {
    return draw(definition, options, Names::Write, notes);
}

}  // namespace ebb
