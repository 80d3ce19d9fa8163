#include <fmt/format.h>

#include "core/diagram/block_writer.h"

namespace ebb {
namespace {

using namespace diagram;

/// For an escString in quotes: Graphviz also decodes entities such as `&amp;` in it.
std::string escape(std::string_view text, std::size_t chars_max = kLabelCharsMax) {
    std::string out;
    for (const char c : shorten(text, chars_max)) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '&') {
            out += "&amp;";
        } else {
            out += c;
        }
    }
    return out;
}

struct Look {
    std::string_view shape;
    std::string_view style;
    MarkColors colors;
};

Look look_of(Shape shape) {
    static constexpr MarkColors kStep{"#eff6ff", "#2563eb", "#1e3a8a"};
    static constexpr MarkColors kControl{"#f8fafc", "#475569", "#1e293b"};
    static constexpr MarkColors kPoint{"#e2e8f0", "#475569", "#1e293b"};
    switch (shape) {
        case Shape::Step:
            return {"box", "rounded,filled", kStep};
        case Shape::Start:
        case Shape::End:
            return {"box", "rounded,filled", kPoint};
        case Shape::Condition:
        case Shape::Switch:
        case Shape::Loop:
            return {"hexagon", "filled", kControl};
        case Shape::Graph:
            return {"component", "filled", kControl};
        case Shape::Fork:
            return {"box", "filled,bold", kControl};
        case Shape::Join:
            return {"box", "filled,bold", kPoint};
        case Shape::Merge:
        case Shape::Repeat:
            return {"circle", "filled", kPoint};
        case Shape::Delay:
            return {"oval", "filled", kControl};
        case Shape::Decision:
            return {"house", "filled", kControl};
        case Shape::Signal:
            return {"note", "filled", kControl};
        case Shape::Savepoint:
            return {"folder", "filled,dashed", {"#f0fdfa", "#0d9488", "#134e4a"}};
        case Shape::Fail:
            return {"octagon", "filled", {"#fee2e2", "#dc2626", "#991b1b"}};
    }
    return {};
}

class Writer : BlockWriter<Writer> {
 public:
    Writer(const Graph& graph, const DiagramOptions& options)
        : BlockWriter(graph, options), unused_(unused_edges(graph)) {}

    std::string write() {
        const bool down = options_.direction == DiagramOptions::Direction::Down;
        line(0, fmt::format("digraph \"{}\" {{", escape(graph_.title)));
        line(
            1,
            fmt::format(
                "graph [rankdir={}, label=\"{}\", labelloc=t, tooltip=\"{}\", charset=\"UTF-8\", "
                "fontname=\"Helvetica,Arial,sans-serif\"];",
                down ? "TB" : "LR",
                escape(graph_.title),
                escape(summary(graph_), kSummaryCharsMax)
            )
        );
        line(1, "node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11];");
        line(1, "edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, color=\"#475569\"];");
        write_items(graph_.blocks.front(), 1);
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) write_edge(i);
        if (graph_.has_marks && options_.legend == DiagramOptions::Legend::Show) write_legend();
        line(0, "}");
        return take();
    }

 private:
    friend class BlockWriter<Writer>;

    void write_node(NodeIndex index, int depth) {
        const GraphNode& node = graph_.nodes[index];
        if (node.shape == Shape::Merge || node.shape == Shape::Repeat) {
            line(depth, fmt::format("n{} [shape=point, width=0.1, color=\"#475569\"];", index));
            return;
        }
        std::string label =
            label_of(node, "\\n", [](std::string_view text) { return escape(text); });
        const bool undoable = !node.compensation.empty();
        if (undoable) {
            line(depth, fmt::format("subgraph cluster_c{} {{", index));
            line(depth + 1, "label=\"\"; peripheries=0;");
            write_compensation(index, depth + 1);
        }
        line(
            depth + (undoable ? 1 : 0),
            fmt::format("n{} [label=\"{}\", {}];", index, label, attributes(node))
        );
        if (undoable) {
            line(depth + 1, fmt::format("{{rank=same; n{0}; c{0};}}", index));
            line(depth, "}");
        }
    }

    static std::string attributes(const GraphNode& node) {
        Look look = look_of(node.shape);
        if (node.mark) look.colors = style_of(shown_state(*node.mark)).light;
        if (node.note) look.colors = style_of(node.note->kind).light;
        if (node.is_off) look.colors = {"#ffffff", "#cbd5e1", "#94a3b8"};
        const bool skipped = node.is_off ||
                             (node.mark && node.mark->state == StepMark::State::Skipped) ||
                             (node.note && style_of(node.note->kind).is_dashed);
        const std::string about =
            node.description.empty() ? std::string(kind_word(node.shape)) : node.description;
        return fmt::format(
            "shape={}, style=\"{}{}\", fillcolor=\"{}\", color=\"{}\", fontcolor=\"{}\", "
            "tooltip=\"{}\"",
            look.shape,
            look.style,
            skipped ? ",dashed" : "",
            look.colors.fill,
            look.colors.stroke,
            look.colors.text,
            escape(about, kSummaryCharsMax)
        );
    }

    void write_compensation(NodeIndex index, int depth) {
        line(
            depth,
            fmt::format(
                "c{} [label=\"↩ {}\", shape=box, style=\"rounded,filled,dashed\", "
                "fillcolor=\"#fff7ed\", color=\"#c2410c\", fontcolor=\"#7c2d12\", fontsize=10];",
                index,
                escape(graph_.nodes[index].compensation)
            )
        );
        line(
            depth,
            fmt::format(
                "n{0} -> c{0} [style=dashed, color=\"#c2410c\", arrowhead=none, weight=0];", index
            )
        );
    }

    void open_block(BlockIndex index, int depth) {
        line(depth, fmt::format("subgraph cluster_{} {{", index));
        line(depth + 1, "label=\"\"; style=\"rounded,dotted\"; color=\"#94a3b8\";");
    }

    void close_block(BlockIndex, int depth) { line(depth, "}"); }

    void write_edge(std::size_t index) {
        const GraphEdge& edge = graph_.edges[index];
        std::vector<std::string> attributes;
        if (!edge.label.empty())
            attributes.push_back(fmt::format("label=\" {} \"", escape(edge.label)));
        if (edge.kind == GraphEdge::Kind::Back)
            attributes.emplace_back("constraint=false, penwidth=1.6");
        if (unused_[index]) attributes.emplace_back("style=dashed, color=\"#a3b1c4\"");
        const std::string brackets =
            attributes.empty() ? "" : fmt::format(" [{}]", fmt::join(attributes, ", "));
        line(1, fmt::format("n{} -> n{}{};", edge.from, edge.to, brackets));
    }

    void write_legend() {
        line(1, "subgraph cluster_legend {");
        line(2, "label=\"Legend\"; style=\"rounded,dotted\"; color=\"#94a3b8\";");
        for (const StepMark::State state : states_of(graph_)) {
            const MarkStyle& style = style_of(state);
            line(
                2,
                fmt::format(
                    "l_{} [label=\"{} {}\", shape=box, style=\"rounded,filled\", fillcolor=\"{}\", "
                    "color=\"{}\", fontcolor=\"{}\", fontsize=10];",
                    to_string(style.state),
                    style.sign,
                    style.words,
                    style.light.fill,
                    style.light.stroke,
                    style.light.text
                )
            );
        }
        line(1, "}");
    }

    const std::vector<bool> unused_;
};

}  // namespace

std::string to_dot(const Definition& definition, const DiagramOptions& options) {
    return diagram::to_dot(definition, options, {});
}

std::string diagram::to_dot(
    const Definition& definition, const DiagramOptions& options, const Notes& notes
) {
    return Writer(build_graph(definition, options, notes), options).write();
}

}  // namespace ebb
