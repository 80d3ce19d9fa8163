#pragma once

#include <ebb/diagram.h>
#include <ebb/json.h>

#include "core/diagram/notes.h"

namespace ebb::lsp {

/// What is drawn.
struct Picture {
    const Definition& definition;
    DiagramOptions options{};
    diagram::Notes notes{};
};

/// Adds the picture to the answer to `ebb/diagram`: `svg`, or `text` if `params.format` names
/// another format. Throws Error for one that does not exist.
void add_picture(Json& answer, const Json& params, const Picture& picture);

}  // namespace ebb::lsp
