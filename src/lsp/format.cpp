#include "lsp/format.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <ebb/error.h>

#include "core/model/document.h"
#include "yaml/line_tree.h"
#include "yaml/yaml_document.h"

namespace ebb::lsp {

namespace {

using model::Document;
using yaml::LineTree;
using yaml::TreeNode;
using Kind = TreeNode::Kind;

constexpr int kIndent = 2;
constexpr int kNone = -1;

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/// The same values in the same order, whatever their places are.
bool is_same(const Document& a, const Document& b) {
    const auto same_member = [](const Document::Member& x, const Document::Member& y) {
        return x.key == y.key && is_same(x.value, y.value);
    };
    return a.type == b.type && a.scalar == b.scalar &&
           std::equal(
               a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), is_same
           ) &&
           std::equal(
               a.members.begin(), a.members.end(), b.members.begin(), b.members.end(), same_member
           );
}

std::optional<Document> parse(std::string_view text) {
    try {
        return yaml::parse_yaml_document(text, {});
    } catch (const Error&) {
        return std::nullopt;
    }
}

struct Line {
    std::size_t begin = 0;
    std::size_t end = 0;        ///< without blanks at its end and without its break
    std::size_t stop = 0;       ///< without its break
    int indent = 0;             ///< as it is
    int wanted = kNone;         ///< of a line that begins with a key or a dash
    bool is_inside = false;     ///< of a value that began on an earlier line
    bool is_literal = false;    ///< of a block scalar, where every blank counts
    bool is_block_top = false;  ///< a key at the top whose value goes over several lines
    bool is_dropped = false;
    std::size_t before = 0;  ///< the next line above with a wanted indent
    std::size_t behind = 0;  ///< the same, below

    bool is_empty() const { return begin == end; }
};

class Formatter {
 public:
    explicit Formatter(std::string_view text) : text_(text), tree_(text) {}

    std::vector<TextEdit> run() {
        find_lines();
        for (const TreeNode& node : tree_.nodes()) mark_inside(node);
        place(0, 0);
        find_neighbors();
        edit_empty_lines();
        for (std::size_t line = 0; line < lines_.size(); ++line) edit_line(line);
        std::stable_sort(edits_.begin(), edits_.end(), [](const TextEdit& a, const TextEdit& b) {
            return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
        });
        return std::move(edits_);
    }

 private:
    std::string_view text_;
    LineTree tree_;
    std::vector<Line> lines_;
    std::vector<TextEdit> edits_;

    void find_lines() {
        for (std::size_t begin = 0; begin < text_.size();) {
            const std::size_t next = std::min(text_.find('\n', begin), text_.size());
            Line line{.begin = begin, .end = next, .stop = next};
            if (line.stop > begin && text_[line.stop - 1] == '\r') --line.stop;
            line.end = line.stop;
            while (line.end > begin && is_blank(text_[line.end - 1])) --line.end;
            while (begin < line.end && text_[begin] == ' ') ++begin;
            line.indent = static_cast<int>(begin - line.begin);
            lines_.push_back(line);
            begin = next + 1;
        }
    }

    std::size_t line_of(std::size_t offset) const {
        const auto after = std::upper_bound(
            lines_.begin(),
            lines_.end(),
            offset,
            [](std::size_t at, const Line& line) { return at < line.begin; }
        );
        return after == lines_.begin() ? 0 : static_cast<std::size_t>(after - lines_.begin()) - 1;
    }

    /// The lines of a value behind its first one keep their distance to that one.
    void mark_inside(const TreeNode& node) {
        const bool is_collection = node.kind == Kind::Map || node.kind == Kind::List;
        if (node.kind != Kind::Scalar && !(is_collection && node.is_flow)) return;
        const bool is_literal =
            node.style == Document::Style::Literal || node.style == Document::Style::Folded;
        if (node.value.is_empty()) return;
        std::size_t first = line_of(node.value.begin);
        const std::size_t last = line_of(std::max(node.value.end, node.value.begin + 1) - 1);
        // The text of a block scalar begins on the line behind its mark.
        if (!is_literal) ++first;
        for (std::size_t line = first; line <= last && line < lines_.size(); ++line) {
            lines_[line].is_inside = true;
            lines_[line].is_literal = lines_[line].is_literal || is_literal;
        }
    }

    void want(std::size_t offset, int column) {
        Line& line = lines_[line_of(offset)];
        const bool is_first = offset == line.begin + static_cast<std::size_t>(line.indent);
        if (is_first && !line.is_inside) line.wanted = column;
    }

    /// Only blanks are between the two places: `to` follows `from` with one of them.
    void space(std::size_t from, std::size_t to, std::string_view wanted) {
        const std::string_view gap = text_.substr(from, to - from);
        const bool is_gap = std::all_of(gap.begin(), gap.end(), is_blank);
        if (is_gap && gap != wanted) edits_.push_back({from, to, std::string(wanted)});
    }

    /// Where the value of a node begins as it is written, with its quote or bracket.
    static std::size_t start_of(const TreeNode& node) {
        const bool is_quoted =
            node.kind == Kind::Scalar && (node.style == Document::Style::SingleQuoted ||
                                          node.style == Document::Style::DoubleQuoted);
        return is_quoted ? node.value.begin - 1 : node.value.begin;
    }

    static std::size_t start_of_key(const TreeNode& node) {
        return node.is_quoted_key ? node.key.begin - 1 : node.key.begin;
    }

    static std::size_t end_of_key(const TreeNode& node) {
        return node.is_quoted_key ? node.key.end + 1 : node.key.end;
    }

    bool is_on_one_line(std::size_t from, std::size_t to) const {
        return text_.substr(from, to - from).find('\n') == std::string_view::npos;
    }

    static bool is_block_scalar(const TreeNode& node) {
        return node.kind == Kind::Scalar &&
               (node.style == Document::Style::Literal || node.style == Document::Style::Folded);
    }

    /// A member's key, its colon and the beginning of its value.
    void space_member(const TreeNode& node) {
        if (node.key.is_empty() || !node.has_colon) return;
        const std::size_t colon = text_.find(':', end_of_key(node));
        if (colon == std::string_view::npos || !is_on_one_line(end_of_key(node), colon)) return;
        space(end_of_key(node), colon, "");
        const bool has_value = node.kind != Kind::Missing && !is_block_scalar(node) &&
                               (node.kind != Kind::Scalar || !node.value.is_empty());
        std::size_t start = start_of(node);
        if (is_block_scalar(node)) {
            start = colon + 1;
            while (start < text_.size() && is_blank(text_[start])) ++start;
            return space(colon + 1, start, " ");
        }
        if (has_value && start > colon && is_on_one_line(colon, start)) {
            space(colon + 1, start, " ");
        }
    }

    void place(int number, int column) {
        const TreeNode& node = tree_.at(number);
        if (node.kind != Kind::Map && node.kind != Kind::List) return;
        if (node.is_flow) return place_flow(number);
        for (const int child : node.children) {
            const TreeNode& item = tree_.at(child);
            if (node.kind == Kind::Map) {
                want(item.whole.begin, column);
                space_member(item);
                mark_top(number, item);
                place(child, column + kIndent);
                continue;
            }
            want(item.whole.begin, column);
            const std::size_t start = start_of_item(child);
            const std::size_t behind = item.whole.begin + 1;
            if (start > behind && is_on_one_line(behind, start)) space(behind, start, " ");
            place(child, column + kIndent);
        }
    }

    /// Where an item of a list begins behind its dash.
    std::size_t start_of_item(int number) const {
        const TreeNode& item = tree_.at(number);
        std::size_t start = item.whole.begin + 1;
        while (start < text_.size() && is_blank(text_[start])) ++start;
        return start;
    }

    void mark_top(int map, const TreeNode& member) {
        const bool is_block = (member.kind == Kind::Map || member.kind == Kind::List) &&
                              !member.is_flow && !member.children.empty();
        if (map == 0 && is_block) lines_[line_of(member.whole.begin)].is_block_top = true;
    }

    void place_flow(int number) {
        const TreeNode& node = tree_.at(number);
        std::size_t before = node.value.begin + 1;
        bool is_first = true;
        for (const int child : node.children) {
            const TreeNode& item = tree_.at(child);
            const bool has_key = !item.key.is_empty();
            const std::size_t start = has_key ? start_of_key(item) : start_of(item);
            if (start < before) return;
            std::size_t gap = before;
            if (!is_first) {
                gap = text_.find(',', before);
                if (gap == std::string_view::npos || gap > start) return;
                space(before, gap, "");
                ++gap;
            }
            space(gap, start, is_first ? "" : " ");
            space_member(item);
            place(child, 0);
            before = end_of(item);
            is_first = false;
        }
        const std::size_t close = node.value.end;
        if (!is_first && close > before && close > 0) space(before, close - 1, "");
    }

    static std::size_t end_of(const TreeNode& item) {
        const bool is_quoted =
            item.kind == Kind::Scalar && (item.style == Document::Style::SingleQuoted ||
                                          item.style == Document::Style::DoubleQuoted);
        return is_quoted ? item.value.end + 1 : item.value.end;
    }

    void find_neighbors() {
        std::size_t last = lines_.size();
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            lines_[i].before = last;
            if (lines_[i].wanted != kNone) last = i;
        }
        last = lines_.size();
        for (std::size_t i = lines_.size(); i-- > 0;) {
            lines_[i].behind = last;
            if (lines_[i].wanted != kNone) last = i;
        }
    }

    bool is_comment(const Line& line) const {
        return !line.is_empty() && !line.is_inside &&
               text_[line.begin + static_cast<std::size_t>(line.indent)] == '#';
    }

    /// The indent of a comment is that of the next line that has one of its own; what else belongs
    /// to an earlier line moves with it.
    int wanted_indent(const Line& line) const {
        if (line.wanted != kNone) return line.wanted;
        const bool is_note = is_comment(line);
        if (is_note && line.behind < lines_.size()) {
            const Line& next = lines_[line.behind];
            if (next.indent == line.indent) return next.wanted;
        }
        if (line.before >= lines_.size()) return line.indent;
        const Line& owner = lines_[line.before];
        if (is_note && line.indent < owner.indent) return line.indent;
        return std::max(line.indent + owner.wanted - owner.indent, 0);
    }

    void edit_line(std::size_t number) {
        const Line& line = lines_[number];
        if (line.is_dropped) return;
        if (line.is_empty()) {
            if (line.stop > line.end && !line.is_literal) {
                edits_.push_back({line.end, line.stop, ""});
            }
            return;
        }
        const bool is_blank_text = line.begin + static_cast<std::size_t>(line.indent) >= line.end;
        if (line.is_literal && is_blank_text) return;
        const int wanted = wanted_indent(line);
        if (wanted != line.indent) {
            edits_.push_back(
                {line.begin,
                 line.begin + static_cast<std::size_t>(line.indent),
                 std::string(static_cast<std::size_t>(wanted), ' ')}
            );
        }
        // In a value, blanks at the end of a line can be a part of it.
        const bool ends_inside = number + 1 < lines_.size() && lines_[number + 1].is_inside;
        const bool may_trim = !line.is_literal && !(ends_inside && line.is_inside);
        if (line.stop > line.end && may_trim) edits_.push_back({line.end, line.stop, ""});
    }

    void edit_empty_lines() {
        bool was_empty = true;
        std::size_t last = 0;
        for (std::size_t number = 0; number < lines_.size(); ++number) {
            Line& line = lines_[number];
            const bool is_empty = line.is_empty() && !line.is_inside;
            if (is_empty && was_empty) {
                const bool is_last = number + 1 == lines_.size();
                line.is_dropped = true;
                edits_.push_back({line.begin, is_last ? text_.size() : lines_[number + 1].begin, ""}
                );
            }
            if (line.is_block_top && number > 0 && goes_over_lines(last, number)) {
                set_apart(number);
            }
            if (line.wanted == 0 && line.indent == 0) last = number;
            was_empty = is_empty;
        }
    }

    /// An empty line before the key at the top and the comments above it.
    void set_apart(std::size_t number) {
        std::size_t first = number;
        while (first > 0 && is_comment(lines_[first - 1]) && lines_[first - 1].indent == 0) --first;
        if (first == 0 || lines_[first - 1].is_empty()) return;
        const std::size_t at = lines_[first].begin;
        const bool has_return = at > 1 && text_.substr(at - 2, 2) == "\r\n";
        edits_.push_back({at, at, has_return ? "\r\n" : "\n"});
    }

    /// Does the value of the key at the top on line `first` go on below it?
    bool goes_over_lines(std::size_t first, std::size_t next) const {
        return lines_[first].is_block_top || (next > first + 1 && lines_[first + 1].is_inside);
    }
};

}  // namespace

std::string apply_edits(std::string_view text, const std::vector<TextEdit>& edits) {
    std::string edited;
    std::size_t at = 0;
    for (const TextEdit& edit : edits) {
        edited += text.substr(at, edit.begin - at);
        edited += edit.text;
        at = edit.end;
    }
    edited += text.substr(at);
    return edited;
}

std::vector<TextEdit> format_edits(std::string_view text) {
    const std::optional<Document> before = parse(text);
    if (!before || text.starts_with("\xEF\xBB\xBF")) return {};
    std::vector<TextEdit> edits = Formatter(text).run();
    for (std::size_t i = 1; i < edits.size(); ++i) {
        if (edits[i].begin < edits[i - 1].end) return {};
    }
    // What the tolerant tree has seen otherwise than the parser stays as it is.
    const std::optional<Document> after = parse(apply_edits(text, edits));
    if (!after || !is_same(*before, *after)) return {};
    return edits;
}

}  // namespace ebb::lsp
