#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/diagram/graph.h"
#include "core/diagram/mark_style.h"
#include "core/diagram/unicode.h"
#include "support/unicode.h"

// What the pictures as text (DOT, Mermaid, PlantUML) share: nested blocks, labels, escaping.

namespace ebb::diagram {

inline bool is_word(char32_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

/// The text on one line, in which `encode(character)` stands for each character that is not
/// `is_plain(line, index)`.
template <typename IsPlain, typename Encode>
std::string escape_line(
    std::string_view text, std::size_t chars_max, const IsPlain& is_plain, const Encode& encode
) {
    const std::u32string line = decode_line(shorten(text, chars_max));
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (is_plain(line, i)) {
            append_utf8(out, line[i]);
        } else {
            out += encode(static_cast<std::uint32_t>(line[i]));
        }
    }
    return out;
}

/// Writes a graph as nested lines. `Writer` derives from it and has `write_node(index, depth)`,
/// `open_block(index, depth)` and `close_block(index, depth)`, which may be private to friends.
template <typename Writer>
class BlockWriter {
 protected:
    BlockWriter(const Graph& graph, const DiagramOptions& options)
        : graph_(graph), options_(options) {}

    void line(int depth, std::string_view text) {
        out_.append(static_cast<std::size_t>(depth) * 2, ' ');
        out_ += text;
        out_ += '\n';
    }

    void write_items(const GraphBlock& block, int depth) {
        for (const Item& item : block.items) {
            if (const auto* node = std::get_if<NodeRef>(&item)) {
                self().write_node(node->index, depth);
            } else {
                write_block(std::get<BlockRef>(item).index, depth);
            }
        }
    }

    std::string take() { return std::move(out_); }

    const Graph& graph_;
    const DiagramOptions& options_;

 private:
    std::string out_;

    Writer& self() { return static_cast<Writer&>(*this); }

    void write_block(BlockIndex index, int depth) {
        const GraphBlock& block = graph_.blocks[index];
        if (block.kind == GraphBlock::Kind::Sequence) return write_items(block, depth);
        self().open_block(index, depth);
        if (block.head) self().write_node(*block.head, depth + 1);
        write_items(block, depth + 1);
        if (block.tail) self().write_node(*block.tail, depth + 1);
        self().close_block(index, depth);
    }
};

/// What a node says: its sign and label, and below that its details, its mark and its note.
template <typename Escape>
std::string label_of(const GraphNode& node, std::string_view line_break, const Escape& escape) {
    std::string label = escape(node.label);
    if (node.mark) label = std::string(sign_of(*node.mark)) + " " + label;
    const auto add = [&](const std::string& text) {
        label += line_break;
        label += escape(text);
    };
    if (!node.sublabel.empty()) add(node.sublabel);
    if (!node.condition.empty()) add("when " + node.condition);
    if (node.mark && node.mark->state != StepMark::State::Pending) add(mark_words(*node.mark));
    if (node.note) add(note_words(*node.note));
    return label;
}

}  // namespace ebb::diagram
