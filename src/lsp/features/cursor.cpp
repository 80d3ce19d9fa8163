#include "lsp/features/cursor.h"

#include <algorithm>

#include "core/expression/spans.h"
#include "lsp/features/conditions.h"
#include "yaml/line_tree_builder.h"
#include "yaml/scalar_map.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;
using Kind = TreeNode::Kind;

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

class CursorFinder {
 public:
    CursorFinder(const LineTree& tree, std::size_t offset)
        : tree_(tree), text_(tree.text()), offset_(std::min(offset, tree.text().size())) {
        const std::size_t before =
            offset_ == 0 ? std::string_view::npos : text_.rfind('\n', offset_ - 1);
        line_ = before == std::string_view::npos ? 0 : before + 1;
    }

    Cursor find() {
        const int inner = tree_.innermost(offset_);
        if (in_scalar_of_lines(inner)) return value(inner);
        for (std::size_t i = line_; i < offset_; ++i) {
            if (yaml::is_comment_at(text_, i) && !in_quotes(inner)) return {};
        }
        if (const int flow = flow_around(inner); flow >= 0) return in_flow(flow);
        return in_block();
    }

 private:
    const LineTree& tree_;
    std::string_view text_;
    std::size_t offset_;
    std::size_t line_ = 0;

    bool in_quotes(int node) const {
        const TreeNode& here = tree_.at(node);
        return here.kind == Kind::Scalar && here.style != model::Document::Style::Plain &&
               here.value.contains(offset_);
    }

    /// A block scalar, or a quoted text that began in an earlier line.
    bool in_scalar_of_lines(int node) const {
        return in_quotes(node) && (tree_.at(node).value.begin < line_ ||
                                   tree_.at(node).style == model::Document::Style::Literal ||
                                   tree_.at(node).style == model::Document::Style::Folded);
    }

    Cursor value(int node) const {
        const TreeNode& here = tree_.at(node);
        Cursor cursor{.where = Cursor::Where::Value, .node = node};
        cursor.begin = std::min<std::size_t>(here.value.begin, offset_);
        while (cursor.begin < offset_ && is_blank(text_[cursor.begin])) ++cursor.begin;
        cursor.word = text_.substr(cursor.begin, offset_ - cursor.begin);
        return cursor;
    }

    int flow_around(int node) const {
        for (; node >= 0; node = tree_.at(node).parent) {
            const TreeNode& here = tree_.at(node);
            const bool is_closed =
                here.value.end > here.value.begin + 1 &&
                (text_[here.value.end - 1] == '}' || text_[here.value.end - 1] == ']');
            const bool is_inside = here.is_flow && offset_ > here.value.begin &&
                                   (offset_ < here.value.end || !is_closed);
            if (is_inside) return node;
        }
        return -1;
    }

    Cursor in_flow(int flow) const {
        const TreeNode& around = tree_.at(flow);
        for (const int child : around.children) {
            const TreeNode& here = tree_.at(child);
            const bool is_value = around.kind == Kind::Map && here.has_colon &&
                                  offset_ >= here.value.begin && offset_ <= comma_after(child);
            if (is_value) return value(child);
        }
        std::size_t begin = offset_;
        constexpr std::string_view kEnds = "{[,\n\" \t";
        while (begin > 0 && kEnds.find(text_[begin - 1]) == std::string_view::npos) --begin;
        Cursor cursor{.where = Cursor::Where::Key, .node = flow, .is_flow = true, .begin = begin};
        cursor.word = text_.substr(begin, offset_ - begin);
        if (around.kind == Kind::List) cursor.is_item = true;
        return cursor;
    }

    /// The end of what the value of a member can still grow to.
    std::size_t comma_after(int child) const {
        std::size_t at = tree_.at(child).whole.end;
        while (at < text_.size() && is_blank(text_[at])) ++at;
        return std::max<std::size_t>(at, tree_.at(child).whole.end);
    }

    Cursor in_block() const {
        std::size_t at = line_;
        while (at < offset_ && is_blank(text_[at])) ++at;
        std::size_t dash = std::string_view::npos;
        while (at < offset_ && text_[at] == '-' && (at + 1 >= offset_ || is_blank(text_[at + 1]))) {
            dash = at++;
            while (at < offset_ && is_blank(text_[at])) ++at;
        }
        // `key: |` is the member's value.
        for (std::size_t i = at; i < offset_; ++i) {
            const bool is_colon = text_[i] == ':' && (i + 1 == offset_ || is_blank(text_[i + 1]));
            if (is_colon) return value_of_line(at);
        }
        Cursor cursor{.where = Cursor::Where::Key, .column = at - line_, .begin = at};
        cursor.word = text_.substr(at, offset_ - at);
        cursor.is_item = dash != std::string_view::npos;
        cursor.node = cursor.is_item ? item_at(dash) : map_at(cursor.column);
        if (cursor.node < 0) cursor.where = Cursor::Where::Nowhere;
        return cursor;
    }

    Cursor value_of_line(std::size_t begin) const {
        for (int node = static_cast<int>(tree_.nodes().size()) - 1; node >= 0; --node) {
            const TreeNode& here = tree_.at(node);
            const bool is_here = here.has_colon && here.key.begin >= begin &&
                                 here.key.begin <= begin + 1 && here.key.end <= offset_;
            if (is_here) return value(node);
        }
        return {};
    }

    int item_at(std::size_t dash) const {
        for (int node = 0; node < static_cast<int>(tree_.nodes().size()); ++node) {
            if (tree_.at(node).whole.begin == dash && tree_.at(node).key.is_empty() && node > 0) {
                return node;
            }
        }
        return -1;
    }

    /// The map whose keys have this column, or the empty value that they would fill.
    int map_at(std::size_t column) const {
        const auto indent = static_cast<int>(column);
        int last = 0;
        for (int node = 0; node < static_cast<int>(tree_.nodes().size()); ++node) {
            if (tree_.at(node).whole.begin < line_) last = node;
        }
        for (int node = last; node >= 0; node = tree_.at(node).parent) {
            const TreeNode& here = tree_.at(node);
            const bool is_map = here.kind == Kind::Map && !here.is_flow;
            if (is_map && here.indent == indent) return node;
            const bool is_slot = here.kind == Kind::Missing && here.has_colon;
            if (is_slot && tree_.at(here.parent).indent < indent) return node;
        }
        return column == 0 ? 0 : -1;
    }
};

}  // namespace

Cursor cursor_at(const LineTree& tree, std::size_t offset) {
    return CursorFinder(tree, offset).find();
}

std::optional<std::string> expression_before(const LineTree& tree, int node, std::size_t offset) {
    const TreeNode& here = tree.at(node);
    const std::string key = tree.key(node);
    const std::size_t begin = std::min<std::size_t>(here.value.begin, offset);
    const std::string_view raw = tree.text().substr(begin, offset - begin);
    const std::string text = yaml::decode_scalar(raw, here.style).text;
    const std::size_t open = text.rfind("${");
    if (open != std::string::npos) {
        const std::vector<expression::Span> spans = expression::expressions_in(text);
        const bool is_open = !spans.empty() && spans.back().end == text.size();
        if (!is_open) return std::nullopt;
        return text.substr(spans.back().begin);
    }
    if (!is_expression_key(key) || is_in_payload(tree, node) || is_condition(tree, node)) {
        return std::nullopt;
    }
    const bool is_time = key == "until" && tree.find(here.parent, "delay") >= 0;
    if (is_time) return std::nullopt;
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string::npos ? std::string() : text.substr(first);
}

}  // namespace ebb::lsp
