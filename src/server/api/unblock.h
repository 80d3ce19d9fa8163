#pragma once

#include <ebb/engine.h>

#include "server/api/service.h"
#include "view/payload_json.h"

namespace ebb::server {

/// The requests that would let the instance continue and that the caller may send.
view::Json unblocking_requests(const InstanceView& view, const Call& call);

}  // namespace ebb::server
