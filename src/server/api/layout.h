#pragma once

#include <ebb/diagram.h>

#include "view/payload_json.h"

namespace ebb::server {

/// The picture of a definition as boxes and lines, as the API's Layout describes it.
view::Json layout_json(const Definition& definition, DiagramOptions::Direction direction);

}  // namespace ebb::server
