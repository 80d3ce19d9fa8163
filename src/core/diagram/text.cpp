#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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

/// A node deep in a tree has at least this many columns, however narrow the terminal is.
constexpr int kRoomMin = 30;
/// What continues a line is indented by this much below its node.
constexpr int kIndent = 4;

/// How many columns `text` takes, without escape sequences.
int width_of(std::string_view text) {
    int width = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\x1b') {
            at = std::min(text.find('m', at), text.size() - 1) + 1;
            continue;
        }
        const DecodedCharacter c = decode_utf8(text.substr(at));
        width += is_zero_width(c.code) ? 0 : is_wide(c.code) ? 2 : 1;
        at += c.bytes;
    }
    return width;
}

/// How many bytes at the start of `text` fit into `columns`, at least one character.
std::size_t bytes_within(std::string_view text, int columns) {
    std::size_t at = 0;
    int width = 0;
    while (at < text.size()) {
        const DecodedCharacter c = decode_utf8(text.substr(at));
        width += is_zero_width(c.code) ? 0 : is_wide(c.code) ? 2 : 1;
        if (width > columns && at > 0) break;
        at += c.bytes;
    }
    return at;
}

/// One line of the tree behind its branches, in pieces of one color.
class Line {
 public:
    /// After a sign that ends in a space, the line is not broken.
    void add(std::string text, std::string_view sgr, bool is_sign) {
        if (!text.empty()) pieces_.push_back({std::move(text), sgr, is_sign});
    }

    /// Writes the line and clears it. `room` = 0: in one line. What does not fit follows in lines
    /// that begin with `next`.
    void write(std::string& out, int room, const std::string& next) {
        int width = 0;
        for (const Piece& piece : pieces_) width += width_of(piece.text);
        if (room == 0 || width <= room) {
            for (const Piece& piece : pieces_) paint(out, piece.text, piece.sgr);
        } else {
            wrap(out, room, next);
        }
        out += '\n';
        pieces_.clear();
    }

 private:
    struct Piece {
        std::string text;
        std::string_view sgr;
        bool is_sign = false;
    };

    struct Word {
        std::string_view text;
        std::string_view sgr;
        int gap = 0;            ///< spaces before it
        bool is_glued = false;  ///< to the word before it
    };

    static void paint(std::string& out, std::string_view text, std::string_view sgr) {
        out += sgr.empty() ? std::string(text) : fmt::format("\x1b[{}m{}\x1b[0m", sgr, text);
    }

    std::vector<Word> words() const {
        std::vector<Word> words;
        int gap = 0;
        bool is_glued = true;
        for (const Piece& piece : pieces_) {
            std::string_view rest = piece.text;
            while (true) {
                const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
                gap += static_cast<int>(begin);
                is_glued = is_glued && (begin == 0 || words.empty());
                rest.remove_prefix(begin);
                if (rest.empty()) break;
                const std::size_t end = std::min(rest.find(' '), rest.size());
                words.push_back({rest.substr(0, end), piece.sgr, gap, is_glued});
                rest.remove_prefix(end);
                gap = 0;
                is_glued = true;
            }
            // The space behind a sign does not end its word.
            if (piece.is_sign) is_glued = true;
        }
        return words;
    }

    void wrap(std::string& out, int room, const std::string& next) const {
        const std::vector<Word> all = words();
        int column = 0;
        int left = room;
        const auto break_line = [&] {
            out += '\n' + next + std::string(kIndent, ' ');
            column = 0;
            left = room - kIndent;
        };
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Word& word = all[i];
            int unit = word.gap + width_of(word.text);
            for (std::size_t k = i + 1; k < all.size() && all[k].is_glued; ++k) {
                unit += all[k].gap + width_of(all[k].text);
            }
            const bool may_break = column > 0 && !word.is_glued;
            if (may_break && column + unit > left) break_line();
            if (column > 0) {
                out.append(static_cast<std::size_t>(word.gap), ' ');
                column += word.gap;
            }
            std::string_view text = word.text;
            while (!text.empty()) {
                if (column >= left) break_line();
                const std::string_view part = text.substr(0, bytes_within(text, left - column));
                paint(out, part, word.sgr);
                column += width_of(part);
                text.remove_prefix(part.size());
            }
        }
    }

    std::vector<Piece> pieces_;
};

class Writer {
 public:
    Writer(const Graph& graph, const TextStyle& style)
        : graph_(graph),
          columns_(style.columns),
          ascii_(style.charset == TextStyle::Charset::Ascii),
          ansi_(style.colors == TextStyle::Colors::Ansi) {}

    std::string write() {
        put(graph_.title, kBold);
        if (!graph_.description.empty()) put("  " + graph_.description, kDim);
        end_line("");
        write_items(graph_.blocks.front(), "");
        return std::move(out_);
    }

 private:
    /// Everything that others wrote passes here: it cannot break the line or steer the terminal.
    void put(std::string_view text, std::string_view sgr = "") {
        std::string clean;
        for (const char32_t c : decode_line(text)) {
            if (ascii_ && c > 0x7E) {
                clean += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c));
            } else {
                append_utf8(clean, c);
            }
        }
        line_.add(std::move(clean), ansi_ ? sgr : "", false);
    }

    /// Our own signs, of which the ASCII form is known.
    void put_sign(std::string_view unicode, std::string_view ascii, std::string_view sgr = "") {
        line_.add(std::string(ascii_ ? ascii : unicode), ansi_ ? sgr : "", true);
    }

    void put_branch(const std::string& prefix, bool is_last) {
        const std::string_view branch =
            is_last ? (ascii_ ? "`- " : "└─ ") : (ascii_ ? "|- " : "├─ ");
        out_ += prefix;
        out_ += ansi_ ? fmt::format("\x1b[{}m{}\x1b[0m", kDim, branch) : std::string(branch);
    }

    /// `next`: the prefix of the lines that continue this one.
    void end_line(const std::string& next) {
        const int room = std::max(columns_ - width_of(next), kRoomMin);
        line_.write(out_, columns_ == 0 ? 0 : room, next);
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
            const std::string next = deeper(prefix, is_last);
            if (const auto* node = std::get_if<NodeRef>(&items[i])) {
                write_node(graph_.nodes[node->index], next);
            } else {
                write_block(graph_.blocks[std::get<BlockRef>(items[i]).index], next);
            }
        }
    }

    void write_block(const GraphBlock& block, const std::string& prefix) {
        const bool until = block.kind == GraphBlock::Kind::Until;
        write_node(graph_.nodes[until ? *block.tail : *block.head], prefix);
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
            const std::string next = deeper(prefix, is_last);
            end_line(next);
            write_items(lane, next);
        }
    }

    void write_node(const GraphNode& node, const std::string& next) {
        const MarkStyle* mark = node.mark ? &style_of(shown_state(*node.mark)) : nullptr;
        if (mark != nullptr) {
            put_sign(mark->sign, mark->ascii_sign, mark->ansi);
            if (mark->state != node.mark->state) {
                const MarkStyle& undo = style_of(node.mark->state);
                put_sign(undo.sign, undo.ascii_sign, undo.ansi);
            }
            put_sign(" ", " ");
        }
        if (node.note) {
            const NoteStyle& note = style_of(node.note->kind);
            put_sign(note.sign, note.ascii_sign, note.ansi);
            put_sign(" ", " ");
        }
        put_sign(glyph_of(node.shape).unicode, glyph_of(node.shape).ascii);
        put_sign(" ", " ");
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
        end_line(next);
    }

    const Graph& graph_;
    const int columns_;
    const bool ascii_;
    const bool ansi_;
    Line line_;
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
