#include <algorithm>

#include <fmt/format.h>

#include "core/diagram/block_writer.h"

namespace ebb {
namespace {

using namespace diagram;

bool is_digit(char32_t c) {
    return c >= '0' && c <= '9';
}

/// Words that Mermaid's preprocessor or lexer looks for even inside a quoted label.
bool starts_keyword(std::u32string_view text) {
    return text.starts_with(U"style") || text.starts_with(U"classDef") ||
           text.starts_with(U"direction ") || text.starts_with(U"www.");
}

/// Whether `line[i]` means nothing to Mermaid where it stands. Mermaid reads a label as Markdown
/// and then as HTML, so only what is known as harmless stays as it is.
bool is_plain(std::u32string_view line, std::size_t i) {
    const char32_t c = line[i];
    const char32_t before = i == 0 ? U' ' : line[i - 1];
    const char32_t after = i + 1 == line.size() ? U' ' : line[i + 1];
    if (starts_keyword(line.substr(i))) return false;
    if (c == 0xFB02) return false;  // it opens Mermaid's own placeholder for an entity
    if (is_word(c)) return true;
    const bool numbers_item = is_digit(before) && after == ' ';
    switch (c) {
        case ' ':
            return i != 0 && before != ' ';
        case '_':
            return is_word(before) && is_word(after);
        case '.':
            return is_word(before) && !numbers_item;
        case ')':
            return !numbers_item;
        case '-':
        case '=':
        case '+':
            return i != 0 && before != c;
        case ':':
            return after == ' ';
        case ',':
        case '/':
        case '!':
        case '?':
        case '\'':
        case '(':
            return true;
        default:
            return false;
    }
}

std::string escape(std::string_view text, std::size_t chars_max = kLabelCharsMax) {
    return escape_line(text, chars_max, is_plain, [](std::uint32_t c) {
        return fmt::format("#{};", c);
    });
}

struct Brackets {
    std::string_view open;
    std::string_view close;
};

Brackets brackets(Shape shape) {
    switch (shape) {
        case Shape::Start:
        case Shape::End:
        case Shape::Delay:
            return {"([", "])"};
        case Shape::Condition:
        case Shape::Switch:
        case Shape::Loop:
            return {"{", "}"};
        case Shape::Merge:
        case Shape::Repeat:
            return {"((", "))"};
        case Shape::Graph:
            return {"[[", "]]"};
        case Shape::Fork:
            return {"[/", "\\]"};
        case Shape::Join:
            return {"[\\", "/]"};
        case Shape::Decision:
            return {"[/", "/]"};
        case Shape::Signal:
            return {">", "]"};
        case Shape::Savepoint:
            return {"[(", ")]"};
        case Shape::Fail:
            return {"{{", "}}"};
        case Shape::Step:
            break;
    }
    return {"[", "]"};
}

std::string_view class_of(const GraphNode& node) {
    if (node.note) return style_of(node.note->kind).name;
    if (node.is_off) return "off";
    if (node.mark) return to_string(shown_state(*node.mark));
    switch (node.shape) {
        case Shape::Start:
        case Shape::End:
        case Shape::Merge:
        case Shape::Repeat:
        case Shape::Join:
            return "point";
        case Shape::Fail:
            return "fail";
        case Shape::Savepoint:
            return "savepoint";
        default:
            return kind_word(node.shape) == "step" ? "step" : "control";
    }
}

class Writer : BlockWriter<Writer> {
 public:
    Writer(const Graph& graph, const DiagramOptions& options) : BlockWriter(graph, options) {}

    std::string write() {
        const bool down = options_.direction == DiagramOptions::Direction::Down;
        line(0, fmt::format("flowchart {}", down ? "TD" : "LR"));
        line(1, "accTitle: " + escape(graph_.title));
        line(1, "accDescr: " + escape(summary(graph_), kSummaryCharsMax));
        write_items(graph_.blocks.front(), 1);
        for (const GraphEdge& edge : graph_.edges) write_edge(edge);
        if (graph_.has_marks && options_.legend == DiagramOptions::Legend::Show) write_legend();
        write_classes();
        return take();
    }

 private:
    friend class BlockWriter<Writer>;

    void write_node(NodeIndex index, int depth) {
        const GraphNode& node = graph_.nodes[index];
        std::string label =
            label_of(node, "<br/>", [](std::string_view text) { return escape(text); });
        if (label.empty()) label = " ";
        const auto [open, close] = brackets(node.shape);
        line(depth, fmt::format("n{}{}\"{}\"{}:::{}", index, open, label, close, class_of(node)));
        if (node.compensation.empty()) return;
        line(depth, fmt::format("c{}[\"↩ {}\"]:::undo", index, escape(node.compensation)));
        line(depth, fmt::format("n{0} -.- c{0}", index));
    }

    void open_block(BlockIndex index, int depth) {
        line(depth, fmt::format("subgraph b{}[\" \"]", index));
    }

    void close_block(BlockIndex index, int depth) {
        line(depth, "end");
        line(depth, fmt::format("class b{} block", index));
    }

    void write_edge(const GraphEdge& edge) {
        const std::string_view arrow = edge.kind == GraphEdge::Kind::Back ? "==>" : "-->";
        const std::string label =
            edge.label.empty() ? "" : fmt::format("|\"{}\"|", escape(edge.label));
        line(1, fmt::format("n{} {}{} n{}", edge.from, arrow, label, edge.to));
    }

    void write_legend() {
        line(1, "subgraph legend[\"Legend\"]");
        for (const StepMark::State state : states_of(graph_)) {
            const MarkStyle& style = style_of(state);
            line(
                2,
                fmt::format(
                    "l_{0}[\"{1} {2}\"]:::{0}", to_string(style.state), style.sign, style.words
                )
            );
        }
        line(1, "end");
        line(1, "class legend block");
    }

    void write_class(std::string_view name, const MarkColors& colors, std::string_view more = "") {
        line(
            1,
            fmt::format(
                "classDef {} fill:{},stroke:{},color:{}{}",
                name,
                colors.fill,
                colors.stroke,
                colors.text,
                more
            )
        );
    }

    void write_classes() {
        line(1, "classDef block fill:none,stroke:#94a3b8,stroke-dasharray:2 4");
        write_class("point", {"#e2e8f0", "#475569", "#1e293b"});
        write_class("undo", {"#fff7ed", "#c2410c", "#7c2d12"}, ",stroke-dasharray:4 3");
        if (!graph_.has_marks) {
            write_class("step", {"#eff6ff", "#2563eb", "#1e3a8a"});
            write_class("control", {"#f8fafc", "#475569", "#1e293b"});
            write_class("savepoint", {"#f0fdfa", "#0d9488", "#134e4a"}, ",stroke-dasharray:4 3");
            write_class("fail", {"#fee2e2", "#dc2626", "#991b1b"});
        }
        const auto& nodes = graph_.nodes;
        if (std::any_of(nodes.begin(), nodes.end(), [](const GraphNode& n) { return n.is_off; })) {
            line(1, "classDef off fill:none,stroke:#cbd5e1,color:#94a3b8,stroke-dasharray:3 3");
        }
        for (const Note::Kind kind : note_kinds_of(graph_)) {
            const NoteStyle& style = style_of(kind);
            write_class(style.name, style.light, style.is_dashed ? ",stroke-dasharray:5 3" : "");
        }
        for (const StepMark::State state : states_of(graph_))
            write_class(to_string(state), style_of(state).light, dashes(state));
    }

    static std::string_view dashes(StepMark::State state) {
        return state == StepMark::State::Skipped ? ",stroke-dasharray:3 3" : "";
    }
};

}  // namespace

std::string to_mermaid(const Definition& definition, const DiagramOptions& options) {
    return diagram::to_mermaid(definition, options, {});
}

std::string diagram::to_mermaid(
    const Definition& definition, const DiagramOptions& options, const Notes& notes
) {
    return Writer(build_graph(definition, options, notes), options).write();
}

}  // namespace ebb
