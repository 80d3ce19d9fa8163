// Lists and maps in brackets, which JSON consists of.

#include <algorithm>

#include <ebb/definition.h>

#include "yaml/line_tree_builder.h"

namespace ebb::yaml {

namespace {

bool ends_plain(char c) {
    return c == ',' || c == ']' || c == '}' || c == '[' || c == '{';
}

}  // namespace

/// False if the brackets end here, because the text continues with a key of the block around them.
bool LineTreeBuilder::skip_flow_blanks(int indent) {
    while (at_ < text_.size()) {
        const char c = peek();
        if (c == '\n') {
            if (indent >= 0 && is_shallow(at_ + 1, indent)) {
                std::size_t first = at_ + 1;
                while (first < text_.size() && text_[first] == ' ') ++first;
                const bool is_bracket = text_[first] == '}' || text_[first] == ']';
                if (!is_bracket) return false;
            }
            ++at_;
            line_begin_ = at_;
        } else if (is_comment_at(text_, at_)) {
            at_ = line_end();
        } else if (is_blank(c)) {
            ++at_;
        } else {
            return true;
        }
    }
    return false;
}

TreeRange LineTreeBuilder::flow_plain(bool is_key) {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
        const char c = peek();
        if (c == '\n' || is_comment_at(text_, at_)) break;
        // An expression is one word here, although YAML wants quotes around it.
        if (c == '$' && peek(1) == '{') {
            const std::size_t end = text_.find_first_of("}\n", at_);
            at_ = std::min(end, text_.size());
            if (peek() == '}') ++at_;
            continue;
        }
        if (ends_plain(c)) break;
        const char next = peek(1);
        const bool is_colon = c == ':' && (is_blank(next) || next == '\n' || next == '\0' ||
                                           ends_plain(next) || is_key);
        if (is_colon) break;
        ++at_;
    }
    std::size_t end = at_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    return {.begin = narrow(begin), .end = narrow(end)};
}

void LineTreeBuilder::flow_value(int number, int indent, int depth) {
    properties();
    const char c = peek();
    if (c == '{' || c == '[') return flow(number, indent, depth + 1);
    TreeNode& scalar = node(number);
    if (c == '"' || c == '\'') {
        const TreeRange range = quoted_range(indent);
        scalar.kind = Kind::Scalar;
        scalar.style = c == '"' ? Style::DoubleQuoted : Style::SingleQuoted;
        scalar.value = range;
        scalar.whole.end = narrow(at_);
        return;
    }
    const TreeRange range = flow_plain(false);
    if (range.is_empty()) return;
    scalar.kind = text_[range.begin] == '*' ? Kind::Alias : Kind::Scalar;
    scalar.value = range;
    scalar.whole.end = range.end;
}

void LineTreeBuilder::flow_member(int map, int indent, int depth) {
    TreeNode added;
    added.whole.begin = narrow(at_);
    properties();
    if (peek() == '"' || peek() == '\'') {
        added.is_quoted_key = true;
        added.key = quoted_range(indent);
    } else {
        added.key = flow_plain(false);
    }
    added.whole.end = narrow(at_);
    added.value = {.begin = narrow(at_), .end = narrow(at_)};
    const std::size_t behind = at_;
    const bool goes_on = skip_flow_blanks(indent);
    if (!goes_on || peek() != ':') {
        if (added.key.is_empty() && !added.is_quoted_key) return;
        if (goes_on && peek() != '\n') at_ = std::max(at_, behind);
        add(map, added);
        return;
    }
    added.has_colon = true;
    ++at_;
    added.value = {.begin = narrow(at_), .end = narrow(at_)};
    added.whole.end = narrow(at_);
    const int number = add(map, added);
    if (!skip_flow_blanks(indent)) return;
    if (peek() != ',' && peek() != '}' && peek() != ']') flow_value(number, indent, depth);
}

void LineTreeBuilder::flow(int number, int indent, int depth) {
    const bool is_map = peek() == '{';
    node(number).kind = is_map ? Kind::Map : Kind::List;
    node(number).is_flow = true;
    node(number).value.begin = narrow(at_);
    ++at_;
    const bool is_too_deep = depth >= DefinitionLimits::kDocumentDepthMax;
    while (!is_too_deep && skip_flow_blanks(indent)) {
        const std::size_t before = at_;
        const char c = peek();
        if (c == '}' || c == ']') {
            // The wrong bracket closes, too: it is more likely a slip than a surplus.
            ++at_;
            break;
        }
        if (c == ',') {
            ++at_;
            continue;
        }
        if (is_map) {
            flow_member(number, indent, depth);
        } else {
            TreeNode item;
            item.whole.begin = narrow(at_);
            item.value = {.begin = narrow(at_), .end = narrow(at_)};
            const int added = add(number, item);
            flow_value(added, indent, depth);
        }
        if (at_ == before) ++at_;
    }
    node(number).value.end = narrow(at_);
    node(number).whole.end = narrow(at_);
}

}  // namespace ebb::yaml
