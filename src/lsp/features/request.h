#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ebb/json.h>

#include "lsp/document.h"
#include "lsp/features/names.h"

namespace ebb::lsp {

/// The offset of a position. Throws what Json throws for a malformed one.
std::size_t offset_at(const Document& document, const Json& position);

/// The offset of `params.position`. Throws what Json throws for a malformed request.
std::size_t offset_in(const Document& document, const Json& params);

/// What to write in place of a step's name, so that the step has the name `name` and calls
/// `handler`: its name and `handler:`. Empty if the step says itself which handler it calls, or is
/// written so that its name cannot be replaced by both.
std::string step_with_handler(
    const Document& document,
    const NamePlace& place,
    const std::string& name,
    const std::string& handler
);

/// Adds `handler:` to steps of a changed name that had none, so that they call what they called.
void keep_handlers(const Document& document, const std::vector<NamePlace>& places, Json& edits);

}  // namespace ebb::lsp
