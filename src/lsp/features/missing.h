#pragma once

#include <string>
#include <vector>

#include "lsp/document.h"
#include "lsp/workspace_index.h"

namespace ebb::lsp {

/// A handler that a workflow calls and that nothing has.
struct MissingHandler {
    HandlerPlace place{};  ///< the first call
    std::string message{};
    std::string meant{};  ///< to write instead; empty if none is near or if more must change
};

/// Only in a workspace whose code registers handlers, and only when all of it was read: any program
/// may have the handlers of a workflow that stands alone. `# ebb: allow missing_handler` turns it
/// off.
std::vector<MissingHandler> missing_handlers(
    const Document& document, const CheckSettings& settings
);

/// The first call of each handler that `handlers:` of the file does not have.
std::vector<HandlerPlace> outside_calls(const Document& document);

}  // namespace ebb::lsp
