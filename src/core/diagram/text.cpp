#include <fmt/format.h>

#include "core/diagram/graph.h"
#include "core/diagram/mark_style.h"
#include "core/diagram/unicode.h"
#include "support/unicode.h"

namespace ebb {
namespace {

using namespace diagram;

struct Glyph {
    std::string_view unicode;
    std::string_view ascii;
};

Glyph glyph_of(Shape shape) {
    switch (shape) {
        case Shape::Condition:
            return {"◆", "?"};
        case Shape::Switch:
            return {"◈", "?"};
        case Shape::Fork:
            return {"‖", "="};
        case Shape::Loop:
            return {"∞", "@"};
        case Shape::Delay:
            return {"◔", "~"};
        case Shape::Decision:
            return {"●", "&"};
        case Shape::Signal:
            return {"◀", "<"};
        case Shape::Savepoint:
            return {"⚑", "^"};
        case Shape::Fail:
            return {"⊗", "!"};
        case Shape::Graph:
            return {"◇", "%"};
        default:
            return {"■", "*"};
    }
}

constexpr std::string_view kDim = "2";
constexpr std::string_view kBold = "1";
constexpr std::string_view kUndo = "33";

class Writer {
 public:
    Writer(const Graph& graph, const TextStyle& style)
        : graph_(graph),
          ascii_(style.charset == TextStyle::Charset::Ascii),
          ansi_(style.colors == TextStyle::Colors::Ansi) {}

    std::string write() {
        put(graph_.title, kBold);
        if (!graph_.description.empty()) put("  " + graph_.description, kDim);
        out_ += '\n';
        write_items(graph_.blocks.front(), "");
        return std::move(out_);
    }

 private:
    /// Everything that others wrote passes here: it cannot break the line or steer the terminal.
    void put(std::string_view text, std::string_view sgr = "") {
        const bool colored = ansi_ && !sgr.empty();
        if (colored) out_ += fmt::format("\x1b[{}m", sgr);
        for (const char32_t c : decode_line(text)) {
            if (ascii_ && c > 0x7E) {
                out_ += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c));
            } else {
                append_utf8(out_, c);
            }
        }
        if (colored) out_ += "\x1b[0m";
    }

    /// Our own signs, of which the ASCII form is known.
    void put_sign(std::string_view unicode, std::string_view ascii, std::string_view sgr = "") {
        const std::string_view sign = ascii_ ? ascii : unicode;
        out_ +=
            ansi_ && !sgr.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", sgr, sign) : std::string(sign);
    }

    void put_branch(const std::string& prefix, bool is_last) {
        out_ += prefix;
        if (is_last) {
            put_sign("└─ ", "`- ", kDim);
        } else {
            put_sign("├─ ", "|- ", kDim);
        }
    }

    std::string deeper(const std::string& prefix, bool is_last) const {
        if (is_last) return prefix + "   ";
        if (ascii_) return prefix + "|  ";
        return prefix + (ansi_ ? "\x1b[2m│\x1b[0m  " : "│  ");
    }

    static bool is_shown(const Graph& graph, const Item& item) {
        const auto* node = std::get_if<NodeRef>(&item);
        return node == nullptr || !kind_word(graph.nodes[node->index].shape).empty();
    }

    void write_items(const GraphBlock& block, const std::string& prefix) {
        std::vector<Item> items;
        for (const Item& item : block.items)
            if (is_shown(graph_, item)) items.push_back(item);
        for (std::size_t i = 0; i < items.size(); ++i) {
            const bool is_last = i + 1 == items.size();
            put_branch(prefix, is_last);
            if (const auto* node = std::get_if<NodeRef>(&items[i])) {
                write_node(graph_.nodes[node->index]);
            } else {
                write_block(
                    graph_.blocks[std::get<BlockRef>(items[i]).index], deeper(prefix, is_last)
                );
            }
        }
    }

    void write_block(const GraphBlock& block, const std::string& prefix) {
        const bool until = block.kind == GraphBlock::Kind::Until;
        write_node(graph_.nodes[until ? *block.tail : *block.head]);
        const bool has_one_lane =
            until || block.kind == GraphBlock::Kind::While || block.kind == GraphBlock::Kind::Graph;
        if (has_one_lane) {
            for (const Item& body : block.items)
                write_items(graph_.blocks[std::get<BlockRef>(body).index], prefix);
            return;
        }
        for (std::size_t i = 0; i < block.items.size(); ++i) {
            const GraphBlock& lane = graph_.blocks[std::get<BlockRef>(block.items[i]).index];
            const bool is_last = i + 1 == block.items.size();
            put_branch(prefix, is_last);
            put(lane.label);
            if (lane.items.empty()) put("  (go on)", kDim);
            out_ += '\n';
            write_items(lane, deeper(prefix, is_last));
        }
    }

    void write_node(const GraphNode& node) {
        const MarkStyle* mark = node.mark ? &style_of(shown_state(*node.mark)) : nullptr;
        if (mark != nullptr) {
            put_sign(mark->sign, mark->ascii_sign, mark->ansi);
            if (mark->state != node.mark->state) {
                const MarkStyle& undo = style_of(node.mark->state);
                put_sign(undo.sign, undo.ascii_sign, undo.ansi);
            }
            out_ += ' ';
        }
        if (node.note) {
            const NoteStyle& note = style_of(node.note->kind);
            put_sign(note.sign, note.ascii_sign, note.ansi);
            out_ += ' ';
        }
        put_sign(glyph_of(node.shape).unicode, glyph_of(node.shape).ascii);
        out_ += ' ';
        put(node.label, node.is_off ? kDim : kBold);
        if (node.shape != Shape::Step) put(fmt::format("  {}", kind_word(node.shape)), kDim);
        if (!node.sublabel.empty()) {
            put((node.shape == Shape::Step ? "  " : ": ") + node.sublabel, kDim);
        }
        if (!node.condition.empty()) put("  when " + node.condition, kDim);
        if (!node.compensation.empty()) {
            put_sign("  ↩ ", "  undo: ", kUndo);
            put(node.compensation, kUndo);
        }
        if (!node.ways.empty()) {
            put_sign("  → ", "  -> ", kDim);
            put(node.ways, kDim);
        }
        if (mark != nullptr && mark->state != StepMark::State::Pending)
            put(fmt::format("  [{}]", mark_words(*node.mark)), mark->ansi);
        if (node.note)
            put(fmt::format("  [{}]", note_words(*node.note)), style_of(node.note->kind).ansi);
        out_ += '\n';
    }

    const Graph& graph_;
    const bool ascii_;
    const bool ansi_;
    std::string out_;
};

}  // namespace

std::string to_text(
    const Definition& definition, const DiagramOptions& options, const TextStyle& style
) {
    return diagram::to_text(definition, options, style, {});
}

std::string diagram::to_text(
    const Definition& definition,
    const DiagramOptions& options,
    const TextStyle& style,
    const Notes& notes
) {
    return Writer(build_graph(definition, options, notes), style).write();
}

}  // namespace ebb
