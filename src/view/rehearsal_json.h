#pragma once

#include <ebb/rehearsal.h>

#include "view/payload_json.h"

namespace ebb::view {

/// What would happen, with the events as the history of an instance has them.
Json rehearsal_json(const Rehearsal& rehearsal);

}  // namespace ebb::view
