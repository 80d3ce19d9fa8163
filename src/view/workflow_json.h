#pragma once

#include <span>

#include "store/store.h"
#include "view/payload_json.h"

namespace ebb::view {

/// A registered version. `counts` may hold those of other workflows, too.
Json workflow_json(const WorkflowRow& row, std::span<const VersionCount> counts);

}  // namespace ebb::view
