#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "lsp/document.h"
#include "lsp/format.h"

namespace ebb::lsp {

/// The parts of a YAML text as they are written, for edits that keep what it means.
class TextParts {
 public:
    explicit TextParts(const Document& document);

    const yaml::LineTree& tree() const { return tree_; }

    std::string_view text() const { return tree_.text(); }

    /// Where the value is written, with its quotes. Empty for what has several lines, has an anchor
    /// or a tag, or is not finished.
    std::optional<yaml::TreeRange> written(int node) const;
    /// The same of a member with its key.
    std::optional<yaml::TreeRange> written_member(int node) const;

    std::string slice(const yaml::TreeRange& range) const {
        return std::string(tree_.slice(range));
    }

    std::size_t line_begin(std::size_t at) const;
    /// The offset of the line break, or of the end of the text.
    std::size_t line_end(std::size_t at) const;

    std::size_t column(std::size_t at) const { return at - line_begin(at); }

    /// The end of a value without the line breaks behind it.
    std::size_t end_of(int node) const;
    /// Is there nothing but blanks, line breaks and the dash of an item?
    bool is_blank(std::size_t begin, std::size_t end) const;

    /// Without the member, whose key must be the first of its line.
    std::optional<TextEdit> without_member(int node) const;

    /// The line break of the text.
    const std::string& line_break() const { return line_break_; }

    /// `name`, or with a number behind it if a node has the name.
    std::string free_name(const std::string& name) const;

 private:
    const yaml::LineTree& tree_;
    std::string line_break_;
};

/// The name as YAML, in quotes if it needs them.
std::string yaml_word(const std::string& name);

Json action_json(
    const Document& document,
    std::string title,
    std::string_view kind,
    const std::vector<TextEdit>& edits
);

}  // namespace ebb::lsp
