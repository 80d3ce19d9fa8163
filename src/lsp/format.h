#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::lsp {

/// Replaces the bytes from `begin` to `end`.
struct TextEdit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text{};

    bool operator==(const TextEdit&) const = default;
};

/// The edits that give a YAML text its usual form: an indent of two spaces, one space behind `:`,
/// `-` and `,`, no blanks at the ends of lines, at most one empty line, and one before a block at
/// the top that follows another. Values and comments stay as they are, and so does the meaning:
/// what cannot be parsed, what has several documents, and what would be read otherwise has no edit.
/// In the order of the text, and the edited text has none.
std::vector<TextEdit> format_edits(std::string_view text);

/// The text with the edits, which are in its order and do not overlap.
std::string apply_edits(std::string_view text, const std::vector<TextEdit>& edits);

}  // namespace ebb::lsp
