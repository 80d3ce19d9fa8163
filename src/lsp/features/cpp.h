#pragma once

#include <ebb/diagram.h>
#include <ebb/json.h>

#include "lsp/document.h"

// Code in C++: its workflows in the outline and as pictures.

namespace ebb::lsp {

/// The workflows with their nodes, and the handlers that the code registers.
Json cpp_symbols_json(const Document& document);

/// What is known of the node that the code at `offset` adds; null if it adds none.
Json cpp_hover_json(const Document& document, std::size_t offset);

/// The workflow that `params.workflow` names, or else the one that `params.position` is in, or else
/// the first. Throws Error if there is none.
const source::CppWorkflow& wanted_workflow(const Document& document, const Json& params);

/// The answer to `ebb/diagram` about the wanted workflow.
Json cpp_diagram_json(const Document& document, const Json& params, const DiagramOptions& options);

}  // namespace ebb::lsp
