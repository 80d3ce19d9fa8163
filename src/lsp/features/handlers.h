#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <ebb/json.h>

#include "lsp/workspace_index.h"

// Handlers across files: from the workflow to the code that registers them, and back.

namespace ebb::lsp {

/// The handler whose name is at `offset`.
std::optional<HandlerPlace> handler_at(const Document& document, std::size_t offset);

/// Where code in C++ registers the handler: locations, those of `document` first.
Json registrations_json(
    const Document& document, const WorkspaceIndex& index, const std::string& name
);

struct ReferenceQuery {
    std::string name{};
    bool with_declaration = true;  ///< registrations and entries of `handlers:`, too
};

/// Adds the places in other files, and of code in C++ those in the document itself.
void add_references(
    const Document& document, const WorkspaceIndex& index, const ReferenceQuery& query, Json& list
);

}  // namespace ebb::lsp
