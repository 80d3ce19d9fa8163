#pragma once

#include "core/model/difference.h"
#include "view/payload_json.h"

namespace ebb::view {

/// `{"equal", "needs_version", "workflow", "nodes"}`.
Json difference_json(const model::Difference& difference);

}  // namespace ebb::view
