#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ebb::lsp {

/// A node that completion writes, with tab stops in the syntax of the protocol's snippets.
struct NodeSnippet {
    std::string_view kind;  ///< `condition`: the label
    std::string_view text;  ///< what it does
    std::string_view lines;
    std::string_view line;  ///< the same in braces
};

std::span<const NodeSnippet> node_snippets();

/// A workflow for an empty file.
std::string_view workflow_snippet();

/// The lines, each but the first with so many blanks before it.
std::string indented(std::string_view lines, std::size_t columns);

}  // namespace ebb::lsp
