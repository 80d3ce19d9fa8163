#include <fmt/format.h>

#include "core/diagram/block_writer.h"

namespace ebb {
namespace {

using namespace diagram;

/// Whether `line[i]` means nothing to PlantUML where it stands. Its preprocessor and its markup
/// read labels, so only what is known as harmless stays as it is.
bool is_plain(std::u32string_view line, std::size_t i) {
    const char32_t c = line[i];
    const char32_t before = i == 0 ? U' ' : line[i - 1];
    const char32_t after = i + 1 == line.size() ? U' ' : line[i + 1];
    if (is_word(c)) return true;
    switch (c) {
        case ' ':
            return i != 0 && before != ' ';
        case '.':
        case '-':
        case '_':
            return is_word(before) && is_word(after);
        case ',':
        case ':':
        case '?':
        case '(':
        case ')':
            return i != 0 && before != c;
        default:
            return false;
    }
}

std::string escape(std::string_view text, std::size_t chars_max = kLabelCharsMax) {
    return escape_line(text, chars_max, is_plain, [](std::uint32_t c) {
        return fmt::format("<U+{:04X}>", c);
    });
}

struct Look {
    std::string_view element;
    MarkColors colors;
    bool is_dashed = false;
};

constexpr MarkColors kPoint{"#e2e8f0", "#475569", "#1e293b"};
constexpr MarkColors kControl{"#f8fafc", "#475569", "#1e293b"};

Look look_of(Shape shape) {
    switch (shape) {
        case Shape::Start:
        case Shape::End:
            return {"storage", kPoint};
        case Shape::Merge:
        case Shape::Repeat:
            return {"circle", kPoint};
        case Shape::Join:
            return {"rectangle", kPoint};
        case Shape::Condition:
        case Shape::Switch:
        case Shape::Loop:
            return {"hexagon", kControl};
        case Shape::Fork:
        case Shape::Delay:
            return {"card", kControl};
        case Shape::Decision:
            return {"component", kControl};
        case Shape::Signal:
            return {"file", kControl};
        case Shape::Graph:
            return {"frame", kControl};
        case Shape::Savepoint:
            return {"folder", {"#f0fdfa", "#0d9488", "#134e4a"}, true};
        case Shape::Fail:
            return {"rectangle", {"#fee2e2", "#dc2626", "#991b1b"}};
        case Shape::Step:
            break;
    }
    return {"rectangle", {"#eff6ff", "#2563eb", "#1e3a8a"}};
}

std::string style(const MarkColors& colors, bool is_dashed) {
    return fmt::format(
        "{};line:{};text:{}{}",
        colors.fill,
        colors.stroke.substr(1),
        colors.text.substr(1),
        is_dashed ? ";line.dashed" : ""
    );
}

class Writer : BlockWriter<Writer> {
 public:
    Writer(const Graph& graph, const DiagramOptions& options)
        : BlockWriter(graph, options), unused_(unused_edges(graph)) {}

    std::string write() {
        line(0, "@startuml");
        if (options_.direction == DiagramOptions::Direction::Right) {
            line(0, "left to right direction");
        }
        line(0, "title " + escape(graph_.title));
        if (!graph_.description.empty()) {
            line(0, "caption " + escape(graph_.description, kSummaryCharsMax));
        }
        write_items(graph_.blocks.front(), 0);
        for (std::size_t i = 0; i < graph_.edges.size(); ++i) write_edge(i);
        line(0, "@enduml");
        return take();
    }

 private:
    friend class BlockWriter<Writer>;

    static Look look_of_node(const GraphNode& node) {
        Look look = look_of(node.shape);
        if (node.mark) {
            look.colors = style_of(shown_state(*node.mark)).light;
            look.is_dashed = node.mark->state == StepMark::State::Skipped;
        }
        if (node.note) {
            look.colors = style_of(node.note->kind).light;
            look.is_dashed = style_of(node.note->kind).is_dashed;
        }
        if (node.is_off) {
            look.colors = {"#ffffff", "#cbd5e1", "#94a3b8"};
            look.is_dashed = true;
        }
        return look;
    }

    void write_node(NodeIndex index, int depth) {
        const GraphNode& node = graph_.nodes[index];
        std::string label =
            label_of(node, "\\n", [](std::string_view text) { return escape(text); });
        if (label.empty()) label = " ";
        const Look look = look_of_node(node);
        line(
            depth,
            fmt::format(
                "{} \"{}\" as n{} {}",
                look.element,
                label,
                index,
                style(look.colors, look.is_dashed)
            )
        );
        if (node.compensation.empty()) return;
        line(
            depth,
            fmt::format(
                "rectangle \"↩ {}\" as c{} {}",
                escape(node.compensation),
                index,
                style({"#fff7ed", "#c2410c", "#7c2d12"}, true)
            )
        );
        line(depth, fmt::format("n{0} .. c{0}", index));
    }

    void open_block(BlockIndex index, int depth) {
        line(depth, fmt::format("rectangle \" \" as b{} #transparent;line:94a3b8 {{", index));
    }

    void close_block(BlockIndex, int depth) { line(depth, "}"); }

    void write_edge(std::size_t index) {
        const GraphEdge& edge = graph_.edges[index];
        const bool is_back = edge.kind == GraphEdge::Kind::Back;
        const std::string_view arrow = is_back          ? "-[bold]->"
                                       : unused_[index] ? "-[dashed]->"
                                                        : "-->";
        const std::string label = edge.label.empty() ? "" : " : " + escape(edge.label);
        line(0, fmt::format("n{} {} n{}{}", edge.from, arrow, edge.to, label));
    }

    const std::vector<bool> unused_;
};

}  // namespace

std::string diagram::to_plantuml(
    const Definition& definition, const DiagramOptions& options, const Notes& notes
) {
    return Writer(build_graph(definition, options, notes), options).write();
}

}  // namespace ebb
