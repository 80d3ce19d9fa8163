#pragma once

#include <string>

#include <ebb/definition.h>
#include <ebb/diagram.h>

#include "core/diagram/notes.h"

namespace ebb::diagram {

/// As `to_svg`, and each node is a group with its name in the attribute `data-node`, so that a
/// program can tell which node was clicked.
std::string to_svg_with_names(
    const Definition& definition, const DiagramOptions& options, const Notes& notes = {}
);

}  // namespace ebb::diagram
