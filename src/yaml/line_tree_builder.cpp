#include "yaml/line_tree_builder.h"

#include <algorithm>
#include <utility>

#include <ebb/definition.h>

namespace ebb::yaml {

bool is_comment_at(std::string_view text, std::size_t at) {
    if (at >= text.size() || text[at] != '#') return false;
    if (at == 0) return true;
    const char before = text[at - 1];
    return before == ' ' || before == '\t' || before == '\n' || before == '\r';
}

void LineTreeBuilder::run() {
    nodes_.push_back({});
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    while (at_ < text_.size()) {
        line_begin_ = at_;
        if (is_separator()) {
            if (has_content_) break;
            at_ += 3;
            skip_blanks();
            if (is_line_end()) {
                skip_line();
                continue;
            }
        }
        line();
    }
    finish();
}

void LineTreeBuilder::line() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (peek() == '%' && column() == 0) return skip_line();
    if (is_line_end()) return skip_line();
    has_content_ = true;
    while (is_dash()) {
        dash();
        if (is_line_end()) return skip_line();
    }
    if (const std::size_t colon = key_end(); colon != std::string_view::npos) {
        member(colon);
    } else {
        lone_scalar();
    }
    // What is left of the line belongs to nothing: a bracket too many, a text after a quote.
    skip_line();
}

void LineTreeBuilder::skip_line() {
    at_ = line_end();
    if (at_ < text_.size()) ++at_;
}

void LineTreeBuilder::skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

std::size_t LineTreeBuilder::line_end() const {
    return std::min(text_.find('\n', at_), text_.size());
}

bool LineTreeBuilder::is_at_line_end(std::size_t at) const {
    return at >= text_.size() || text_[at] == '\n' || is_comment_at(text_, at);
}

bool LineTreeBuilder::is_line_end() const {
    return is_at_line_end(at_);
}

bool LineTreeBuilder::is_separator() const {
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("---") && !rest.starts_with("...")) return false;
    return rest.size() == 3 || is_blank(rest[3]) || rest[3] == '\n';
}

bool LineTreeBuilder::is_dash() const {
    return peek() == '-' && (at_ + 1 >= text_.size() || is_blank(peek(1)) || peek(1) == '\n');
}

/// Where the colon behind the key at the position is; npos if there is no key.
std::size_t LineTreeBuilder::key_end() const {
    const std::size_t end = line_end();
    std::size_t at = at_;
    // Anchors and tags may stand before a key, too.
    while (at < end && (text_[at] == '&' || text_[at] == '!')) {
        while (at < end && !is_blank(text_[at])) ++at;
        while (at < end && is_blank(text_[at])) ++at;
    }
    if (at >= end || text_[at] == '{' || text_[at] == '[' || text_[at] == '|' || text_[at] == '>') {
        return std::string_view::npos;
    }
    if (text_[at] == '"' || text_[at] == '\'') {
        const char quote = text_[at++];
        while (at < end && text_[at] != quote) at += quote == '"' && text_[at] == '\\' ? 2 : 1;
        if (at >= end) return std::string_view::npos;
        ++at;
        while (at < end && is_blank(text_[at])) ++at;
        const bool is_key =
            at < end && text_[at] == ':' && (at + 1 >= end || is_blank(text_[at + 1]));
        return is_key ? at : std::string_view::npos;
    }
    for (; at < end; ++at) {
        if (is_comment_at(text_, at)) break;
        if (text_[at] == ':' && (at + 1 >= end || is_blank(text_[at + 1]))) return at;
    }
    return std::string_view::npos;
}

int LineTreeBuilder::add(int parent, TreeNode added) {
    const int number = static_cast<int>(nodes_.size());
    added.parent = parent;
    added.index = narrow(node(parent).children.size());
    nodes_.push_back(std::move(added));
    node(parent).children.push_back(number);
    return number;
}

void LineTreeBuilder::close_above(int column, bool is_dash) {
    while (!open_.empty()) {
        const Open& top = open_.back();
        const bool is_list = node(top.node).kind == Kind::List;
        // A list may have the indentation of the key that it belongs to.
        if (top.indent < column || (top.indent == column && (is_dash || !is_list))) break;
        open_.pop_back();
    }
    // A list as deep as its key's map, and then a map as deep: only the map is meant.
    if (is_dash && !open_.empty() && open_.back().indent == column &&
        node(open_.back().node).kind == Kind::Map) {
        const int map = open_.back().node;
        const bool has_slot =
            !node(map).children.empty() && node(node(map).children.back()).kind == Kind::Missing;
        const bool is_compact = open_.size() > 1 &&
                                node(open_[open_.size() - 2].node).kind == Kind::List &&
                                open_[open_.size() - 2].indent == column;
        if (!has_slot && is_compact) open_.pop_back();
    }
}

int LineTreeBuilder::slot_below(int column) {
    if (open_.empty()) return nodes_.front().kind == Kind::Missing ? 0 : -1;
    const Open& top = open_.back();
    const std::vector<int>& children = node(top.node).children;
    const bool is_deeper =
        top.indent < column || (top.indent == column && node(top.node).kind == Kind::Map);
    if (!is_deeper || children.empty()) return -1;
    const TreeNode& last = node(children.back());
    const bool is_open = last.kind == Kind::Missing && (last.has_colon || last.key.is_empty());
    return is_open ? children.back() : -1;
}

void LineTreeBuilder::dash() {
    const int here = column();
    close_above(here, true);
    int list = -1;
    if (!open_.empty() && node(open_.back().node).kind == Kind::List &&
        open_.back().indent == here) {
        list = open_.back().node;
    } else if (open_.size() >= std::size_t{DefinitionLimits::kDocumentDepthMax}) {
        // Deeper structures are not read, so that recursion over the tree is bounded.
        at_ = line_end();
        return;
    } else if (const int slot = slot_below(here); slot >= 0) {
        node(slot).kind = Kind::List;
        node(slot).indent = here;
        node(slot).value.begin = narrow(at_);
        open_.push_back({slot, here});
        list = slot;
    } else {
        list = open_.empty() ? 0 : open_.back().node;
    }
    TreeNode item;
    item.whole.begin = narrow(at_);
    item.value = {.begin = narrow(at_ + 1), .end = narrow(at_ + 1)};
    item.whole.end = narrow(at_ + 1);
    add(list, item);
    ++at_;
    skip_blanks();
}

void LineTreeBuilder::properties() {
    while (peek() == '&' || peek() == '!') {
        while (at_ < text_.size() && !is_blank(peek()) && peek() != '\n') ++at_;
        skip_blanks();
    }
}

void LineTreeBuilder::member(std::size_t colon) {
    const int here = column();
    close_above(here, false);
    int map = -1;
    if (!open_.empty() && node(open_.back().node).kind == Kind::Map &&
        open_.back().indent == here) {
        map = open_.back().node;
    } else if (const int slot = slot_below(here); slot >= 0) {
        node(slot).kind = Kind::Map;
        node(slot).indent = here;
        node(slot).value.begin = narrow(at_);
        open_.push_back({slot, here});
        map = slot;
    } else {
        // Wrongly indented: it belongs to what is nearest.
        map = open_.empty() ? 0 : open_.back().node;
    }
    TreeNode added;
    properties();
    added.whole.begin = narrow(at_);
    std::size_t end = colon;
    while (end > at_ && is_blank(text_[end - 1])) --end;
    const bool is_quoted = (peek() == '"' || peek() == '\'') && end > at_ + 1;
    added.is_quoted_key = is_quoted;
    added.key = is_quoted ? TreeRange{.begin = narrow(at_ + 1), .end = narrow(end - 1)}
                          : TreeRange{.begin = narrow(at_), .end = narrow(end)};
    added.has_colon = true;
    added.value = {.begin = narrow(colon + 1), .end = narrow(colon + 1)};
    added.whole.end = narrow(colon + 1);
    const int number = add(map, added);
    at_ = colon + 1;
    skip_blanks();
    properties();
    if (!is_line_end()) value(number, here);
}

void LineTreeBuilder::lone_scalar() {
    const int here = column();
    const bool is_item = !nodes_.empty() && slot_below(here) >= 0 &&
                         node(slot_below(here)).whole.begin >= line_begin_;
    if (!is_item) close_above(here, false);
    const int slot = slot_below(here);
    const int around = open_.empty() ? -1 : open_.back().indent;
    properties();
    if (is_line_end()) return;
    if (slot >= 0) return value(slot, around);
    // A key that is being typed.
    std::size_t end = line_end();
    for (std::size_t at = at_; at < end; ++at) {
        if (is_comment_at(text_, at)) end = at;
    }
    while (end > at_ && is_blank(text_[end - 1])) --end;
    TreeNode typed;
    typed.key = {.begin = narrow(at_), .end = narrow(end)};
    typed.whole = typed.key;
    typed.value = {.begin = narrow(end), .end = narrow(end)};
    if (open_.empty() && nodes_.front().kind == Kind::Scalar) return;
    add(open_.empty() ? 0 : open_.back().node, typed);
}

void LineTreeBuilder::value(int number, int indent) {
    switch (peek()) {
        case '{':
        case '[':
            return flow(number, indent, 0);
        case '|':
        case '>':
            return block_scalar(number, indent);
        case '"':
        case '\'':
            return quoted(number, indent);
        case '*': {
            const std::size_t begin = at_;
            while (at_ < text_.size() && !is_blank(peek()) && peek() != '\n') ++at_;
            node(number).kind = Kind::Alias;
            node(number).value = {.begin = narrow(begin), .end = narrow(at_)};
            return;
        }
        default:
            return plain(number, indent);
    }
}

void LineTreeBuilder::block_scalar(int number, int indent) {
    TreeNode& scalar = node(number);
    scalar.kind = Kind::Scalar;
    scalar.style = peek() == '|' ? Style::Literal : Style::Folded;
    at_ = std::min(line_end() + 1, text_.size());
    const std::size_t begin = at_;
    std::size_t end = at_;
    while (at_ < text_.size()) {
        std::size_t first = at_;
        while (first < text_.size() && text_[first] == ' ') ++first;
        const bool is_empty =
            first >= text_.size() || text_[first] == '\n' ||
            (text_[first] == '\r' && first + 1 < text_.size() && text_[first + 1] == '\n');
        if (!is_empty && static_cast<int>(first - at_) <= indent) break;
        at_ = std::min(line_end() + 1, text_.size());
        if (!is_empty || end > begin) end = at_;
    }
    scalar.value = {.begin = narrow(begin), .end = narrow(std::max(begin, end))};
    // The line that ended it is read again, as a line of its own.
    at_ = end > 0 && end <= text_.size() && end > begin ? end - 1
                                                        : std::max(begin, std::size_t{1}) - 1;
}

TreeRange LineTreeBuilder::quoted_range(int indent) {
    const char quote = peek();
    const std::size_t begin = ++at_;
    while (at_ < text_.size()) {
        const char c = peek();
        const bool is_pair =
            (c == '\\' && quote == '"') || (c == quote && quote == '\'' && peek(1) == quote);
        if (is_pair) {
            at_ = std::min(at_ + 2, text_.size());
            continue;
        }
        if (c == quote) break;
        // A quote that is not closed ends where the text is a key again.
        if (c == '\n' && is_shallow(at_ + 1, indent)) break;
        ++at_;
    }
    std::size_t end = at_;
    if (peek() == quote) {
        ++at_;
    } else {
        while (end > begin && (is_blank(text_[end - 1]) || text_[end - 1] == '\n')) --end;
    }
    return {.begin = narrow(begin), .end = narrow(end)};
}

void LineTreeBuilder::quoted(int number, int indent) {
    const Style style = peek() == '"' ? Style::DoubleQuoted : Style::SingleQuoted;
    const TreeRange range = quoted_range(indent);
    node(number).kind = Kind::Scalar;
    node(number).style = style;
    node(number).value = range;
    node(number).whole.end = narrow(at_);
}

bool LineTreeBuilder::is_empty_line(std::size_t line) const {
    while (line < text_.size() && is_blank(text_[line])) ++line;
    return line >= text_.size() || text_[line] == '\n';
}

/// Is the line that begins at `line` indented by `indent` at most? Empty lines are not.
bool LineTreeBuilder::is_shallow(std::size_t line, int indent) const {
    std::size_t first = line;
    while (first < text_.size() && text_[first] == ' ') ++first;
    const bool is_empty = first >= text_.size() || text_[first] == '\n' || text_[first] == '\r';
    return !is_empty && static_cast<int>(first - line) <= indent;
}

bool LineTreeBuilder::continues_plain(std::size_t line, int indent) const {
    std::size_t first = line;
    while (first < text_.size() && text_[first] == ' ') ++first;
    if (static_cast<int>(first - line) <= indent || is_at_line_end(first)) return false;
    if (text_[first] == '\r') return false;
    LineTreeBuilder probe = {text_, nodes_};
    probe.at_ = first;
    return !probe.is_dash() && probe.key_end() == std::string_view::npos;
}

void LineTreeBuilder::plain(int number, int indent) {
    const std::size_t begin = at_;
    std::size_t end = at_;
    while (true) {
        const std::size_t line = line_end();
        std::size_t stop = at_;
        while (stop < line && !is_comment_at(text_, stop)) ++stop;
        const bool has_comment = stop < line;
        while (stop > at_ && is_blank(text_[stop - 1])) --stop;
        end = std::max(stop, end);
        if (has_comment || line >= text_.size()) break;
        std::size_t next = line + 1;
        // Empty lines are a part of the text that continues after them.
        while (next < text_.size() && is_empty_line(next)) {
            next = std::min(text_.find('\n', next), text_.size() - 1) + 1;
        }
        if (next >= text_.size() || !continues_plain(next, indent)) break;
        at_ = next;
        skip_blanks();
    }
    at_ = end;
    node(number).kind = Kind::Scalar;
    node(number).style = Style::Plain;
    node(number).value = {.begin = narrow(begin), .end = narrow(end)};
}

/// Blocks end with their last child; children come after their parents.
void LineTreeBuilder::finish() {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        TreeNode& done = nodes_[i];
        const bool is_block = (done.kind == Kind::Map || done.kind == Kind::List) && !done.is_flow;
        if (is_block && !done.children.empty()) {
            done.value.end = std::max(done.value.begin, node(done.children.back()).whole.end);
        }
        done.whole.end = std::max(done.whole.end, done.value.end);
    }
    nodes_.front().whole = {.begin = 0, .end = narrow(text_.size())};
}

}  // namespace ebb::yaml
