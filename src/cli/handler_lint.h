#pragma once

#include <memory>

#include "cli/definition_file.h"
#include "cli/session.h"

namespace ebb::cli {

/// Finds the handlers that a workflow calls and that no code of the current folder registers, as
/// the language server does of a workspace.
class HandlerLint {
 public:
    virtual ~HandlerLint() = default;

    /// Adds a warning `missing_handler` for each.
    virtual void judge(DefinitionFile& file) const = 0;
};

/// Reads the code of the current folder and of those in it. Null in a build without the language
/// server (EBB_WITH_LSP=OFF).
std::unique_ptr<HandlerLint> make_handler_lint(Session& session);

}  // namespace ebb::cli
