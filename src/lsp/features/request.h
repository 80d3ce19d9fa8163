#pragma once

#include <cstddef>
#include <vector>

#include <ebb/json.h>

#include "lsp/document.h"
#include "lsp/features/names.h"

namespace ebb::lsp {

/// The offset of `params.position`. Throws what Json throws for a malformed request.
std::size_t offset_in(const Document& document, const Json& params);

/// Adds `handler:` to steps of a changed name that had none, so that they call what they called.
void keep_handlers(const Document& document, const std::vector<NamePlace>& places, Json& edits);

}  // namespace ebb::lsp
