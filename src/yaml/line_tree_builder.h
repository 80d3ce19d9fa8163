#pragma once

#include <string_view>
#include <vector>

#include "yaml/line_tree.h"

namespace ebb::yaml {

/// Reads the lines of a text into a LineTree.
class LineTreeBuilder {
    using Style = model::Document::Style;
    using Kind = TreeNode::Kind;

 public:
    LineTreeBuilder(std::string_view text, std::vector<TreeNode>& nodes)
        : text_(text), nodes_(nodes) {}

    void run();

 private:
    /// A block that may still grow.
    struct Open {
        int node;
        int indent;
    };

    std::string_view text_;
    std::vector<TreeNode>& nodes_;
    std::vector<Open> open_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    bool has_content_ = false;

    TreeNode& node(int number) { return nodes_[static_cast<std::size_t>(number)]; }

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

    static std::uint32_t narrow(std::size_t size) { return static_cast<std::uint32_t>(size); }

    // Lines
    void line();
    void skip_line();
    void skip_blanks();
    bool is_line_end() const;
    bool is_at_line_end(std::size_t at) const;
    std::size_t line_end() const;
    bool is_separator() const;

    int column() const { return static_cast<int>(at_ - line_begin_); }

    // Blocks
    bool is_dash() const;
    std::size_t key_end() const;
    void dash();
    void member(std::size_t colon);
    void lone_scalar();
    void properties();
    /// Fills the slot `number` with what stands at the position; `indent` is of the block around
    /// it.
    void value(int number, int indent);
    void block_scalar(int number, int indent);
    void quoted(int number, int indent);
    void plain(int number, int indent);
    bool is_empty_line(std::size_t line) const;
    bool is_shallow(std::size_t line, int indent) const;
    bool continues_plain(std::size_t line, int indent) const;
    int add(int parent, TreeNode added);
    /// The slot that the next value at a column fills; -1 if there is none.
    int slot_below(int column);
    void close_above(int column, bool is_dash);
    void finish();

    // Brackets
    void flow(int number, int indent, int depth);
    void flow_member(int map, int indent, int depth);
    void flow_value(int number, int indent, int depth);
    bool skip_flow_blanks(int indent);
    TreeRange flow_plain(bool is_key);
    TreeRange quoted_range(int indent);
};

/// What begins a comment: a `#` at the beginning or after a blank.
bool is_comment_at(std::string_view text, std::size_t at);

}  // namespace ebb::yaml
