#pragma once

#include "cli/definition_file.h"
#include "cli/session.h"
#include "lsp/lsp.h"

namespace ebb::cli {

/// Finds the handlers that a workflow calls and that no code of the current folder registers, as
/// the language server does of a workspace.
class HandlerLint {
 public:
    /// Reads the code of the current folder and of those in it.
    explicit HandlerLint(Session& session);

    /// Adds a warning `missing_handler` for each.
    void judge(DefinitionFile& file) const;

 private:
    TypeLibrary types_;
    lsp::Server server_;
    bool is_whole_ = false;
};

}  // namespace ebb::cli
